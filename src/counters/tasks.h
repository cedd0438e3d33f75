/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each task of the machine did between two sweeps, exactly: a BPF iterator reads all tasks in
 * one go, and programs at the end of tasks add what was done after the last sweep. A task that was
 * born and died between two sweeps is folded into its process, or, if the whole process came and
 * went, into the parent. Without BPF the files of /proc are read, and the kernel's own sums of
 * children that were waited for take the place of the exit programs.
 */
#ifndef COUNTERS_TASKS_H
#define COUNTERS_TASKS_H

#include "base/err.h"
#include "base/vec.h"
#include "bpf/tasks_abi.h"

/* A process or, if asked for, a thread in one interval. */
struct task_row {
	u32 pid;
	u32 tid; /* the same for a process */
	u32 ppid;
	u32 uid;
	u32 cpu; /* where it ran last */
	u32 threads;
	u32 policy;
	u32 folded; /* tasks that were born and died meanwhile, whose figures are in @figures */
	s32 nice;
	char state; /* R S D T Z I X */
	bool ended;
	bool kernel; /* a kernel thread */
	char comm[TASKS_COMM];
	u64 start;  /* ns since boot */
	u64 cgroup; /* version 2 */
	u64 vsize;  /* bytes */
	u64 rss;
	u64 figures[TASK_FIGURES]; /* in the interval */
	u64 user;                  /* TASK_EXEC divided as the ticks say */
	u64 system;
	u64 folded_exec; /* part of TASK_EXEC that is of folded tasks, */
	u64 folded_own;  /* and part of that of threads of its own */
	u64 life;        /* TASK_EXEC of the whole life of its threads that live */
};

/*
 * For how long CPUs had a task, added up at each switch: where it is requested and can be obtained.
 * @charged is what rows must add up to. The kernel may charge a task from the moment it was woken,
 * while its CPU is still leaving its idle state.
 */
struct task_meter {
	bool known;
	bool by_clock;    /* @charged is by the scheduler's clock, otherwise it is @busy */
	bool irq_apart;   /* tasks are not charged for interrupts, */
	bool steal_apart; /* for what the hypervisor took */
	u64 busy;
	u64 charged;
	u64 leaving; /* part of @charged: CPUs that were leaving idle */
};

struct task_rows {
	VEC(struct task_row) rows;
	u64 orphans_exec; /* of tasks that came and went, and whose parents are gone, too */
	u64 lost_exec;    /* seen to end, but there was no room to say whose it was */
	u64 lost;         /* ends of tasks that could not be reported */
	u32 n_tasks;      /* threads that live */
	bool by_bpf;      /* otherwise by /proc: what vanished may be missing */
	struct task_meter meter;
	u64 no_room; /* sleeps for disks that could not be counted */
};

struct tasks;

struct tasks_options {
	const char *root; /* of /proc; NULL: this machine, by BPF where that works */
	bool per_thread;
	bool no_bpf;
	bool meter; /* task_rows.meter: costs a little at each switch */
	bool disk;  /* TASK_DISK: a little more, at each wakeup, too */
};

/* Falls back to /proc by itself; -errno only where not even that can be read. */
int tasks_new(struct tasks **ret, const struct tasks_options *o, struct err *e);
void tasks_free(struct tasks *t);
/* From the next sweep on: a row for each thread, or for each process. */
void tasks_per_thread(struct tasks *t, bool per_thread);
/* Readable when the ends of tasks should be taken in before they are too many; -1: never. */
int tasks_fd(const struct tasks *t);
void tasks_drain(struct tasks *t);
/* The first sweep gives all that tasks ever did. */
int tasks_sweep(struct tasks *t, struct task_rows *ret);

void task_rows_release(struct task_rows *r);
void task_rows_copy(struct task_rows *to, const struct task_rows *from);

#endif
