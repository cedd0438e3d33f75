/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of each thread, and how it is found. */
#ifndef BPF_OFFCPU_TASKS_BPF_H
#define BPF_OFFCPU_TASKS_BPF_H

#include "bpf/offcpu_abi.h"
#include "bpf/sched_types.h"
#include "bpf/task.bpf.h"

/* What is known of a thread. */
struct offcpu_task {
	/* the wait that it is in, or the last one */
	u64 out;
	u64 wake;  /* 0: not woken */
	u64 delay; /* its time in run queues until then, by the kernel */
	u64 stack;
	u64 chain;
	u32 state;
	s32 syscall;
	u32 flags;
	u8 open;
	u8 wanted; /* passed the filters */
	u8 follow; /* a child of the target */
	u8 mine;   /* its account is asked for; others only serve chains */
	/* its last sleep, for the chains of those whom it wakes */
	u64 sleep_out;
	u64 sleep_wake;
	u64 sleep_stack;
	u64 known_chain; /* the last one */
	u64 early;       /* when somebody woke it that had not left yet; 0: nobody did */
	u32 n_early;     /* 1: and is named, after the links */
	u32 n_links;
	u32 named; /* its row is the one that the wait belongs to */
	/* the account */
	u64 begin;
	u64 in; /* since when it runs; 0: it does not, or we did not see */
	u64 exec;
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
	u64 owed;  /* time off the CPU, of the period that it is in */
	u64 point; /* where in that the sample is taken, from 1 on; 0: not chosen yet */
	u32 pid;
	u32 tid;
	char comm[OFFCPU_COMM];
	/* with offcpu_options.sums: waits that are not in their row yet */
	struct offcpu_key row;
	struct offcpu_value sum;
	struct offcpu_link links[OFFCPU_LINKS + 1]; /* the last one: see offcpu_early.bpf.h */
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
	/* callers ask whether there is one, and not the two questions again */
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

static __always_inline void offcpu_task_ends(struct task_struct *task)
{
	u32 pid = BPF_CORE_READ(task, pid);

	bpf_map_delete_elem(&offcpu_tasks, &pid);
}

#else

/* With @create it is made, all zero; 0: there is none, or no memory. */
static __always_inline struct offcpu_task *offcpu_task_of(struct task_struct *task, bool create)
{
	return bpf_task_storage_get(&offcpu_tasks, task, 0,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* The thread leaves a CPU for the last time. */
static __always_inline void offcpu_task_ends(struct task_struct *task)
{
	bpf_task_storage_delete(&offcpu_tasks, task);
}

#endif
#endif
