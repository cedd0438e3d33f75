/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sched_order.h"

#include <sys/mman.h>

#define INLINE static inline __attribute__((always_inline))

/* What is left of a run. */
struct head {
	u64 time; /* of the event at .at */
	const struct sched_event *at, *end;
	size_t rank; /* the earlier in the file wins */
};

struct heads {
	struct head *items;
	size_t len;
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
 * Where a queue becomes large it gets a place for a million events at once, in large pages if the
 * machine gives them on demand: what is not touched costs nothing, and a fault for each 4 kB costs
 * more than writing and reading it.
 */
void sched_order_grow(struct sched_queue *q, size_t more)
{
	enum { SMALL = 16 << 10, LARGE = 1 << 20, HUGE = 2 << 20 };
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

/* The smaller child of @i in the heap, or NULL. */
INLINE struct head *child_of(const struct heads *h, size_t i)
{
	size_t left = 2 * i + 1;

	if (left >= h->len)
		return NULL;
	if (left + 1 < h->len && before(&h->items[left + 1], &h->items[left]))
		left++;
	return &h->items[left];
}

INLINE void sift_down(struct heads *h, size_t i)
{
	const struct head moved = h->items[i];

	for (;;) {
		struct head *child = child_of(h, i);

		if (!child || !before(child, &moved))
			break;
		h->items[i] = *child;
		i = (size_t)(child - h->items);
	}
	h->items[i] = moved;
}

static void add_heads(struct heads *h, const struct sched_queue *q)
{
	vec_each(run, &q->runs) {
		const struct sched_event *at = q->events.items + run->at;

		if (run->at >= run->end)
			continue;
		h->len++;
		h->items[h->len - 1] = (struct head){
			.time = at->time,
			.at = at,
			.end = q->events.items + run->end,
			.rank = h->len,
		};
	}
}

static void make_heap(const struct sched_order *o, struct heads *h)
{
	h->len = 0;
	h->items = xcalloc(o->older.runs.len + o->fresh.runs.len + 1, sizeof(*h->items));
	add_heads(h, &o->older);
	add_heads(h, &o->fresh);
	for (size_t i = h->len / 2; i--;)
		sift_down(h, i);
}

/* Up to when the first run may go before another one has its turn. */
INLINE u64 bound_of(const struct heads *h, u64 limit)
{
	const struct head *top = h->items, *next = child_of(h, 0);

	if (!next)
		return limit;
	/* no time is 0 */
	return MIN(limit, next->rank > top->rank ? next->time : next->time - 1);
}

/* Tracepoints come together, others alone. */
INLINE const struct sched_event *stretch_end(const struct sched_event *ev,
					     const struct sched_event *end, u64 bound)
{
	if (unlikely(ev->type >= SCHED_TYPES))
		return ev + 1;
	do {
		ev++;
	} while (ev < end && ev->time <= bound && ev->type < SCHED_TYPES);
	return ev;
}

/* Delivers from the first run as long as no other has something earlier. */
INLINE int deliver_stretch(struct heads *h, u64 limit, sched_fn fn, void *ctx)
{
	u64 bound = bound_of(h, limit);
	struct head *top = h->items;
	int rc;

	do {
		const struct sched_event *from = top->at;

		top->at = stretch_end(from, top->end, bound);
		rc = fn(ctx, from, (size_t)(top->at - from));
	} while (!rc && top->at < top->end && top->at->time <= bound);
	if (unlikely(top->at >= top->end)) {
		*top = h->items[--h->len];
		if (!h->len)
			return rc;
	} else {
		top->time = top->at->time;
	}
	sift_down(h, 0);
	return rc;
}

static int by_rank(const void *a, const void *b)
{
	const struct head *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
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
		const struct head *head = &h->items[i];
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

/* The fresh ones become the older ones. */
static void grow_old(struct sched_order *o)
{
	struct sched_queue free_one = o->older;

	if (!free_one.runs.len) {
		vec_clear(&free_one.events);
		o->older = o->fresh;
		o->fresh = free_one;
		return;
	}
	/* only without rounds */
	queue_pack(&o->older);
	vec_each(run, &o->fresh.runs) {
		size_t at = o->older.events.len;

		for (size_t i = run->at; i < run->end; i++)
			vec_push(&o->older.events, o->fresh.events.items[i]);
		vec_push(&o->older.runs, (struct sched_run){ at, o->older.events.len });
	}
	vec_clear(&o->fresh.events);
	vec_clear(&o->fresh.runs);
}

/* All up to @limit. */
static int deliver(struct sched_order *o, u64 limit, sched_fn fn, void *ctx)
{
	struct heads h;
	int rc = 0;

	make_heap(o, &h);
	while (!rc && h.len && h.items[0].time <= limit)
		rc = deliver_stretch(&h, limit, fn, ctx);
	keep_runs(o, &h);
	grow_old(o);
	free(h.items);
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

int sched_order_relieve(struct sched_order *o, sched_fn fn, void *ctx)
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
