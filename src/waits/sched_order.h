/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's events in order of time. Each CPU's are in order already and come in long runs,
 * so the runs are merged as they are delivered; nothing is sorted, and nothing is moved: when a
 * round has ended, all that the rounds before it left is delivered, and its memory is free for the
 * next one.
 */
#ifndef WAITS_SCHED_ORDER_H
#define WAITS_SCHED_ORDER_H

#include "waits/sched.h"

/* Events that may wait; a recording without rounds is delivered by halves then. */
enum { SCHED_ORDER_MOST = 4 << 20 };

struct sched_run {
	size_t at, end; /* ascending events */
};

struct sched_queue {
	VEC(struct sched_event) events;
	VEC(struct sched_run) runs;
};

struct sched_order {
	struct sched_queue older; /* what the last delivery left */
	struct sched_queue fresh; /* the end of its last run is not written yet */
	u64 newest;               /* of the runs that have ended */
	u64 complete;             /* nothing up to here can follow any more */
};

void sched_order_release(struct sched_order *o);
/* Too much waits: delivers the older half of the time. */
int sched_order_drain_some(struct sched_order *o, sched_fn fn, void *ctx);
/* A round of the recording has ended: delivers what is complete. */
int sched_order_round(struct sched_order *o, sched_fn fn, void *ctx);
int sched_order_flush(struct sched_order *o, sched_fn fn, void *ctx);
/* What is placed next is earlier than what was placed before it. */
void sched_order_new_run(struct sched_order *o);

void sched_order_grow(struct sched_queue *q, size_t more);

/* There is no room for @more events. */
static inline bool sched_order_full(const struct sched_order *o, size_t more)
{
	return o->older.events.len + o->fresh.events.len + more > SCHED_ORDER_MOST;
}

/*
 * Where the next @n events are to be written, one after the other. sched_order_placed() takes
 * those before @end. Each that is earlier than the one before it needs a new run.
 */
static inline struct sched_event *sched_order_place(struct sched_order *o, size_t n)
{
	struct sched_queue *q = &o->fresh;

	if (unlikely(q->events.len + n > q->events.cap))
		sched_order_grow(q, n);
	return q->events.items + q->events.len;
}

static inline void sched_order_placed(struct sched_order *o, const struct sched_event *end)
{
	o->fresh.events.len = (size_t)(end - o->fresh.events.items);
}

/* Equal times keep the order in which they came. */
void sched_order_push(struct sched_order *o, const struct sched_event *ev);

#endif
