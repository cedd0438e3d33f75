/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers with which a task entered the kernel. They are at the end of its kernel stack; a
 * helper knows where, for tasks that are typed. For others the place is looked for once, in the
 * task that loads the program: there it is known what the registers must be.
 */
#ifndef BPF_UNWIND_REGS_BPF_H
#define BPF_UNWIND_REGS_BPF_H

#include "bpf/task.bpf.h"
#include "bpf/unwind_abi.h"

/* From the start of a task's stack to its registers; 0: not known. Only with BPF_RAW. */
u64 unwind_regs_at = 0;

#ifdef BPF_RAW

#define USER_CODE_64  0x33
#define USER_CODE_32  0x23
#define USER_DATA     0x2b
#define SYSCALL_BPF   321
#define STACK_LEAST   14 /* bits of its size */
#define STACK_MOST    16
#define STACK_PADDING 16 /* where interrupts are delivered by FRED */

struct unwind_task_regs {
	u64 address;
	struct pt_regs regs;
};

/* Of the task, into @to: all 0 where it has no user part, or none that is known. */
static __always_inline struct pt_regs *unwind_read_regs(struct task_struct *task,
							struct unwind_task_regs *to)
{
	struct pt_regs *regs = &to->regs;

	to->address = (u64)BPF_CORE_READ(task, stack) + unwind_regs_at;
	if (!unwind_regs_at ||
	    bpf_probe_read_kernel(regs, sizeof(*regs), (const void *)to->address) ||
	    ((u16)regs->cs != USER_CODE_64 && (u16)regs->cs != USER_CODE_32))
		__builtin_memset(regs, 0, sizeof(*regs));
	return regs;
}

/* Negative: it is in none, as far as is known. */
static __always_inline s64 unwind_syscall_of(struct task_struct *task)
{
	const struct pt_regs *regs =
		(const struct pt_regs *)((u64)BPF_CORE_READ(task, stack) + unwind_regs_at);
	s64 nr = -1;

	if (unwind_regs_at)
		bpf_probe_read_kernel(&nr, sizeof(nr), &regs->orig_ax);
	return nr;
}

/* The second and the third argument of its system call. */
static __always_inline void unwind_call_args(struct task_struct *task, u64 args[2])
{
	const struct pt_regs *regs =
		(const struct pt_regs *)((u64)BPF_CORE_READ(task, stack) + unwind_regs_at);

	if (!unwind_regs_at)
		return;
	bpf_probe_read_kernel(&args[0], sizeof(args[0]), &regs->si);
	bpf_probe_read_kernel(&args[1], sizeof(args[1]), &regs->dx);
}

static __always_inline bool unwind_try_regs(u64 stack, u64 at)
{
	struct pt_regs regs;

	if (bpf_probe_read_kernel(&regs, sizeof(regs), (const void *)(stack + at)) ||
	    regs.orig_ax != SYSCALL_BPF || regs.di != BPF_PROG_TEST_RUN ||
	    (u16)regs.cs != USER_CODE_64 || (u16)regs.ss != USER_DATA)
		return false;
	unwind_regs_at = at;
	return true;
}

/*
 * Run once by the program that loads this. Also tells whether the types are those of this kernel:
 * a task without the numbers of the current one is not one.
 */
SEC("raw_tp")
int unwind_find_regs(void *ctx)
{
	struct task_struct *task = task_current();
	u64 id = bpf_get_current_pid_tgid(), stack = (u64)BPF_CORE_READ(task, stack), at;
	u32 bits;

	if ((u32)BPF_CORE_READ(task, pid) != (u32)id || (u32)BPF_CORE_READ(task, tgid) != id >> 32)
		return UNWIND_REGS_STRANGE;
	for (bits = STACK_LEAST; bits <= STACK_MOST; bits++) {
		at = (1ull << bits) - sizeof(struct pt_regs);
		if (unwind_try_regs(stack, at) || unwind_try_regs(stack, at - STACK_PADDING))
			return UNWIND_REGS_FOUND;
	}
	return UNWIND_REGS_NOWHERE;
}

#else

static __always_inline s64 unwind_syscall_of(struct task_struct *task)
{
	return ((struct pt_regs *)bpf_task_pt_regs(task))->orig_ax;
}

/* The second and the third argument of its system call. */
static __always_inline void unwind_call_args(struct task_struct *task, u64 args[2])
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	args[0] = regs->si;
	args[1] = regs->dx;
}

#endif
#endif
