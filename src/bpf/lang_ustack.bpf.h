/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user stack of the current task by its number in a map of stacks.
 *
 * A thread that is where it was before, with the same callers, is recognised without a walk, and
 * then the number of its stack is known too.
 */
#ifndef BPF_LANG_USTACK_BPF_H
#define BPF_LANG_USTACK_BPF_H

#define UNWIND_PYTHON_FRAMES 0
#define UNWIND_PLACED(slot)  ((slot)->how & LANG_PLACES)
#include "bpf/lang_abi.h"
#include "bpf/unwind.bpf.h"

#define EBUSY  16
#define ENOSPC 28
#define EEXIST 17

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_STACK_MEMOS);
	__type(key, u32);
	__type(value, struct unwind_stack_memo);
} lang_memos SEC(".maps");

/* User space puts the map that it reads in the place of this one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LANG_STACKS);
	__type(key, u64);
	__type(value, struct lang_stack);
} lang_ustacks SEC(".maps");

/*
 * Hashes of stacks that are in the map: reading it costs a few instructions, looking a stack up ten
 * times that. Stacks stay until the end, so a note is never wrong.
 */
u64 lang_seen[LANG_STACKS_SEEN] = {};

/* True: the stack in the slot is in the map. */
static __always_inline bool lang_keep(struct unwind_slot *slot, u64 hash, u32 n)
{
	u64 *seen = &lang_seen[hash >> 20 & (LANG_STACKS_SEEN - 1)];
	/* what is before the frames in a sample is not used here */
	u64 *stack = (void *)&slot->out + UNWIND_SAMPLE_HEADER - sizeof(u64);
	long rc;

	if (*seen == hash)
		return true;
	if (!bpf_map_lookup_elem(&lang_ustacks, &hash)) {
		*stack = n * sizeof(u64);
		rc = bpf_map_update_elem(&lang_ustacks, &hash, stack, BPF_NOEXIST);
		if (rc && rc != -EEXIST)
			return false;
	}
	*seen = hash;
	return true;
}

static __always_inline u64 lang_walk(struct unwind_slot *slot, struct unwind_stack_memo *m, u64 max)
{
	u64 hash;
	u32 n;

	if (!unwind_from_task(slot))
		return 0;
	slot->first = 0;
	slot->leaves = 0;
	slot->pid = unwind_task_id() >> 32;
	n = unwind_run(slot, max & (LANG_PLACES - 1), m);
	unwind_count(slot->s.end < UNWIND_END_COUNT ? slot->s.end : 0, 1);
	if (!n)
		return 0;
	if (n > LANG_STACK_FRAMES)
		n = LANG_STACK_FRAMES;
	hash = unwind_hash_frames(slot, 0, n) >> 1 & ~3ull;
	hash |= 1 | (slot->bare ? LANG_OF_PROCESS : 0);
	if (!lang_keep(slot, hash, n))
		return -ENOSPC;
	if (m && slot->remembered) {
		m->hash = hash;
		m->other = max;
	}
	return hash;
}

/* What may know the stack; owned until it is given back. */
static __always_inline struct unwind_stack_memo *lang_memo_take(const struct pt_regs *regs, u64 max)
{
	u32 at = unwind_mix(regs->ip, regs->sp ^ max << 48) >> 40 & (UNWIND_STACK_MEMOS - 1);
	struct unwind_stack_memo *m = bpf_map_lookup_elem(&lang_memos, &at);

	return m && !__sync_val_compare_and_swap(&m->busy, 0, 1) ? m : 0;
}

/*
 * The number of the user stack of the current task, of which @max frames are meant, and perhaps
 * LANG_PLACES. 0: it has none; negative: it could not be taken.
 */
static __always_inline u64 lang_take_ustack(u64 max)
{
	struct task_struct *task = task_current();
	struct unwind_stack_memo *m;
	struct unwind_slot *slot;
	struct pt_regs *regs;
	u64 id;
	bool known;

	if (!unwind_mm(task) || task_field(task, flags) & PF_KTHREAD)
		return 0;
	slot = unwind_slot_take();
	if (!slot)
		return -EBUSY;
	regs = unwind_regs_of(task, slot);
	slot->how = max;
	m = lang_memo_take(regs, max);
	unwind_validate(slot);
	known = m && m->hash && m->other == max &&
		unwind_same(&slot->window, m, &slot->scratch.valid, regs->ip, regs->sp, regs->bp);
	if (known && !unwind_check_due()) {
		id = m->hash;
		unwind_count(UNWIND_END_ROOT, 1);
	} else {
		/* walked again when it is to be checked */
		slot->scratch.valid.mm = known ? 0 : slot->scratch.valid.mm;
		id = lang_walk(slot, known ? 0 : m, max);
		if (known)
			unwind_checked(m, id == m->hash);
	}
	if (m)
		m->busy = 0;
	unwind_slot_give(slot);
	return id;
}

#endif
