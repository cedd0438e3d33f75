/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reader of the scheduler's events has heard of each task, and since when. */
#ifndef WAITS_SCHED_KNOWN_H
#define WAITS_SCHED_KNOWN_H

#include "waits/sched.h"

/*
 * From when on two things are so of a task: all bits of the time turned, so that the zeros of new
 * memory mean never. What is first in the file need not be first in time.
 */
struct sched_since {
	u64 named; /* its name is known */
	u64 seen;  /* it was in a switch, or its run time was an event */
};

/* A zeroed struct has no task. */
struct sched_known {
	struct sched_since *low; /* by tid */
	u32 n_low;
	struct map high; /* of tids that no kernel has given: index in more + 1 */
	VEC(struct sched_since) more;
};

void sched_known_release(struct sched_known *k);
struct sched_since *sched_since_grow(struct sched_known *k, u32 tid);

/* Valid until the next call. */
static inline struct sched_since *sched_since(struct sched_known *k, u32 tid)
{
	return likely(tid < k->n_low) ? &k->low[tid] : sched_since_grow(k, tid);
}

static inline void sched_set_seen(struct sched_known *k, u32 tid, u64 time)
{
	struct sched_since *s = sched_since(k, tid);

	s->seen = MAX(s->seen, ~time);
}

/* These three are quick and may say no of tids that no kernel has given. */
static inline bool sched_is_named(const struct sched_known *k, u32 tid, u64 time)
{
	return tid < k->n_low && k->low[tid].named >= ~time;
}

static inline bool sched_is_seen(const struct sched_known *k, u32 tid, u64 time)
{
	return tid < k->n_low && k->low[tid].seen >= ~time;
}

/* Nothing new is to be learned of it. */
static inline bool sched_is_known(const struct sched_known *k, u32 tid, u64 time)
{
	return sched_is_named(k, tid, time) && sched_is_seen(k, tid, time);
}

#endif
