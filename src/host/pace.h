/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often a timer may interrupt the machine to take samples.
 *
 * The kernel lowers the rate of hardware counters that would take all the time there is
 * (kernel.perf_cpu_time_max_percent), but not that of cpu-clock and task-clock: in a guest whose
 * timer interrupts cost 17 us each, the 100,000 a second that it allows leave nothing for anybody
 * else, and the machine stands still until it is ended from outside.
 */
#ifndef HOST_PACE_H
#define HOST_PACE_H

#include "base/buf.h"

#include <linux/perf_event.h>

enum { PACE_FREE_HZ = 10000 }; /* below this nothing is measured and nothing lowered */

struct pace {
	u64 asked_hz;
	u64 hz;           /* what is left of it */
	u64 interrupt_ns; /* what an interrupt was seen to take; 0: not measured */
};

/* Whether the event takes samples and a timer of the kernel counts it. */
bool pace_is_timer(const struct perf_event_attr *attr);
/*
 * Lowers the rate of a timer that shares its CPUs with others, timers in all: false when it stays
 * as it is. Rates above PACE_FREE_HZ measure for some milliseconds what an interrupt costs here.
 */
bool pace_limit(struct perf_event_attr *attr, u64 timers, struct pace *ret);
/* The rate for timers that take cost_ns a sample and may have percent of the time. */
u64 pace_hz(u64 cost_ns, s64 percent, u64 timers);
/* "'NAME' is sampled at ..." */
void pace_say(const struct pace *p, const char *name, struct buf *out);
#define PACE_HINT "sysctl kernel.perf_cpu_time_max_percent sets the share of time for samples"

#endif
