/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's types that only the scheduler programs read, in addition to those of ktypes.h. A
 * type that ktypes.h has already with other fields is named x___sched here: the loader looks for x.
 */
#ifndef BPF_SCHED_TYPES_H
#define BPF_SCHED_TYPES_H

#include "bpf/ktypes.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq___sched {
	unsigned int nr_running;
	u64 clock;
};

struct cfs_rq___sched {
	struct rq___sched *rq;
	/* of the group's use of CPU time, with CONFIG_CFS_BANDWIDTH */
	int throttle_count;
	u64 throttled_clock_self_time; /* since 6.6: until the present one began */
};

struct sched_entity___sched {
	u64 sum_exec_runtime;
	struct cfs_rq___sched *cfs_rq;
};

/* What the kernel sums up about the time in run queues. */
struct sched_info___sched {
	u64 run_delay;
	u64 last_queued; /* since when it is in one, 0: it runs or sleeps */
};

struct kernfs_node___sched {
	u64 id;
};

struct cgroup_subsys_state___sched {
	struct cgroup___sched *cgroup;
	struct cgroup_subsys_state___sched *parent;
};

struct cgroup___sched {
	struct cgroup_subsys_state___sched self;
	struct kernfs_node___sched *kn;
};

struct css_set___sched {
	struct cgroup___sched *dfl_cgrp;
};

typedef struct {
	u32 val;
} kuid___sched;

struct cred___sched {
	kuid___sched uid;
};

struct list_head___sched {
	struct list_head___sched *next;
};

struct signal_struct___sched {
	struct list_head___sched thread_head;
};

struct mm_struct___sched {
	unsigned long exec_vm;
	unsigned long start_code, end_code;
	unsigned long start_stack;
	void *pgd;
};

struct task_struct___sched {
	unsigned int __state;
	void *stack;
	struct mm_struct___sched *mm;
	int pid;
	int tgid;
	int prio;
	u64 utime;
	u64 stime;
	unsigned long nvcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	char comm[16];
	struct sched_entity___sched se;
	struct sched_info___sched sched_info;
	struct css_set___sched *cgroups;
	struct cred___sched *real_cred;
	struct list_head___sched tasks;       /* of all processes */
	struct list_head___sched thread_node; /* of all threads of the process */
	struct signal_struct___sched *signal;
};

/* Before 5.14. */
struct task_struct___old {
	long state;
};

struct bpf_iter_meta {
	u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#define SCHED_STATE_SLEEP 0x1u
#define SCHED_STATE_DISK  0x2u
#define SCHED_STATE_DEAD  0x80u

#define PREEMPT_SOFTIRQ_SERVED 0x00000100
#define PREEMPT_HARDIRQ        0x000f0000
#define PREEMPT_NMI            0x00f00000

#endif
