/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks, as a program meets them. Kernels that describe their types hand out tasks as pointers of a
 * type: fields are loads, and a task can carry what is known of it. For the others each program is
 * compiled once more, with BPF_RAW: it is attached to raw tracepoints, a task is a number to it,
 * its fields are read by a helper, and what is known of tasks is in a hash map.
 */
#ifndef BPF_TASK_BPF_H
#define BPF_TASK_BPF_H

#include "bpf/ktypes.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * Between two events everything has left the caches and the branch predictor, which then assumes
 * branches not taken: the likely path has to be the fall-through, or each test that waits for
 * memory stalls all that follows.
 */
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* What other CPUs may change or read meanwhile, in the order in which it stands here. */
#define barrier()        asm volatile("" ::: "memory")
#define READ_ONCE(x)     (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#ifdef BPF_RAW

#define TASK_TRACEPOINT         "raw_tp/"
#define task_field(task, field) BPF_CORE_READ((task), field)

/* By the number that the first pid namespace has for the thread. */
#define TASK_MAP(name, value_type)                                   \
	struct {                                                     \
		__uint(type, BPF_MAP_TYPE_HASH);                     \
		__uint(max_entries, 16384); /* set before loading */ \
		__type(key, u32);                                    \
		__type(value, value_type);                           \
	} name SEC(".maps")

static __always_inline struct task_struct *task_current(void)
{
	return (struct task_struct *)bpf_get_current_task();
}

#else

#define TASK_TRACEPOINT         "tp_btf/"
#define task_field(task, field) ((task)->field)
#define task_current            bpf_get_current_task_btf

#define TASK_MAP(name, value_type)                       \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE); \
		__uint(map_flags, BPF_F_NO_PREALLOC);    \
		__type(key, int);                        \
		__type(value, value_type);               \
	} name SEC(".maps")

#endif
#endif
