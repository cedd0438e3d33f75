/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose a stack with functions of Python is. A child that was forked has the code of its parent,
 * and may be gone when that is read: so its stacks say which process it is, and where that came
 * from.
 */
#ifndef BPF_OFFCPU_PYTHON_BPF_H
#define BPF_OFFCPU_PYTHON_BPF_H

enum { OFFCPU_FOREFATHERS = 4 }; /* that are considered */

/* The number of a process; @leader is its first thread. */
static __always_inline u64 offcpu_process(const struct task_struct *leader)
{
	return offcpu_mix(task_field(leader, start_time), (u32)task_field(leader, tgid)) | 1;
}

/* Whether the process still runs the program that its child does, which was forked then. */
static __always_inline bool offcpu_runs_same(const struct task_struct *parent,
					     const struct python_walk *child)
{
	const struct mm_struct___sched *mm =
		task_field((const struct task_struct___sched *)parent, mm);

	if (!mm)
		return false;
	return python_program_of(task_field(mm, start_code), task_field(mm, end_code),
				 task_field(mm, start_stack)) == child->gen;
}

static __always_inline const struct task_struct *offcpu_parent(const struct task_struct *task)
{
	/* the thread that forked it */
	const struct task_struct *parent = task_field(task, real_parent);

	return task_field(parent, group_leader);
}

static __always_inline void offcpu_tell_process(struct unwind_slot *slot)
{
	const struct task_struct *task = task_current(), *parent = offcpu_parent(task);
	struct unwind_sample *out = &slot->out;

	out->process = offcpu_process(task_field(task, group_leader));
	out->parent = offcpu_process(parent);
	out->parent_pid = unwind_pidns.ino ? 0 : task_field(parent, tgid);
	out->origin = 0;
	for (int i = 0; i < OFFCPU_FOREFATHERS; i++) {
		if (!offcpu_runs_same(parent, &slot->python))
			break;
		out->origin = offcpu_process(parent);
		parent = offcpu_parent(parent);
	}
	if (!out->origin)
		out->parent_pid = 0;
	python_note(&slot->python, out->process);
}

#endif
