/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a user address to the mapping it is in, without locks. The nodes of the maple tree are
 * freed by RCU and BPF programs run under RCU, so what is read here was true a moment ago; the
 * caller checks the bounds of what it gets. No per-process state, so nothing can be stale.
 */
#ifndef BPF_UNWIND_MAPS_BPF_H
#define BPF_UNWIND_MAPS_BPF_H

#include "bpf/ktypes.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

enum {
	MAPLE_WORDS = 32, /* a node is 256 bytes */
	MAPLE_DEPTH = 8,
	MAPLE_LEAF = 1,
	MAPLE_ARANGE = 3,
	MAPLE_PIVOTS = 15,
	MAPLE_ARANGE_PIVOTS = 9,
	RB_DEPTH = 40,
};

/*
 * Which slot of a node holds @address: how many pivots are below it, up to the first unused one,
 * which is 0. Without branches, so that the verifier has one path to follow instead of one for
 * each pivot. Addresses are below 2^63; the last pivot may be ~0, which is above all of them.
 */
static __always_inline u32 maple_slot(const u64 *node, u64 wide, u64 address)
{
	u64 below = ((node[1] - address) & ~node[1]) >> 63;
	u32 i, slot = below;

#pragma unroll
	for (i = 1; i < MAPLE_PIVOTS; i++) {
		u64 pivot = node[1 + i];

		below &= ((pivot - address) & ~(pivot - 1)) >> 63;
		if (i == MAPLE_ARANGE_PIVOTS)
			below &= wide;
		slot += below;
		/* preloaded pivots would be kept on the stack, which is scarce */
		barrier();
	}
	return slot;
}

/* What a walk over a tree needs, and may be given to a global function. */
struct maple_walk {
	u64 node[MAPLE_WORDS];
	u64 last; /* the last address for which the answer, which may be "nothing", is the same */
};

/* The entry below @entry that leads to @address; 0: the node cannot be read. Verified once. */
__attribute__((noinline)) u64 maple_down(struct maple_walk *w, u64 entry, u64 address)
{
	if (!w || bpf_probe_read_kernel(w->node, sizeof(w->node), (void *)(entry & ~255ull)))
		return 0;
	/* node[0] is the parent, then come the pivots, then the slots */
	u32 type = (entry >> 3) & 15;
	/* 0 or 1 without a branch, which would have all that follows verified twice */
	u64 wide = ((type ^ MAPLE_ARANGE) + 15) >> 4;

	u32 pivots = MAPLE_ARANGE_PIVOTS + (MAPLE_PIVOTS - MAPLE_ARANGE_PIVOTS) * wide;
	u32 slot = maple_slot(w->node, wide, address);
	u64 pivot = w->node[(1 + slot) & (MAPLE_WORDS - 1)];

	if (slot < pivots && address <= pivot)
		w->last = pivot;
	return w->node[(1 + pivots + slot) & (MAPLE_WORDS - 1)];
}

static __always_inline struct vm_area_struct *maple_find(struct mm_struct *mm, u64 address,
							 struct maple_walk *w)
{
	u64 entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	u32 level;

	w->last = ~0ull;
	/* a tree of a single entry: no process looks like that */
	if ((entry & 3) != 2)
		return 0;
	for (level = 0; level < MAPLE_DEPTH && entry >= 4096; level++) {
		u32 type = (entry >> 3) & 15;

		entry = maple_down(w, entry, address);
		if (type == MAPLE_LEAF)
			return (struct vm_area_struct *)entry;
	}
	return 0;
}

static __always_inline struct vm_area_struct *rb_find(struct mm_struct *mm, u64 address)
{
	struct rb_node___old *node = BPF_CORE_READ((struct mm_struct___old *)mm, mm_rb.rb_node);
	u32 i;

	for (i = 0; i < RB_DEPTH && node; i++) {
		struct vm_area_struct___old *v =
			(void *)node - bpf_core_field_offset(struct vm_area_struct___old, vm_rb);

		if (address < BPF_CORE_READ(v, vm_start))
			node = BPF_CORE_READ(node, rb_left);
		else if (address >= BPF_CORE_READ(v, vm_end))
			node = BPF_CORE_READ(node, rb_right);
		else
			return (struct vm_area_struct *)v;
	}
	return 0;
}

static __always_inline struct vm_area_struct *vma_find(struct mm_struct *mm, u64 address,
						       struct maple_walk *w)
{
	if (bpf_core_field_exists(mm->mm_mt))
		return maple_find(mm, address, w);
	if (bpf_core_field_exists(((struct mm_struct___old *)mm)->mm_rb))
		return rb_find(mm, address);
	return 0;
}

#endif
