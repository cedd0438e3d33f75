/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel stacks that were seen before. unwind_memo.bpf.h does this for user stacks; but the kernel
 * walks its own and tells only the addresses, so their places have to be learned. They count from
 * our own end of the stack; each system call begins at a random distance from the other end, where
 * the user's registers are and right before them the outermost return address. To find all
 * addresses in order there may be several ways, as stacks are full of old ones; the places are
 * between the first way and the last. With each look at the same stack the old addresses lie
 * elsewhere, until one place is left for each. Some old ones always lie where they do, since the
 * same calls always came before: where two places are left, both are looked at, so that the right
 * one is among them.
 *
 * Nothing in this depends on the thread: all that wait in the same way share what is learned.
 */
#ifndef BPF_OFFCPU_MEMO_BPF_H
#define BPF_OFFCPU_MEMO_BPF_H

enum {
	OFFCPU_OWN_FRAMES = 8, /* that are our own, between the tracepoint and the walk */
	OFFCPU_TRIES = 48,
	OFFCPU_TRIES_TWO = 3, /* after these two places will do */
	OFFCPU_MISSES = 16,   /* other stacks in the same set before one is forgotten */
};

/* Room for the next, where there is nothing else at hand. Interrupts are off. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} offcpu_room SEC(".maps");

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

/*
 * All but the outermost. Word by word; that is a load each. Here no loop by callbacks: their
 * returns are dear on some machines. A global function: verified once, and by itself.
 */
__attribute__((noinline)) int offcpu_same_frames(const struct offcpu_kernel_memo *memo, u64 base)
{
	u32 last, at, i;

	if (!OFFCPU_CAST || !memo)
		return 0;
	last = memo->n_kernel - 1;
	at = memo->first;
	for (i = 0; i < OFFCPU_MEMO_KERNEL && at < last; i++, at++) {
		u32 frame = at & (OFFCPU_MEMO_KERNEL - 1);

		barrier_var(frame);
		if (frame >= OFFCPU_MEMO_KERNEL ||
		    offcpu_word(base + 8 * memo->kernel_at[frame]) != memo->kernel_ra[frame] ||
		    (memo->differs &&
		     offcpu_word(base + 8 * memo->kernel_low[frame]) != memo->kernel_ra[frame]))
			return 0;
	}
	return 1;
}

/* The same by a copy of the stack, of @n words: what lies behind them is of another stack. */
static __always_inline bool offcpu_same_copied(const struct offcpu_kernel_memo *memo,
					       const struct unwind_slot *slot, u64 n)
{
	const u64 *words = (const u64 *)slot->vmas;
	u32 last = memo->n_kernel - 1, at = memo->first, i;

	if (memo->kernel_words > n)
		return false;
	for (i = 0; i < OFFCPU_MEMO_KERNEL && at < last; i++, at++) {
		u32 frame = at & (OFFCPU_MEMO_KERNEL - 1);

		if (words[memo->kernel_at[frame] & (OFFCPU_KERNEL_GLANCE - 1)] !=
			    memo->kernel_ra[frame] ||
		    words[memo->kernel_low[frame] & (OFFCPU_KERNEL_GLANCE - 1)] !=
			    memo->kernel_ra[frame])
			return false;
	}
	return true;
}

/* As much of the stack from @base on as is looked at. */
static __always_inline bool offcpu_copy_kernel(u64 base, u64 regs, struct unwind_slot *slot)
{
	u64 bytes = regs - base;

	if (bytes > OFFCPU_KERNEL_GLANCE * 8)
		bytes = OFFCPU_KERNEL_GLANCE * 8;
	/* checked on the very register that is used: older verifiers follow no other */
	asm volatile("" : "+r"(bytes));
	if (bytes > OFFCPU_KERNEL_GLANCE * 8)
		return false;
	return !bpf_probe_read_kernel(slot->vmas, bytes, (const void *)base);
}

static __always_inline bool offcpu_recalls(const struct offcpu_kernel_memo *memo, u64 base,
					   u64 regs, u64 outermost, const struct unwind_slot *slot)
{
	if (!memo->n_kernel ||
	    outermost != memo->kernel_ra[(memo->n_kernel - 1) & (OFFCPU_MEMO_KERNEL - 1)])
		return false;
	return OFFCPU_CAST ? offcpu_same_frames(memo, base)
			   : offcpu_same_copied(memo, slot, (regs - base) / 8);
}

/*
 * The memo that has the kernel stack from @base to @regs, 0: it is not known. @base: an address in
 * the stack, of our own caller.
 */
static __always_inline struct offcpu_kernel_memo *offcpu_recall_kernel(u32 set, u64 base, u64 regs,
								       struct unwind_slot *slot)
{
	u64 outermost = 0;
	u32 i;

	if (OFFCPU_CAST)
		outermost = offcpu_word(regs - 8);
	else if (bpf_probe_read_kernel(&outermost, sizeof(outermost), (const void *)(regs - 8)) ||
		 !offcpu_copy_kernel(base, regs, slot))
		return 0;
	for (i = 0; i < OFFCPU_WAYS; i++) {
		u32 at = set + i;
		struct offcpu_kernel_memo *memo = bpf_map_lookup_elem(&offcpu_kernel_memos, &at);

		if (!memo)
			return 0;
		if (!offcpu_recalls(memo, base, regs, outermost, slot))
			continue;
		if (memo->misses)
			memo->misses = 0;
		return memo;
	}
	return 0;
}

/*
 * The memo in which a stack with the hash @sight that is not known is to be learned, 0: none, as
 * all are of others that are in use. @used: one that need not have been recalled to be so.
 */
static __always_inline struct offcpu_kernel_memo *offcpu_memo_for(u32 set, u64 sight, u64 used)
{
	struct offcpu_kernel_memo *found = 0;
	u32 i, most = OFFCPU_MISSES;

	for (i = 0; i < OFFCPU_WAYS; i++) {
		u32 at = set + i;
		struct offcpu_kernel_memo *memo = bpf_map_lookup_elem(&offcpu_kernel_memos, &at);

		if (!memo)
			return 0;
		if (memo->sight == sight)
			return memo;
		memo->misses = memo->sight == used ? 0 : memo->misses + 1;
		if (!memo->sight || memo->misses > most) {
			most = memo->sight ? memo->misses : ~0u;
			found = memo;
		}
	}
	return found;
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

/* Whether a frame has a third place, between its first and its last. */
static long offcpu_find_third(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;
	const u64 *words = (const u64 *)s->slot->vmas;
	struct offcpu_kernel_memo *memo = s->memo;
	u32 at;

	if (i >= OFFCPU_KERNEL_GLANCE)
		return 1;
	for (at = 0; at < OFFCPU_MEMO_KERNEL; at++) {
		if (words[i] == memo->kernel_ra[at] && i > memo->kernel_low[at] &&
		    i < memo->kernel_at[at] && at >= memo->first && at + 1 < memo->frame) {
			memo->frame = 0;
			return 1;
		}
	}
	return 0;
}

/* Another look at the stack that is learned; true: each return address has its place, or two. */
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
	if (memo->frame + 1 != n || (memo->differs && memo->tries < OFFCPU_TRIES_TWO))
		return false;
	memo->frame = n;
	if (memo->differs)
		bpf_loop(words, offcpu_find_third, &s, 0);
	return memo->frame == n;
}

/* The kernel stack in the slot is not known: begins, or goes on, to learn it, in this memo. */
static __always_inline struct offcpu_kernel_memo *
offcpu_note_kernel(u64 base, u64 regs, struct unwind_slot *slot, u32 set, u64 used)
{
	u64 words = (regs - base) / 8, sight = slot->kernel_hash;
	struct offcpu_kernel_memo *memo = offcpu_memo_for(set, sight, used);
	struct offcpu_search s = { .slot = slot, .memo = memo };
	u32 n = slot->out.n_kernel;

	if (!memo)
		return memo;
	memo->misses = 0;
	if (memo->sight != sight || memo->n_kernel) {
		memo->sight = sight;
		memo->stack = 0;
		memo->n_kernel = 0;
		memo->first = 0;
		memo->tries = 0;
		bpf_loop(n, offcpu_begin_frame, &s, 0);
		return memo;
	}
	if (memo->tries >= OFFCPU_TRIES || words > OFFCPU_KERNEL_GLANCE || n < 2 ||
	    n > OFFCPU_MEMO_KERNEL || !offcpu_copy_kernel(base, regs, slot))
		return memo;
	memo->tries++;
	if (offcpu_learn(words, slot, memo))
		memo->n_kernel = n;
	return memo;
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
