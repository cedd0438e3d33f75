/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What accompanies a stack that is finished in user space: the executable mappings of the current
 * task, since what is mapped now may not be then, and the bytes of its stack.
 */
#ifndef BPF_UNWIND_LIST_BPF_H
#define BPF_UNWIND_LIST_BPF_H

#include "bpf/unwind.bpf.h"

/* Programs that want to know of a Python among them say so. */
#ifndef UNWIND_LIST_PYTHON
#define UNWIND_LIST_PYTHON 0
#endif

#define USER_SPACE_END (1ull << 47)

/* Where the Python of this process keeps its state, if this is its file. */
static __always_inline void unwind_note_python(struct unwind_scratch *scratch,
					       const struct unwind_vma *vma)
{
	/* on the stack: in a global function older kernels take no key from elsewhere */
	struct unwind_key key = vma->key;
	struct unwind_bin *bin = bpf_map_lookup_elem(&unwind_bins, &key);
	u32 python = bin && unwind_same_version(bin, &vma->version) ? bin->python : 0;
	struct unwind_python *l = bpf_map_lookup_elem(&unwind_pythons, &python);

	if (!python || !l)
		return;
	scratch->python = python;
	scratch->runtime = vma->start - vma->offset + l->runtime;
}

static __always_inline void unwind_add_vma(struct unwind_slot *slot, struct mm_struct *mm,
					   struct vm_area_struct *vma)
{
	struct unwind_vma *to = &slot->vmas[slot->n_vmas & (UNWIND_RESCUE_VMAS - 1)];
	struct file *file = BPF_CORE_READ(vma, vm_file);

	to->start = BPF_CORE_READ(vma, vm_start);
	to->end = BPF_CORE_READ(vma, vm_end);
	to->offset = BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
	to->key.ino = 0;
	to->key.dev = 0;
	to->key.pad = 0;
	to->version = (struct unwind_version){};
	if (file) {
		unwind_version_of(BPF_CORE_READ(file, f_inode), &to->version);
		to->key.ino = BPF_CORE_READ(file, f_inode, i_ino);
		to->key.dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
		if (UNWIND_LIST_PYTHON)
			unwind_note_python(&slot->scratch, to);
	} else if (to->start == (u64)BPF_CORE_READ(mm, context.vdso)) {
		to->key.ino = 1;
		to->offset = 0;
	}
	slot->n_vmas++;
}

static long unwind_one_vma(u32 i, void *ctx)
{
	struct unwind_slot *slot = ((struct unwind_loop *)ctx)->slot;
	struct mm_struct *mm = unwind_mm(task_current());
	struct vm_area_struct *vma = maple_find(mm, slot->walk, &slot->scratch.maple);
	u64 last = slot->scratch.maple.last;

	if (slot->n_vmas >= UNWIND_RESCUE_VMAS)
		return 1;
	if (vma && (BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		unwind_add_vma(slot, mm, vma);
	slot->walk = last + 1;
	return last >= USER_SPACE_END ? 1 : 0;
}

/* The executable mappings of the current task into slot->vmas. */
static __always_inline void unwind_list_vmas(struct unwind_slot *slot)
{
	struct unwind_loop loop = { .slot = slot };
	struct mm_struct *mm = unwind_mm(task_current());

	slot->n_vmas = 0;
	slot->walk = 0;
	if (mm && bpf_core_field_exists(mm->mm_mt))
		bpf_loop(UNWIND_VMA_STEPS, unwind_one_vma, &loop, 0);
}

/* Page by page: what is not in memory or not mapped ends the copy, and keeps what came before. */
static __always_inline u32 unwind_copy_stack(struct unwind_rescue *r)
{
	u64 sp = r->regs[UNWIND_REG_SP];
	u32 have = 0, i;

	for (i = 0; i < UNWIND_RESCUE_BYTES / UNWIND_RESCUE_PAGE; i++) {
		u32 n = UNWIND_RESCUE_PAGE - ((sp + have) & (UNWIND_RESCUE_PAGE - 1));

		if (have > UNWIND_RESCUE_BYTES - UNWIND_RESCUE_PAGE || n > UNWIND_RESCUE_PAGE)
			break;
		if (bpf_probe_read_user(r->stack + have, n, (const void *)(sp + have)))
			break;
		have += n;
	}
	return have;
}

#endif
