/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sched_read.c, which can read every sample, and sched_span.c, which is quick, share. */
#ifndef WAITS_SCHED_READER_H
#define WAITS_SCHED_READER_H

#include "waits/sched_known.h"
#include "waits/sched_layout.h"
#include "waits/sched_order.h"

/* A sample that had nothing unusual, found again by its event's id and its header. */
struct sched_memo {
	u64 id;
	u64 head;     /* as it lies; 0: none */
	u32 raw_size; /* bytes of data */
	u8 quick;     /* as of the event's layout, */
	u8 type;
	u16 next, prev, value;
};
_Static_assert(sizeof(struct sched_memo) == 32, "many of them stay in the cache");

enum {
	SCHED_MEMO_BITS = 7,
	SCHED_SPAN_EVENTS = 6 << 10, /* a span asks for room for this many, at least */
};

/* Run times that wait for the switch that follows them on their CPU. */
struct sched_ran {
	u64 ns;
	u64 time; /* not before the last */
	u32 tid;  /* 0: none */
	u32 cpu;
};

struct sched_reader {
	struct recording *recording;
	struct sched_memo memo[1 << SCHED_MEMO_BITS];
	struct sched_names *names;
	const struct sched_filter *filter;
	sched_fn fn;
	void *ctx;
	VEC(struct sched_layout) layouts; /* by event */
	struct sched_order order;
	struct sched_known known;
	u32 types; /* that are wanted */
	bool swap;
	bool bounded; /* not all times are wanted */
	bool fold;    /* run times are kept */
	struct sched_ran ran;
	struct sched_place place; /* where quick samples have their parts */
};

/* A round is counted before any of it is delivered: what comes first in time is known then. */
struct sched_count {
	u64 first, last;
	u64 events;
	u32 cpu; /* highest */
};

static inline void sched_count_event(struct sched_count *c, u64 time, u32 cpu)
{
	c->first = MIN(c->first, time);
	c->last = MAX(c->last, time);
	c->cpu = MAX(c->cpu, cpu);
	c->events++;
}

/* sched_read.c */
void sched_reader_learn(struct sched_reader *r);
void sched_reader_count(struct sched_reader *r, const struct sched_count *c);
/* The tracepoint at @time calls @tid so. */
void sched_reader_comm(struct sched_reader *r, u32 tid, const char *comm, u64 time);
/* No switch follows the run times that are kept: they become an event after all. */
void sched_reader_unfold(struct sched_reader *r);

/* sched_span.c: as recording_taps.span, nothing is delivered; @reader is a struct sched_reader. */
s64 sched_span(void *reader, const u8 **ret_at, const u8 *end);

#endif
