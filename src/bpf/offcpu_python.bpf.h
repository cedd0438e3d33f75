/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process of a stack with functions of Python. A child that was forked has the code of its
 * parent, and may be gone when that is read: so its stacks say which process it is, and where that
 * came from.
 */
#ifndef BPF_OFFCPU_PYTHON_BPF_H
#define BPF_OFFCPU_PYTHON_BPF_H

enum { OFFCPU_ANCESTORS = 4 }; /* that are considered */

/*
 * Fields that are pointers are read by the helper: for each plain load of one, the verifier looks
 * for the names of up to four types among all of the kernel's, on every path. That was half of the
 * time to load these programs; and these lines run only when a stack is sent.
 */
#define offcpu_follow(task, ...) BPF_CORE_READ((task), __VA_ARGS__)

/* The number of a process; @leader is its first thread. */
static __always_inline u64 offcpu_process(const struct task_struct *leader)
{
	return offcpu_mix(offcpu_follow(leader, start_time), (u32)offcpu_follow(leader, tgid)) | 1;
}

/* Whether the process still runs the program that its child does, which was forked then. */
static __always_inline bool offcpu_runs_same(const struct task_struct *parent,
					     const struct python_walk *child)
{
	const struct mm_struct___sched *mm =
		offcpu_follow((const struct task_struct___sched *)parent, mm);

	if (!mm)
		return false;
	return python_program_of(offcpu_follow(mm, start_code), offcpu_follow(mm, end_code),
				 offcpu_follow(mm, start_stack)) == child->gen;
}

/* The first thread of the process whose thread forked the task. */
static __always_inline const struct task_struct *offcpu_parent(const struct task_struct *task)
{
	return offcpu_follow(task, real_parent, group_leader);
}

UNWIND_CALLED int offcpu_note_process(struct unwind_slot *slot)
{
	const struct task_struct *task = task_current(), *parent = offcpu_parent(task);
	struct unwind_sample *out;

	if (!slot)
		return 0;
	out = &slot->out;
	out->process = offcpu_process(offcpu_follow(task, group_leader));
	out->parent = offcpu_process(parent);
	out->parent_pid = unwind_pidns.ino ? 0 : (u32)offcpu_follow(parent, tgid);
	out->origin = 0;
	for (int i = 0; i < OFFCPU_ANCESTORS; i++) {
		if (!offcpu_runs_same(parent, &slot->python))
			break;
		out->origin = offcpu_process(parent);
		parent = offcpu_parent(parent);
	}
	if (!out->origin)
		out->parent_pid = 0;
	python_note(&slot->python, out->process);
	return 0;
}

#endif
