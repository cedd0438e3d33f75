/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_explain.h"
#include "base/fmt.h"
#include "base/stop.h"
#include "cmd/offcpu.h"
#include "host/caps.h"
#include "host/procfs.h"
#include "profile/load.h"
#include "recorder/watch.h"
#include "waits/blame.h"

struct explain_args {
	range_list pids;
	u64 duration;
	const char *input;
	bool idle;
	bool children, no_children;
};

#define AT(field) .offset = offsetof(struct explain_args, field)

static const struct opt explain_options[] = {
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID", .group = "Target",
	  .help = "the process to explain" },
	{ 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME", .group = "Target",
	  .def = "5s", .help = "observe it for this time, like 10s; 0: until Ctrl-C" },
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE", .conflicts = "duration",
	  .help = "a recording of 'fathom record --chains' or 'perf sched record' instead of the "
		  "running machine" },
	{ .name = "children",
	  .type = OPT_FLAG,
	  AT(children),
	  .group = "Target",
	  .conflicts = "no-children",
	  .help = "with the processes that it started; default where it has any" },
	{ .name = "no-children",
	  .type = OPT_FLAG,
	  AT(no_children),
	  .group = "Target",
	  .help = "without them" },
	{ .name = "idle", .type = OPT_FLAG, AT(idle), .help = "waiting for work is a wait, too" },
	OPT_END,
};

enum { SAMPLES_HZ = 499 }; /* of CPU time, while we look */

struct ran_of {
	struct profile *profile;
	ran_list list;
};

/* Of all its threads. */
static struct explain_faults sum_faults(const struct offcpu_thread *threads, size_t n)
{
	struct explain_faults sum = { .known = true };

	for (size_t i = 0; i < n; i++) {
		sum.minor += threads[i].minor;
		sum.major += threads[i].major;
	}
	return sum;
}

/* Samples are taken alongside the waits; other things are prepared until that works. */
static void watch_cpu(u32 pid, const pid_list *children, struct recorder_watch **ret)
{
	pid_list pids = { 0 };

	vec_push(&pids, pid);
	vec_each(c, children)
		vec_push(&pids, *c);
	recorder_watch_start(ret, &(struct recorder_watch_opts){ .pids = &pids,
								 .frequency = SAMPLES_HZ });
	vec_release(&pids);
}

static int look(struct context *ctx, const struct explain_args *a, struct wait_run *run)
{
	int rc = wait_run_start(run, &ctx->err);

	if (!rc)
		rc = wait_run_go(run, a->duration ? run->live.begin + a->duration : 0, &ctx->err);
	if (!rc)
		rc = waits_live_stop(&run->live, &ctx->err);
	if (!rc)
		rc = waits_live_collect(&run->live, &ctx->err);
	return rc;
}

static int on_ran(void *ctx, const struct offcpu_ran_key *k, const struct offcpu_ran_value *v)
{
	struct ran_of *to = ctx;
	char comm[OFFCPU_COMM + 1] = { 0 };

	memcpy(comm, k->comm, OFFCPU_COMM);
	vec_push(&to->list, (struct ran_instead){ .pid = k->pid,
						  .tid = k->tid,
						  .comm = profile_string(to->profile, comm),
						  .ns = v->ns,
						  .turns = v->count });
	return 0;
}

/* 0: for machines. */
static int page_width(const struct context *ctx)
{
	return cli_is_machine(ctx) ? 0 : cli_width(ctx);
}

/* Those of the threads that were seen. */
static void build_functions(const struct profile *profile, const struct offcpu_thread *threads,
			    size_t n, struct cpu_functions *ret)
{
	struct map pids = MAP_INIT;

	for (size_t i = 0; i < n; i++)
		map_put(&pids, threads[i].pid, 1);
	cpu_functions_build(profile, &pids, ret);
	map_release(&pids);
}

struct looked {
	u32 pid;
	struct recorder_watch *watch;
};

static void add_functions(const struct looked *l, const struct observed *seen,
			  struct profile *profile, struct cpu_functions *cpu, struct result *ret)
{
	_cleanup_err_ struct err e = ERR_INIT;
	int rc = recorder_watch_stop(l->watch, profile, &e);

	*cpu = (struct cpu_functions){ 0 };
	if (rc >= 0)
		build_functions(profile, seen->threads, seen->n_threads, cpu);
	else
		result_note(ret, NOTE_WARNING, NULL,
			    "the functions in which CPU time went are not known: %s", e.what);
}

static int show(struct context *ctx, struct wait_run *run, const struct explain_args *a,
		const struct looked *looked)
{
	struct profile profile;
	struct cpu_functions cpu;
	struct observed seen = waits_live_observed(&run->live);
	struct ran_of ran = { .profile = &run->live.profile };
	wait_list parts = { 0 };
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "explain");
	if (!run->live.threads.len)
		return wait_not_seen(ctx, &a->pids);
	seen.idle = a->idle;
	waits_blame(&seen, 0, &parts);
	waits_engine_ran(run->live.engine, on_ran, &ran);
	profile_init(&profile);
	add_functions(looked, &seen, &profile, &cpu, &r);
	const struct explain_input in = { .seen = &seen,
					  .parts = &parts,
					  .ran = &ran.list,
					  .pid = looked->pid,
					  .faults = sum_faults(seen.threads, seen.n_threads),
					  .cpu = &cpu,
					  .width = page_width(ctx) };

	explain_result(&in, &r);
	waits_live_health(&run->live, &r);
	cpu_functions_release(&cpu);
	profile_release(&profile);
	vec_release(&parts);
	vec_release(&ran.list);
	return cli_show(ctx, &r);
}

/* --- from a recording ------------------------------------------------------------------------- */

/* In a recording of the whole machine these are short-lived threads between two snapshots. */
static void note_guessed(const struct recorded *rec, struct result *ret)
{
	double percent = 100.0 * (double)rec->guessed / (double)MAX(rec->lacked, 1ull);
	_cleanup_buf_ struct buf time = BUF_INIT;

	fmt_duration(&time, rec->guessed);
	result_note(ret, NOTE_INFO,
		    percent < 10 ? NULL : "a recording of the whole machine is exact",
		    "some turns on the CPU were not recorded: %s (%.1f%%) is charged to the "
		    "thread that ran there last",
		    buf_str(&time), percent);
}

static void note_missing(const struct recorded *rec, struct result *ret)
{
	if (rec->how & RECORDED_NO_WAKERS)
		result_note(ret, NOTE_INFO, "record with --chains", "wakers were not recorded");
	else if (rec->how & RECORDED_NO_CHAINS && !(rec->how & RECORDED_SWITCHES))
		result_note(ret, NOTE_INFO, "record with --chains",
			    "what those had been doing wakers were not recorded");
	if (rec->load.profile.wait_period)
		result_note(ret, NOTE_INFO, "record without --wait-period",
			    "sampled waits do not say who had the CPU instead");
	else if (rec->guessed)
		note_guessed(rec, ret);
	if (rec->load.profile.lost_samples)
		result_note(ret, NOTE_WARNING, NULL,
			    "waits were lost: the time of threads that had the CPU instead may be "
			    "too long");
	if (rec->how & RECORDED_NO_FAULTS)
		result_note(ret, NOTE_INFO, NULL, "page faults were not recorded");
}

/* The samples of those that are shown. A file without any has no functions to show. */
static void load_functions(const char *path, const struct recorded *rec, struct profile *profile,
			   struct cpu_functions *ret)
{
	*ret = (struct cpu_functions){ 0 };
	if (profile_load(profile, path, &(struct load_opts){ .merge = true, .inlines = true },
			 NULL) >= 0)
		build_functions(profile, rec->threads.items, rec->threads.len, ret);
}

static int show_recorded(struct context *ctx, const char *path, struct recorded *rec,
			 wait_list *parts, u32 pid)
{
	struct explain_input in = { .seen = &rec->seen,
				    .parts = parts,
				    .ran = &rec->ran,
				    .pid = pid,
				    .width = page_width(ctx) };
	struct profile profile;
	struct cpu_functions cpu;
	_cleanup_result_ struct result r = { 0 };

	if (!(rec->how & RECORDED_NO_FAULTS))
		in.faults = sum_faults(rec->threads.items, rec->threads.len);
	profile_init(&profile);
	load_functions(path, rec, &profile, &cpu);
	in.cpu = &cpu;
	result_init(&r, "explain");
	explain_result(&in, &r);
	recorded_notes(rec, &r);
	note_missing(rec, &r);
	cpu_functions_release(&cpu);
	profile_release(&profile);
	return cli_show(ctx, &r);
}

static int from_recording(struct context *ctx, const struct explain_args *a)
{
	static const range_list none;
	const struct recorded_opts opts = { .pids = &a->pids,
					    .tids = &none,
					    .ran = true,
					    .all = true,
					    .children = !a->no_children };
	u32 pid = a->pids.len ? (u32)a->pids.items[0].first : 0;
	wait_list parts = { 0 };
	struct recorded rec;
	int rc;

	stop_at_once();
	rc = recorded_load(&rec, a->input, &opts, &ctx->err);

	if (rc >= 0) {
		waits_blame(&rec.seen, 0, &parts);
		recorded_restrict(&rec, &opts, &parts);
	}
	rec.seen.idle = a->idle;
	if (rc >= 0 && !rec.threads.len) {
		err_set(&ctx->err, ENODATA, "no thread of process %u is in '%s'", pid, a->input);
		rc = EXIT_NOTHING;
	} else if (rc >= 0 && !pid && !rec.root) {
		err_set(&ctx->err, EINVAL, "'%s' has several processes: explain needs one",
			a->input);
		rc = EXIT_USAGE;
	}
	if (rc > 0)
		err_hint(&ctx->err, "fathom threads --by process -i %s lists them", a->input);
	if (!rc)
		rc = show_recorded(ctx, a->input, &rec, &parts, pid ? pid : rec.root);
	vec_release(&parts);
	recorded_release(&rec);
	return rc == -ENODATA ? EXIT_NOTHING : rc;
}

/* --- the running machine ---------------------------------------------------------------------- */

static int live(struct context *ctx, const struct explain_args *a)
{
	pid_list children = { 0 };
	struct wait_args w = { .by_thread = true };
	struct wait_run run = { .launch = LAUNCH_INIT };
	struct looked l = { 0 };
	struct wait_filter f;
	int rc, status;

	w.target.pids = a->pids;
	wait_filter_make(&f, &w, &ctx->err);
	f.opts.states = 0;
	f.opts.threads = f.opts.send = f.opts.wakers = f.opts.chains = f.opts.ran = true;
	if (a->pids.len && !a->no_children)
		procfs_descendants((u32)a->pids.items[0].first, &children);
	f.opts.follow = a->children || children.len;
	l.pid = a->pids.len ? (u32)a->pids.items[0].first : 0;
	if (!ctx->program) {
		caps_drop_unused();
		watch_cpu(l.pid, &children, &l.watch);
	}
	rc = wait_run_open(&run, ctx, &f.opts, &ctx->err);
	if (!rc && ctx->program) {
		l.pid = (u32)run.launch.pid;
		watch_cpu(l.pid, &children, &l.watch);
	}
	if (!rc)
		recorder_watch_ready(l.watch);
	if (!rc)
		rc = look(ctx, a, &run);
	if (!rc)
		rc = show(ctx, &run, a, &l);
	recorder_watch_free(l.watch);
	status = wait_run_status(&run);
	wait_run_release(&run);
	wait_filter_release(&f);
	vec_release(&children);
	return rc ? rc : status;
}

static int explain_run(struct context *ctx, void *args)
{
	const struct explain_args *a = args;
	u64 n = ranges_count(&a->pids);
	int rc = a->input ? wait_no_program(ctx) : 0;

	if (rc)
		return rc;
	if (n > 1 || (!n && !ctx->program && !a->input)) {
		err_set(&ctx->err, EINVAL, "explain needs one process");
		err_hint(&ctx->err, "fathom explain -p PID, or fathom explain -- program");
		return EXIT_USAGE;
	}
	return a->input ? from_recording(ctx, a) : live(ctx, a);
}

static const struct example explain_examples[] = {
	{ "fathom explain -p 1234", "five seconds of a process, in words" },
	{ "fathom explain -d 20s -- ./program", "a program, for at most 20 seconds" },
	{ "fathom explain -p 1234 -i fathom.data", "from a recording of 'record --chains'" },
	{ 0 },
};

const struct command cmd_explain = {
	.name = "explain",
	.summary = "where the time of a process went, in plain words",
	.description =
		"One page: what the time of all threads was spent on, the five waits that took "
		"most time with their wakers and what these did meanwhile, the time without a "
		"CPU and who had it instead, page faults. Every statement has its figure. Waits "
		"of threads with the same name at the same place are merged. Waiting for work is "
		"a single line; with --idle it is treated like other waits.\n\n"
		"Processes that it started are included where there are any: a server with "
		"workers, make. The observation ends with the process.\n\n"
		"A recording of 'fathom record --chains' gives the same page for each process in "
		"it; without -p for a program that was recorded, with all that it started.",
	.question = Q_WAIT,
	.options = explain_options,
	.args_size = sizeof(struct explain_args),
	.takes_program = true,
	.examples = explain_examples,
	.notes = WAIT_NOTES,
	.see_also = "fathom-threads fathom-offcpu fathom-chain",
	.run = explain_run,
};
