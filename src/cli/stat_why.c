/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_why.h"

#include "cli/cli.h"

static u32 one_pid(const struct target_args *a)
{
	return a->pids.len && ranges_count(&a->pids) == 1 ? (u32)a->pids.items[0].first : 0;
}

static int open_waits(struct stat_watch *w, const struct target_args *a, u32 launched,
		      struct err *e)
{
	struct wait_args args = { .target = *a, .by_thread = true };
	struct waits_opts *o = &w->filter.opts;
	int rc = wait_filter_make(&w->filter, &args, e);

	w->open = true;
	if (rc < 0)
		return EXIT_USAGE;
	/* not those of the copy on the stack */
	o->pids = &a->pids;
	o->tids = &a->tids;
	o->states = 0;
	o->threads = true;
	o->follow = w->launched;
	rc = waits_live_open(&w->live, o, e);
	if (rc == -EPERM || rc == -EOPNOTSUPP)
		return EXIT_MISSING;
	if (rc >= 0 && w->launched)
		rc = waits_engine_add_pid(w->live.engine, launched, e);
	w->live.launched = launched;
	return rc;
}

int stat_watch_open(struct stat_watch *w, const struct target_args *a, u32 launched, struct err *e)
{
	bool named = a->pids.len || a->tids.len || a->users.len || a->cgroups.len || a->all ||
		     a->cpus.len;

	w->launched = launched && !named;
	w->pid = w->launched ? launched : one_pid(a);
	return w->on ? open_waits(w, a, launched, e) : 0;
}

int stat_watch_start(struct stat_watch *w, struct err *e)
{
	u32 threads;

	if (w->pid && !w->launched)
		(void)delay_of_process(w->pid, &w->before, &threads);
	if (!w->pid)
		pressure_read(&w->pressure);
	return w->on ? waits_live_start(&w->live, e) : 0;
}

int stat_watch_run(struct stat_watch *w, u64 until, bool (*done)(void *), void *ctx, struct err *e)
{
	return waits_live_run(&w->live, until, done, ctx, e);
}

static int take_accounts(struct stat_watch *w, struct err *e)
{
	account_list accounts = { 0 };
	struct observed seen;
	int rc = waits_live_stop(&w->live, e);

	if (rc >= 0)
		rc = waits_live_collect(&w->live, e);
	if (rc < 0)
		return rc;
	seen = waits_live_observed(&w->live);
	waits_merge(seen.profile, seen.waits, WAIT_VIEW_SLEEPER);
	accounts_build(&seen, &accounts);
	stat_why_of_accounts(&w->why, &accounts, w->pid);
	vec_release(&accounts);
	return 0;
}

/* The sums of the threads that were there all the time. */
static void take_process(struct stat_watch *w, u64 wall)
{
	struct delay now;
	u32 threads;

	if (!w->before.known || delay_of_process(w->pid, &now, &threads) < 0 || !threads ||
	    now.running < w->before.running || now.waiting < w->before.waiting)
		return; /* some have ended meanwhile, and their sums with them */
	now.running -= w->before.running;
	now.waiting -= w->before.waiting;
	stat_why_of_delay(threads == 1 ? &w->why.main : &w->why.all, &now, wall * threads);
	if (threads > 1)
		w->why.all.threads = threads;
}

int stat_watch_stop(struct stat_watch *w, const struct delay *main, u64 wall, struct err *e)
{
	struct pressure now;

	w->why = (struct stat_why){ .wall = wall };
	if (w->pressure.known) {
		pressure_read(&now);
		w->why.pressure = (struct pressure){
			.known = now.known && now.cpu >= w->pressure.cpu &&
				 now.io >= w->pressure.io && now.memory >= w->pressure.memory,
			.cpu = now.cpu - w->pressure.cpu,
			.io = now.io - w->pressure.io,
			.memory = now.memory - w->pressure.memory,
		};
	}
	if (w->on)
		return take_accounts(w, e);
	if (w->launched && main->known)
		stat_why_of_delay(&w->why.main, main, wall);
	else if (w->pid)
		take_process(w, wall);
	return 0;
}

void stat_watch_release(struct stat_watch *w)
{
	if (w->open && w->on) {
		waits_live_release(&w->live);
		wait_filter_release(&w->filter);
	}
	w->open = false;
}
