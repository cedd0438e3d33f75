/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of the kernel, read without a call. Since 6.2 a number can be taken for a pointer to a
 * type that the kernel has; what lies there is read by a plain load, which gives 0 where there is
 * nothing. Each return of a helper is expensive on some machines, and this runs at every switch.
 */
#ifndef BPF_OFFCPU_DIRECT_BPF_H
#define BPF_OFFCPU_DIRECT_BPF_H

#include "bpf/sched_types.h"
#include "bpf/task.bpf.h"

#ifdef BPF_RAW

#define OFFCPU_CAST 0 /* the kernel has no types */

static __always_inline u64 offcpu_word(u64 address)
{
	return 0;
}

#else

#define OFFCPU_CAST offcpu_options.has_cast

extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

/* Only where OFFCPU_CAST. */
static __always_inline u64 offcpu_word(u64 address)
{
	const struct pt_regs *word =
		bpf_rdonly_cast((const void *)address, offcpu_options.word_type);

	return word->r15; /* the first in there */
}

#endif

/* As a number, which is also cheaper to verify than a pointer of a type. */
static __always_inline u64 offcpu_mm_of(const struct task_struct *task)
{
	return offcpu_word((u64)task + bpf_core_field_offset(struct task_struct___sched, mm));
}

/* The run queue of the CPU that the thread belongs to. */
static __always_inline u64 offcpu_queue_of(const struct task_struct *task)
{
	const struct task_struct___sched *t = (const struct task_struct___sched *)task;
	u64 at;

	if (!OFFCPU_CAST)
		return (u64)BPF_CORE_READ(t, se.cfs_rq, rq);
	at = offcpu_word((u64)t + bpf_core_field_offset(struct task_struct___sched, se.cfs_rq));
	return offcpu_word(at + bpf_core_field_offset(struct cfs_rq___sched, rq));
}

/* By the clock of that CPU, which stands still between switches. */
static __always_inline u64 offcpu_queue_clock(const struct task_struct *task)
{
	u64 at = offcpu_queue_of(task) + bpf_core_field_offset(struct rq___sched, clock), now = 0;

	if (OFFCPU_CAST)
		return offcpu_word(at);
	bpf_probe_read_kernel(&now, sizeof(now), (const void *)at);
	return now;
}

/* How long the thread has been in run queues in all its life, until @now of the queue's clock. */
static __always_inline u64 offcpu_delay_at(const struct task_struct *task, u64 now)
{
	const struct task_struct___sched *t = (const struct task_struct___sched *)task;

	u64 sum = task_field(t, sched_info.run_delay);
	u64 since = task_field(t, sched_info.last_queued);

	return since ? sum + now - since : sum;
}

/* @now is by the clock that waits are measured by. */
static __always_inline u64 offcpu_delay(const struct task_struct *task, u64 now)
{
	if (!offcpu_options.by_delay)
		return 0;
	return offcpu_delay_at(task, offcpu_options.queue_clock ? now : offcpu_queue_clock(task));
}

/*
 * The time of a switch. The run queue has just set its clock when it calls the tracepoint; where
 * only lengths of waits count, that saves a call. It is not NTP's, nor can it be sent.
 */
static __always_inline u64 offcpu_switch_time(const struct task_struct *prev,
					      const struct task_struct *next)
{
	if (!offcpu_options.queue_clock)
		return bpf_ktime_get_ns();
	return offcpu_queue_clock(task_field(next, pid) ? next : prev);
}

#endif
