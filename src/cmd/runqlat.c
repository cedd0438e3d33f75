/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/runqlat.h"

#include "analysis/sched_dist.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/target.h"
#include "host/cgroup.h"
#include "host/pace.h"
#include "host/procfs.h"

static const char *const by_names[] = { "all", "cpu", "pid", "tid", "cgroup", "comm", NULL };

#define AT(field) .offset = offsetof(struct hist_args, field)

const struct opt hist_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "a recording with sched events, as of 'perf sched record'; else the running "
		  "machine" },
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]", .help = "only these processes" },
	{ 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME",
	  .help = "stop after this time; else, or with 0, at Ctrl-C or at the recording's end" },
	{ .name = "interval",
	  .type = OPT_DURATION,
	  AT(interval),
	  .arg = "TIME",
	  .help = "show each interval of this length" },
	{ .name = "by",
	  .type = OPT_CHOICE,
	  AT(by),
	  .arg = "WHAT",
	  .def = "all",
	  .choices = by_names,
	  .help = "a histogram for each" },
	{ 'T', "timestamp", OPT_FLAG, AT(timestamp),
	  .help = "say when each ended, as with --interval" },
	{ 'P', "pids", OPT_FLAG, AT(per_process), .flags = OPT_HIDDEN,
	  .help = "bcc's name for --by pid" },
	{ 'L', "tids", OPT_FLAG, AT(per_thread), .flags = OPT_HIDDEN,
	  .help = "bcc's name for --by tid" },
	{ 'C', "cpus", OPT_FLAG, AT(per_cpu), .flags = OPT_HIDDEN,
	  .help = "bcc's name for --by cpu" },
	OPT_END,
};

static enum sched_hist_by choose_by(const struct hist_args *a)
{
	if (a->per_process)
		return SCHED_HIST_PID;
	if (a->per_thread)
		return SCHED_HIST_TID;
	return a->per_cpu ? SCHED_HIST_CPU : (enum sched_hist_by)a->by;
}

struct counted {
	struct sched_hist_key key;
	struct sched_hist hist;
};

struct shown {
	struct result *result;
	enum sched_hist_what what;
	enum sched_hist_by by;
	bool milliseconds;
	struct cgroup_mounts cgroups;
	struct table *occupancy; /* in place of histograms, for -O of runqlen */
	VEC(struct counted) each;
	struct sched_hist all; /* the sum of what is shown */
};

static void label_of(const struct shown *s, const struct sched_hist_key *k, struct buf *out)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	char comm[PROCFS_COMM];

	switch (s->by) {
	case SCHED_HIST_CPU: buf_addf(out, "cpu = %llu", (unsigned long long)k->id); break;
	case SCHED_HIST_PID:
		buf_addf(out, "pid = %llu", (unsigned long long)k->id);
		if (*k->comm)
			buf_addf(out, " %.16s", k->comm);
		else if (procfs_comm((u32)k->id, 0, comm) >= 0)
			buf_addf(out, " %s", comm);
		break;
	case SCHED_HIST_TID:
		buf_addf(out, "tid = %llu %.16s", (unsigned long long)k->id, k->comm);
		break;
	case SCHED_HIST_CGROUP:
		buf_addf(out, "cgroup = %llu", (unsigned long long)k->id);
		if (cgroup_by_id(&s->cgroups, k->id, &path) >= 0)
			buf_addf(out, " %s", buf_str(&path));
		break;
	case SCHED_HIST_COMM: buf_addf(out, "comm = %.16s", k->comm); break;
	default: break;
	}
}

/* A queue is occupied when somebody waits in it. */
static double occupied(const struct sched_hist *in)
{
	return in->count ? 100.0 * (double)(in->count - in->slots[0]) / (double)in->count : 0;
}

static void add_occupancy(struct shown *s, const char *label, const struct sched_hist *in)
{
	struct row *row = table_row(s->result, s->occupancy);

	row->cells[0] = value_text(s->result, label ? label : "all");
	row->cells[1] = value_u(VALUE_COUNT, in->count);
	row->cells[2] = value_d(VALUE_PERCENT, occupied(in));
	row->cells[3] = value_d(VALUE_NUMBER, (double)in->total / (double)MAX(in->count, 1));
}

static void add_length(struct shown *s, const char *label, const struct sched_hist *in)
{
	struct histogram *h =
		result_hist_linear(s->result, "length", label, "runqlen", 0, SCHED_HIST_SLOTS, 1);

	for (u64 i = 0; i < SCHED_HIST_SLOTS; i++) {
		if (in->slots[i])
			hist_add(h, i, in->slots[i]);
	}
}

static int add_hist(void *ctx, const struct sched_hist_key *k, const struct sched_hist *in)
{
	struct shown *s = ctx;

	vec_push(&s->each, ((struct counted){ *k, *in }));
	return 0;
}

/* CPUs by their number, tasks and groups by how much there is of them. */
static int counted_order(const void *a, const void *b, void *ctx)
{
	const struct counted *x = a, *y = b;
	const struct shown *s = ctx;

	if (s->by != SCHED_HIST_CPU && x->hist.count != y->hist.count)
		return x->hist.count < y->hist.count ? 1 : -1;
	if (x->key.id != y->key.id)
		return x->key.id < y->key.id ? -1 : 1;
	return memcmp(x->key.comm, y->key.comm, sizeof(x->key.comm));
}

static void show_hist(struct shown *s, const struct sched_hist_key *k, const struct sched_hist *in)
{
	_cleanup_buf_ struct buf label = BUF_INIT;
	const char *unit = s->milliseconds ? "msecs" : "usecs";
	struct histogram *h;

	label_of(s, k, &label);
	s->all.count += in->count;
	s->all.total += in->total;
	for (u64 i = 0; i < SCHED_HIST_SLOTS; i++)
		s->all.slots[i] += in->slots[i];
	if (s->occupancy) {
		add_occupancy(s, label.len ? buf_str(&label) : NULL, in);
		return;
	}
	if (s->what == SCHED_HIST_RUNQLEN) {
		add_length(s, label.len ? buf_str(&label) : NULL, in);
		return;
	}
	h = result_hist_log2(s->result, "histogram", label.len ? buf_str(&label) : NULL, unit);
	for (u64 i = 0; i < SCHED_HIST_SLOTS; i++) {
		if (in->slots[i])
			hist_add(h, i ? 1ull << (i - 1) : 0, in->slots[i]);
	}
	/* the sum is exact; what stands in a bucket is its lower end */
	h->total = in->total / (s->milliseconds ? 1000000 : 1000);
}

/* --- what is said of all together ------------------------------------------------------------- */

static const struct {
	const char *title;
	const char *count; /* what is counted */
} words[] = {
	[SCHED_HIST_RUNQLAT] = { "how long tasks waited for a CPU", "waits" },
	[SCHED_HIST_ONCPU] = { "how long tasks stayed on a CPU", "turns" },
	[SCHED_HIST_OFFCPU] = { "how long tasks were off the CPU", "times" },
	[SCHED_HIST_RUNQLEN] = { "how many tasks waited for each CPU, besides the one that ran",
				 "samples" },
};

static const struct column occupancy_columns[] = {
	{ "of", "OF", VALUE_TEXT, 0 },
	{ "samples", "SAMPLES", VALUE_COUNT, 0 },
	{ "occupied_percent", "OCCUPIED", VALUE_PERCENT, 0 },
	{ "average", "AVG LENGTH", VALUE_NUMBER, 0 },
};

/* The end of the bucket below which the given share of all values lies, in nanoseconds. */
static u64 quantile(const struct shown *s, double share)
{
	u64 unit = s->milliseconds ? NSEC_PER_MSEC : NSEC_PER_USEC, sum = 0;
	u32 i = 0;

	for (; i < SCHED_HIST_SLOTS - 1; i++) {
		sum += s->all.slots[i];
		if ((double)sum >= share * (double)s->all.count)
			break;
	}
	return unit << MIN(i, 32u);
}

/* The heading: what it is, how long was observed, and the few figures that people ask for first.
 */
static void describe(const struct shown *s, const struct hist_args *a, u64 duration, u64 lost)
{
	struct result *r = s->result;
	u64 n = s->all.count;

	result_title(r, "%s", words[s->what].title);
	if (a->input)
		result_fact(r, "file", "file", value_text(r, a->input));
	else if (a->timestamp || a->interval)
		result_fact(r, "time", "time", value_u(VALUE_TIME, clock_wall_ns()));
	if (duration)
		result_fact(r, "duration_ns", "duration", value_u(VALUE_DURATION, duration));
	result_fact(r, "count", words[s->what].count, value_u(VALUE_COUNT, n));
	result_fact(r, "lost", "lost", value_u(VALUE_COUNT, lost));
	if (!n)
		return;
	if (s->what == SCHED_HIST_RUNQLEN) {
		result_fact(r, "occupied_percent", "somebody waits",
			    value_d(VALUE_PERCENT, occupied(&s->all)));
		result_fact(r, "average", "average",
			    value_d(VALUE_NUMBER, (double)s->all.total / (double)n));
		return;
	}
	result_fact(r, "average_ns", "average", value_u(VALUE_DURATION, s->all.total / n));
	result_fact(r, "median_below_ns", "half below", value_u(VALUE_DURATION, quantile(s, 0.5)));
	result_fact(r, "p99_below_ns", "99% below", value_u(VALUE_DURATION, quantile(s, 0.99)));
}

static void shown_init(struct shown *s, struct result *r, const struct hist_args *a,
		       enum sched_hist_what what, enum sched_hist_by by)
{
	*s = (struct shown){ .result = r, .what = what, .by = by, .milliseconds = a->milliseconds };
	/* without it groups have numbers only */
	if (by == SCHED_HIST_CGROUP)
		(void)cgroup_mounts_read(&s->cgroups, NULL);
	if (a->occupancy)
		s->occupancy = result_table(r, "occupancy", NULL, occupancy_columns,
					    ARRAY_SIZE(occupancy_columns));
}

static void show_each(struct shown *s)
{
	if (s->each.len > 1)
		qsort_r(s->each.items, s->each.len, sizeof(*s->each.items), counted_order, s);
	vec_each(c, &s->each)
		show_hist(s, &c->key, &c->hist);
	if (!s->each.len)
		result_note(s->result, NOTE_INFO, NULL, "nothing happened");
	vec_release(&s->each);
	cgroup_mounts_release(&s->cgroups);
}

static int show(struct context *ctx, const struct hist_args *a, struct waits_hist *run,
		enum sched_hist_what what, u64 duration)
{
	_cleanup_result_ struct result r;
	struct shown s;
	int rc;

	result_init(&r, ctx->command->name);
	shown_init(&s, &r, a, what, choose_by(a));
	rc = waits_hist_take(run, add_hist, &s);
	show_each(&s);
	if (rc < 0)
		return rc;
	describe(&s, a, duration, waits_hist_full(run) + waits_hist_no_room(run));
	result_fact(&r, "inferred_ends", NULL, value_u(VALUE_COUNT, waits_hist_inferred(run)));
	result_loss(&r, "full", "values not counted: too many histograms", waits_hist_full(run));
	result_loss(&r, "no_room", "times left out: too many threads", waits_hist_no_room(run));
	return cli_show(ctx, &r);
}

/* --- from a recording ------------------------------------------------------------------------- */

struct replay {
	struct context *ctx;
	const struct hist_args *args;
	struct sched_names names;
	struct sched_filter filter;
	struct sched_dist_opts opts;
	struct sched_dist *dist;
	u64 left; /* intervals that are asked for; 0: all */
};

static int show_replay(struct replay *p)
{
	_cleanup_result_ struct result r;
	struct shown s;
	int rc;

	result_init(&r, p->ctx->command->name);
	shown_init(&s, &r, p->args, p->opts.what, p->opts.by);
	rc = sched_dist_take(p->dist, add_hist, &s);
	show_each(&s);
	if (rc < 0)
		return rc;
	describe(&s, p->args,
		 p->args->interval ? p->args->interval : p->names.last - p->names.first,
		 p->names.lost + sched_dist_full(p->dist));
	result_fact(&r, "inferred_ends", NULL, value_u(VALUE_COUNT, sched_dist_inferred(p->dist)));
	if (p->opts.what == SCHED_HIST_ONCPU)
		result_fact(&r, "unknown_starts", NULL,
			    value_u(VALUE_COUNT, sched_dist_unknown(p->dist)));
	result_loss(&r, "full", "values not counted: too many histograms",
		    sched_dist_full(p->dist));
	result_loss(&r, "lost_events", "events lost while recording: figures are wrong by that",
		    p->names.lost);
	if (p->names.fault)
		result_note(&r, NOTE_WARNING, "everything before the damage is counted", "%s",
			    p->names.fault);
	return cli_show(p->ctx, &r);
}

/* 1: enough. */
static int on_interval(void *ctx)
{
	struct replay *p = ctx;
	int rc = show_replay(p);

	if (rc)
		return rc;
	return p->left && !--p->left;
}

static int replay(struct context *ctx, const struct hist_args *a, enum sched_hist_what what,
		  u64 count)
{
	struct replay p = {
		.ctx = ctx,
		.args = a,
		.filter = { .pids = &a->pids, .relative = true, .to = a->duration },
		.opts = { .what = what,
			  .by = choose_by(a),
			  .unit = a->milliseconds ? NSEC_PER_MSEC : NSEC_PER_USEC,
			  .frequency = a->frequency,
			  .interval = a->interval,
			  .on_interval = on_interval },
		.left = count,
	};
	int rc;

	if (p.opts.by == SCHED_HIST_CGROUP) {
		err_set(&ctx->err, EINVAL, "a recording does not contain the cgroups of its tasks");
		return EXIT_USAGE;
	}
	if (what == SCHED_HIST_RUNQLEN && p.opts.by != SCHED_HIST_ALL &&
	    p.opts.by != SCHED_HIST_CPU) {
		err_set(&ctx->err, EINVAL, "queues in a recording are known by CPU only");
		return EXIT_USAGE;
	}
	ctx->stream = a->interval != 0;
	p.opts.ctx = &p;
	p.dist = sched_dist_new(&p.names, &p.filter, &p.opts);
	rc = sched_dist_read(p.dist, a->input, &ctx->err);
	if (!rc)
		rc = show_replay(&p);
	sched_dist_free(p.dist);
	sched_names_release(&p.names);
	return rc == -ENODATA ? EXIT_NOTHING : MIN(rc, 0);
}

/* --- live ------------------------------------------------------------------------------------- */

static int take_operands(struct context *ctx, struct hist_args *a, u64 *ret_count)
{
	*ret_count = 0;
	if (ctx->operands.len &&
	    parse_duration(ctx->operands.items[0], &a->interval, &ctx->err) < 0)
		return EXIT_USAGE;
	if (ctx->operands.len > 1 &&
	    parse_u64_range(ctx->operands.items[1], 1, 1 << 30, ret_count, &ctx->err) < 0)
		return EXIT_USAGE;
	return 0;
}

static int run_intervals(struct context *ctx, const struct hist_args *a, struct waits_hist *run,
			 enum sched_hist_what what, u64 count)
{
	u64 now = clock_mono_ns(), end = a->duration ? now + a->duration : 0, since = now;
	int rc = 0;

	ctx->stream = a->interval != 0;
	for (u64 i = 1; rc >= 0; i++) {
		u64 until = a->interval ? now + i * a->interval : end, left;

		if (end && (!until || until > end))
			until = end;
		left = until ? until - MIN(until, clock_mono_ns()) : 0;
		cli_progress_watching(ctx, left);
		stop_wait(until ? left : UINT64_MAX / 2);
		cli_progress(ctx, "%s", "");
		left = clock_mono_ns();
		rc = show(ctx, a, run, what, left - since);
		since = left;
		if (stop_requested() || !a->interval || (end && until >= end) ||
		    (count && i >= count))
			break;
	}
	return rc;
}

static void limit_frequency(struct waits_hist_opts *opts)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = opts->frequency,
	};
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct pace pace;

	if (!pace_limit(&attr, 1, &pace))
		return;
	opts->frequency = pace.hz;
	pace_say(&pace, "cpu-clock", &text);
	log_warn("note: %s", buf_str(&text));
}

int hist_command(struct context *ctx, struct hist_args *a, enum sched_hist_what what)
{
	struct waits_hist *run = NULL;
	struct waits_hist_opts opts = {
		.what = what,
		.by = choose_by(a),
		.pids = &a->pids,
		.unit = a->milliseconds ? NSEC_PER_MSEC : NSEC_PER_USEC,
		.frequency = a->frequency,
	};
	u64 count;
	int rc = take_operands(ctx, a, &count);

	if (rc)
		return rc;
	if (a->input)
		return replay(ctx, a, what, count);
	rc = target_expect(&a->pids, &ctx->err);
	if (rc < 0)
		return rc;
	limit_frequency(&opts);
	rc = waits_hist_new(&run, &opts, &ctx->err);
	if (rc == -EPERM || rc == -EOPNOTSUPP)
		return EXIT_MISSING;
	if (rc >= 0)
		rc = run_intervals(ctx, a, run, what, count);
	waits_hist_free(run);
	return rc;
}

static int runqlat_run(struct context *ctx, void *args)
{
	return hist_command(ctx, args, SCHED_HIST_RUNQLAT);
}

static const struct opt runqlat_options[] = {
	{ .type = OPT_INCLUDE, .include = hist_options },
	HIST_MILLISECONDS,
	OPT_END,
};

static const struct example runqlat_examples[] = {
	{ "fathom runqlat -d 5s", "how long tasks waited for a CPU, in five seconds" },
	{ "fathom runqlat --by cpu 1 5", "for each CPU, five times a second's worth" },
	{ "fathom runqlat -p 1234 -d 5s", "of one process" },
	{ "fathom runqlat -i perf.data --by comm", "from a file of 'perf sched record'" },
	{ 0 },
};

const struct command cmd_runqlat = {
	.name = "runqlat",
	.summary = "how long tasks wait for a CPU, as a histogram",
	.description =
		"Counts, in the kernel, the time from when a task is woken or loses its CPU until "
		"it gets one. With -i the same is worked out of a recording: of 'perf sched "
		"record', of 'fathom record' with sched:sched_switch and sched:sched_waking, or "
		"with --off-cpu. Intervals are of recorded time then.",
	.question = Q_WAIT,
	.options = runqlat_options,
	.args_size = sizeof(struct hist_args),
	.operands = "[INTERVAL [COUNT]]",
	.max_operands = 2,
	.examples = runqlat_examples,
	.see_also = "fathom-cpudist fathom-runqlen fathom-sched",
	.run = runqlat_run,
};
