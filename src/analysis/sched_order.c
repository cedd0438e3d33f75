/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sched_order.h"

/* What is left of a run. */
struct head {
	u64 time; /* of the event at .at */
	size_t at;
	size_t end;
};

struct heads {
	struct head *items;
	size_t len;
};

void sched_order_release(struct sched_order *o)
{
	vec_release(&o->events);
	vec_release(&o->runs);
}

static bool before(const struct head *a, const struct head *b)
{
	return a->time != b->time ? a->time < b->time : a->at < b->at;
}

/* The smaller child of @i in the heap, or NULL. */
static struct head *child_of(const struct heads *h, size_t i)
{
	size_t left = 2 * i + 1;

	if (left >= h->len)
		return NULL;
	if (left + 1 < h->len && before(&h->items[left + 1], &h->items[left]))
		left++;
	return &h->items[left];
}

static void sift_down(struct heads *h, size_t i)
{
	for (;;) {
		struct head *child = child_of(h, i), swap;

		if (!child || !before(child, &h->items[i]))
			return;
		swap = *child;
		*child = h->items[i];
		h->items[i] = swap;
		i = (size_t)(child - h->items);
	}
}

static void make_heap(const struct sched_order *o, struct heads *h)
{
	h->len = o->runs.len;
	h->items = xcalloc(MAX(h->len, (size_t)1), sizeof(*h->items));
	for (size_t i = 0; i < h->len; i++) {
		size_t at = o->runs.items[i];

		h->items[i] = (struct head){
			.time = o->events.items[at].time,
			.at = at,
			.end = i + 1 < h->len ? o->runs.items[i + 1] : o->events.len,
		};
	}
	for (size_t i = h->len / 2; i--;)
		sift_down(h, i);
}

/* Delivers from the first run as long as no other has something earlier. */
static int deliver_stretch(struct sched_order *o, struct heads *h, u64 limit, sched_fn fn,
			   void *ctx)
{
	const struct head *next = child_of(h, 0);
	struct head *top = h->items;
	int rc;

	do {
		rc = fn(ctx, &o->events.items[top->at++]);
		if (rc || top->at >= top->end)
			break;
		top->time = o->events.items[top->at].time;
	} while (top->time <= limit && (!next || before(top, next)));
	if (top->at >= top->end)
		*top = h->items[--h->len];
	sift_down(h, 0);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct head *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* What was not delivered moves to the front, in the order in which it came. */
static void keep_rest(struct sched_order *o, struct heads *h)
{
	struct sched_event *events = o->events.items;
	size_t n = 0;

	if (h->len > 1)
		qsort(h->items, h->len, sizeof(*h->items), by_place);
	vec_clear(&o->runs);
	for (size_t i = 0; i < h->len; i++) {
		const struct head *head = &h->items[i];

		if (!n || events[head->at].time < events[n - 1].time)
			vec_push(&o->runs, n);
		memmove(events + n, events + head->at, (head->end - head->at) * sizeof(*events));
		n += head->end - head->at;
	}
	o->events.len = n;
}

/* All up to @limit. */
static int deliver(struct sched_order *o, u64 limit, sched_fn fn, void *ctx)
{
	struct heads h;
	int rc = 0;

	if (!o->events.len)
		return 0;
	make_heap(o, &h);
	while (!rc && h.len && h.items[0].time <= limit)
		rc = deliver_stretch(o, &h, limit, fn, ctx);
	keep_rest(o, &h);
	free(h.items);
	return rc;
}

/* Too much waits: the older half of the time goes, at least one event. */
static int relieve(struct sched_order *o, sched_fn fn, void *ctx)
{
	u64 oldest = UINT64_MAX;

	vec_each(run, &o->runs)
		oldest = MIN(oldest, o->events.items[*run].time);
	return deliver(o, oldest + (o->newest - oldest) / 2, fn, ctx);
}

int sched_order_push(struct sched_order *o, const struct sched_event *ev, sched_fn fn, void *ctx)
{
	if (unlikely(o->events.len >= SCHED_ORDER_MOST)) {
		int rc = relieve(o, fn, ctx);

		if (rc)
			return rc;
	}
	if (!o->events.len || ev->time < vec_last(&o->events)->time)
		vec_push(&o->runs, o->events.len);
	vec_push(&o->events, *ev);
	if (ev->time > o->newest)
		o->newest = ev->time;
	return 0;
}

int sched_order_round(struct sched_order *o, sched_fn fn, void *ctx)
{
	u64 limit = o->complete;

	o->complete = o->newest;
	return limit ? deliver(o, limit, fn, ctx) : 0;
}

int sched_order_flush(struct sched_order *o, sched_fn fn, void *ctx)
{
	return deliver(o, UINT64_MAX, fn, ctx);
}
