/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one key by which all that is remembered of a process is valid: which memory it has, a
 * sequence that the kernel moves on when mappings change, and the state of our tables. All three
 * are compared as they are, not as a hash.
 *
 * The memory: x86 gives each mm_struct a number that is never used again. The sequence:
 *
 * mm_lock_seq (from 6.4 on) is raised with each write lock of the mappings. From 6.13 on it is odd
 * while the lock is held; then nothing is looked up.
 * tlb_gen (before that) is raised whenever a page that was mapped is unmapped, moved or protected.
 * Code that was executed is mapped, so it cannot be replaced without.
 *
 * A kernel that has neither gives no key, and nothing is remembered there.
 */
#ifndef BPF_UNWIND_VALID_BPF_H
#define BPF_UNWIND_VALID_BPF_H

#include "bpf/ktypes.h"
#include "bpf/task.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * Of our tables. User space raises it before and after it changes rows in place, or replaces a
 * table: odd means that it is about to.
 */
u64 unwind_epoch = 0;

/* Nothing is remembered: each stack is walked, each rule is searched. Set before loading. */
const volatile bool unwind_walk_always = false;

struct unwind_valid {
	u64 mm;  /* 0: nothing can be remembered */
	u64 seq; /* of its mappings << 32 | epoch */
};

static __always_inline bool unwind_is_valid(const struct unwind_valid *a,
					    const struct unwind_valid *b)
{
	return a->mm && !((a->mm ^ b->mm) | (a->seq ^ b->seq));
}

/* The number that tells this memory from all others, also from those that are gone; 0: not known.
 */
#define unwind_mm_number(mm, load)                                                      \
	(bpf_core_field_exists(((struct mm_struct *)0)->context.ctx_id)                 \
		 ? load((mm) + bpf_core_field_offset(struct mm_struct, context.ctx_id)) \
		 : 0)

#define UNWIND_SEQ_FIELD(mm, type, field, load) load((u64)(mm) + bpf_core_field_offset(type, field))

/* A macro because @load, which reads a word of the kernel, may be a helper or a plain load. */
#define unwind_valid_read(at, load, valid)                                                         \
	do {                                                                                       \
		u64 mm_ = (u64)(at), seq_ = 0, epoch_ = READ_ONCE(unwind_epoch), busy_ = 0;        \
		struct unwind_valid *v_ = (valid);                                                 \
                                                                                                   \
		v_->mm = unwind_mm_number(mm_, load);                                              \
		if (bpf_core_field_exists(((struct mm_struct___seqcount *)0)->mm_lock_seq)) {      \
			seq_ = UNWIND_SEQ_FIELD(mm_, struct mm_struct___seqcount, mm_lock_seq,     \
						load);                                             \
			busy_ = seq_ & 1;                                                          \
		} else if (bpf_core_field_exists(((struct mm_struct___seqint *)0)->mm_lock_seq)) { \
			seq_ = UNWIND_SEQ_FIELD(mm_, struct mm_struct___seqint, mm_lock_seq,       \
						load);                                             \
		} else if (bpf_core_field_exists(((struct mm_struct *)0)->context.tlb_gen)) {      \
			seq_ = UNWIND_SEQ_FIELD(mm_, struct mm_struct, context.tlb_gen, load);     \
		} else {                                                                           \
			busy_ = 1;                                                                 \
		}                                                                                  \
		v_->seq = seq_ << 32 | (u32)epoch_;                                                \
		if (unwind_walk_always || (busy_ | epoch_) & 1)                                    \
			v_->mm = 0;                                                                \
	} while (0)

static __always_inline u64 unwind_kernel_word(u64 address)
{
	u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (const void *)address);
	return word;
}

/* The key of now, for @mm. */
static __always_inline void unwind_valid_now(const struct mm_struct *mm, struct unwind_valid *ret)
{
	unwind_valid_read(mm, unwind_kernel_word, ret);
}

#endif
