/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What src/bpf/tasks.bpf.c tells user space of tasks: fixed-width types only. */
#ifndef BPF_TASKS_ABI_H
#define BPF_TASKS_ABI_H

#include <linux/types.h>

enum { TASKS_COMM = 16 };

/* What only grows while a task lives. Times in ns. */
enum task_figure {
	TASK_EXEC,   /* on a CPU, by the scheduler's clock */
	TASK_USER,   /* by ticks, as are */
	TASK_SYSTEM, /* those in the kernel: they say how TASK_EXEC is divided */
	TASK_DELAY,  /* in run queues */
	TASK_VOLUNTARY,
	TASK_FORCED, /* switches */
	TASK_MINOR,
	TASK_MAJOR, /* page faults */
	TASK_READ,
	TASK_WRITE, /* bytes from and to disks */
	TASK_CANCELLED,
	TASK_RCHAR,
	TASK_WCHAR, /* bytes by system calls */
	TASK_GUEST, /* part of TASK_USER that guests of this host ran */
	TASK_DISK,  /* asleep for a disk: only where it was requested */
	TASK_FIGURES,
};

enum tasks_kind {
	TASKS_THREAD = 1, /* a thread that lives */
	TASKS_GROUP,      /* threads of a process that are gone, all together; follows its leader */
	TASKS_EXIT,       /* a thread that begins to end */
	TASKS_FREE,       /* its last figures */
};

struct tasks_record {
	__u32 kind;
	__u32 global; /* number of the thread in the first pid namespace, */
	__u32 tid;    /* and the numbers that ours has; not with TASKS_FREE */
	__u32 pid;
	__u32 ppid;
	__u32 running; /* it is on a CPU at this moment; not with TASKS_FREE */
	__u64 start;   /* ns since boot */
	__u64 figures[TASK_FIGURES];
};
_Static_assert(sizeof(struct tasks_record) == 32 + 8 * TASK_FIGURES, "no holes");

/* TASKS_THREAD and TASKS_EXIT. */
struct tasks_thread {
	struct tasks_record r;
	__u64 cgroup;
	__u64 vsize; /* pages */
	__u64 rss;
	__u32 uid;
	__u32 state; /* TASK_* of the kernel, and exit_state */
	__u32 flags; /* PF_* */
	__u32 cpu;
	__u32 threads;
	__s32 nice;
	__u32 policy;
	__u32 rt_priority;
	char comm[TASKS_COMM];
};
_Static_assert(sizeof(struct tasks_thread) == sizeof(struct tasks_record) + 72, "no holes");

enum {
	TASKS_LOST,
	TASKS_LOST_EXEC,
	TASKS_NO_ROOM, /* sleeps for a disk of tasks that found no room to be counted */
	TASKS_COUNTS,
};

enum tasks_meter_flags {
	TASKS_METER_IRQ = 1,   /* TASK_EXEC is without interrupts, */
	TASKS_METER_STEAL = 2, /* without what the hypervisor took */
	TASKS_METER_CLOCK = 4, /* the scheduler's clock could be read */
};

/*
 * How long a CPU had a task, from switch to switch. The scheduler charges tasks by a clock of its
 * own, which it may set when a task is woken, before the CPU has left its idle state: that time is
 * in @charged, and in @leaving alone. Odd @sequence: it is being written.
 */
struct tasks_meter {
	__u64 sequence;
	__u64 busy;    /* CLOCK_MONOTONIC */
	__u64 charged; /* the scheduler's clock */
	__u64 leaving; /* idle by the one, not by the other */
	__u64 since;   /* the last switch, by both clocks; 0: none was seen */
	__u64 since_charged;
	__u32 idle;  /* since then */
	__u32 flags; /* enum tasks_meter_flags */
};

#endif
