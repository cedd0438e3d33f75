/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scheduler histograms in the kernel and their user-space half share. */
#ifndef BPF_OFFCPU_HIST_ABI_H
#define BPF_OFFCPU_HIST_ABI_H

#include <linux/types.h>

enum sched_hist_what {
	SCHED_HIST_RUNQLAT = 0, /* from wanting a CPU to having it */
	SCHED_HIST_ONCPU = 1,   /* each turn on a CPU */
	SCHED_HIST_OFFCPU = 2,  /* each time away */
	SCHED_HIST_RUNQLEN = 3, /* sampled: tasks that wait */
};

enum sched_hist_by {
	SCHED_HIST_ALL = 0,
	SCHED_HIST_CPU = 1,
	SCHED_HIST_PID = 2,
	SCHED_HIST_TID = 3,
	SCHED_HIST_CGROUP = 4,
	SCHED_HIST_COMM = 5,
};

enum {
	SCHED_HIST_SLOTS = 64, /* powers of two of nanoseconds; lengths for RUNQLEN */
	SCHED_HIST_KEYS = 4096,
};

struct sched_hist_key {
	__u64 id; /* CPU, pid, tid or cgroup */
	char comm[16];
};

struct sched_hist {
	__u64 slots[SCHED_HIST_SLOTS];
	__u64 count;
	__u64 total; /* ns, or the sum of lengths */
};

enum {
	SCHED_HIST_COUNT_FULL = 0,
	SCHED_HIST_COUNT_INFERRED = 1,
	SCHED_HIST_COUNT_NO_ROOM = 2, /* times that a thread could not be remembered */
	SCHED_HIST_COUNTERS = 3,
};

#endif
