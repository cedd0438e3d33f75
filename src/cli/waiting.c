/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/waiting.h"

#include <signal.h>

#include "base/clock.h"
#include "host/caps.h"
#include "capture/target.h"
#include "cli/program.h"
#include "host/procfs.h"

enum { WATCHED_MOST = 64 }; /* processes whose end ends the observation */

/* Those that the processes have started already. */
static int add_children(struct wait_run *r, const range_list *pids, struct err *e)
{
	pid_list children = { 0 };
	int rc = 0;

	for (size_t i = 0; i < pids->len; i++) {
		for (u64 pid = pids->items[i].first; pid <= pids->items[i].last; pid++) {
			procfs_descendants((u32)pid, &children);
			vec_each(c, &children)
				if (rc >= 0)
					rc = waits_engine_add_pid(r->live.engine, *c, e);
		}
	}
	vec_release(&children);
	return rc;
}

int wait_run_open(struct wait_run *r, struct context *ctx, struct waits_opts *opts, struct err *e)
{
	/* else the program only says for how long */
	bool own = !opts->pids->len && !opts->tids->len && !opts->n_uids && !opts->n_cgroups;
	int rc = 0;

	*r = (struct wait_run){ .ctx = ctx, .launch = LAUNCH_INIT };
	if (target_expect(opts->pids, e) < 0 || target_expect(opts->tids, e) < 0)
		return -ESRCH;
	if (ctx->program) {
		rc = program_prepare(&r->launch, ctx->program, e);
		if (rc)
			return rc;
		opts->follow |= own;
	}
	caps_drop_unused();
	rc = waits_live_open(&r->live, opts, e);
	if (rc == -EPERM || rc == -EOPNOTSUPP)
		rc = EXIT_MISSING;
	if (!rc && own && r->launch.pid)
		rc = waits_engine_add_pid(r->live.engine, (u32)r->launch.pid, e);
	if (!rc && opts->follow)
		rc = add_children(r, opts->pids, e);
	r->live.launched = (u32)r->launch.pid;
	r->pids = opts->tids->len ? NULL : opts->pids;
	return rc;
}

int wait_run_start(struct wait_run *r, struct err *e)
{
	int rc = waits_live_start(&r->live, e);

	if (rc >= 0 && r->launch.pid)
		rc = launch_go(&r->launch, e);
	return rc;
}

/* All processes that were named have ended. */
static bool are_gone(const range_list *pids)
{
	if (!pids || !pids->len || ranges_count(pids) > WATCHED_MOST)
		return false;
	for (size_t i = 0; i < pids->len; i++) {
		for (u64 pid = pids->items[i].first; pid <= pids->items[i].last; pid++) {
			if (!kill((pid_t)pid, 0) || errno != ESRCH)
				return false;
		}
	}
	return true;
}

bool wait_run_ended(struct wait_run *r)
{
	return r->launch.pid ? launch_ended(&r->launch) : are_gone(r->pids);
}

static bool ended(void *ctx)
{
	return wait_run_ended(ctx);
}

int wait_run_go(struct wait_run *r, u64 until, struct err *e)
{
	u64 now = clock_mono_ns();
	int rc;

	/* the terminal is the program's while there is one */
	if (!r->launch.pid)
		cli_progress_watching(r->ctx, until > now ? until - now : 0);
	rc = waits_live_run(&r->live, until, ended, r, e);
	if (!r->launch.pid)
		cli_progress(r->ctx, "%s", "");
	return rc;
}

int wait_run_status(struct wait_run *r)
{
	return program_end(&r->launch);
}

void wait_run_release(struct wait_run *r)
{
	waits_live_release(&r->live);
	launch_release(&r->launch);
}

int wait_not_seen(struct context *ctx, const range_list *pids)
{
	u32 pid = pids->len ? (u32)pids->items[0].first : 0;
	struct proc_stat st;

	if (ranges_count(pids) != 1) {
		err_set(&ctx->err, ENODATA, "no thread of the target was seen");
		return EXIT_NOTHING;
	}
	if (procfs_stat(pid, 0, &st) < 0) {
		err_set(&ctx->err, ENODATA, "no thread of process %u was seen", pid);
		err_hint(&ctx->err, "it has ended");
		return EXIT_NOTHING;
	}
	err_set(&ctx->err, ENODATA, "no thread of process %u (%s) was seen, though it has %u", pid,
		st.comm, st.threads);
	err_hint(&ctx->err,
		 "this kernel does not show it to tracing programs: its task iterator and switches "
		 "leave "
		 "it out; /proc/%u has its times",
		 pid);
	return EXIT_NOTHING;
}

void wait_note_children(const range_list *pids, struct result *ret)
{
	pid_list children = { 0 };

	if (ranges_count(pids) == 1)
		procfs_descendants((u32)pids->items[0].first, &children);
	if (children.len)
		result_note(ret, NOTE_INFO, "--children includes them",
			    "process %u has started %zu process%s, not shown here",
			    (u32)pids->items[0].first, children.len, children.len == 1 ? "" : "es");
	vec_release(&children);
}
