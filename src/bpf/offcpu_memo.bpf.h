/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel stacks that were seen before. unwind_memo.bpf.h does this for user stacks; but the kernel
 * walks its own and tells only the addresses, so their places have to be learned. They count from
 * our own end of the stack; each system call begins at a random distance from the other end, where
 * the user's registers are and right before them the outermost return address. To find all
 * addresses in order there may be several ways, as stacks are full of old ones; the places are
 * between the first way and the last. With each look at the same stack the old addresses lie
 * elsewhere, until one place is left for each.
 *
 * Nothing in this depends on the thread: all that wait in the same way share what is learned.
 */
#ifndef BPF_OFFCPU_MEMO_BPF_H
#define BPF_OFFCPU_MEMO_BPF_H

enum {
	OFFCPU_OWN_FRAMES = 8, /* that are our own, between the tracepoint and the walk */
	OFFCPU_TRIES = 48,
	OFFCPU_MISSES = 16, /* other stacks under the same key before this one is forgotten */
};

/* A pointer as a number: through memory, or the verifier would go on to know what it is. */
static __always_inline u64 offcpu_number(volatile u64 *room, u64 pointer)
{
	*room = pointer;
	return *room;
}

struct offcpu_search {
	struct unwind_slot *slot;
	struct offcpu_kernel_memo *memo;
};

/* All but the outermost. Word by word; that is a load each. */
static __always_inline bool offcpu_same_frames(u64 base, const struct offcpu_kernel_memo *memo)
{
	u32 last = memo->n_kernel - 1, at = memo->first, i;

	for (i = 0; i < OFFCPU_MEMO_KERNEL && at < last; i++, at++) {
		u32 frame = at & (OFFCPU_MEMO_KERNEL - 1);

		barrier_var(frame);
		if (frame >= OFFCPU_MEMO_KERNEL ||
		    offcpu_word(base + 8 * memo->kernel_at[frame]) != memo->kernel_ra[frame])
			return false;
	}
	return true;
}

static __always_inline bool offcpu_recall_direct(u64 base, u64 regs,
						 const struct offcpu_kernel_memo *memo)
{
	u32 last = memo->n_kernel - 1;

	return offcpu_word(regs - 8) == memo->kernel_ra[last & (OFFCPU_MEMO_KERNEL - 1)] &&
	       offcpu_same_frames(base, memo);
}

/* By a copy of the stack. */
static __always_inline bool offcpu_recall_copied(u64 base, u64 regs, struct unwind_slot *slot,
						 const struct offcpu_kernel_memo *memo)
{
	const u64 *words = (const u64 *)slot->vmas;
	u64 bytes = (u64)memo->kernel_words * 8, outermost = 0;
	u32 last = memo->n_kernel - 1, at = memo->first, i;

	if (bytes > OFFCPU_KERNEL_GLANCE * 8)
		return false;
	bpf_probe_read_kernel(&outermost, sizeof(outermost), (const void *)(regs - 8));
	if (outermost != memo->kernel_ra[last & (OFFCPU_MEMO_KERNEL - 1)] ||
	    bpf_probe_read_kernel(slot->vmas, bytes, (const void *)base))
		return false;
	for (i = 0; i < OFFCPU_MEMO_KERNEL && at < last; i++, at++) {
		u32 frame = at & (OFFCPU_MEMO_KERNEL - 1);

		if (words[memo->kernel_at[frame] & (OFFCPU_KERNEL_GLANCE - 1)] !=
		    memo->kernel_ra[frame])
			return false;
	}
	return true;
}

/*
 * True: the kernel stack is that of the memo. @base: an address in the stack, of our own caller.
 * Here no loop by callbacks: their returns are dear on some machines.
 */
static __always_inline bool offcpu_recall_kernel(u64 base, u64 regs, struct unwind_slot *slot,
						 struct offcpu_kernel_memo *memo)
{
	bool known;

	if (!memo->n_kernel)
		return false;
	known = OFFCPU_CAST ? offcpu_recall_direct(base, regs, memo)
			    : offcpu_recall_copied(base, regs, slot, memo);
	if (known && memo->misses)
		memo->misses = 0;
	return known;
}

/* From the outermost frame inwards: no place is after the last that fits. */
static long offcpu_find_last(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;
	const u64 *words = (const u64 *)s->slot->vmas;
	struct offcpu_kernel_memo *memo = s->memo;
	u32 word = memo->kernel_words - 1 - i, at = memo->frame - 1;

	if (word >= OFFCPU_KERNEL_GLANCE || at >= OFFCPU_MEMO_KERNEL)
		return 1;
	if (words[word] == memo->kernel_ra[at] && word <= memo->kernel_at[at]) {
		memo->kernel_at[at] = word;
		memo->frame = at;
	}
	return 0;
}

/* From the innermost outwards: none is before the first. */
static long offcpu_find_first(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;
	const u64 *words = (const u64 *)s->slot->vmas;
	struct offcpu_kernel_memo *memo = s->memo;
	u32 at = memo->frame;

	if (i >= OFFCPU_KERNEL_GLANCE || at + 1 >= s->slot->out.n_kernel ||
	    at >= OFFCPU_MEMO_KERNEL)
		return 1;
	if (words[i] != memo->kernel_ra[at] || i < memo->kernel_low[at])
		return 0;
	memo->kernel_low[at] = i;
	memo->differs |= memo->kernel_at[at] != i;
	memo->frame = at + 1;
	return 0;
}

static long offcpu_begin_frame(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;

	if (i >= OFFCPU_MEMO_KERNEL)
		return 1;
	s->memo->kernel_ra[i] = s->slot->out.ip[i];
	s->memo->kernel_at[i] = OFFCPU_KERNEL_GLANCE;
	s->memo->kernel_low[i] = 0;
	return 0;
}

/* Another look at the stack that is learned; true: each return address has its place. */
static __always_inline bool offcpu_learn(u32 words, struct unwind_slot *slot,
					 struct offcpu_kernel_memo *memo)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };
	u32 n = slot->out.n_kernel;

	memo->kernel_words = words;
	memo->frame = n - 1;
	memo->differs = 0;
	bpf_loop(words, offcpu_find_last, &s, 0);
	if (memo->first < memo->frame)
		memo->first = memo->frame;
	memo->frame = memo->first;
	if (memo->first >= OFFCPU_OWN_FRAMES || memo->first + 2u > n)
		return false;
	bpf_loop(words, offcpu_find_first, &s, 0);
	memo->kernel_words = memo->kernel_at[(n - 2) & (OFFCPU_MEMO_KERNEL - 1)] + 1;
	return !memo->differs && memo->frame + 1 == n;
}

/* The kernel stack in the slot is not the one of the memo: begins, or goes on, to learn it. */
static __always_inline void offcpu_note_kernel(u64 base, u64 regs, struct unwind_slot *slot,
					       struct offcpu_kernel_memo *memo, u64 sight)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };
	u32 n = slot->out.n_kernel;
	u64 words = (regs - base) / 8;

	if (memo->n_kernel && memo->sight != sight && memo->misses++ < OFFCPU_MISSES)
		return;
	if (memo->sight != sight || memo->n_kernel) {
		memo->sight = sight;
		memo->n_kernel = 0;
		memo->first = 0;
		memo->tries = 0;
		memo->misses = 0;
		bpf_loop(n, offcpu_begin_frame, &s, 0);
		return;
	}
	if (memo->tries >= OFFCPU_TRIES || words > OFFCPU_KERNEL_GLANCE || n < 2 ||
	    n > OFFCPU_MEMO_KERNEL ||
	    bpf_probe_read_kernel(slot->vmas, words * 8, (const void *)base))
		return;
	memo->tries++;
	if (offcpu_learn(words, slot, memo))
		memo->n_kernel = n;
}

static long offcpu_restore_one(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;

	if (i >= OFFCPU_MEMO_KERNEL)
		return 1;
	s->slot->out.ip[i] = s->memo->kernel_ra[i];
	return 0;
}

/* Puts the frames that were recognised into the slot. */
static __always_inline void offcpu_restore_kernel(struct unwind_slot *slot,
						  struct offcpu_kernel_memo *memo)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };

	bpf_loop(memo->n_kernel, offcpu_restore_one, &s, 0);
}

#endif
