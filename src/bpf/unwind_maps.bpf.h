/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a user address to the mapping it lies in, without locks. The nodes of the maple tree are
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
 * @node is scratch for one node of the tree. *@ret_last becomes the last address for which the
 * answer, which may be "nothing", is the same.
 */
static __always_inline struct vm_area_struct *maple_find(struct mm_struct *mm, u64 address,
							 u64 *node, u64 *ret_last)
{
	u64 entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	u32 i, level;

	for (level = 0; level < MAPLE_DEPTH; level++) {
		/* empty, or a tree of a single entry: no process looks like that */
		if (entry < 4096 || (level == 0 && (entry & 3) != 2))
			return 0;
		u32 type = (entry >> 3) & 15;

		if (bpf_probe_read_kernel(node, MAPLE_WORDS * 8, (void *)(entry & ~255ull)))
			return 0;
		u32 pivots = type == MAPLE_ARANGE ? MAPLE_ARANGE_PIVOTS : MAPLE_PIVOTS;

		/* node[0] is the parent, then come the pivots, then the slots */
		for (i = 0; i < MAPLE_PIVOTS && i < pivots; i++) {
			u64 pivot = node[(1 + i) & (MAPLE_WORDS - 1)];

			if (pivot == 0 && i)
				break; /* the rest of the node is empty */
			if (address <= pivot) {
				*ret_last = pivot;
				break;
			}
		}
		entry = node[(1 + pivots + i) & (MAPLE_WORDS - 1)];
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

static __always_inline struct vm_area_struct *vma_find(struct mm_struct *mm, u64 address, u64 *node)
{
	u64 last;

	if (bpf_core_field_exists(mm->mm_mt))
		return maple_find(mm, address, node, &last);
	if (bpf_core_field_exists(((struct mm_struct___old *)mm)->mm_rb))
		return rb_find(mm, address);
	return 0;
}

#endif
