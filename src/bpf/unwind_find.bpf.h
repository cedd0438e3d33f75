/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an address of the current process to the file that it is in, and to the rule there. */
#ifndef BPF_UNWIND_FIND_BPF_H
#define BPF_UNWIND_FIND_BPF_H

#include "bpf/python.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind_maps.bpf.h"
#include "bpf/unwind_path.bpf.h"
#include "bpf/unwind_table.bpf.h"
#include "bpf/unwind_valid.bpf.h"

#define ASK_AGAIN_NS 250000000ull

/* Frames are wanted as places in files; set before loading. */
const volatile bool unwind_places = false;

/* A mapping of a file whose table is known. */
struct unwind_near {
	u64 start;
	u64 end;    /* 0: none */
	u64 offset; /* from an address to where that is in the file */
	u64 place;  /* from an address to its place, see unwind_place(); 0: it has none */
	struct unwind_key key;
	struct unwind_bin bin;
};

/* Scratch that a global function may be given. */
struct unwind_scratch {
	struct unwind_valid valid; /* what holds for the walk */
	u64 runtime;   /* where the Python of this process keeps its state; 0: not known */
	u32 python;    /* its layout */
	u32 in_python; /* the last step was of a frame in the file of a Python */
	u32 new_code;  /* met run-time code of a process that is not known yet */
	u32 pad;
	u64 place; /* as in unwind_near: of the last step */
	/* those that the walk met last: from frame to frame it goes back and forth between few */
	struct unwind_near near[2];
	struct maple_walk maple;
	struct unwind_asking ask; /* on old kernels the stack is scarce */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES);
	__type(key, struct unwind_key);
	__type(value, struct unwind_bin);
} unwind_bins SEC(".maps");

struct unwind_asked {
	u64 tag;
	u64 time;
};

/* When a file was requested last. Collisions only mean that it is requested sooner again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_ASKED);
	__type(key, u32);
	__type(value, struct unwind_asked);
} unwind_asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} unwind_ring SEC(".maps");

#define NSEC_PER_SEC    1000000000ull
#define I_CTIME_QUERIED (1u << 31) /* the kernel's note in the nanoseconds, from 6.13 on */

static __always_inline u64 unwind_change_time(const struct inode *inode)
{
	const struct inode___ctime2 *two = (const void *)inode;
	const struct inode___ctime1 *one = (const void *)inode;

	if (bpf_core_field_exists(inode->i_ctime_sec))
		return BPF_CORE_READ(inode, i_ctime_sec) * NSEC_PER_SEC +
		       (BPF_CORE_READ(inode, i_ctime_nsec) & ~I_CTIME_QUERIED);
	if (bpf_core_field_exists(two->__i_ctime))
		return BPF_CORE_READ(two, __i_ctime.tv_sec) * NSEC_PER_SEC +
		       BPF_CORE_READ(two, __i_ctime.tv_nsec);
	if (bpf_core_field_exists(one->i_ctime))
		return BPF_CORE_READ(one, i_ctime.tv_sec) * NSEC_PER_SEC +
		       BPF_CORE_READ(one, i_ctime.tv_nsec);
	return 0;
}

static __always_inline void unwind_version_of(const struct inode *inode, struct unwind_version *ret)
{
	ret->size = BPF_CORE_READ(inode, i_size);
	ret->changed = unwind_change_time(inode);
	ret->generation = BPF_CORE_READ(inode, i_generation);
	ret->pad = 0;
}

/* The table is of the file as it is now. */
static __always_inline bool unwind_same_version(const struct unwind_bin *bin,
						const struct unwind_version *now)
{
	return !((bin->version.size ^ now->size) | (bin->version.changed ^ now->changed)) &&
	       (!bin->version.generation || bin->version.generation == now->generation);
}

/* Not called by those that need it, but after they have released their part of the stack. */
__attribute__((noinline)) int unwind_ask(struct unwind_asking *ask)
{
	if (!ask)
		return 0;
	struct unwind_need *need = &ask->need;
	u64 which = need->key.ino ^ need->page << 40 ^ need->version.changed;
	u64 now = bpf_ktime_get_ns();
	u64 tag = (which * 0x9e3779b97f4a7c15ull) ^ need->key.dev;
	u32 at = (tag >> 40) & (UNWIND_ASKED - 1);
	struct unwind_asked *a = bpf_map_lookup_elem(&unwind_asked, &at);

	if (!a || (a->tag == tag && now - a->time < ASK_AGAIN_NS))
		return 0;
	a->tag = tag;
	a->time = now;
	unwind_path(ask);
	bpf_ringbuf_output(&unwind_ring, need, sizeof(*need), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * Read as a number: a load that the verifier knows to be a pointer of that type makes it search
 * all types of the kernel by name, a millisecond each.
 */
static __always_inline struct mm_struct *unwind_mm(struct task_struct *task)
{
	u64 mm = 0;

	bpf_core_read(&mm, sizeof(mm), &task->mm);
	return (struct mm_struct *)mm;
}

static __always_inline void unwind_want(struct unwind_scratch *scratch, const struct file *file)
{
	scratch->ask.file = (u64)file;
	scratch->ask.wanted = 1;
}

/*
 * Run-time code: by the rows that user space made for this process, if it could. Asks for them
 * when there are none, or none for this address.
 */
static __always_inline int unwind_find_code(struct unwind_scratch *scratch, struct mm_struct *mm,
					    u64 pc)
{
	struct unwind_need *need = &scratch->ask.need;
	struct unwind_key key = { .ino = need->pid, .dev = UNWIND_CODE_DEV };
	struct unwind_bin *bin = bpf_map_lookup_elem(&unwind_bins, &key);
	int rule;

	need->key = key;
	need->version = (struct unwind_version){};
	need->version.size = unwind_mm_number((u64)mm, unwind_kernel_word);
	if (bin && bin->version.size == need->version.size) {
		if (pc < bin->base || (pc - bin->base) >> UNWIND_PAGE_BITS >= bin->pages)
			return UNWIND_NO_CFI;
		rule = unwind_search(bin, pc - bin->base);
		if (rule != UNWIND_RULE_END)
			return rule;
		unwind_want(scratch, 0);
		return UNWIND_NO_TABLE; /* compiled just now */
	}
	unwind_want(scratch, 0);
	scratch->new_code = 1;
	return UNWIND_NO_CFI;
}

/* The rule for @pc in a mapping whose table is known. */
static __always_inline int unwind_rule_near(struct unwind_scratch *scratch,
					    const struct unwind_near *near, u64 pc, u32 pid)
{
	u64 offset = pc + near->offset;
	u32 python = near->bin.python;
	int rule = unwind_search(&near->bin, offset);

	if (rule == UNWIND_NO_TABLE) {
		struct unwind_need *need = &scratch->ask.need;

		need->type = UNWIND_RECORD_NEED;
		need->pid = pid;
		need->start = near->start;
		need->end = near->end;
		need->version = near->bin.version;
		need->key = near->key;
		need->page = offset >> UNWIND_PAGE_BITS;
		unwind_want(scratch, 0);
		return rule;
	}
	if (!python)
		return rule;
	struct unwind_python *l = bpf_map_lookup_elem(&unwind_pythons, &python);

	scratch->python = python;
	scratch->runtime = l ? l->runtime - near->offset : 0;
	return rule | UNWIND_IN_PYTHON;
}

static __always_inline bool unwind_is_near(const struct unwind_near *near, u64 pc)
{
	return pc >= near->start && pc < near->end;
}

enum { UNWIND_IS_NEAR = -1 };

/* Makes the mapping of @pc the nearest. Otherwise the rule, or why there is none. */
static __always_inline int unwind_make_near(struct unwind_scratch *scratch, u64 pc, u32 pid)
{
	struct mm_struct *mm = unwind_mm(task_current());
	struct unwind_near *near = &scratch->near[0];
	struct unwind_key key = {};
	struct unwind_need *need;

	if (!mm)
		return UNWIND_NO_MAP;
	need = &scratch->ask.need;
	need->type = UNWIND_RECORD_NEED;
	need->pid = pid;
	need->page = 0;
	struct vm_area_struct *vma = vma_find(mm, pc, &scratch->maple);

	if (!vma)
		return UNWIND_NO_MAP;
	need->start = BPF_CORE_READ(vma, vm_start);
	need->end = BPF_CORE_READ(vma, vm_end);
	if (pc < need->start || pc >= need->end || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return UNWIND_NO_MAP; /* raced, or a wrong return address */
	struct file *file = BPF_CORE_READ(vma, vm_file);

	scratch->near[1] = *near;
	near->end = 0;
	near->offset = -need->start;
	if (file) {
		struct inode *inode = BPF_CORE_READ(file, f_inode);

		key.ino = BPF_CORE_READ(inode, i_ino);
		key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
		unwind_version_of(inode, &need->version);
		near->offset += BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
	} else if (need->start == (u64)BPF_CORE_READ(mm, context.vdso)) {
		need->version = (struct unwind_version){};
		key.ino = 1;
	} else {
		return unwind_find_code(scratch, mm, pc);
	}
	struct unwind_bin *bin = bpf_map_lookup_elem(&unwind_bins, &key);

	need->key = key;
	if (!bin || !unwind_same_version(bin, &need->version)) {
		unwind_want(scratch, file);
		return UNWIND_NO_TABLE;
	}
	near->start = need->start;
	near->key = key;
	near->bin = *bin;
	near->place = bin->number ? unwind_place(bin->number, 0) + near->offset : 0;
	near->end = need->end;
	return UNWIND_IS_NEAR;
}

/*
 * A global function: verified once, however many programs and loops call it. What it wants is left
 * in scratch->ask.
 */
__attribute__((noinline)) int unwind_find_rule(struct unwind_scratch *scratch, u64 pc, u32 pid)
{
	struct unwind_near *near;
	int rule;

	if (!scratch)
		return UNWIND_NO_MAP;
	scratch->ask.wanted = 0;
	scratch->place = 0;
	near = &scratch->near[0];
	if (unwind_is_near(&scratch->near[1], pc)) {
		near = &scratch->near[1];
	} else if (!unwind_is_near(near, pc)) {
		rule = unwind_make_near(scratch, pc, pid);
		if (rule != UNWIND_IS_NEAR)
			return rule;
	}
	scratch->place = near->place;
	return unwind_rule_near(scratch, near, pc, pid);
}

#endif
