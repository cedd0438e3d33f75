/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/runqlat.h"

#include "analysis/sched_hist.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/target.h"
#include "host/pace.h"
#include "waits/sched_dist.h"

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

static struct sched_hist_opts result_opts(const struct hist_args *a, enum sched_hist_what what)
{
	return (struct sched_hist_opts){
		.what = what,
		.milliseconds = a->milliseconds,
		.occupancy = a->occupancy,
		.file = a->input,
		.time = a->timestamp || a->interval ? clock_wall_ns() : 0,
	};
}

static int show(struct context *ctx, const struct hist_args *a, struct waits_hist *run,
		enum sched_hist_what what, u64 duration)
{
	_cleanup_result_ struct result r = { 0 };
	struct sched_hist_opts opts = result_opts(a, what);
	struct hist_set set;
	int rc;

	result_init(&r, ctx->command->name);
	hist_set_init(&set, choose_by(a));
	rc = waits_hist_take(run, hist_set_add, &set);
	hist_set_sort(&set);
	opts.duration = duration;
	opts.lost = waits_hist_full(run) + waits_hist_no_room(run);
	sched_hist_result(&set, &opts, &r);
	hist_set_release(&set);
	if (rc < 0)
		return rc;
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
	u64 left; /* intervals requested; 0: all */
};

static int show_replay(struct replay *p)
{
	_cleanup_result_ struct result r = { 0 };
	struct sched_hist_opts opts = result_opts(p->args, p->opts.what);
	struct hist_set set;
	int rc;

	result_init(&r, p->ctx->command->name);
	hist_set_init(&set, p->opts.by);
	rc = sched_dist_take(p->dist, hist_set_add, &set);
	hist_set_sort(&set);
	opts.duration = p->args->interval ? p->args->interval : p->names.last - p->names.first;
	opts.lost = p->names.lost + sched_dist_full(p->dist);
	sched_hist_result(&set, &opts, &r);
	hist_set_release(&set);
	if (rc < 0)
		return rc;
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
		"Counts, in the kernel, the time from when a task is woken or loses its CPU "
		"until it gets one. With -i the same is computed from a recording: of 'perf "
		"sched record', of 'fathom record' with sched:sched_switch and "
		"sched:sched_waking, or with --off-cpu. Intervals are of recorded time then.",
	.question = Q_WAIT,
	.options = runqlat_options,
	.args_size = sizeof(struct hist_args),
	.operands = "[INTERVAL [COUNT]]",
	.max_operands = 2,
	.examples = runqlat_examples,
	.see_also = "fathom-cpudist fathom-runqlen fathom-sched",
	.run = runqlat_run,
};
