/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the off-CPU programs must know about the running kernel. It is in BTF, whose
 * hundred thousand types take 5 ms to read: found out once for each kernel and kept in the cache.
 */
#ifndef WAITS_FACTS_H
#define WAITS_FACTS_H

#include "base/err.h"

struct waits_facts {
	s64 preempt_distance; /* from a CPU's run queue to its preempt count, 0: not known */
	u32 word_type;        /* number of a type that begins with a word; 0: there are no casts */
	u8 has_prev_state;    /* the tracepoint of a switch tells the state */
	u8 has_delay;         /* threads have a sum of their time in run queues */
	u8 pad[2];
};

int waits_facts_find(struct waits_facts *ret, struct err *e);
/* What was kept may be wrong: the next time it is found out again. */
void waits_facts_forget(void);

#endif
