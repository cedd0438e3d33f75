/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that watches waits: second by second, with accounts that sum to the time of a thread.
 */
#include "analysis/threads.h"
#include "analysis/waits.h"
#include "base/clock.h"
#include "base/stop.h"
#include "top/live_state.h"
#include "top/waits_past.h"
#include "waits/live.h"

#define INTERVAL_NS NSEC_PER_SEC

enum { WAITS_SHOWN = 400, POLL_NS = 100 * 1000 * 1000 };

struct watching {
	struct live *live;
	struct waits_live waits;
	VEC(struct offcpu_thread) before; /* accounts at the end of the last interval */
	struct map by_tid;                /* -> place + 1 */
	struct waits_past past;
	struct map places; /* stack of this session -> word of @past */
	u64 serial;        /* of the request that was answered last */
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

static u32 place_word(struct watching *w, u32 stack)
{
	_cleanup_buf_ struct buf place = BUF_INIT;
	u64 *at;

	if (!stack)
		return 0;
	at = map_at(&w->places, stack);
	if (!*at) {
		wait_place(&w->waits.profile, stack, &place);
		*at = intern_str(&w->past.words, buf_str(&place));
	}
	return (u32)*at;
}

static struct waits_past_row row_of(struct watching *w, const struct wait *in)
{
	const struct profile *p = &w->waits.profile;
	const struct profile_thread *thread = &p->threads.items[in->thread];
	struct waits_past_row row = {
		.pid = (u32)thread->pid,
		.tid = (u32)thread->tid,
		.comm = intern_str(&w->past.words, profile_str(p, thread->comm)),
		.place = place_word(w, in->stack),
		.thread = in->thread,
		.stack = in->stack,
		.kind = in->kind,
		.blocked = in->blocked,
		.runq = in->runq,
		.count = in->count,
		.longest = in->max_blocked,
	};

	if (in->n_links) {
		row.waker = intern_str(&w->past.words, profile_str(p, in->links[0].comm));
		row.waker_pid = in->links[0].pid;
		row.waker_tid = in->links[0].tid;
	}
	return row;
}

/* What is shown, or drawn as boxes, of live and of past intervals alike. */
struct picked {
	struct watching *w;
	struct live_request r;
	struct waits_frame *frame;
	wait_list cold;
};

static const char *word(struct picked *k, u32 number)
{
	return arena_strdup(&k->frame->arena, intern_get(&k->w->past.words, number));
}

/* Who was never blocked waited for nothing but a CPU. */
static enum thread_state kind_of(const struct waits_past_row *row)
{
	return row->kind == STATE_OTHER && !row->blocked && !row->longest
		       ? STATE_RUNNABLE
		       : (enum thread_state)row->kind;
}

static void pick_row(void *ctx, const struct waits_past_row *row)
{
	struct picked *k = ctx;
	const struct live_request *r = &k->r;
	bool idle = wait_is_idle((enum thread_state)row->kind);

	if (!live_is_of(&r->of, row->pid, row->tid))
		return;
	if (r->cold && !idle)
		vec_push(&k->cold, (struct wait){ .thread = row->thread,
						  .stack = row->stack,
						  .kind = (u8)row->kind,
						  .blocked = row->blocked,
						  .runq = row->runq,
						  .count = row->count,
						  .max_blocked = row->longest });
	/* idle waits are shown only where one looks at single processes */
	if ((idle && !r->of.pid && !r->of.n_marked) || k->frame->waits.len >= WAITS_SHOWN)
		return;
	vec_push(&k->frame->waits, (struct live_wait){ .pid = row->pid,
						       .tid = row->tid,
						       .comm = word(k, row->comm),
						       .kind = thread_state_name(kind_of(row)),
						       .place = word(k, row->place),
						       .waker = word(k, row->waker),
						       .waker_pid = row->waker_pid,
						       .waker_tid = row->waker_tid,
						       .blocked = row->blocked,
						       .runq = row->runq,
						       .count = row->count,
						       .longest = row->longest });
}

static void pick_share(void *ctx, const struct share_row *row)
{
	struct picked *k = ctx;
	struct share_row copy = *row;

	copy.waker = arena_strdup(&k->frame->arena, row->waker);
	copy.place = arena_strdup(&k->frame->arena, row->place);
	shares_add(&k->frame->shares, &copy);
}

/* Waits that ended say more than waits that lasted throughout. */
static int wait_order(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	u64 p = x->blocked + x->runq, q = y->blocked + y->runq;

	if ((x->flags & OFFCPU_OPEN) != (y->flags & OFFCPU_OPEN))
		return x->flags & OFFCPU_OPEN ? 1 : -1;

	return p > q ? -1 : p < q;
}

static bool is_kept(const struct wait *in)
{
	return !(in->flags & OFFCPU_OPEN) || !wait_is_idle((enum thread_state)in->kind);
}

/* Picks the rows of this interval, and keeps them. */
static void pick_now(struct picked *k)
{
	struct watching *w = k->w;

	vec_each(row, &k->frame->shares.rows)
		waits_past_share(&w->past, row);
	vec_sort(&w->waits.waits, wait_order);
	vec_each(in, &w->waits.waits) {
		struct waits_past_row row = row_of(w, in);

		if (is_kept(in))
			waits_past_row(&w->past, &row);
		if (!k->r.end)
			pick_row(k, &row);
	}
	waits_past_end(&w->past, w->waits.begin, w->waits.end, k->frame->lost, w->live->keep_ns);
	if (!w->past.words.len)
		map_clear(&w->places);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The flame graph of waits. */
static void publish_cold(struct picked *k, const char *why)
{
	struct watching *w = k->w;
	struct profile *p = &w->waits.profile;
	struct profile_frame *f = xcalloc(1, sizeof(*f));

	f->cold = true;
	f->seconds = k->frame->seconds;
	f->serial = w->serial;
	if (why) {
		f->why = arena_strdup(&f->arena, why);
		f->hint = f->event = "";
	} else {
		waits_to_profile(p, &k->cold, WAIT_VIEW_SLEEPER, false);
		profile_frame_fill(f, p, profile_get_event(p, OFFCPU_EVENT), &k->r);
		waits_forget(p);
	}
	live_publish_profile(w->live, f);
}

static void publish_picked(struct picked *k, const char *why_not_cold)
{
	k->frame->serial = k->w->serial;
	if (k->r.cold)
		publish_cold(k, why_not_cold);
	live_publish_waits(k->w->live, k->frame);
	vec_release(&k->cold);
}

static void publish_past(struct watching *w, const struct live_request *r)
{
	const struct waits_look *look = waits_past_at(&w->past, r->end);
	struct picked k = { .w = w, .r = *r, .frame = xcalloc(1, sizeof(*k.frame)) };
	const char *why = NULL;

	if (look) {
		k.frame->seconds = (double)(look->end - look->begin) / 1e9;
		k.frame->lost = look->lost;
		waits_past_read(&w->past, look, pick_share, pick_row, &k);
		if (look->session != w->past.session)
			why = "the stacks of that time are gone: waits were not watched throughout";
	} else {
		why = "waits were not watched at that time";
		k.frame->why = arena_strdup(&k.frame->arena, why);
		k.frame->hint = "they are kept from the moment when a screen first shows them";
	}
	publish_picked(&k, why);
}

/* While time is stopped: when another moment is requested, that is answered at once. */
static void look_back(struct watching *w)
{
	struct live_request r;
	u64 serial;

	if (!live_request(w->live, &r, &serial) || !r.waits || !r.end || serial == w->serial)
		return;
	w->serial = serial;
	publish_past(w, &r);
}

static void publish(struct watching *w)
{
	struct picked k = { .w = w, .frame = xcalloc(1, sizeof(*k.frame)) };
	u64 serial = 0;
	bool on = live_request(w->live, &k.r, &serial);

	k.frame->seconds = (double)(w->waits.end - w->waits.begin) / 1e9;
	k.frame->lost = w->waits.profile.lost_samples;
	make_differences(w);
	fill_shares(w, k.frame);
	pick_now(&k);
	if (!on || k.r.end) {
		waits_frame_free(k.frame);
		look_back(w);
		return;
	}
	w->serial = serial;
	publish_picked(&k, NULL);
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

static int run_until(struct watching *w, u64 until, struct err *e)
{
	int r;

	/* once in any case, or an interval that naming the last one has eaten up had no length */
	do {
		r = waits_live_run(&w->waits, MIN(until, clock_mono_ns() + POLL_NS), is_done, w, e);
		look_back(w);
	} while (r >= 0 && clock_mono_ns() < until && !is_done(w) && !stop_requested());
	return r;
}

/* One interval: a second, or as many as the budget wants, but who asks for other rows gets them. */
static int run_interval(struct watching *w, struct err *e)
{
	u64 begin = w->waits.begin;
	int r = 0;

	for (u32 n = 1; r >= 0; n++) {
		r = run_until(w, begin + n * INTERVAL_NS, e);
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

	w->past.session++;
	map_clear(&w->places);
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
		waits_names_rest(&w->waits.names);
		waits_live_reset(&w->waits);
		if (r >= 0 && waits_names_full(&w->waits.profile)) {
			r = waits_live_renew(&w->waits, e);
			w->past.session++;
			map_clear(&w->places);
		}
	}
	waits_live_release(&w->waits);
	vec_clear(&w->before);
	map_clear(&w->by_tid);
	mem_give_back(&(u64){ 1 });
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
	map_release(&w.places);
	waits_past_release(&w.past);
	return NULL;
}
