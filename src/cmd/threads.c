/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads.h"
#include "cmd/offcpu.h"
#include "host/cgroup.h"

struct threads_args {
	struct target_args target;
	int by;
	u64 lines;
	bool user_threads;
	str_list comms;
};

static const char *const by_names[] = { "thread", "process", "comm", "cgroup", NULL };

#define AT(field) .offset = offsetof(struct threads_args, field)

static const struct opt threads_options[] = {
	{ .type = OPT_INCLUDE, .include = target_options, AT(target) },
	{ .name = "by",
	  .type = OPT_CHOICE,
	  AT(by),
	  .arg = "WHAT",
	  .def = "thread",
	  .choices = by_names,
	  .help = "what has a line: each thread, process, name or control group" },
	{ .name = "comm",
	  .type = OPT_STRINGS,
	  AT(comms),
	  .arg = "NAME",
	  .help = "only threads of this name" },
	{ .short_name = 'U',
	  .name = "user-threads",
	  .type = OPT_FLAG,
	  AT(user_threads),
	  .help = "no kernel threads" },
	{ .short_name = 'n',
	  .name = "lines",
	  .type = OPT_U64,
	  AT(lines),
	  .arg = "N",
	  .def = "30",
	  .max = 1 << 20,
	  .help = "show so many, 0 for all" },
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

static int show(struct context *ctx, const struct threads_args *a, struct offcpu_live *live)
{
	_cleanup_result_ struct result r;
	account_list accounts = { 0 };
	int rc;

	result_init(&r, "threads");
	result_fact(&r, "duration_ns", "duration",
		    value_u(VALUE_DURATION, live->end - live->begin));
	accounts_build(&live->profile, live->threads.items, live->threads.len, &live->waits,
		       &accounts);
	name_cgroups(&live->profile, live->threads.items, &accounts);
	accounts_group(&accounts, (enum account_by)a->by);
	result_fact(&r, "threads", "threads", value_u(VALUE_COUNT, live->threads.len));
	accounts_to_result(&live->profile, &accounts, (enum account_by)a->by, (u32)a->lines,
			   ctx->common.json || ctx->common.csv, &r);
	offcpu_live_health(live, &r);
	rc = cli_show(ctx, &r);
	vec_release(&accounts);
	return rc;
}

static int threads_run(struct context *ctx, void *args)
{
	struct threads_args *a = args;
	struct wait_args w = { .target = a->target,
			       .comms = a->comms,
			       .user_threads = a->user_threads,
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
	rc = wait_run_open(&run, ctx, &f, &ctx->err);
	if (!rc)
		rc = wait_run_start(&run, &ctx->err);
	if (!rc)
		rc = wait_run_go(&run, a->target.duration ? run.live.begin + a->target.duration : 0,
				 &ctx->err);
	if (!rc)
		rc = offcpu_live_stop(&run.live, &ctx->err);
	if (!rc)
		rc = offcpu_live_collect(&run.live, &ctx->err);
	if (!rc && !run.live.threads.len) {
		err_set(&ctx->err, ENODATA, "no thread of the target was seen");
		rc = EXIT_NOTHING;
	}
	if (!rc)
		rc = show(ctx, a, &run.live);
	status = wait_run_status(&run);
	wait_run_release(&run);
	wait_filter_release(&f);
	return rc ? rc : status;
}

static const struct example threads_examples[] = {
	{ "fathom threads -d 5s", "what every thread did, in percent of its time" },
	{ "fathom threads -p 1234 -d 5s", "the threads of one process" },
	{ "fathom threads --by process -d 5s", "processes instead of threads" },
	{ "fathom threads -- make -j4", "a program with all that it starts" },
	{ 0 },
};

const struct command cmd_threads = {
	.name = "threads",
	.summary = "thread states: running, waiting for a CPU, blocked and on what",
	.description =
		"Accounts for all the time of each thread: on a CPU in its own code or in the "
		"kernel, runnable but without a CPU, or blocked: on disks, network, locks, pipes, "
		"timers, page faults, polls, children. The figures of a line sum to 100 % of its "
		"wall time. Below stands what each was blocked on longest in all, and "
		"where.\n\n"
		"How CPU time divides into user and kernel comes from the kernel's clock ticks; "
		"all other times from each switch.",
	.question = Q_WAIT,
	.options = threads_options,
	.args_size = sizeof(struct threads_args),
	.takes_program = true,
	.instead_of = "htop pidstat tsa",
	.examples = threads_examples,
	.notes = "What a wait is for is told by the kernel's functions on its stack.",
	.see_also = "fathom-offcpu fathom-explain fathom-sched",
	.run = threads_run,
};
