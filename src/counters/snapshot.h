/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All counters at one moment, and what happened between two moments.
 *
 * Values are as the kernel's file has them; units come in when a delta is asked. A delta survives
 * what machines do: a counter that went back is clamped to 0 (or was a 32-bit one that wrapped), a
 * clock that was set changes nothing because lengths are of CLOCK_MONOTONIC, which stands still
 * while the machine is suspended, as the counters do; a CPU or disk that is in one of the two
 * snapshots only has no delta.
 */
#ifndef COUNTERS_SNAPSHOT_H
#define COUNTERS_SNAPSHOT_H

#include "counters/set.h"
#include "counters/tasks.h"

struct snapshot {
	u64 mono; /* ns: CLOCK_MONOTONIC, */
	u64 boot; /* CLOCK_BOOTTIME, */
	u64 wall; /* CLOCK_REALTIME */
	u64 cost; /* CPU time that it took */
	u64 *values;
	u8 *has; /* was the series there? */
	size_t n;
	size_t cap;
	struct task_rows tasks; /* since the sweep before, where they are wanted */
};

#define SNAPSHOT_INIT \
	{             \
		0     \
	}
#define _cleanup_snapshot_ _cleanup_(snapshot_release)

void snapshot_release(struct snapshot *s);
/* Forgets all values, keeps the memory. */
void snapshot_clear(struct snapshot *s);
void snapshot_put(struct snapshot *s, u32 series, u64 value);
void snapshot_copy(struct snapshot *to, const struct snapshot *from);

static inline bool snapshot_has(const struct snapshot *s, u32 series)
{
	return series < s->n && s->has[series];
}

struct delta {
	const struct counter_set *set;
	const struct snapshot *before; /* NULL: since boot */
	const struct snapshot *after;
	double seconds; /* between the two; never 0 */
};

void delta_init(struct delta *d, const struct counter_set *set, const struct snapshot *before,
		const struct snapshot *after);
/*
 * In the counter's unit: of a gauge its value at the end, of a cumulative counter what it grew by.
 * False: it is not known.
 */
bool delta_series(const struct delta *d, u32 series, double *ret);
/* The same of a counter; one that has no such instance is taken from the whole machine. */
bool delta_value(const struct delta *d, u32 counter, u32 instance, double *ret);
/* How long the machine was suspended in between, ns. */
u64 delta_suspended(const struct delta *d);
/* By how much the wall clock was set meanwhile, ns: 0 if negligible. */
s64 delta_clock_step(const struct delta *d);

#endif
