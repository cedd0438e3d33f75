/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of interrupts that wake a thread. */
#ifndef BPF_OFFCPU_INTERRUPT_BPF_H
#define BPF_OFFCPU_INTERRUPT_BPF_H

#include "bpf/offcpu.bpf.h"

/*
 * How many frames are the interrupt's own: up to its way into the kernel. 0: more than these.
 * Global, so that what follows is not verified for each answer.
 */
UNWIND_CALLED int offcpu_own_frames(struct unwind_slot *slot, u32 n)
{
	u32 i;

	if (!slot)
		return 0;
	for (i = 0; i < OFFCPU_IRQ_FEW && i < n; i++) {
		u64 ip = slot->out.ip[i];

		if (ip > offcpu_options.entry.begin && ip <= offcpu_options.entry.end)
			return i + 1;
	}
	return 0;
}

/* Into the slot, without what was interrupted. */
static __always_inline void offcpu_walk_interrupt(void *ctx, struct unwind_slot *slot, u32 walked)
{
	long bytes =
		walked ? slot->kept * 8 : bpf_get_stack(ctx, slot->out.ip, OFFCPU_IRQ_FEW * 8, 0);
	u32 own = bytes > 0 ? (u32)offcpu_own_frames(slot, (u32)bytes / 8) : 0;
	bool whole = own || (bytes > 0 && bytes < OFFCPU_IRQ_FEW * 8);

	if (!whole && bytes > 0 && !walked)
		bytes = bpf_get_stack(ctx, slot->out.ip, OFFCPU_IRQ_FRAMES * 8, 0);
	if (bytes < 0)
		unwind_count(UNWIND_COUNT_KERNEL_CUT, 1);
	if (bytes > OFFCPU_IRQ_FRAMES * 8)
		bytes = OFFCPU_IRQ_FRAMES * 8;
	slot->out.n_kernel = own ? own : bytes > 0 ? (u32)bytes / 8 : 0;
	slot->kernel_hash = unwind_hash_frames(slot, 0, slot->out.n_kernel);
}

/*
 * The stack of the running interrupt, on a task that has nothing to do with it. @walked:
 * that was just found out by a walk, and the slot has it.
 */
static __attribute__((noinline)) u64 offcpu_take_interrupt(void *ctx, u32 walked)
{
	struct offcpu_taking t = {};
	u64 stack;

	if (!offcpu_options.kernel_stacks)
		return 0;
	t.slot = unwind_slot_take();
	if (!t.slot)
		return 0;
	offcpu_begin_stack(t.slot, 0);
	offcpu_walk_interrupt(ctx, t.slot, walked);
	stack = offcpu_keep_stack(&t);
	unwind_slot_give(t.slot);
	return stack;
}

#endif
