/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <sys/resource.h>

#include "analysis/stat.h"
#include "analysis/stat_result.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/option_text.h"
#include "cli/cli.h"
#include "cli/program.h"
#include "cli/stat_args.h"
#include "cli/stat_why.h"
#include "cli/target.h"
#include "host/caps.h"
#include "host/procfs.h"
#include "recorder/count_run.h"
#include "view/stat_form.h"

/* --- events ----------------------------------------------------------------------------------- */

struct stat_job {
	struct context *ctx;
	struct stat_args *args;
	struct event_list events;
	bool no_pmu; /* the default events are those that software counts */
	struct target target;
	struct topology topology;
	struct stat_set stat;
	struct launch launch;
	struct control control;
	struct counting *counting;
	struct stat_watch watch;
	FILE *out;
	FILE *owned; /* @out, if it is to be closed */
	struct stat_form form;
	char *subject;
	size_t drawn; /* lines of the last interval on a terminal */
	int status;   /* of the program */
};

/* --- target ----------------------------------------------------------------------------------- */

/* All threads of the machine, where each is to have its line. */
static int add_all_threads(struct stat_job *j)
{
	range_list all = { 0 };
	int rc;

	vec_push(&all, (struct range){ 1, TARGET_RANGE_MOST });
	rc = target_add_pids(&j->target, &all, &j->ctx->err);
	vec_release(&all);
	return rc;
}

static int add_cgroups(struct stat_job *j)
{
	_cleanup_free_ char *list = xstrdup(j->args->cgroups);
	char *at = list, *name;
	int rc = 0;

	while (rc >= 0 && (name = strsep(&at, ",")))
		rc = target_add_cgroup(&j->target, name, &j->ctx->err);
	return rc;
}

static int choose_target(struct stat_job *j)
{
	const struct stat_args *a = j->args;
	const struct target_args *t = &a->target;
	bool named = t->pids.len || t->tids.len || t->users.len || t->cgroups.len;
	int rc = 0;

	target_release(&j->target);
	j->target = (struct target){ 0 };
	if (a->cgroups)
		rc = add_cgroups(j);
	else if (a->by_thread && !named && (t->all || !j->launch.pid))
		rc = add_all_threads(j);
	if (rc < 0)
		return rc;
	return target_choose(&j->target, t, a->cgroups || a->by_thread ? 0 : j->launch.pid,
			     &j->ctx->err);
}

static int open_output(struct stat_job *j)
{
	const struct stat_args *a = j->args;
	bool ours = cli_is_machine(j->ctx);

	j->out = j->ctx->program && !ours ? stderr : j->ctx->out;
	j->launch.out_to_err = j->ctx->program && ours && !a->output;
	if (a->log_fd_given) {
		int fd = fcntl((int)a->log_fd, F_DUPFD_CLOEXEC, 3);

		j->out = j->owned = fd >= 0 ? fdopen(fd, "w") : NULL;
		return j->out ? 0
			      : err_sys(&j->ctx->err, errno, "cannot use descriptor %llu",
					(unsigned long long)a->log_fd);
	}
	if (!a->output || streq(a->output, "-")) {
		if (a->output)
			j->out = j->ctx->out;
		return 0;
	}
	j->out = j->owned = fopen(a->output, a->append ? "ae" : "we");
	return j->out ? 0 : io_cannot_create(a->output, errno, &j->ctx->err);
}

/* --- showing ---------------------------------------------------------------------------------- */

static char *subject_of(const struct stat_job *j)
{
	_cleanup_buf_ struct buf out = BUF_INIT, line = BUF_INIT;

	if (target_is_whole(&j->target)) {
		buf_addstr(&out, j->args->target.cpus.len ? "these CPUs"
				 : j->args->as_perf       ? "'system wide'"
							  : "the whole machine");
	} else if (j->target.cgroups.len) {
		vec_each(g, &j->target.cgroups)
			buf_addf(&out, "%s'%s'", out.len ? ", " : "control group ", g->path);
	} else if (j->ctx->program && j->launch.pid && !j->args->target.pids.len &&
		   !j->args->target.tids.len) {
		for (char **arg = j->ctx->program; *arg; arg++)
			buf_addf(&line, "%s%s", line.len ? " " : "", *arg);
		buf_addch(&out, '\'');
		fmt_clean(&out, buf_str(&line), line.len);
		buf_addch(&out, '\'');
	} else {
		vec_each(pid, &j->target.processes) {
			if (out.len > 60) {
				buf_addf(&out, " and more, %zu in all", j->target.processes.len);
				break;
			}
			if (j->args->as_perf)
				buf_addf(&out, "%s%d", out.len ? "," : "process id '", (int)*pid);
			else
				buf_addf(&out, "%s%d", out.len ? ", " : "process ", (int)*pid);
		}
		if (j->args->as_perf)
			buf_addch(&out, '\'');
	}
	return buf_detach(&out);
}

static void redraw(struct stat_job *j, const struct buf *text)
{
	bool live = j->form.interval && j->out == j->ctx->out && isatty(fileno(j->out)) &&
		    !stat_perf_form(j->args);

	if (live && j->args->interval_clear)
		fputs("\033[H\033[2J", j->out);
	else if (live && j->drawn)
		fprintf(j->out, "\033[%zuA\033[J", j->drawn);
	j->drawn = 0;
	for (size_t i = 0; live && i < text->len; i++)
		j->drawn += text->data[i] == '\n';
	j->form.header = live; /* what is redrawn keeps its heading */
}

static int show_form(struct stat_job *j)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	stat_lines lines = { 0 };

	stat_report(&j->stat, &lines);
	if (j->args->separator)
		stat_form_csv(&j->stat, &lines, &j->form, &text);
	else if (j->args->json_lines)
		stat_form_json(&j->stat, &lines, &j->form, &text);
	else
		stat_form_text(&j->stat, &lines, &j->form, &text);
	vec_release(&lines);
	redraw(j, &text);
	(void)fwrite(text.data ? text.data : "", 1, text.len, j->out);
	return fflush(j->out) ? err_sys(&j->ctx->err, errno, "cannot write") : 0;
}

/* What could not be counted, once, below the figures; programs have it in their lines. */
static void show_missing(struct stat_job *j)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (stat_perf_form(j->args) || log_get_level() == LOG_QUIET)
		return;
	if (j->stat.spans.len == 1 && (j->args->why || j->no_pmu))
		stat_why_text(&j->watch.why, &text);
	if (!j->args->as_perf)
		stat_missing(&j->stat, j->no_pmu, &text);
	if (text.len)
		fprintf(j->out, "\n%s", buf_str(&text));
	(void)fflush(j->out);
}

static int show_ours(struct stat_job *j)
{
	_cleanup_result_ struct result r = { 0 };

	FILE *out = j->ctx->out;
	int rc;

	result_init(&r, "stat");
	stat_result(&j->stat, j->subject, j->no_pmu, j->form.interval ? j->form.time : 0, &r);
	if (!j->form.interval && j->stat.spans.len == 1) {
		stat_why_result(&j->watch.why, &r);
		if (j->args->why)
			waits_live_health(&j->watch.live, &r);
	}
	j->ctx->out = j->out;
	rc = cli_show(j->ctx, &r);
	(void)fflush(j->out);
	j->ctx->out = out;
	return rc;
}

static int show(struct stat_job *j)
{
	if (cli_is_machine(j->ctx))
		return show_ours(j);
	return show_form(j);
}

static int on_interval(void *ctx, u64 since, u64 length)
{
	struct stat_job *j = ctx;
	int rc = counting_read(j->counting, &j->ctx->err);

	if (rc < 0)
		return rc;
	stat_take(&j->stat, j->counting)->wall = length;
	j->form.interval = true;
	j->form.time = since;
	rc = show(j);
	stat_forget(&j->stat);
	return rc;
}

/* --- runs ------------------------------------------------------------------------------------- */

static int run_beside(struct stat_job *j, const char *command)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	struct launch l = LAUNCH_INIT;
	int rc = command ? launch_prepare(&l, argv, &j->ctx->err) : 0;

	if (command && rc >= 0)
		rc = launch_go(&l, &j->ctx->err);
	if (command && rc >= 0) {
		int status = launch_wait(&l);

		if (status)
			log_warn("note: '%s' ended with status %d", command, status);
	}
	launch_release(&l);
	return rc;
}

static u64 timeval_ns(struct timeval t)
{
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_usec * NSEC_PER_USEC;
}

static void children_time(u64 *ret_user, u64 *ret_system)
{
	struct rusage u;

	memset(&u, 0, sizeof(u));
	(void)getrusage(RUSAGE_CHILDREN, &u);
	*ret_user = timeval_ns(u.ru_utime);
	*ret_system = timeval_ns(u.ru_stime);
}

static int open_counters(struct stat_job *j, bool on_exec)
{
	const struct stat_args *a = j->args;
	enum stat_by by = stat_args_by(a);
	struct count_opts o = {
		.no_inherit = a->no_inherit,
		.on_exec = on_exec,
		.by_cpu = stat_by_cpus(by) || (j->args->target.cpus.len && j->target.by_thread),
		.user_only = a->user_only,
		.kernel_only = a->kernel_only,
		.no_guest = a->no_guest,
	};

	counting_free(j->counting);
	j->counting = counting_new(&j->events, &j->target, &o);
	return counting_open(j->counting, &j->ctx->err);
}

static void label_threads(struct stat_set *s)
{
	if (s->by != STAT_THREAD || !s->n_places)
		return;
	vec_each(g, &s->groups) {
		char comm[PROCFS_COMM] = "";

		(void)procfs_comm((u32)g->id[0], 0, comm);
		stat_label_thread(s, g, comm);
	}
}

/* The first run says what there is; later ones must be alike. */
static int prepare_run(struct stat_job *j, bool first, bool *ret_on_exec)
{
	const struct stat_args *a = j->args;
	int rc = 0;

	if (j->ctx->program)
		rc = program_prepare(&j->launch, j->ctx->program, &j->ctx->err);
	if (rc == 0)
		rc = choose_target(j);
	if (rc == 0 && first)
		rc = stat_args_events(a, target_is_whole(&j->target), &j->events, &j->no_pmu,
				      &j->ctx->err);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	if (rc)
		return rc;
	*ret_on_exec = j->launch.pid && target_has_tid(&j->target, j->launch.pid) && !a->delay;
	rc = open_counters(j, *ret_on_exec);
	if (rc < 0)
		return rc;
	if (!first) {
		stat_restart(&j->stat);
		return 0;
	}
	j->stat.whole = target_is_whole(&j->target) || (a->by_thread && !j->launch.pid);
	stat_setup(&j->stat, &j->events, j->counting, &j->target, &j->topology);
	label_threads(&j->stat);
	j->subject = subject_of(j);
	j->form.subject = j->subject;
	j->form.whole =
		target_is_whole(&j->target) || j->args->target.pids.len || j->args->target.tids.len;
	return 0;
}

static int run_waits(void *ctx, u64 until, bool (*done)(void *), void *done_ctx)
{
	struct stat_job *j = ctx;

	return stat_watch_run(&j->watch, until, done, done_ctx, &j->ctx->err);
}

static int run_counted(struct stat_job *j, bool on_exec)
{
	const struct stat_args *a = j->args;
	struct count_run run = {
		.counting = j->counting,
		.target = &j->target,
		.launch = &j->launch,
		.control = a->control ? &j->control : NULL,
		.delay = a->delay == OPTION_DELAY_CONTROL ? 0 : a->delay,
		.paused = a->delay == OPTION_DELAY_CONTROL,
		.on_exec = on_exec,
		.interval = a->interval,
		.intervals_most = a->interval_count,
		.timeout = a->timeout ? a->timeout : a->target.duration,
		.on_interval = on_interval,
		.ctx = j,
		.beside = a->why ? run_waits : NULL,
	};
	u64 user, system, user_end, system_end;
	struct stat_span *span;
	int rc;

	children_time(&user, &system);
	if (!j->launch.pid && !a->interval && j->out == j->ctx->out)
		cli_progress_watching(j->ctx, run.timeout);
	rc = stat_watch_start(&j->watch, &j->ctx->err);
	/* what is started later has all that the user has */
	if (!a->repeat_given && !a->post)
		caps_drop_unused();
	if (rc >= 0)
		rc = recorder_count_run(&run, &j->ctx->err);
	cli_progress(j->ctx, "%s", "");
	if (rc >= 0)
		rc = stat_watch_stop(&j->watch, &run.main, run.wall, &j->ctx->err);
	if (rc < 0)
		return rc;
	j->status = program_end(&j->launch);
	children_time(&user_end, &system_end);
	rc = counting_read(j->counting, &j->ctx->err);
	if (rc < 0)
		return rc;
	if (a->interval && !a->interval_count) /* the rest after the last whole interval */
		rc = on_interval(j, run.last - run.since + (clock_mono_ns() - run.last),
				 run.wall - (run.last - run.since));
	if (a->interval && a->summary)
		stat_restart(&j->stat); /* from the start */
	if (rc < 0 || (a->interval && !a->summary))
		return rc;
	span = stat_take(&j->stat, j->counting);
	span->wall = run.wall;
	span->user = j->launch.pid ? user_end - user : 0;
	span->system = j->launch.pid ? system_end - system : 0;
	return 0;
}

static int run_once(struct stat_job *j, bool first)
{
	bool on_exec = false;
	int rc = run_beside(j, j->args->pre);

	if (j->args->sync)
		sync();
	if (rc == 0)
		rc = prepare_run(j, first, &on_exec);
	if (rc == 0)
		rc = stat_watch_open(&j->watch, &j->args->target, (u32)j->launch.pid, &j->ctx->err);
	if (rc == 0)
		rc = run_counted(j, on_exec);
	launch_release(&j->launch);
	return rc ? rc : run_beside(j, j->args->post);
}

static int run_all(struct stat_job *j)
{
	u64 runs = j->args->repeat_given ? j->args->repeat : 1;
	int rc = 0;

	for (u64 i = 0; rc == 0 && (!runs || i < runs) && !stop_requested(); i++) {
		rc = run_once(j, i == 0);
		if (rc == 0 && !runs) { /* forever: each by itself */
			rc = show(j);
			stat_forget(&j->stat);
		} else if (rc == 0 && runs > 1) {
			cli_progress(j->ctx, "run %llu of %llu", (unsigned long long)i + 1,
				     (unsigned long long)runs);
		}
	}
	cli_progress(j->ctx, "%s", "");
	return rc;
}

static int finish(struct stat_job *j)
{
	bool ours = cli_is_machine(j->ctx);
	int rc = 0;

	j->form.interval = false;
	j->form.summary = j->args->interval != 0 && !j->args->no_word;
	if (j->stat.spans.len)
		rc = show(j);
	if (rc < 0)
		return rc;
	if (!ours)
		show_missing(j);
	if (j->args->strict && stat_any_missing(&j->stat)) {
		err_set(&j->ctx->err, EOPNOTSUPP, "not every event could be counted");
		return EXIT_MISSING;
	}
	return j->status;
}

static void job_release(struct stat_job *j)
{
	stat_watch_release(&j->watch);
	counting_free(j->counting);
	stat_release(&j->stat);
	event_list_release(&j->events);
	target_release(&j->target);
	topology_release(&j->topology);
	launch_release(&j->launch);
	recorder_control_release(&j->control);
	free(j->subject);
	if (j->owned)
		(void)fclose(j->owned);
}

static int stat_count(struct stat_job *j)
{
	struct stat_args *a = j->args;
	enum stat_by by = stat_args_by(a);
	int rc = stat_args_check(j->ctx, a, &j->ctx->err);

	if (rc == 0)
		rc = open_output(j);
	if (rc == 0 && a->control)
		rc = recorder_control_open(&j->control, a->control, &j->ctx->err);
	if (rc == 0 && stat_by_cpus(by))
		rc = topology_read(&j->topology, NULL, TOPOLOGY_CPUS, &j->ctx->err);
	if (rc == -EINVAL)
		rc = EXIT_USAGE;
	if (rc)
		return rc;
	stat_init(&j->stat, by, false, !a->no_scale);
	j->form = (struct stat_form){
		.separator = a->separator,
		.repeated = a->repeat > 1,
		.metric_only = a->metric_only,
		.header = true,
		.color = !stat_perf_form(a) && cli_color(j->ctx) && isatty(fileno(j->out)),
		.big = !a->no_big,
		.table = a->table,
		.as_perf = a->as_perf,
	};
	j->watch.on = a->why;
	j->ctx->stream = a->interval != 0 || (a->repeat_given && !a->repeat);
	rc = run_all(j);
	return rc ? rc : finish(j);
}

/* --- comparing -------------------------------------------------------------------------------- */

static int read_runs(struct context *ctx, const char *path, struct stat_file *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = io_read_file(path, IO_MAX_PROC, &text, &ctx->err);

	return rc < 0 ? rc : stat_file_parse(buf_str(&text), text.len, path, ret, &ctx->err);
}

static int compare_files(struct context *ctx)
{
	struct stat_file before = { 0 }, after = { 0 };
	_cleanup_result_ struct result r = { 0 };
	char **files = ctx->program;
	int rc;

	result_init(&r, "stat");
	if (!files || !files[0] || !files[1] || files[2]) {
		err_set(&ctx->err, EINVAL, "--compare takes two files");
		err_hint(&ctx->err, "fathom stat --compare before.json after.json");
		return EXIT_USAGE;
	}
	rc = read_runs(ctx, files[0], &before);
	if (rc >= 0)
		rc = read_runs(ctx, files[1], &after);
	if (rc >= 0) {
		result_title(&r, "from %s to %s", files[0], files[1]);
		stat_compare(&before, &after, &r);
		rc = cli_show(ctx, &r);
	}
	stat_file_release(&before);
	stat_file_release(&after);
	return rc;
}

static int stat_run(struct context *ctx, void *args)
{
	struct stat_job j = { .ctx = ctx, .args = args, .launch = LAUNCH_INIT };
	int rc;

	((struct stat_args *)args)->as_perf = ctx->as_perf;
	if (j.args->compare)
		return compare_files(ctx);
	rc = stat_count(&j);
	job_release(&j);
	return rc;
}

static const struct example stat_examples[] = {
	{ "fathom stat -- sleep 1", "a program: what it used and how long it took" },
	{ "fathom stat -r 10 -- xz -kf big", "ten runs: mean, spread and confidence" },
	{ "fathom stat -a -I 1000", "the whole machine, each second" },
	{ "fathom stat -p 1234 --timeout 5000", "a process, for five seconds" },
	{ "fathom stat -a --per-core -e context-switches --timeout 1000", "core by core" },
	{ "fathom stat -e 'syscalls:sys_enter_*' -- ls", "which system calls, how often" },
	{ "fathom stat --why -- tar cf /tmp/x.tar /usr/share/doc", "and what it waited for" },
	{ "fathom stat --json -r 10 -o a.json -- ./old", "a file for --compare" },
	{ "fathom stat --compare a.json b.json", "which differences are more than chance" },
	{ 0 },
};

const struct command cmd_stat = {
	.name = "stat",
	.summary = "count events of a program, a process or the machine",
	.description =
		"Counts events exactly, without sampling, and derives figures from them: CPUs in "
		"use, instructions per cycle, miss rates. It takes the options of 'perf stat' "
		"and writes its lines with -x and -j; --json is fathom's own form, with units, "
		"and with each run for --compare.\n\n"
		"Where the CPU has fewer counters than events, the kernel takes turns; counts "
		"are then scaled up, and the counted share of the time follows in "
		"parentheses.\n\n"
		"With a program the counts go to stderr, as with perf, since stdout belongs to "
		"the program; --json and --csv go to stdout, and the program's output to stderr. "
		"Without a program everything goes to stdout.",
	.question = Q_CPU,
	.options = stat_options,
	.args_size = sizeof(struct stat_args),
	.takes_program = true,
	.instead_of = "time",
	.examples = stat_examples,
	.notes = "In many virtual machines there are no hardware counters: then software events "
		 "are shown, with the kernel's own sums of how long the main thread ran, waited "
		 "for a CPU and was blocked, and a line says what is missing. --why splits "
		 "blocked time by its reason, for all threads, and watches each switch for that. "
		 "Rates are per second of CPU time, as in perf, not of elapsed time.",
	.see_also = "fathom-record fathom-list fathom-threads perf-stat",
	.run = stat_run,
	.release = stat_args_release,
};
