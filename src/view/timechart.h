/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chart of 'perf timechart': CPUs with what ran there and their power states on top, and below
 * a bar for each task: running, waiting for a CPU, blocked on I/O.
 */
#ifndef VIEW_TIMECHART_H
#define VIEW_TIMECHART_H

#include "analysis/sched.h"
#include "waits/activity.h"

/* One bar: sums of what the task did, in ns. */
struct timechart_task {
	u32 tid;
	u64 runs, waits, blocked, sleeps;
	u64 io[ACTIVITY_KINDS]; /* time in calls */
	u64 io_bytes;
	u64 first;
};
typedef VEC(struct timechart_task) timechart_tasks;

struct timechart {
	struct sched_map *map;
	const struct activities *activities;
	timechart_tasks tasks; /* those that are drawn, from top to bottom */
	u64 more;              /* tasks that are not drawn */
	u32 width;             /* 0: 1200 */
	bool cpus;             /* draw CPUs */
	bool io;               /* bars of I/O in the place of the scheduler's */
};

/* "dd"; never empty. */
const char *timechart_comm(const struct timechart *t, u32 tid);
void timechart_svg(const struct timechart *t, struct buf *out);

#endif
