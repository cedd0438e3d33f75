/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that watches waits: second by second, with accounts that sum to the time of a thread.
 */
#include "analysis/threads.h"
#include "analysis/waits.h"
#include "base/clock.h"
#include "base/stop.h"
#include "top/live_state.h"
#include "waits/live.h"

#define INTERVAL_NS NSEC_PER_SEC

enum { WAITS_SHOWN = 400, POLL_NS = 100 * 1000 * 1000 };

struct watching {
	struct live *live;
	struct waits_live waits;
	VEC(struct offcpu_thread) before; /* accounts at the end of the last interval */
	struct map by_tid;                /* -> place + 1 */
	u64 serial;
};

static bool is_done(void *ctx)
{
	struct watching *w = ctx;

	return !live_is_wanted(w->live, LIVE_WAITS);
}

/* --- accounts of one interval ----------------------------------------------------------------- */

static u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

/* The kernel's sums are since the start: what an interval added is the difference. */
static void make_differences(struct watching *w)
{
	VEC(struct offcpu_thread) now = { 0 };

	vec_each(t, &w->waits.threads) {
		u64 at = map_get(&w->by_tid, t->tid, 0);
		const struct offcpu_thread *b = at ? &w->before.items[at - 1] : NULL;
		struct offcpu_thread whole = *t;

		vec_push(&now, whole);
		if (!b || b->begin != t->begin)
			continue;
		t->oncpu = grown(t->oncpu, b->oncpu);
		t->blocked = grown(t->blocked, b->blocked);
		t->runq = grown(t->runq, b->runq);
		t->unknown = grown(t->unknown, b->unknown);
		t->utime = grown(t->utime, b->utime);
		t->stime = grown(t->stime, b->stime);
		t->begin = b->end;
	}
	vec_clear(&w->before);
	map_clear(&w->by_tid);
	vec_each(t, &now) {
		vec_push(&w->before, *t);
		map_put(&w->by_tid, t->tid, w->before.len);
	}
	vec_release(&now);
}

/* Of each thread the waker that ended most of its waiting. */
static void find_wakers(struct watching *w, struct map *names, struct waits_frame *f)
{
	const struct profile *p = &w->waits.profile;
	_cleanup_map_ struct map longest = MAP_INIT;

	vec_each(in, &w->waits.waits) {
		u32 tid = (u32)p->threads.items[in->thread].tid;
		u64 *most = map_at(&longest, tid);

		if (!in->n_links || in->blocked < *most)
			continue;
		*most = in->blocked;
		map_put(names, tid,
			(u64)(uintptr_t)arena_strdup(&f->arena, profile_str(p, in->links[0].comm)));
	}
}

static void fill_shares(struct watching *w, struct waits_frame *f)
{
	struct observed seen = waits_live_observed(&w->waits);
	account_list accounts = { 0 };
	_cleanup_map_ struct map wakers = MAP_INIT;

	find_wakers(w, &wakers, f);
	accounts_build(&seen, &accounts);
	vec_each(a, &accounts) {
		struct share_row row = { .pid = a->pid, .tid = a->tid, .wall = a->wall };
		_cleanup_buf_ struct buf place = BUF_INIT;

		for (int i = 0; i < STATE_COUNT; i++)
			row.ns[share_of_state((enum thread_state)i)] += a->ns[i];
		if (a->top_stack)
			wait_place_brief(&w->waits.profile, a->top_stack, &place);
		row.place = arena_strdup(&f->arena, buf_str(&place));
		row.waker = (const char *)(uintptr_t)map_get(&wakers, a->tid, 0);
		shares_add(&f->shares, &row);
	}
	vec_release(&accounts);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void add_wait(struct watching *w, struct waits_frame *f, const struct wait *in)
{
	const struct profile *p = &w->waits.profile;
	const struct profile_thread *thread = &p->threads.items[in->thread];
	_cleanup_buf_ struct buf place = BUF_INIT;
	struct live_wait *to = vec_new(&f->waits);

	if (in->stack)
		wait_place(p, in->stack, &place);
	*to = (struct live_wait){
		.pid = (u32)thread->pid,
		.tid = (u32)thread->tid,
		.comm = arena_strdup(&f->arena, profile_str(p, thread->comm)),
		.kind = thread_state_name((enum thread_state)in->kind),
		.place = arena_strdup(&f->arena, buf_str(&place)),
		.waker = in->n_links ? arena_strdup(&f->arena, profile_str(p, in->links[0].comm))
				     : "",
		.waker_pid = in->n_links ? in->links[0].pid : 0,
		.waker_tid = in->n_links ? in->links[0].tid : 0,
		.blocked = in->blocked,
		.runq = in->runq,
		.count = in->count,
		.longest = in->max_blocked,
	};
}

/* What ended, or was woken, tells more than what went on all the time. */
static int wait_order(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	u64 p = x->blocked + x->runq, q = y->blocked + y->runq;

	if ((x->flags & OFFCPU_OPEN) != (y->flags & OFFCPU_OPEN))
		return x->flags & OFFCPU_OPEN ? 1 : -1;

	return p > q ? -1 : p < q;
}

static void fill_waits(struct watching *w, const struct live_request *r, struct waits_frame *f)
{
	vec_sort(&w->waits.waits, wait_order);
	vec_each(in, &w->waits.waits) {
		const struct profile_thread *thread = &w->waits.profile.threads.items[in->thread];

		if ((r->pid && (u32)thread->pid != r->pid) ||
		    (r->tid && (u32)thread->tid != r->tid))
			continue;
		/* what nobody waits for is shown only where one looks at a single process */
		if (!r->pid && wait_is_idle((enum thread_state)in->kind))
			continue;
		if (f->waits.len < WAITS_SHOWN)
			add_wait(w, f, in);
	}
}

/* The flame graph of waits. */
static void publish_cold(struct watching *w, const struct live_request *r, double seconds)
{
	struct profile *p = &w->waits.profile;
	struct profile_frame *f = xcalloc(1, sizeof(*f));
	wait_list asked = { 0 };

	vec_each(in, &w->waits.waits) {
		const struct profile_thread *thread = &p->threads.items[in->thread];

		if ((r->pid && (u32)thread->pid != r->pid) ||
		    (r->tid && (u32)thread->tid != r->tid) ||
		    wait_is_idle((enum thread_state)in->kind))
			continue;
		vec_push(&asked, *in);
	}
	waits_to_profile(p, &asked, WAIT_VIEW_SLEEPER, false);
	f->cold = true;
	f->seconds = seconds;
	f->serial = w->serial;
	profile_frame_fill(f, p, profile_get_event(p, OFFCPU_EVENT), r);
	live_publish_profile(w->live, f);
	vec_release(&asked);
}

static void publish(struct watching *w)
{
	struct waits_frame *f = xcalloc(1, sizeof(*f));
	struct live_request r;

	f->seconds = (double)(w->waits.end - w->waits.begin) / 1e9;
	f->lost = w->waits.profile.lost_samples;
	make_differences(w);
	fill_shares(w, f);
	if (live_request(w->live, &r, &w->serial)) {
		f->serial = w->serial;
		fill_waits(w, &r, f);
		if (r.cold)
			publish_cold(w, &r, f->seconds);
	}
	live_publish_waits(w->live, f);
}

static void publish_why(struct live *l, const struct err *e)
{
	struct waits_frame *f = xcalloc(1, sizeof(*f));

	f->why = arena_strdup(&f->arena, e->what ? e->what : "waits cannot be watched here");
	f->hint = arena_strdup(&f->arena, e->hint ? e->hint : "");
	f->serial = UINT64_MAX;
	live_publish_waits(l, f);
}

/* --- the loop --------------------------------------------------------------------------------- */

static bool is_same_request(struct watching *w)
{
	struct live_request r;
	u64 serial;

	return live_request(w->live, &r, &serial) && r.waits && serial == w->serial;
}

/* One interval: a second, or as many as the budget wants, but who asks for other rows gets them. */
static int run_interval(struct watching *w, struct err *e)
{
	u64 begin = w->waits.begin;
	int r = 0;

	for (u32 n = 1; r >= 0; n++) {
		r = waits_live_run(&w->waits, begin + n * INTERVAL_NS, is_done, w, e);
		if (n >= live_pace_now(w->live) || !is_same_request(w) || stop_requested())
			break;
	}
	return r;
}

static int watch(struct watching *w, struct err *e)
{
	const struct waits_opts opts = { .threads = true,
					 .by_thread = true,
					 .wakers = true,
					 .intervals = true,
					 .no_runnable_stacks = true };
	int r = waits_live_open(&w->waits, &opts, e);

	if (!r)
		r = waits_live_start(&w->waits, e);
	while (r >= 0 && live_is_wanted(w->live, LIVE_WAITS) && !stop_requested()) {
		r = run_interval(w, e);
		if (r >= 0)
			r = MIN(waits_engine_accounts(w->waits.engine, e), 0);
		if (r >= 0)
			r = waits_live_collect(&w->waits, e);
		if (r >= 0)
			publish(w);
		waits_live_reset(&w->waits);
	}
	waits_live_release(&w->waits);
	vec_clear(&w->before);
	map_clear(&w->by_tid);
	return r;
}

void *live_waits(void *live)
{
	struct watching w = { .live = live };

	while (live_wait_for(live, LIVE_WAITS)) {
		_cleanup_err_ struct err e = ERR_INIT;

		if (watch(&w, &e) < 0) {
			publish_why(live, &e);
			while (live_is_wanted(live, LIVE_WAITS))
				clock_sleep_ns(POLL_NS);
		}
	}
	vec_release(&w.before);
	map_release(&w.by_tid);
	return NULL;
}
