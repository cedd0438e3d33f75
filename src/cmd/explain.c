/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_explain.h"
#include "cmd/offcpu.h"
#include "host/procfs.h"

#include <sys/resource.h>

struct explain_args {
	range_list pids;
	u64 duration;
};

#define AT(field) .offset = offsetof(struct explain_args, field)

static const struct opt explain_options[] = {
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID", .group = "Target",
	  .help = "the process to explain" },
	{ 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME", .group = "Target",
	  .def = "5s", .help = "look at it for this time, like 10s" },
	OPT_END,
};

/* @launched: the process is ours, and when it has ended we know what it cost. */
static void read_faults(u32 pid, bool launched, struct explain_faults *ret)
{
	struct proc_stat st;
	struct rusage ru;

	*ret = (struct explain_faults){ 0 };
	if (procfs_stat(pid, 0, &st) >= 0 && st.state != 'Z')
		*ret = (struct explain_faults){ true, st.minflt, st.majflt };
	else if (launched && getrusage(RUSAGE_CHILDREN, &ru) == 0)
		*ret = (struct explain_faults){ true, (u64)ru.ru_minflt, (u64)ru.ru_majflt };
}

static int look(struct context *ctx, const struct explain_args *a, struct wait_run *run, u32 pid,
		struct explain_faults *faults)
{
	struct explain_faults before = { 0 }, after = { 0 };
	int rc;

	read_faults(pid, ctx->program, &before);
	rc = wait_run_start(run, &ctx->err);
	if (!rc)
		rc = wait_run_go(run, run->live.begin + a->duration, &ctx->err);
	if (!rc)
		rc = offcpu_live_stop(&run->live, &ctx->err);
	if (!rc)
		rc = offcpu_live_collect(&run->live, &ctx->err);
	read_faults(pid, ctx->program, &after);
	faults->known = before.known && after.known;
	faults->minor = after.minor - MIN(after.minor, before.minor);
	faults->major = after.major - MIN(after.major, before.major);
	return rc;
}

static int show(struct context *ctx, struct wait_run *run, u32 pid,
		const struct explain_faults *faults)
{
	_cleanup_result_ struct result r;

	result_init(&r, "explain");
	if (!run->live.threads.len) {
		err_set(&ctx->err, ENODATA, "no thread of process %u was seen", pid);
		return EXIT_NOTHING;
	}
	explain_result(&run->live, pid, faults, ctx->common.json || ctx->common.csv, &r);
	offcpu_live_health(&run->live, &r);
	return cli_show(ctx, &r);
}

static int explain_run(struct context *ctx, void *args)
{
	struct explain_args *a = args;
	struct wait_args w = { .by_thread = true };
	struct wait_run run = { .launch = LAUNCH_INIT };
	struct explain_faults faults = { 0 };
	struct wait_filter f;
	u32 pid;
	int rc, status;

	if (!ctx->program && ranges_count(&a->pids) != 1) {
		err_set(&ctx->err, EINVAL, "explain needs one process");
		err_hint(&ctx->err, "fathom explain -p PID, or fathom explain -- program");
		return EXIT_USAGE;
	}
	w.target.pids = a->pids;
	wait_filter_make(&f, &w, &ctx->err);
	f.opts.states = 0;
	f.opts.threads = f.opts.send = f.opts.wakers = f.opts.chains = f.opts.ran = true;
	rc = wait_run_open(&run, ctx, &f, &ctx->err);
	pid = ctx->program ? (u32)run.launch.pid : (u32)a->pids.items[0].first;
	if (!rc)
		rc = look(ctx, a, &run, pid, &faults);
	if (!rc)
		rc = show(ctx, &run, pid, &faults);
	status = wait_run_status(&run);
	wait_run_release(&run);
	wait_filter_release(&f);
	return rc ? rc : status;
}

static const struct example explain_examples[] = {
	{ "fathom explain -p 1234", "five seconds of a process, in words" },
	{ "fathom explain -d 20s -- ./program", "a program, for at most 20 seconds" },
	{ 0 },
};

const struct command cmd_explain = {
	.name = "explain",
	.summary = "where the time of a process went, in plain words",
	.description = "One page: what all the threads' time was spent on, the five longest waits "
		       "with who ended them and what that one had been doing, the time without a "
		       "CPU and who had it instead, page faults. Every statement has its figure.",
	.question = Q_WAIT,
	.options = explain_options,
	.args_size = sizeof(struct explain_args),
	.takes_program = true,
	.examples = explain_examples,
	.see_also = "fathom-threads fathom-offcpu fathom-chain",
	.run = explain_run,
};
