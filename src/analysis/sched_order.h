/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's events in order of time. Each CPU's are in order already and come in long runs,
 * so the runs are merged as they are delivered; nothing is sorted.
 */
#ifndef ANALYSIS_SCHED_ORDER_H
#define ANALYSIS_SCHED_ORDER_H

#include "analysis/sched.h"

/* Events that may wait; a recording without rounds is delivered by halves then. */
enum { SCHED_ORDER_MOST = 4 << 20 };

struct sched_order {
	VEC(struct sched_event) events;
	VEC(size_t) runs; /* where ascending runs begin */
	u64 newest;
	u64 complete; /* nothing up to here can follow any more */
};

void sched_order_release(struct sched_order *o);
/* Equal times keep the order in which they were pushed. */
int sched_order_push(struct sched_order *o, const struct sched_event *ev, sched_fn fn, void *ctx);
/* A round of the recording has ended: delivers what is complete. */
int sched_order_round(struct sched_order *o, sched_fn fn, void *ctx);
int sched_order_flush(struct sched_order *o, sched_fn fn, void *ctx);

#endif
