/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads whose control group has used up its CPU time. They stay runnable, and no tracepoint says
 * when they may run again: the queue of their group on that CPU sums up how long it was throttled.
 */
#ifndef BPF_OFFCPU_THROTTLE_BPF_H
#define BPF_OFFCPU_THROTTLE_BPF_H

#include "bpf/offcpu_direct.bpf.h"
#include "bpf/offcpu_tasks.bpf.h"

enum {
	OFFCPU_FIRST_NICE = 100
}; /* those with less are real-time threads, which have no queue there */

static __always_inline u64 offcpu_group_queue(const struct task_struct *task)
{
	const struct task_struct___sched *t = (const struct task_struct___sched *)task;

	if (OFFCPU_CAST)
		return offcpu_word((u64)t +
				   bpf_core_field_offset(struct task_struct___sched, se.cfs_rq));
	return (u64)BPF_CORE_READ(t, se.cfs_rq);
}

static __always_inline bool offcpu_is_throttled(struct task_struct *task)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;
	struct cfs_rq___sched *queue;
	int count = 0;

	if (!bpf_core_field_exists(struct cfs_rq___sched, throttle_count))
		return false;
	queue = (struct cfs_rq___sched *)offcpu_group_queue(task);
	if (OFFCPU_CAST)
		count = (int)offcpu_word(
			(u64)queue + bpf_core_field_offset(struct cfs_rq___sched, throttle_count));
	else
		count = BPF_CORE_READ(queue, throttle_count);
	return count > 0 && task_field(t, prio) >= OFFCPU_FIRST_NICE;
}

/* How long the group's queue was throttled before. */
static __always_inline u64 offcpu_throttled_time(u64 queue)
{
	struct cfs_rq___sched *q = (struct cfs_rq___sched *)queue;

	if (!bpf_core_field_exists(struct cfs_rq___sched, throttled_clock_self_time))
		return 0;
	return BPF_CORE_READ(q, throttled_clock_self_time);
}

static __always_inline void offcpu_throttle_begins(struct offcpu_task *st, struct task_struct *task)
{
	st->queue = offcpu_group_queue(task);
	st->delay = offcpu_throttled_time(st->queue);
	st->chain = 0;
}

/* It is "woken" when its group may run again; without the sum of the queue, when it runs. */
static __always_inline void offcpu_throttle_ends(struct offcpu_task *st, u64 now)
{
	u64 length = offcpu_throttled_time(st->queue) - st->delay;

	st->wake = length && length < now - st->out ? st->out + length : now;
}

#endif
