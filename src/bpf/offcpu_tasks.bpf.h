/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of each thread, and how it is found. */
#ifndef BPF_OFFCPU_TASKS_BPF_H
#define BPF_OFFCPU_TASKS_BPF_H

#include "bpf/offcpu_abi.h"
#include "bpf/sched_types.h"
#include "bpf/task.bpf.h"

/*
 * What is known of a thread. Between two switches all of it has left the caches: what is requested
 * at each of them comes first and lies close together, in a cache line for each of: the wait,
 * its row, sums, chains.
 */
struct offcpu_task {
	/* the wait that it is in, or the last one */
	u64 out;
	u64 wake;  /* when it was last woken: from this wait only if that is after it last ran */
	u64 chain; /* its waker; 0: not recorded, or there was no room */
	u64 in;    /* since when it runs, or ran before this wait; 0: we did not see */
	u64 exec;  /* its CPU time when it left */
	u32 state;
	s32 syscall;
	u16 flags;
	u8 summed; /* there is something in sum */
	u8 pad;
	u8 open;
	u8 wanted; /* passed the filters */
	u8 follow; /* a child of the target */
	u8 mine;   /* its account is requested; others only serve chains */
	/* what the wait belongs to if it is wanted; the chain becomes known at its end */
	struct offcpu_key row;
	u64 delay; /* its time in run queues until then, by the kernel; of a throttled one: its
		      queue's */
	u64 queue; /* of its group, where that is throttled */
	/* with offcpu_options.sums: waits that are not in their row yet */
	struct offcpu_value sum;
	u64 owed;  /* time off the CPU, of the period that it is in */
	u64 point; /* where in that the sample is taken, from 1 on; 0: not chosen yet */
	u64 begin; /* of the account, see below */
	union {
		/* chains: its last sleep, for those whom it wakes */
		struct {
			u64 sleep_stack;
			u64 sleep_wake; /* 0: it has not ended, or its end was not seen */
			u64 n_links;
			struct offcpu_link links[OFFCPU_LINKS];
		};
		struct offcpu_who who; /* else: its waker last */
	};
	/* the account */
	u64 oncpu;
	u64 blocked;
	u64 runq;
	u64 unknown;
	u64 utime;
	u64 stime;
	u64 minor;
	u64 major;
	u64 switches;
	u64 preemptions;
	u32 pid;
	u32 tid;
	char comm[OFFCPU_COMM];
#ifdef BPF_RAW
	u64 born; /* when the thread was started */
#endif
};

TASK_MAP(offcpu_tasks, struct offcpu_task);

#ifdef BPF_RAW

/* Never written to. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct offcpu_task);
} offcpu_nobody SEC(".maps");

static __always_inline struct offcpu_task *offcpu_task_of(struct task_struct *task, bool create)
{
	u64 born = BPF_CORE_READ(task, start_time);
	u32 pid = BPF_CORE_READ(task, pid), zero = 0;
	struct offcpu_task *st = bpf_map_lookup_elem(&offcpu_tasks, &pid), *nobody;

	/* numbers are used again: of a thread whose end was not seen, perhaps */
	if (st && st->born != born)
		st = 0;
	/* callers test for NULL instead of repeating both conditions */
	barrier_var(st);
	if (st)
		return st;
	nobody = create ? bpf_map_lookup_elem(&offcpu_nobody, &zero) : 0;
	if (!nobody)
		return 0;
	bpf_map_update_elem(&offcpu_tasks, &pid, nobody, BPF_ANY);
	st = bpf_map_lookup_elem(&offcpu_tasks, &pid);
	if (!st)
		return 0;
	st->born = born;
	return st;
}

static __always_inline void offcpu_task_ends(struct task_struct *task, struct offcpu_task *st)
{
	u32 pid = BPF_CORE_READ(task, pid);

	bpf_map_delete_elem(&offcpu_tasks, &pid);
}

#else

/* With @create it is made, all zero; 0: none, or no memory. */
static __always_inline struct offcpu_task *offcpu_task_of(struct task_struct *task, bool create)
{
	return bpf_task_storage_get(&offcpu_tasks, task, 0,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* The thread leaves a CPU for the last time. The kernel will free all that is its own at once. */
static __always_inline void offcpu_task_ends(struct task_struct *task, struct offcpu_task *st)
{
	st->begin = 0;
}

#endif
#endif
