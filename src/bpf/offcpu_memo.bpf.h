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
 * Nothing in this depends on the thread or the CPU: all that wait in the same way share what is
 * learned.
 */
#ifndef BPF_OFFCPU_MEMO_BPF_H
#define BPF_OFFCPU_MEMO_BPF_H

enum {
	OFFCPU_OWN_FRAMES = 8, /* that are our own, between the tracepoint and the walk */
	OFFCPU_TRIES = 48,
	OFFCPU_TRIES_TWO = 3, /* after these two places will do */
	OFFCPU_MISSES = 16,   /* other stacks in the same set before one is forgotten */
};

/*
 * A kernel stack that is known, or being learned. Between two switches it
 * has left the caches: what is asked for to recognise it comes first.
 */
struct offcpu_kernel_memo {
	u64 outermost;    /* of its return addresses, ... */
	u64 check;        /* ... and a hash of the others, from the first on */
	u64 sight;        /* hash of its frames */
	u64 stack;        /* where there is no user's part: the number that it was sent under */
	u16 n_kernel;     /* frames; 0: it is not known yet */
	u16 first;        /* of the frames: those before are our own */
	u16 differs;      /* some frames have two places that fit: both are looked at */
	u16 kernel_words; /* of the kernel stack that are looked at */
	u32 misses;       /* other stacks that came instead, since it last did */
	u16 tries;        /* to learn it */
	u16 frame;        /* of a search: on our stack the verifier would follow it */
	u16 kernel_at[OFFCPU_MEMO_KERNEL];  /* words from the base on; not of the outermost */
	u16 kernel_low[OFFCPU_MEMO_KERNEL]; /* while it is learned: at least */
	u64 kernel_ra[OFFCPU_MEMO_KERNEL];
	u64 busy; /* somebody changes it */
	u64 pad;
};
_Static_assert(sizeof(struct offcpu_kernel_memo) % 64 == 0, "lines of a cache");

/*
 * Of all CPUs: what one has learned, the others know. Who recognises a stack looks at its sight
 * before and after that: if it is still the same, nothing else has changed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* begins with a page */
	__uint(max_entries, OFFCPU_KERNEL_MEMOS);
	__type(key, u32);
	__type(value, struct offcpu_kernel_memo);
} offcpu_kernel_memos SEC(".maps");

/* Which of the places of a set was right the last time, on whichever CPU. */
u8 offcpu_last_way[OFFCPU_KERNEL_MEMOS / OFFCPU_WAYS];

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

/* A hash of the words that lie at the places of a memo: all but the outermost. */
static __always_inline u64 offcpu_hash_places(const struct offcpu_kernel_memo *memo, const u16 *at,
					      u64 base)
{
	u32 last = memo->n_kernel - 1, frame = memo->first, i;
	u64 h = 0;

	for (i = 0; i < OFFCPU_MEMO_KERNEL && frame < last; i++, frame++) {
		u32 index = frame & (OFFCPU_MEMO_KERNEL - 1);

		barrier_var(index);
		if (index < OFFCPU_MEMO_KERNEL)
			h = offcpu_mix(h, offcpu_word(base + 8 * at[index]));
	}
	return h;
}

/*
 * By a hash, as numbers of stacks are: the addresses themselves would be more to fetch than all
 * the rest. Here no loop by callbacks: their returns are dear on some machines. A global function:
 * verified once, and by itself.
 */
__attribute__((noinline)) int offcpu_same_frames(const struct offcpu_kernel_memo *memo, u64 base)
{
	if (!OFFCPU_CAST || !memo)
		return 0;
	return offcpu_hash_places(memo, memo->kernel_at, base) == memo->check &&
	       (!memo->differs || offcpu_hash_places(memo, memo->kernel_low, base) == memo->check);
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
	/* what lies behind the stack may not be there: to ask for it would be dear */
	if (unlikely(!memo->n_kernel || outermost != memo->outermost ||
		     8ull * memo->kernel_words > regs - base))
		return false;
	return OFFCPU_CAST ? offcpu_same_frames(memo, base)
			   : offcpu_same_copied(memo, slot, (regs - base) / 8);
}

/* The number under which a kernel stack without a user's part was sent, 0: it was not. */
static __always_inline u64 offcpu_number_of(struct offcpu_kernel_memo *memo, u64 sight)
{
	u64 id = offcpu_stack_number(sight, memo->n_kernel, 0, 0, 0);

	if (likely(memo->stack == id))
		return id;
	if (!offcpu_is_known(id))
		return 0;
	memo->stack = id;
	return id;
}

/* The places of a set, from the one that was right the last time on. */
static __always_inline struct offcpu_kernel_memo *offcpu_way(u32 set, u32 i)
{
	u32 last = offcpu_last_way[set / OFFCPU_WAYS % sizeof(offcpu_last_way)];
	u32 at = set + ((last ^ i) & (OFFCPU_WAYS - 1));

	return bpf_map_lookup_elem(&offcpu_kernel_memos, &at);
}

static __always_inline void offcpu_way_was_right(u32 set, u32 i, struct offcpu_kernel_memo *memo)
{
	if (unlikely(i))
		offcpu_last_way[set / OFFCPU_WAYS % sizeof(offcpu_last_way)] ^= i;
	if (unlikely(memo->misses))
		memo->misses = 0;
}

/*
 * The memo that has the kernel stack from @base to @regs, and its @sight; 0: it is not known.
 * @base: an address in the stack, of our own caller.
 */
static __attribute__((noinline)) struct offcpu_kernel_memo *
offcpu_recall_kernel(u32 set, u64 base, u64 regs, struct unwind_slot *slot, u64 *sight)
{
	u64 outermost = 0;
	u32 i;

	if (OFFCPU_CAST)
		outermost = offcpu_word(regs - 8);
	else if (bpf_probe_read_kernel(&outermost, sizeof(outermost), (const void *)(regs - 8)) ||
		 !offcpu_copy_kernel(base, regs, slot))
		return 0;
	for (i = 0; i < OFFCPU_WAYS; i++) {
		struct offcpu_kernel_memo *memo = offcpu_way(set, i);

		if (!memo)
			return 0;
		*sight = READ_ONCE(memo->sight);
		if (unlikely(!offcpu_recalls(memo, base, regs, outermost, slot)))
			continue;
		if (unlikely(READ_ONCE(memo->sight) != *sight))
			return 0;
		offcpu_way_was_right(set, i, memo);
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

/* All that tells the stack from others. */
static long offcpu_check_one(u32 i, void *ctx)
{
	struct offcpu_kernel_memo *memo = ((struct offcpu_search *)ctx)->memo;

	if (i >= OFFCPU_MEMO_KERNEL || i + 1 >= memo->frame)
		return 1;
	if (i >= memo->first)
		memo->check = offcpu_mix(memo->check, memo->kernel_ra[i]);
	return 0;
}

static __always_inline void offcpu_learned(struct offcpu_search *s, u32 n)
{
	s->memo->outermost = s->memo->kernel_ra[(n - 1) & (OFFCPU_MEMO_KERNEL - 1)];
	s->memo->check = 0;
	s->memo->frame = n;
	bpf_loop(n, offcpu_check_one, s, 0);
	WRITE_ONCE(s->memo->n_kernel, n);
}

/* Another stack: nothing is known of it. */
static __always_inline void offcpu_begin_memo(struct offcpu_search *s, u64 sight, u32 n)
{
	struct offcpu_kernel_memo *memo = s->memo;

	WRITE_ONCE(memo->n_kernel, 0);
	WRITE_ONCE(memo->sight, sight);
	memo->stack = 0;
	memo->first = 0;
	memo->tries = 0;
	bpf_loop(n, offcpu_begin_frame, s, 0);
}

static __always_inline void offcpu_look_again(u64 base, u64 regs, struct offcpu_search *s)
{
	struct offcpu_kernel_memo *memo = s->memo;
	u64 words = (regs - base) / 8;
	u32 n = s->slot->out.n_kernel;

	if (memo->tries >= OFFCPU_TRIES || words > OFFCPU_KERNEL_GLANCE || n < 2 ||
	    n > OFFCPU_MEMO_KERNEL || !offcpu_copy_kernel(base, regs, s->slot))
		return;
	memo->tries++;
	if (offcpu_learn(words, s->slot, memo))
		offcpu_learned(s, n);
}

/*
 * The kernel stack in the slot is not known: begins, or goes on, to learn it, in this memo. 0:
 * there is none for it now.
 */
static __attribute__((noinline)) struct offcpu_kernel_memo *
offcpu_note_kernel(u64 base, u64 regs, struct unwind_slot *slot, u32 set, u64 used)
{
	u64 sight = slot->kernel_hash;
	struct offcpu_kernel_memo *memo = offcpu_memo_for(set, sight, used);
	struct offcpu_search s = { .slot = slot, .memo = memo };

	if (!memo || __sync_val_compare_and_swap(&memo->busy, 0, 1))
		return 0;
	memo->misses = 0;
	if (memo->sight != sight || memo->n_kernel)
		offcpu_begin_memo(&s, sight, slot->out.n_kernel);
	offcpu_look_again(base, regs, &s);
	WRITE_ONCE(memo->busy, 0);
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

/* Puts the frames that were recognised into the slot. False: it has become another's since. */
static __always_inline bool offcpu_restore_kernel(struct unwind_slot *slot,
						  struct offcpu_kernel_memo *memo)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };

	bpf_loop(slot->out.n_kernel, offcpu_restore_one, &s, 0);
	return READ_ONCE(memo->sight) == slot->kernel_hash;
}

#endif
