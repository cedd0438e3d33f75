/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wakers that come before the sleep. A thread says that it is going to sleep, and only then leaves
 * its CPU. Whoever wakes it in between takes its pi_lock, tells us (sched_waking), and then asks
 * for the lock of the run queue, under which the thread may be leaving just then. Either the waker
 * gets that first, and there is no sleep; or the thread does, and is woken when it has left.
 *
 * So such a waker is kept apart at first. If it still holds the pi_lock when the thread leaves, it
 * is the one that ends this sleep, as is one that comes while we look at the leaving thread. What
 * it left is read when the thread has the CPU again, and so is whole by then.
 */
#ifndef BPF_OFFCPU_EARLY_BPF_H
#define BPF_OFFCPU_EARLY_BPF_H

#include "bpf/offcpu.bpf.h"

/* Which link of @st a waker is named in, that comes now: a number, or all that follows would be
 * verified once for each. */
static __always_inline u32 early_link(const struct offcpu_task *st)
{
	u32 open = st->open;

	barrier_var(open);
	return ((open & 1) ^ 1) * OFFCPU_LINKS;
}

/* Whether somebody is waking the thread, or may be. */
static __always_inline bool being_woken(struct task_struct *task)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;

	if (!bpf_core_field_exists(t->pi_lock.raw_lock.val.counter))
		return true;
	return task_field(t, pi_lock.raw_lock.val.counter) != 0;
}

/* The thread leaves: a waker that has finished was in time, and there was no sleep then. */
static __always_inline void check_early(struct offcpu_task *st, struct task_struct *prev)
{
	if (st->early && !being_woken(prev))
		st->early = 0;
}

/* The wait of @st is over: it has the waker that came early, if no other came. */
__attribute__((noinline)) int take_early(struct offcpu_task *st)
{
	if (!st)
		return 0;
	if (st->state && !st->wake) {
		/* it could not end before it began */
		st->wake = st->early < st->out ? st->out : st->early;
		st->sleep_wake = st->wake;
		st->n_links = st->n_early;
		st->links[0] = st->links[OFFCPU_LINKS];
		st->chain = st->n_links ? offcpu_keep_chain(st) : 0;
	}
	st->early = 0;
	return 0;
}

#endif
