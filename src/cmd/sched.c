/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/sched_lines.h"

#include "analysis/sched_perf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/target.h"
#include "cli/perf_args.h"
#include "cli/output.h"
#include "host/cgroup.h"
#include "recorder/sched_watch.h"
#include "recording/recording.h"
#include "view/timeline.h"
#include "waits/sched_group.h"

struct sched_args {
	const char *input;
	range_list pids;
	str_list cgroups;
	range_list cpus;
	u64 duration;
	const char *time;
	const char *sort;
	bool pids_apart;
	bool wakeups, migrations, idle;
	bool summary, with_summary; /* only sums; lines and sums */
	struct sched_lines_more more;
	u64 lines;
	struct output_args output;
	u64 ring;
};

#define AT(field) .offset = offsetof(struct sched_args, field)
#define SHOWN     .group = "Output"

static const struct opt sched_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "a recording with sched events, also of 'perf sched record'; else the running "
		  "machine" },
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]",
	  .help = "only these processes or threads", .alias = "tid" },
	{ .short_name = 't', .type = OPT_PIDS, AT(pids), .flags = OPT_HIDDEN },
	{ 'G', "cgroup", OPT_STRINGS, AT(cgroups), .arg = "CGROUP",
	  .help = "only threads of this control group and those below, by path; of a recording "
		  "made with --all-cgroups" },
	{ 'C', "cpu", OPT_RANGES, AT(cpus), .arg = "CPUS", .max = SCHED_CPUS_MOST - 1,
	  .help = "only these CPUs", .alias = "cpus" },
	{ 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME",
	  .help = "how long to watch the running machine; else, or with 0, until Ctrl-C" },
	{ .name = "time",
	  .type = OPT_STRING,
	  AT(time),
	  .arg = "FROM,TO",
	  .help = "only this part, in seconds of the recording's clock, or +FROM,+TO from its "
		  "start" },
	{ 's', "sort", OPT_STRING, AT(sort), .arg = "KEYS", SHOWN,
	  .help = "latency: avg, max, switches, runtime, comm, pid; default in this order" },
	{ .name = "pids",
	  .type = OPT_FLAG,
	  AT(pids_apart),
	  SHOWN,
	  .help = "latency: one line per task, even if names are equal" },
	{ 'w', "wakeups", OPT_FLAG, AT(wakeups), SHOWN, .after = "timehist",
	  .help = "timehist: also one line per wake-up" },
	{ 'M', "migrations", OPT_FLAG, AT(migrations), SHOWN,
	  .help = "timehist: also one line per migration" },
	{ 'n', "next", OPT_FLAG, AT(more.next), SHOWN, .after = "timehist",
	  .help = "timehist: show the next task" },
	{ .name = "state",
	  .type = OPT_FLAG,
	  AT(more.state),
	  SHOWN,
	  .help = "timehist: show the state in which the task left: R, S, D, T, I, X" },
	{ 'V', "cpu-visual", OPT_FLAG, AT(more.cpus), SHOWN,
	  .help = "timehist: one column per CPU" },
	{ 'I', "idle", OPT_FLAG, AT(idle), SHOWN, .alias = "idle-hist",
	  .help = "timehist: only idle tasks and tasks followed by idle" },
	{ 's', "summary", OPT_FLAG, AT(summary), SHOWN, .after = "timehist",
	  .help = "timehist: only sums per task" },
	{ 'S', "with-summary", OPT_FLAG, AT(with_summary), SHOWN,
	  .help = "timehist: sums per task, after the lines" },
	{ 'n', "lines", OPT_U64, AT(lines), .arg = "N", SHOWN, .max = 1 << 30,
	  .help = "maximum number of lines of a table (default 30 for summary, else all)" },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ 'm', "ring", OPT_SIZE, AT(ring), .arg = "SIZE", .def = "8M",
	  .help = "live: ring for each CPU" },
	OPT_END,
};

/* Before anything is watched for nothing. */
static int expect_groups(const struct sched_args *a, struct err *e)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = CGROUP_MOUNTS_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	int rc = a->cgroups.len ? cgroup_mounts_read(&mounts, e) : 0;

	for (size_t i = 0; !rc && i < a->cgroups.len; i++)
		rc = cgroup_find(&mounts, a->cgroups.items[i], &path, e);
	return rc;
}

static int watch(struct context *ctx, const struct sched_args *a, bool stacks, int *ret_fd)
{
	u32 what = (stacks ? SCHED_WATCH_STACKS : 0) | (a->cgroups.len ? SCHED_WATCH_GROUPS : 0);
	int rc;

	cli_progress_watching(ctx, a->duration);
	rc = sched_watch(a->duration, a->ring, what, ret_fd, &ctx->err);
	cli_progress(ctx, "%s", "");
	return rc == -EPERM || rc == -EACCES ? EXIT_MISSING : rc;
}

/* --- what is requested ------------------------------------------------------------------------ */

struct job {
	struct context *ctx;
	const struct sched_args *args;
	struct sched_filter filter;
	struct sched_names names;
	struct sched_group group;
	struct buf out;
	struct sched_lines lines;
	u64 n_lines;
	int fd; /* -1: from the file that the arguments name */
};

static int read_events(struct job *j, sched_fn fn, void *ctx)
{
	if (j->fd < 0)
		stop_at_once();
	return sched_read(j->fd < 0 ? j->args->input : NULL, j->fd, &j->filter, &j->names, fn, ctx,
			  &j->ctx->err);
}

/* "12080.912774" in ns, exactly: a double has no room for the clock of today. Empty: 0. */
static bool parse_seconds(const char *text, u64 *ret)
{
	const char *end = text + strlen(text);
	u64 whole = 0, unit = NSEC_PER_SEC / 10, ns = 0;

	if (text < end && !scan_u64(&text, end, 10, &whole))
		return false;
	if (text < end && *text++ != '.')
		return false;
	for (; text < end; text++, unit /= 10) {
		if (*text < '0' || *text > '9')
			return false;
		ns += unit * (u64)(*text - '0');
	}
	if (whole > UINT64_MAX / NSEC_PER_SEC - 1)
		return false;
	*ret = whole * NSEC_PER_SEC + ns;
	return true;
}

static int parse_time(const char *text, struct sched_filter *f, struct err *e)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *comma = strchr(copy, ',');

	f->relative = strchr(text, '+') != NULL;
	if (comma)
		*comma++ = 0;
	if (!parse_seconds(copy + (*copy == '+'), &f->from) ||
	    (comma && !parse_seconds(comma + (*comma == '+'), &f->to)))
		err_set(e, EINVAL, "'%s' is not a span of time", text);
	else if (comma && *comma && f->to < f->from)
		err_set(e, EINVAL, "the span of time '%s' ends before it begins", text);
	else
		return 0;
	err_hint(e, "write FROM,TO like 10.5,12 or +1,+3");
	return -EINVAL;
}

static bool machine(const struct job *j)
{
	return cli_is_machine(j->ctx);
}

/* Lines have no place for it. */
static void note_losses(const struct sched_names *n)
{
	if (n->fault)
		log_warn("%s; what is before it is used", n->fault);
	if (n->lost)
		log_warn("%llu events were lost while recording: some turns are missing, others "
			 "are too long",
			 (unsigned long long)n->lost);
	if (n->bad)
		log_warn("%llu events were left out because their data was cut",
			 (unsigned long long)n->bad);
	if (n->gaps)
		log_warn("%llu switches were not seen: the start of those turns is unknown",
			 (unsigned long long)n->gaps);
}

/* perf's table and numbers: by perf's name. */
static int run_perf_latency(struct job *j)
{
	const struct sched_perf_args args = { .sort = j->args->sort,
					      .pids_apart = j->args->pids_apart,
					      .one_cpu = j->args->cpus.len > 0 };
	_cleanup_free_ char *bad = NULL;
	struct sched_perf *p;
	int rc;

	if (sched_perf_check_sort(args.sort, &bad) < 0) {
		err_set(&j->ctx->err, EINVAL, "Unknown --sort key: `%s'", bad);
		err_hint(&j->ctx->err, "the keys are avg, max, switch, runtime and pid");
		return EXIT_USAGE;
	}
	p = sched_perf_new(&j->names, &args);
	j->filter.record_names = true;
	rc = read_events(j, sched_perf_events, p);
	if (rc >= 0) {
		note_losses(&j->names);
		sched_perf_text(p, &j->out);
		rc = cli_print_foreign(j->ctx, false, &j->out);
	}
	sched_perf_free(p);
	return rc;
}

static int run_own_latency(struct job *j)
{
	_cleanup_result_ struct result r = { 0 };
	struct sched_latency *l = sched_latency_new(&j->names, &j->filter);
	int rc;

	j->filter.fold_runtime = true;
	j->filter.types = ~(1u << SCHED_MIGRATE | 1u << SCHED_FORK);
	rc = read_events(j, sched_latency_events, l);
	result_init(&r, "sched");
	if (rc >= 0) {
		sched_health(&j->names, &r);
		rc = sched_latency_result(l, j->args->sort, !j->args->pids_apart,
					  (u32)j->args->lines, &r, &j->ctx->err);
	}
	if (rc == -EINVAL)
		rc = EXIT_USAGE;
	if (!rc)
		rc = cli_show(j->ctx, &r);
	sched_latency_free(l);
	return rc;
}

static int run_latency(struct job *j)
{
	return j->ctx->as_perf && !machine(j) ? run_perf_latency(j) : run_own_latency(j);
}

/* --- timehist: lines as they come, there may be millions -------------------------------------- */

enum { FLUSH_BYTES = 1 << 16 };

static int flush(struct job *j, size_t least)
{
	struct buf *out = &j->lines.out;

	if (likely(out->len < least) || !out->len)
		return 0;
	int rc = io_write_all(fileno(j->ctx->out), out->data, out->len);

	buf_reset(out);
	if (rc < 0)
		j->ctx->output_error = -rc;
	return rc;
}

static int on_turn(void *ctx, const struct sched_turn *t)
{
	struct job *j = ctx;

	if (j->args->lines && j->n_lines++ >= j->args->lines)
		return 0;
	sched_lines_turn(&j->lines, t);
	return flush(j, FLUSH_BYTES);
}

static int on_wake(void *ctx, const struct sched_wake *w)
{
	struct job *j = ctx;

	sched_lines_wake(&j->lines, w);
	return flush(j, FLUSH_BYTES);
}

static int on_move(void *ctx, const struct sched_move *m)
{
	struct job *j = ctx;

	sched_lines_move(&j->lines, m);
	return flush(j, FLUSH_BYTES);
}

static enum sched_lines_format lines_format(const struct job *j)
{
	return cli_is(j->ctx, "json")  ? SCHED_LINES_JSON
	       : cli_is(j->ctx, "csv") ? SCHED_LINES_CSV
				       : SCHED_LINES_TEXT;
}

static int show_sums(struct job *j, struct sched_timehist *t)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "sched");
	sched_health(&j->names, &r);
	sched_timehist_result(t, j->args->summary ? (u32)j->args->lines : 0, &r);
	/* after lines it is a line as well */
	j->ctx->stream = !j->args->summary;
	if (!j->args->summary && !machine(j))
		fputs("\n", j->ctx->out);
	return cli_show(j->ctx, &r);
}

static int check_timehist(struct job *j)
{
	const struct sched_args *a = j->args;
	const char *what = a->wakeups        ? "--wakeups"
			   : a->migrations   ? "--migrations"
			   : a->with_summary ? "--with-summary"
					     : NULL;

	if (!cli_is(j->ctx, "csv") || !what)
		return 0;
	err_set(&j->ctx->err, EINVAL, "the lines of --csv are all alike: %s has no place there",
		what);
	err_hint(&j->ctx->err, "--json has one");
	return EXIT_USAGE;
}

static int run_timehist(struct job *j)
{
	const struct sched_args *a = j->args;
	bool lines = !a->summary;
	struct sched_lines_more more = a->more;
	struct sched_timehist *t;
	int rc = check_timehist(j);

	if (rc)
		return rc;
	/* files and pipes get perf's lines */
	more.narrow = isatty(fileno(j->ctx->out)) && cli_width(j->ctx) < SCHED_LINES_WIDE;
	t = sched_timehist_new(&j->names, &j->filter, a->idle, lines ? on_turn : NULL,
			       lines && a->wakeups ? on_wake : NULL, j);
	if (lines && a->migrations)
		sched_timehist_moves(t, on_move);
	sched_lines_init(&j->lines, &j->names, lines_format(j), &more);
	j->filter.outside = true;
	j->filter.types = ~(1u << SCHED_RUNTIME);
	fflush(j->ctx->out);
	rc = read_events(j, sched_timehist_events, t);
	if (rc >= 0 && lines) {
		sched_lines_heading(&j->lines);
		rc = flush(j, 0);
		note_losses(&j->names);
	}
	if (rc >= 0 && (!lines || a->with_summary))
		rc = show_sums(j, t);
	sched_timehist_free(t);
	sched_lines_release(&j->lines);
	return j->ctx->output_error ? 0 : rc;
}

/* --- map and summary -------------------------------------------------------------------------- */

/* The recording once more, from its begin; -ENODATA: it came from a pipe, and is gone. */
static int open_again(struct job *j, struct recording **ret)
{
	const char *input = j->args->input;

	if (j->fd < 0)
		return !input || streq(input, "-") ? -ENODATA
						   : recording_open(input, ret, &j->ctx->err);
	lseek(j->fd, 0, SEEK_SET);
	return recording_open_fd(j->fd, "the recording", ret, &j->ctx->err);
}

static int read_kinds(struct job *j, struct sched_kinds *ret)
{
	struct recording *recording;
	int rc = open_again(j, &recording);

	if (rc < 0)
		return rc == -ENODATA ? 0 : rc;
	rc = sched_kinds_read(recording, ret, &j->ctx->err);
	recording_free(recording);
	return rc;
}

static void note_group(const struct sched_group *g)
{
	if (g->moved)
		log_warn("threads came into or left the control group %llu times: what they did is "
			 "shown from when they were seen there, sums are of all their time",
			 (unsigned long long)g->moved);
	if (g->unnamed)
		log_warn("%llu events are of control groups that are not named: they are left out",
			 (unsigned long long)g->unnamed);
}

/* Who is in the control groups that are requested. */
static int read_group(struct job *j)
{
	const str_list *names = &j->args->cgroups;
	VEC(char *) paths = { 0 };
	struct recording *recording;
	int rc = open_again(j, &recording);

	if (rc == -ENODATA) {
		err_set(&j->ctx->err, EINVAL, "a pipe is read once: --cgroup needs a file");
		err_hint(&j->ctx->err, "write it to a file first");
		return EXIT_USAGE;
	}
	if (rc < 0)
		return rc;
	vec_each(name, names)
		vec_push(&paths, sched_group_path(*name));
	rc = sched_group_read(recording, paths.items, paths.len, &j->group, &j->ctx->err);
	recording_free(recording);
	vec_each(path, &paths)
		free(*path);
	vec_release(&paths);
	if (rc < 0)
		return rc;
	note_group(&j->group);
	j->filter.group = &j->group;
	return 0;
}

static void note_marks(const struct marks *m)
{
	if (m->dropped)
		log_warn("%llu marks beyond the first %d are not drawn",
			 (unsigned long long)m->dropped, (int)MARKS_MOST);
	if (m->unbegun)
		log_warn("note: %llu spans end whose begin is not in the recording",
			 (unsigned long long)m->unbegun);
}

static int draw_map(struct job *j, struct sched_map *m)
{
	const struct output_args *output = &j->args->output;
	const char *input = j->args->input;
	struct sched_kinds kinds = { 0 };
	struct marks marks = { 0 };
	const struct timeline t = {
		.map = m, .marks = &marks, .kinds = &kinds, .file = input ? input : "fathom.data"
	};
	int rc = read_kinds(j, &kinds);

	/* a look at the machine has no marks */
	if (rc >= 0 && j->fd < 0 && input && !streq(input, "-"))
		rc = marks_read(input, &marks, &j->ctx->err);
	if (rc >= 0) {
		sched_map_kinds(m, &kinds);
		sched_map_finish(m);
		timeline_svg(&t, output_is(output, "html"), &j->out);
		note_marks(&marks);
		rc = output_write(j->ctx, output, &j->out);
	}
	sched_kinds_release(&kinds);
	marks_release(&marks);
	return rc;
}

static int show_map(struct job *j, struct sched_map *m)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "sched");
	sched_map_finish(m);
	if (!machine(j)) {
		sched_map_text(m, (u32)j->args->lines, &j->out);
		return cli_print(j->ctx, &j->out);
	}
	sched_health(&j->names, &r);
	sched_map_result(m, (u32)j->args->lines, &r);
	return cli_show(j->ctx, &r);
}

static int run_map(struct job *j)
{
	struct sched_map *m;
	int rc;

	j->filter.types = ~(1u << SCHED_RUNTIME);
	j->filter.outside = true; /* who ran when the part began is known from before it */
	m = sched_map_new(&j->names, &j->filter);
	rc = read_events(j, sched_map_events, m);
	if (rc >= 0 && !machine(j))
		note_losses(&j->names);
	if (rc >= 0)
		rc = j->args->output.path ? draw_map(j, m) : show_map(j, m);
	sched_map_free(m);
	return rc;
}

static int run_summary(struct job *j)
{
	_cleanup_result_ struct result r = { 0 };
	struct sched_summary *s = sched_summary_new(&j->names, &j->filter);
	int rc;

	j->filter.types = ~(1u << SCHED_RUNTIME);
	rc = read_events(j, sched_summary_events, s);
	result_init(&r, "sched");
	if (rc >= 0) {
		sched_health(&j->names, &r);
		sched_summary_result(s, j->args->lines ? (u32)j->args->lines : 30,
				     machine(j) ? 0 : cli_width(j->ctx), &r);
		rc = cli_show(j->ctx, &r);
	}
	sched_summary_free(s);
	return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	int (*run)(struct job *j);
} jobs[] = {
	{ "latency", run_latency },
	{ "timehist", run_timehist },
	{ "map", run_map },
	{ "summary", run_summary },
};

/* The option that does not apply to this table, and where it does; NULL: none. */
static const char *misplaced(const struct sched_args *a, int (*run)(struct job *),
			     const char **ret_whose)
{
	*ret_whose = "timehist";
	if (run != run_timehist) {
		const char *given = a->wakeups        ? "--wakeups"
				    : a->migrations   ? "--migrations"
				    : a->more.next    ? "--next"
				    : a->more.state   ? "--state"
				    : a->more.cpus    ? "--cpu-visual"
				    : a->idle         ? "--idle"
				    : a->summary      ? "--summary"
				    : a->with_summary ? "--with-summary"
						      : NULL;

		if (given)
			return given;
	}
	*ret_whose = "latency";
	if (run == run_latency)
		return NULL;
	return a->sort ? "--sort" : a->pids_apart ? "--pids" : NULL;
}

static int check_options(struct context *ctx, const struct sched_args *a, int (*run)(struct job *),
			 const char *what)
{
	const char *whose, *option = misplaced(a, run, &whose);

	if (!option)
		return 0;
	err_set(&ctx->err, EINVAL, "%s does not apply to 'sched %s'", option, what);
	err_hint(&ctx->err, "it goes with 'sched %s'", whose);
	return EXIT_USAGE;
}

static int sched_run(struct context *ctx, void *args)
{
	struct sched_args *a = args;
	struct job j = { .ctx = ctx, .args = a, .fd = -1 };
	const char *what = ctx->operands.len ? ctx->operands.items[0] : "latency";
	int (*run)(struct job *) = NULL;
	int rc = 0;

	if (ctx->operands.len > 1 && !streq(what, "record")) {
		err_set(&ctx->err, EINVAL, "unexpected operand '%s'", ctx->operands.items[1]);
		err_hint(&ctx->err, "one view at a time: latency, timehist, map or summary");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		run = cli_is_operand(what, jobs[i].name) ? jobs[i].run : run;
	if (!run) {
		err_set(&ctx->err, EINVAL, "unknown view 'sched %s'", what);
		err_hint(&ctx->err,
			 streq(what, "record")
				 ? "latency, timehist, map and summary watch the machine "
				   "themselves; for a file: fathom perf sched record -- sleep 1"
				 : "the views are latency, timehist, map and summary");
		return EXIT_USAGE;
	}
	if (a->output.path && run != run_map) {
		err_set(&ctx->err, EINVAL, "'sched %s' has no picture to write", what);
		err_hint(&ctx->err, "-o goes with 'sched map'");
		return EXIT_USAGE;
	}
	rc = check_options(ctx, a, run, what);
	if (!rc)
		rc = output_check(ctx, &a->output, "svg html");
	if (rc)
		return rc;
	j.filter = (struct sched_filter){ .pids = &a->pids, .cpus = &a->cpus };
	if (a->time && parse_time(a->time, &j.filter, &ctx->err) < 0)
		return EXIT_USAGE;
	if (ctx->as_perf && !a->input)
		a->input = PERF_FILE;
	if (!a->input)
		rc = target_expect(&a->pids, &ctx->err);
	if (!a->input && !rc)
		rc = expect_groups(a, &ctx->err);
	if (!a->input && !rc)
		rc = watch(ctx, a, a->output.path != NULL, &j.fd);
	if (!rc && a->cgroups.len)
		rc = read_group(&j);
	if (!rc)
		rc = run(&j);
	if (rc == -ENODATA)
		rc = EXIT_NOTHING;
	sched_group_release(&j.group);
	sched_names_release(&j.names);
	buf_release(&j.out);
	if (j.fd >= 0)
		close(j.fd);
	return rc;
}

static const struct example sched_examples[] = {
	{ "fathom sched latency -d 5s", "who waited for a CPU, how long, and when longest" },
	{ "fathom sched timehist -d 1s -w", "every switch and every wake-up" },
	{ "fathom sched timehist -s -i perf.data", "sums for each task, as perf's -s" },
	{ "fathom sched map -d 200ms -o sched.html", "a timeline to zoom into" },
	{ "fathom sched map -d 1s -G system.slice/x.service -o x.html", "of a control group" },
	{ "fathom sched summary -d 5s", "migrations, preemptions, delays over time" },
	{ "fathom sched latency -i perf.data", "from a file of 'perf sched record'" },
	{ 0 },
};

const struct command cmd_sched = {
	.name = "sched",
	.summary = "the scheduler: delays, history of switches, timeline, preemptions",
	.description =
		"latency (the default): for each task how long it ran, how often and how long it "
		"waited for a "
		"CPU, and when that took longest.\n\n"
		"timehist: each turn of a task: how long it had been away, how long it had waited "
		"since it was woken, how long it ran. A '?' marks turns whose start was not "
		"seen. Its letters are those of perf: -s sums only, -S sums, too, -n who comes "
		"next, -w, -M, -V, -I. With --json each line is an object of its own, and what -S "
		"adds is the last one.\n\n"
		"map: who ran on which CPU: a line for each switch, or with -o a timeline to zoom "
		"into, as .svg or .html. The timeline shows what each task waited for, where the "
		"switches have stacks: of the running machine, and in recordings made with -g or "
		"--off-cpu.\n\n"
		"summary: migrations, which task ran instead, and the time from wake-up to "
		"run.\n\n"
		"-G: a thread belongs to a control group from when an event of it says so, until "
		"one "
		"says otherwise; before the first it counts where that was. Recordings need "
		"--all-cgroups for it.\n\n"
		"Without -i the running machine is watched.",
	.question = Q_WAIT,
	.options = sched_options,
	.args_size = sizeof(struct sched_args),
	.operands = "[latency|timehist|map|summary]",
	.max_operands = SIZE_MAX, /* of 'record', which is not one of ours */
	.instead_of = "latency timehist map schedtimes runqslower",
	.examples = sched_examples,
	.notes =
		"Not every machine delivers every switch: where a CPU leaves its idle task unseen, "
		"the run time of a turn is too long, which is marked and counted.",
	.see_also = "fathom-offcpu fathom-threads fathom-runqlat perf-sched",
	.run = sched_run,
};
