/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sched_order.h"

#include <sys/mman.h>

#define INLINE static inline __attribute__((always_inline))

/* What is left of a run. */
struct head {
	u64 time; /* of the event at .at */
	const struct sched_event *at, *end;
	size_t rank; /* the earlier in the file wins */
};

/* The runs, and a heap of those that have not ended. */
struct heads {
	struct head *all;
	struct head **items;
	size_t len;
};

/* Events in their order, on their way: runs take turns at nearly every event. */
enum { BATCH = 256 };
struct batch {
	sched_fn fn;
	void *ctx;
	size_t n;
	struct sched_event events[BATCH];
};

static void queue_release(struct sched_queue *q)
{
	vec_release(&q->events);
	vec_release(&q->runs);
}

void sched_order_release(struct sched_order *o)
{
	queue_release(&o->older);
	queue_release(&o->fresh);
}

/*
 * A queue that does not stay small gets a place for a million events at once, in large pages if the
 * machine gives them on demand: what is not touched costs nothing, and a fault for each 4 kB costs
 * more than writing and reading it.
 */
void sched_order_grow(struct sched_queue *q, size_t more)
{
	enum { SMALL = 6 << 10, LARGE = 1 << 20, HUGE = 2 << 20 };
	size_t n = MAX(q->events.len + more, 2 * q->events.cap);
	struct sched_event *p;

	if (n <= SMALL) {
		vec_reserve(&q->events, n);
		return;
	}
	n = MAX(n, (size_t)LARGE);
	p = aligned_alloc(HUGE, ALIGN_UP(n * sizeof(*p), (size_t)HUGE));
	if (!p)
		oom(n * sizeof(*p));
	(void)madvise(p, n * sizeof(*p), MADV_HUGEPAGE);
	if (q->events.len)
		memcpy(p, q->events.items, q->events.len * sizeof(*p));
	free(q->events.items);
	q->events.items = p;
	q->events.cap = n;
}

INLINE bool before(const struct head *a, const struct head *b)
{
	return a->time != b->time ? a->time < b->time : a->rank < b->rank;
}

/* The smaller child of @i in the heap; 0: it has none. */
INLINE size_t child_of(const struct heads *h, size_t i)
{
	size_t left = 2 * i + 1;

	if (left >= h->len)
		return 0;
	return left + 1 < h->len && before(h->items[left + 1], h->items[left]) ? left + 1 : left;
}

/* @child: child_of(i), where it is known. */
INLINE void sift_from(struct heads *h, size_t i, size_t child)
{
	struct head *moved = h->items[i];

	while (child && before(h->items[child], moved)) {
		h->items[i] = h->items[child];
		i = child;
		child = child_of(h, i);
	}
	h->items[i] = moved;
}

static void sift_down(struct heads *h, size_t i)
{
	sift_from(h, i, child_of(h, i));
}

static void add_heads(struct heads *h, const struct sched_queue *q)
{
	vec_each(run, &q->runs) {
		const struct sched_event *at = q->events.items + run->at;

		if (run->at >= run->end)
			continue;
		h->all[h->len] = (struct head){
			.time = at->time,
			.at = at,
			.end = q->events.items + run->end,
			.rank = h->len,
		};
		h->items[h->len] = &h->all[h->len];
		h->len++;
	}
}

static void make_heap(const struct sched_order *o, struct heads *h)
{
	size_t most = o->older.runs.len + o->fresh.runs.len + 1;

	h->len = 0;
	h->all = xcalloc(most, sizeof(*h->all));
	h->items = xcalloc(most, sizeof(*h->items));
	add_heads(h, &o->older);
	add_heads(h, &o->fresh);
	for (size_t i = h->len / 2; i--;)
		sift_down(h, i);
}

/* The last moment before @time. */
INLINE u64 just_before(u64 time)
{
	return time ? time - 1 : 0;
}

/* Up to when the first run may go before another one has its turn. */
INLINE u64 bound_of(const struct heads *h, size_t child, u64 limit)
{
	const struct head *top = h->items[0], *next = h->items[child];

	if (!child)
		return limit;
	return MIN(limit, next->rank > top->rank ? next->time : just_before(next->time));
}

static int hand_on(struct batch *b)
{
	size_t n = b->n;

	b->n = 0;
	return n ? b->fn(b->ctx, b->events, n) : 0;
}

/* Tracepoints come together, others alone. */
static __attribute__((noinline)) int take_other(struct batch *b, const struct sched_event *ev)
{
	int rc = hand_on(b);

	return rc ? rc : b->fn(b->ctx, ev, 1);
}

INLINE int take_event(struct batch *b, const struct sched_event *ev)
{
	if (unlikely(ev->type >= SCHED_TYPES))
		return take_other(b, ev);
	b->events[b->n++] = *ev;
	return unlikely(b->n == BATCH) ? hand_on(b) : 0;
}

/* Where the run at @i continues, in the heap below it: it may have ended. */
static void settle(struct heads *h, size_t i)
{
	struct head *head = h->items[i];

	if (head->at < head->end)
		head->time = head->at->time;
	else
		h->items[i] = h->items[--h->len];
	if (i < h->len)
		sift_down(h, i);
}

/* From the first run as long as no other has something earlier. */
INLINE int take_stretch(struct heads *h, u64 limit, struct batch *b)
{
	size_t child = child_of(h, 0);
	u64 bound = bound_of(h, child, limit);
	struct head *top = h->items[0];
	int rc;

	do {
		rc = take_event(b, top->at++);
	} while (!rc && top->at < top->end && top->at->time <= bound);
	if (unlikely(top->at >= top->end)) {
		settle(h, 0);
		return rc;
	}
	top->time = top->at->time;
	sift_from(h, 0, child);
	return rc;
}

/* --- two runs --------------------------------------------------------------------------------- */

/* After the last event of @head up to @limit. */
static const struct sched_event *cut_at(const struct head *head, u64 limit)
{
	const struct sched_event *at = head->at;
	size_t n = (size_t)(head->end - at);

	while (n) {
		size_t half = n / 2;

		if (at[half].time <= limit) {
			at += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return at;
}

/* Two runs; the first wins where times are equal. */
struct pair {
	const struct sched_event *x, *x_end;
	const struct sched_event *y, *y_end;
};

/* @n events at most, as far as they are tracepoints. Both runs have more than @n. */
static size_t merge_some(struct pair *p, size_t n, struct sched_event *to)
{
	const struct sched_event *x = p->x, *y = p->y;
	u64 x_time = x->time, y_time = y->time;
	size_t i;

	for (i = 0; i < n; i++) {
		bool first = x_time <= y_time;
		const struct sched_event *ev = first ? x : y;

		if (unlikely(ev->type >= SCHED_TYPES))
			break;
		to[i] = *ev;
		if (first)
			x_time = (++x)->time;
		else
			y_time = (++y)->time;
	}
	p->x = x;
	p->y = y;
	return i;
}

/* Until one of them ends. */
static int merge(struct pair *p, struct batch *b)
{
	int rc = 0;

	while (!rc && p->x < p->x_end && p->y < p->y_end) {
		size_t n = (size_t)MIN(p->x_end - p->x, p->y_end - p->y) - 1;

		n = merge_some(p, MIN(n, BATCH - b->n), b->events + b->n);
		b->n += n;
		if (b->n == BATCH)
			rc = hand_on(b);
		else
			rc = take_event(b, p->x->time <= p->y->time ? p->x++ : p->y++);
	}
	return rc;
}

/* When more than the first two runs matter. */
static u64 third_time(const struct heads *h, size_t child)
{
	const size_t others[] = { 3 - child, 2 * child + 1, 2 * child + 2 };
	u64 time = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i] < h->len)
			time = MIN(time, just_before(h->items[others[i]]->time));
	return time;
}

/* The first two runs, where they are alone for long: two CPUs, or what is left of many. */
static int take_pair(struct heads *h, u64 limit, struct batch *b)
{
	enum { LONG = 64 };
	size_t child = child_of(h, 0);
	struct head *first = h->items[0], *second = h->items[child];
	struct pair p;
	int rc;

	if (!child)
		return 0;
	if (first->rank > second->rank) {
		first = second;
		second = h->items[0];
	}
	limit = MIN(limit, third_time(h, child));
	p = (struct pair){ first->at, cut_at(first, limit), second->at, cut_at(second, limit) };
	if (p.x_end - p.x < LONG || p.y_end - p.y < LONG)
		return 0;
	rc = merge(&p, b);
	first->at = p.x;
	second->at = p.y;
	settle(h, child);
	settle(h, 0);
	return rc;
}

static int by_rank(const void *a, const void *b)
{
	const struct head *const *x = a, *const *y = b;

	return (*x)->rank < (*y)->rank ? -1 : (*x)->rank > (*y)->rank;
}

/* What is left of each run, in the order in which it came. The older ones come first. */
static void keep_runs(struct sched_order *o, struct heads *h)
{
	const struct sched_event *fresh = o->fresh.events.items;
	size_t n_fresh = o->fresh.events.len;

	if (h->len > 1)
		qsort(h->items, h->len, sizeof(*h->items), by_rank);
	vec_clear(&o->older.runs);
	vec_clear(&o->fresh.runs);
	for (size_t i = 0; i < h->len; i++) {
		const struct head *head = h->items[i];
		bool is_fresh = n_fresh && head->at >= fresh && head->at < fresh + n_fresh;
		struct sched_queue *q = is_fresh ? &o->fresh : &o->older;
		const struct sched_event *base = q->events.items;

		vec_push(&q->runs, (struct sched_run){ (size_t)(head->at - base),
						       (size_t)(head->end - base) });
	}
}

/* Packs what is left of @q. */
static void queue_pack(struct sched_queue *q)
{
	struct sched_event *events = q->events.items;
	size_t n = 0;

	vec_each(run, &q->runs) {
		size_t len = run->end - run->at;

		memmove(events + n, events + run->at, len * sizeof(*events));
		*run = (struct sched_run){ n, n + len };
		n += len;
	}
	q->events.len = n;
}

/* Adds what is left of the fresh ones to the older ones. */
static void join_older(struct sched_order *o)
{
	queue_pack(&o->older);
	vec_each(run, &o->fresh.runs) {
		size_t at = o->older.events.len, n = run->end - run->at;

		if (at + n > o->older.events.cap)
			sched_order_grow(&o->older, n);
		memcpy(o->older.events.items + at, o->fresh.events.items + run->at,
		       n * sizeof(struct sched_event));
		o->older.events.len += n;
		vec_push(&o->older.runs, (struct sched_run){ at, at + n });
	}
	vec_clear(&o->fresh.events);
	vec_clear(&o->fresh.runs);
}

/*
 * The fresh ones become the older ones: the queues change places, unless something is left of both,
 * as only without rounds, or so little that copying it is cheaper than memory that is not
 * written to yet.
 */
static void grow_old(struct sched_order *o)
{
	enum { FEW = 1000 };
	struct sched_queue free_one = o->older;
	size_t left = 0;

	vec_each(run, &o->fresh.runs)
		left += run->end - run->at;
	if (free_one.runs.len || left < FEW) {
		join_older(o);
		return;
	}
	vec_clear(&free_one.events);
	o->older = o->fresh;
	o->fresh = free_one;
}

/* All up to @limit. */
static int deliver(struct sched_order *o, u64 limit, sched_fn fn, void *ctx)
{
	struct batch b;
	struct heads h;
	int rc = 0;

	b.fn = fn;
	b.ctx = ctx;
	b.n = 0;
	make_heap(o, &h);
	while (!rc && h.len && h.items[0]->time <= limit) {
		size_t n = h.len;

		rc = take_pair(&h, limit, &b);
		while (!rc && h.len == n && h.items[0]->time <= limit)
			rc = take_stretch(&h, limit, &b);
	}
	if (!rc)
		rc = hand_on(&b);
	keep_runs(o, &h);
	grow_old(o);
	free(h.items);
	free(h.all);
	return rc;
}

/* A run ascends: its last event is its newest. */
static void end_run(struct sched_order *o)
{
	if (!o->fresh.events.len)
		return;
	vec_last(&o->fresh.runs)->end = o->fresh.events.len;
	o->newest = MAX(o->newest, vec_last(&o->fresh.events)->time);
}

void sched_order_new_run(struct sched_order *o)
{
	end_run(o);
	vec_push(&o->fresh.runs, (struct sched_run){ .at = o->fresh.events.len });
}

void sched_order_push(struct sched_order *o, const struct sched_event *ev)
{
	struct sched_event *to = sched_order_place(o, 1);

	if (!o->fresh.events.len || ev->time < to[-1].time)
		sched_order_new_run(o);
	*to = *ev;
	sched_order_placed(o, to + 1);
}

int sched_order_drain_some(struct sched_order *o, sched_fn fn, void *ctx)
{
	u64 oldest = UINT64_MAX;
	int rc;

	end_run(o);
	vec_each(run, &o->older.runs)
		oldest = MIN(oldest, o->older.events.items[run->at].time);
	vec_each(run, &o->fresh.runs)
		oldest = MIN(oldest, o->fresh.events.items[run->at].time);
	rc = deliver(o, oldest + (o->newest - oldest) / 2, fn, ctx);
	queue_pack(&o->older);
	return rc;
}

int sched_order_round(struct sched_order *o, sched_fn fn, void *ctx)
{
	u64 limit = o->complete;

	end_run(o);
	o->complete = o->newest;
	return limit ? deliver(o, limit, fn, ctx) : 0;
}

int sched_order_flush(struct sched_order *o, sched_fn fn, void *ctx)
{
	end_run(o);
	return deliver(o, UINT64_MAX, fn, ctx);
}
