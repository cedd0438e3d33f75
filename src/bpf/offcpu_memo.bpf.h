/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack that was seen before. Most threads wait at the same few places, over and over; to see
 * that a stack is the same is ten times cheaper than to walk it.
 *
 * A walk goes from one return address to the place of the next by rules that depend on nothing but
 * the addresses. So when it begins at the same place, and each return address is what it was where
 * it was, then the whole stack is what it was. Where the addresses of a user stack lie is noted as
 * it is walked.
 *
 * The kernel walks its own and tells only the addresses, so their places have to be learned. They
 * count from our own end of the stack; each system call begins at a random distance from the other
 * end, where the user's registers are and right before them the outermost return address. To find
 * all addresses in order there may be several ways, as stacks are full of old ones; the places are
 * between the first way and the last. With each look at the same stack the old addresses lie
 * elsewhere, until one place is left for each.
 */
#ifndef BPF_OFFCPU_MEMO_BPF_H
#define BPF_OFFCPU_MEMO_BPF_H

/* Of frames that are our own, between the tracepoint and the walk. */
enum { OFFCPU_OWN_FRAMES = 8, OFFCPU_TRIES = 48 };

/* A pointer as a number: through memory, or the verifier would go on to know what it is. */
static __always_inline u64 offcpu_number(struct unwind_slot *slot, u64 pointer)
{
	volatile u64 *room = &slot->walk;

	*room = pointer;
	return *room;
}

/*
 * Differs, almost surely, when the process has other executable mappings or runs another program: a
 * stack begins at a random address. 0: there is no user space.
 */
static __always_inline u64 offcpu_generation(struct task_struct *task)
{
	struct mm_struct___sched *mm = ((struct task_struct___sched *)task)->mm;

	if (task->flags & PF_KTHREAD || !mm)
		return 0;
	return ((u64)task->tgid << 40 ^ mm->exec_vm ^ mm->start_code << 20 ^ mm->start_stack << 8 ^
		unwind_epoch << 56) |
	       1;
}

/* Threads are told apart by their registers, and where these are the same by their number. */
static __always_inline struct offcpu_memo *offcpu_memo_of(struct pt_regs *regs, u64 id)
{
	u64 hash = offcpu_mix(offcpu_mix(id, regs->ip), regs->sp);
	u32 at = hash >> 40 & (OFFCPU_MEMOS - 1);

	return bpf_map_lookup_elem(&offcpu_memos, &at);
}

/* --- the kernel's side ------------------------------------------------------------------------ */

struct offcpu_search {
	struct unwind_slot *slot;
	struct offcpu_memo *memo;
};

/*
 * True: the kernel stack is that of the memo. @base: an address in the stack, of our own caller.
 * Here and below no loop by callbacks: their returns are dear on some machines.
 */
static __always_inline bool offcpu_recall_kernel(u64 base, struct unwind_slot *slot,
						 struct pt_regs *regs, struct offcpu_memo *memo)
{
	const u64 *words = (const u64 *)slot->vmas;
	u64 bytes = (u64)memo->kernel_words * 8, outermost = 0;
	u32 last = memo->n_kernel - 1, at = memo->first, i;

	if (!memo->n_kernel || bytes > OFFCPU_KERNEL_GLANCE * 8)
		return false;
	bpf_probe_read_kernel(&outermost, sizeof(outermost), (const u64 *)regs - 1);
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

/* From the outermost frame inwards: no place is after the last that fits. */
static long offcpu_find_last(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;
	const u64 *words = (const u64 *)s->slot->vmas;
	struct offcpu_memo *memo = s->memo;
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
	struct offcpu_memo *memo = s->memo;
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
					 struct offcpu_memo *memo)
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
static __always_inline void offcpu_note_kernel(u64 base, struct unwind_slot *slot,
					       struct pt_regs *regs, struct offcpu_memo *memo)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };
	u32 n = slot->out.n_kernel;
	u64 sight = offcpu_hash_frames(slot, 0, n);
	u64 words = (offcpu_number(slot, (u64)regs) - base) / 8;

	if (memo->sight != sight || memo->n_kernel) {
		memo->sight = sight;
		memo->n_kernel = 0;
		memo->first = 0;
		memo->tries = 0;
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

/* --- the user's side -------------------------------------------------------------------------- */

/* Return addresses far up the stack, one by one. */
static long offcpu_check_far(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;
	struct offcpu_memo *memo = s->memo;
	u32 at = (i + memo->near + 1) & (OFFCPU_MEMO_FRAMES - 1);
	u64 ra = 0;

	bpf_probe_read_user(&ra, sizeof(ra), (const void *)memo->at[at]);
	if (ra == memo->ra[at])
		return 0;
	memo->differs = 1;
	return 1;
}

/* True: the user stack is that of the memo. */
static __always_inline bool offcpu_recall_user(struct unwind_slot *slot, struct pt_regs *regs,
					       struct offcpu_memo *memo)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };
	const u64 *words = (const u64 *)slot->vmas;
	u64 bytes = (u64)memo->words * 8;
	u32 i;

	if (!memo->n || memo->gen != slot->gen || memo->ra[0] != regs->ip || memo->sp != regs->sp ||
	    memo->bp != regs->bp || bytes > OFFCPU_GLANCE * 8 ||
	    bpf_probe_read_user(slot->vmas, bytes, (const void *)memo->sp))
		return false;
	for (i = 1; i < OFFCPU_MEMO_FRAMES && i <= memo->near; i++) {
		if (words[(memo->at[i] - memo->sp) >> 3 & (OFFCPU_GLANCE - 1)] != memo->ra[i])
			return false;
	}
	if (memo->near + 1 >= memo->n)
		return true;
	memo->differs = 0;
	bpf_loop(memo->n - memo->near - 1, offcpu_check_far, &s, 0);
	return !memo->differs;
}

/* --- back into the slot ----------------------------------------------------------------------- */

static long offcpu_restore_kernel(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;

	if (i >= OFFCPU_MEMO_KERNEL)
		return 1;
	s->slot->out.ip[i] = s->memo->kernel_ra[i];
	return 0;
}

static long offcpu_restore_user(u32 i, void *ctx)
{
	struct offcpu_search *s = ctx;
	u32 to = s->slot->out.n_kernel + i;

	if (i >= OFFCPU_MEMO_FRAMES || to >= UNWIND_RECORD_IPS)
		return 1;
	s->slot->out.ip[to] = s->memo->ra[i];
	return 0;
}

/* Puts the frames that were recognised into the slot. */
static __always_inline void offcpu_restore(struct unwind_slot *slot, struct offcpu_memo *memo,
					   bool kernel, bool user)
{
	struct offcpu_search s = { .slot = slot, .memo = memo };

	if (kernel) {
		slot->out.n_kernel = memo->n_kernel;
		bpf_loop(memo->n_kernel, offcpu_restore_kernel, &s, 0);
	}
	if (!user)
		return;
	slot->out.n_user = memo->n;
	slot->out.end = UNWIND_END_ROOT; /* no other stacks are remembered */
	bpf_loop(memo->n, offcpu_restore_user, &s, 0);
}

#endif
