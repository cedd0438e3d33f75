/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's events of the running machine, as a recording held in memory. */
#ifndef RECORDER_SCHED_WATCH_H
#define RECORDER_SCHED_WATCH_H

#include "base/err.h"

/*
 * Watches for @duration ns (0: until a stop). *@ret_fd is the recording, at its start; the caller
 * closes it. @what: bits of enum sched_watch_what.
 */
int sched_watch(u64 duration, u64 ring_bytes, u32 what, int *ret_fd, struct err *e);

enum sched_watch_what {
	SCHED_WATCH_STACKS = 1, /* of the tasks that leave a CPU */
	SCHED_WATCH_POWER = 2,  /* power states of CPUs, where the kernel has such events */
	SCHED_WATCH_GROUPS = 4, /* each event says the control group of the task that ran */
};

#endif
