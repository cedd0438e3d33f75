/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/blame.h"

enum {
	FOLLOW_SHARE = 100,   /* parts below a hundredth of their wait are not followed */
	FOLLOW_MOST = 1 << 9, /* parts of one wait */
};

/* What is known of a thread: its waits are order[first .. first + n), by time. */
struct life {
	u64 begin, end;
	size_t first, n;
};

struct blame {
	const struct observed *o;
	VEC(u32) order; /* waits by thread and end */
	VEC(struct life) lives;
	struct map by_tid; /* index in lives + 1 */
	wait_list *out;
	const struct wait *of; /* the wait that is being parted */
	u64 least;             /* shorter parts are not followed */
	size_t first;          /* its first part in @out */
};

static u32 tid_of(const struct blame *b, const struct wait *w)
{
	return (u32)b->o->profile->threads.items[w->thread].tid;
}

static int by_thread_and_end(const void *x, const void *y, void *ctx)
{
	const struct blame *b = ctx;
	const struct wait *v = &b->o->waits->items[*(const u32 *)x];
	const struct wait *w = &b->o->waits->items[*(const u32 *)y];
	u32 s = tid_of(b, v), t = tid_of(b, w);

	if (s != t)
		return s < t ? -1 : 1;
	return v->time < w->time ? -1 : v->time > w->time;
}

static void find_lives(struct blame *b)
{
	const struct observed *o = b->o;

	for (size_t i = 0; i < o->n_threads; i++) {
		u64 *at = map_at(&b->by_tid, o->threads[i].tid);

		/* a number that was given twice: the waits of both are in order of time */
		if (*at) {
			struct life *l = &b->lives.items[*at - 1];

			l->begin = MIN(l->begin, o->threads[i].begin);
			l->end = MAX(l->end, o->threads[i].end);
			continue;
		}
		vec_push(&b->lives,
			 ((struct life){ .begin = o->threads[i].begin, .end = o->threads[i].end }));
		*at = b->lives.len;
	}
	for (u32 i = 0; i < o->waits->len; i++)
		vec_push(&b->order, i);
	if (b->order.len > 1)
		qsort_r(b->order.items, b->order.len, sizeof(u32), by_thread_and_end, b);
	for (size_t i = 0; i < b->order.len; i++) {
		u32 tid = tid_of(b, &o->waits->items[b->order.items[i]]);
		u64 at = map_get(&b->by_tid, tid, 0);
		struct life *l = at ? &b->lives.items[at - 1] : NULL;

		if (l && !l->n)
			l->first = i;
		if (l)
			l->n++;
	}
}

/* --- parts ------------------------------------------------------------------------------------ */

/* @links of the chain so far, of which the last one did @doing for @ns. */
static void add_part(struct blame *b, const struct wait_link *links, u32 n, enum wait_doing doing,
		     u64 ns)
{
	struct wait part = *b->of;

	if (!ns)
		return;
	part.blocked = ns;
	part.count = part.runq = 0;
	part.n_links = n;
	memcpy(part.links, links, n * sizeof(*links));
	part.links[n - 1].doing = (u8)doing;
	vec_push(b->out, part);
}

static void follow(struct blame *b, struct wait_link *links, u32 n, u64 begin, u64 end);

/* The waker was blocked in @w from @begin to @end: why? */
static void part_blocked(struct blame *b, struct wait_link *links, u32 n, const struct wait *w,
			 u64 begin, u64 end)
{
	struct wait_link *last = &links[n - 1];

	last->sleep_stack = w->stack;
	last->sleep_kind = w->kind;
	last->doing = LINK_BLOCKED;
	if (!w->n_links || n == OFFCPU_LINKS || end - begin < b->least ||
	    b->out->len - b->first > FOLLOW_MOST) {
		add_part(b, links, n, LINK_BLOCKED, end - begin);
	} else {
		links[n] = w->links[0];
		links[n].sleep_stack = 0;
		follow(b, links, n + 1, begin, end);
	}
	last->sleep_stack = 0;
}

/* Index of the first wait of that life that ends after @time. */
static size_t first_after(const struct blame *b, const struct life *l, u64 time)
{
	size_t low = l->first, high = l->first + l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->o->waits->items[b->order.items[mid]].time <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* What the last of @links did from @begin to @end. */
static void follow(struct blame *b, struct wait_link *links, u32 n, u64 begin, u64 end)
{
	const struct wait_link *last = &links[n - 1];
	u64 at = waker_is_task(last->kind) ? map_get(&b->by_tid, last->tid, 0) : 0;
	u64 runnable = 0, blocked = 0, from = begin;
	const struct life *l;

	if (!at) {
		add_part(b, links, n, LINK_UNKNOWN, end - begin);
		return;
	}
	if (b->o->known > begin) {
		from = MIN(b->o->known, end);
		add_part(b, links, n, LINK_UNKNOWN, from - begin);
		begin = from;
	}
	l = &b->lives.items[at - 1];
	if (l->begin > begin)
		from = MIN(l->begin, end);
	add_part(b, links, n, LINK_UNBORN, from - begin);
	for (size_t i = first_after(b, l, from); i < l->first + l->n; i++) {
		const struct wait *w = &b->o->waits->items[b->order.items[i]];
		u64 woken = w->time - MIN(w->runq, w->time), left = woken - MIN(w->blocked, woken);
		u64 s = MAX(left, from), t = MIN(woken, end);

		if (left >= end)
			break;
		if (s < t) {
			blocked += t - s;
			part_blocked(b, links, n, w, s, t);
		}
		s = MAX(woken, from);
		t = MIN(w->time, end);
		runnable += s < t ? t - s : 0;
	}
	add_part(b, links, n, LINK_RUNNABLE, runnable);
	add_part(b, links, n, LINK_RAN, end - from - MIN(end - from, blocked + runnable));
}

/* The wait counts as one, with what is largest of it. */
static void count_once(struct blame *b)
{
	struct wait *largest = &b->out->items[b->first];

	for (size_t i = b->first; i < b->out->len; i++) {
		if (b->out->items[i].blocked > largest->blocked)
			largest = &b->out->items[i];
	}
	largest->count = b->of->count;
	largest->runq = b->of->runq;
}

void waits_blame(const struct observed *o, size_t from, wait_list *ret)
{
	struct blame b = { .o = o, .out = ret };

	find_lives(&b);
	for (size_t i = from; i < o->waits->len; i++) {
		const struct wait *w = &o->waits->items[i];
		u64 woken = w->time - MIN(w->runq, w->time);
		struct wait_link links[OFFCPU_LINKS];

		b.of = w;
		b.first = ret->len;
		b.least = w->blocked / FOLLOW_SHARE;
		if (!w->n_links || !w->blocked || !w->time) {
			vec_push(ret, *w);
			continue;
		}
		links[0] = w->links[0];
		links[0].sleep_stack = 0;
		follow(&b, links, 1, woken - MIN(w->blocked, woken), woken);
		count_once(&b);
	}
	vec_release(&b.order);
	vec_release(&b.lives);
	map_release(&b.by_tid);
}
