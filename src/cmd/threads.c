/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads.h"
#include "base/stop.h"
#include "cmd/offcpu.h"
#include "host/cgroup.h"

struct threads_args {
	struct target_args target;
	int by;
	u64 lines;
	bool user_threads;
	bool idle;
	bool children;
	str_list comms;
	const char *input;
};

static const char *const by_names[] = { "thread", "process", "comm", "cgroup", NULL };

#define AT(field) .offset = offsetof(struct threads_args, field)

static const struct opt threads_options[] = {
	{ .type = OPT_INCLUDE, .include = target_options, AT(target) },
	{ .name = "children",
	  .type = OPT_FLAG,
	  AT(children),
	  .group = "Target",
	  .conflicts = "input",
	  .help = "with -p: and the processes that these have started" },
	{ .name = "by",
	  .type = OPT_CHOICE,
	  AT(by),
	  .arg = "WHAT",
	  .def = "thread",
	  .choices = by_names,
	  .help = "one line per thread, process, name or control group" },
	{ .name = "comm",
	  .type = OPT_STRINGS,
	  AT(comms),
	  .arg = "NAME",
	  .help = "only threads of this name" },
	{ .short_name = 'i',
	  .name = "input",
	  .type = OPT_FILE,
	  AT(input),
	  .arg = "FILE",
	  .conflicts = "user cgroup cpu duration",
	  .help = "a recording of 'fathom record --off-cpu' or 'perf sched record' instead of the "
		  "running machine" },
	{ .short_name = 'U',
	  .name = "user-threads",
	  .type = OPT_FLAG,
	  AT(user_threads),
	  .help = "no kernel threads" },
	{ .name = "idle",
	  .type = OPT_FLAG,
	  AT(idle),
	  .help = "waiting for work may be the longest wait, too" },
	{ .short_name = 'n',
	  .name = "lines",
	  .type = OPT_U64,
	  AT(lines),
	  .arg = "N",
	  .def = "30",
	  .max = 1 << 20,
	  .help = "maximum number of lines, 0: all" },
	OPT_END,
};

/* A process that is gone has the name that others with the same number have. */
static void name_cgroups(struct profile *p, const struct offcpu_thread *threads,
			 account_list *accounts)
{
	struct map known = MAP_INIT; /* number -> string */

	for (size_t i = 0; i < accounts->len; i++) {
		u64 *name = map_at(&known, threads[i].cgroup);
		_cleanup_buf_ struct buf path = BUF_INIT;

		if (!*name && cgroup_of_pid(accounts->items[i].pid, &path) >= 0)
			*name = profile_string(p, buf_str(&path));
	}
	for (size_t i = 0; i < accounts->len; i++) {
		u64 name = map_get(&known, threads[i].cgroup, 0);
		_cleanup_buf_ struct buf number = BUF_INIT;

		buf_addf(&number, "[%llu]", (unsigned long long)threads[i].cgroup);
		accounts->items[i].cgroup = name ? (u32)name : profile_string(p, buf_str(&number));
	}
	map_release(&known);
}

static void fill(const struct context *ctx, const struct threads_args *a, struct observed *o,
		 struct result *ret)
{
	account_list accounts = { 0 };

	o->idle = a->idle;
	result_fact(ret, "duration_ns", "duration", value_u(VALUE_DURATION, o->end - o->begin));
	waits_merge(o->profile, o->waits, WAIT_VIEW_SLEEPER);
	accounts_build(o, &accounts);
	if (!o->cgroups)
		name_cgroups(o->profile, o->threads, &accounts);
	accounts_group(&accounts, (enum account_by)a->by);
	result_fact(ret, "threads", "threads", value_u(VALUE_COUNT, o->n_threads));
	result_fact(ret, "lost", "lost", value_u(VALUE_COUNT, o->profile->lost_samples));
	accounts_to_result(o->profile, &accounts, (enum account_by)a->by, (u32)a->lines,
			   cli_is_machine(ctx), ret);
	vec_release(&accounts);
}

static int show(struct context *ctx, const struct threads_args *a, struct waits_live *live)
{
	_cleanup_result_ struct result r = { 0 };
	struct observed seen = waits_live_observed(live);

	result_init(&r, "threads");
	fill(ctx, a, &seen, &r);
	if (!a->children)
		wait_note_children(&a->target.pids, &r);
	waits_live_health(live, &r);
	return cli_show(ctx, &r);
}

static int show_recorded(struct context *ctx, const struct threads_args *a, struct recorded *rec)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "threads");
	result_fact(&r, "source", "file", value_text(&r, a->input));
	fill(ctx, a, &rec->seen, &r);
	if (a->by == BY_CGROUP && rec->how & RECORDED_NO_CGROUPS)
		result_note(&r, NOTE_WARNING, NULL, "control groups were not recorded");
	recorded_notes(rec, &r);
	return cli_show(ctx, &r);
}

static int from_recording(struct context *ctx, const struct threads_args *a)
{
	const struct recorded_opts opts = { .pids = &a->target.pids,
					    .tids = &a->target.tids,
					    .comms = a->comms.items,
					    .n_comms = a->comms.len,
					    .no_kthreads = a->user_threads };
	struct recorded rec;
	int rc = wait_no_program(ctx);

	if (rc)
		return rc;
	stop_at_once();
	rc = recorded_load(&rec, a->input, &opts, &ctx->err);
	if (rc >= 0 && !rec.threads.len) {
		err_set(&ctx->err, ENODATA, "no such thread is in '%s'", a->input);
		rc = EXIT_NOTHING;
	}
	if (!rc)
		rc = show_recorded(ctx, a, &rec);
	recorded_release(&rec);
	return rc == -ENODATA ? EXIT_NOTHING : rc;
}

static int live(struct context *ctx, const struct threads_args *a)
{
	struct wait_args w = { .target = a->target,
			       .comms = a->comms,
			       .user_threads = a->user_threads,
			       .children = a->children,
			       .by_thread = true };
	struct wait_filter f;
	struct wait_run run = { .launch = LAUNCH_INIT };
	int rc = wait_filter_make(&f, &w, &ctx->err), status;

	if (rc < 0) {
		wait_filter_release(&f);
		return EXIT_USAGE;
	}
	f.opts.states = 0;
	f.opts.threads = true;
	rc = wait_run_open(&run, ctx, &f.opts, &ctx->err);
	if (!rc)
		rc = wait_run_start(&run, &ctx->err);
	if (!rc)
		rc = wait_run_go(&run, a->target.duration ? run.live.begin + a->target.duration : 0,
				 &ctx->err);
	if (!rc)
		rc = waits_live_stop(&run.live, &ctx->err);
	if (!rc)
		rc = waits_live_collect(&run.live, &ctx->err);
	if (!rc && !run.live.threads.len) {
		static const range_list any;
		bool filtered = a->comms.len || a->target.users.len || a->target.cgroups.len ||
				a->target.tids.len || a->user_threads;

		rc = wait_not_seen(ctx, filtered ? &any : &a->target.pids);
	}
	if (!rc)
		rc = show(ctx, a, &run.live);
	status = wait_run_status(&run);
	wait_run_release(&run);
	wait_filter_release(&f);
	return rc ? rc : status;
}

static int threads_run(struct context *ctx, void *args)
{
	const struct threads_args *a = args;

	return a->input ? from_recording(ctx, a) : live(ctx, a);
}

static const struct example threads_examples[] = {
	{ "fathom threads -d 5s", "what every thread did, in percent of its time" },
	{ "fathom threads -p 1234 -d 5s", "the threads of one process" },
	{ "fathom threads --by process -d 5s", "processes instead of threads" },
	{ "fathom threads -- make -j4", "a program with all that it starts" },
	{ "fathom threads -i fathom.data", "the same from a recording of 'record --off-cpu'" },
	{ 0 },
};

const struct command cmd_threads = {
	.name = "threads",
	.summary = "thread states: running, waiting for a CPU, blocked and on what",
	.description =
		"Accounts for all the time of each thread: on a CPU in its own code or in the "
		"kernel, runnable but without a CPU, or blocked: on a disk, flush, network, lock, "
		"rwlock, cond (condition variable), semaphore, barrier, join, futex, pipe (or "
		"message queue), sleep (a timer), fault (a page), reclaim, throttled, frozen, "
		"stopped, child. A thread without waiters is in poll (one of many events), work "
		"(waiting for work) "
		"or idle (a kernel thread). The figures of a line sum to 100 % of its wall time. "
		"A second table has the longest wait of each; --idle counts waiting for work "
		"there, too.\n\n"
		"How CPU time divides into user and kernel comes from the kernel's clock ticks; "
		"all other times from each switch.",
	.question = Q_WAIT,
	.options = threads_options,
	.args_size = sizeof(struct threads_args),
	.takes_program = true,
	.instead_of = "tsa",
	.examples = threads_examples,
	.notes = "The kind of a wait follows from its stack, its system call and the thread's "
		 "name, by rules. Rules of your own, in ~/.config/fathom/waits.tsv, are tried "
		 "first: lines of KIND<TAB>WHERE=PATTERN, where WHERE is kernel or user (a "
		 "function on the stack), only (the file that has all functions of the stack "
		 "but the C library's), syscall, futex (its operation) or comm. All conditions "
		 "of a line must hold.\n\n"
		 "A recording of 'fathom record --off-cpu' holds all that a live run shows. One "
		 "of 'perf sched record' separates running, runnable and blocked by the "
		 "scheduler's state: S until something comes, D mostly disks. What a recording "
		 "lacks is derived where possible, and noted below the table.\n\n" WAIT_NOTES,
	.see_also = "fathom-offcpu fathom-explain fathom-sched",
	.run = threads_run,
};
