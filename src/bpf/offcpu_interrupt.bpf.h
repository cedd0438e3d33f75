/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of interrupts that wake somebody. */
#ifndef BPF_OFFCPU_INTERRUPT_BPF_H
#define BPF_OFFCPU_INTERRUPT_BPF_H

#include "bpf/offcpu.bpf.h"

/* How many frames are the interrupt's own: up to its way into the kernel. 0: more than these. */
static __always_inline u32 offcpu_own_frames(struct unwind_slot *slot, u32 n)
{
	u32 i;

	for (i = 0; i < OFFCPU_IRQ_FEW && i < n; i++) {
		u64 ip = slot->out.ip[i];

		if (ip > offcpu_options.entry.begin && ip <= offcpu_options.entry.end)
			return i + 1;
	}
	return 0;
}

/*
 * Into the slot, without what was interrupted; true: as far as the interrupt's way in, or all there
 * is, since it runs in a thread for such.
 */
static __always_inline bool offcpu_walk_interrupt(void *ctx, struct unwind_slot *slot, u32 walked)
{
	long bytes =
		walked ? slot->kept * 8 : bpf_get_stack(ctx, slot->out.ip, OFFCPU_IRQ_FEW * 8, 0);
	u32 own = bytes > 0 ? offcpu_own_frames(slot, (u32)bytes / 8) : 0;
	bool whole = own || (bytes > 0 && bytes < OFFCPU_IRQ_FEW * 8);

	if (!whole && bytes > 0 && !walked)
		bytes = bpf_get_stack(ctx, slot->out.ip, OFFCPU_IRQ_FRAMES * 8, 0);
	if (bytes < 0)
		unwind_count(UNWIND_COUNT_KERNEL_CUT, 1);
	if (bytes > OFFCPU_IRQ_FRAMES * 8)
		bytes = OFFCPU_IRQ_FRAMES * 8;
	slot->out.n_kernel = own ? own : bytes > 0 ? (u32)bytes / 8 : 0;
	slot->kernel_hash = offcpu_hash_frames(slot, 0, slot->out.n_kernel);
	return whole;
}

/*
 * Interrupts have a stack of their own, where the same way to here has the same length. All of its
 * frames are there but the outermost, which the one before it stands for.
 */
static __always_inline u32 offcpu_interrupt_set(u64 base, u32 kind)
{
	u64 place = offcpu_mix(base & ~OFFCPU_PAGE, OFFCPU_IN_INTERRUPT + kind);

	return offcpu_set_of(place, 1, OFFCPU_AT_PREEMPTION);
}

/* Bytes up to its end: it ends with a page. */
static __always_inline u32 offcpu_interrupt_room(u64 base)
{
	u32 room = 4096 - (base & ~OFFCPU_PAGE);

	return room > OFFCPU_KERNEL_GLANCE * 8 ? OFFCPU_KERNEL_GLANCE * 8 : room;
}

/*
 * The number of the stack of the interrupt that runs now, if it is known, else 0. In softirqs that
 * a task runs itself nothing is known: what is noted begins with a way into the kernel, or is all
 * of a thread for softirqs.
 */
static __attribute__((noinline)) u64 offcpu_recall_interrupt(u64 base, u32 kind)
{
	u32 set, i, room = offcpu_interrupt_room(base);

	if (!OFFCPU_CAST || !offcpu_options.kernel_stacks)
		return 0;
	set = offcpu_interrupt_set(base, kind);
	for (i = 0; i < OFFCPU_WAYS; i++) {
		struct offcpu_kernel_memo *memo = offcpu_way(set, i);
		u64 sight, stack;

		if (!memo)
			return 0;
		sight = READ_ONCE(memo->sight);
		if (unlikely(!memo->n_kernel || 8 * memo->kernel_words > room ||
			     !offcpu_same_frames(memo, base)))
			continue;
		offcpu_way_was_right(set, i, memo);
		stack = offcpu_number_of(memo, sight);
		return READ_ONCE(memo->sight) == sight ? stack : 0;
	}
	return 0;
}

/*
 * The stack of the interrupt that runs now, in the name of a task that has no part in it. @walked:
 * that was just found out by a walk, and the slot has it.
 */
static __attribute__((noinline)) u64 offcpu_take_interrupt(void *ctx, u32 kind, u32 walked)
{
	struct offcpu_taking t = {};
	u64 stack, base;

	if (!offcpu_options.kernel_stacks)
		return 0;
	t.slot = unwind_slot_take();
	if (!t.slot)
		return 0;
	base = offcpu_number(&t.slot->walk, (u64)ctx);
	offcpu_begin_stack(t.slot, 0, OFFCPU_IN_INTERRUPT);
	if (offcpu_walk_interrupt(ctx, t.slot, walked) && OFFCPU_CAST)
		offcpu_note_kernel(base, base + offcpu_interrupt_room(base), t.slot,
				   offcpu_interrupt_set(base, kind), 0);
	stack = offcpu_keep_stack(&t);
	unwind_slot_give(t.slot);
	return stack;
}

#endif
