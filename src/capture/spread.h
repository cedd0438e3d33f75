/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer with a fixed period samples periodic work in step: at 499 Hz, 70 % of work that repeats
 * every 10 ms was reported as 64 to 92 %. Every quarter of a second, timers requested by
 * frequency get another period, at random within 1/16 of the nominal one. Samples keep the nominal
 * weight: the mean period is the nominal one.
 */
#ifndef CAPTURE_SPREAD_H
#define CAPTURE_SPREAD_H

#include <linux/perf_event.h>

#include "base/base.h"

struct spread {
	u64 state; /* of the random numbers */
	u64 next;  /* CLOCK_MONOTONIC ns of the next change */
	size_t at; /* descriptor that comes next, where there are many */
};

/* True for timers requested by frequency. */
bool spread_applies(const struct perf_event_attr *attr);
/* True every quarter of a second, and at the first call. */
bool spread_is_due(struct spread *s);
/* Gives @n open timers another period; at most 64 of them at a time. */
void spread_timers(struct spread *s, const struct perf_event_attr *attr, const int *fds, size_t n);
/* The period of the next @every ns, for a nominal one: for tests. */
u64 spread_period(struct spread *s, u64 nominal, u64 every);

#endif
