/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that were seen before. A thread comes back to the same callers over and over; to see that
 * they are the same is ten times cheaper than to walk through them again.
 *
 * Where a walk goes from a frame depends on the frame's rip, rsp and rbp, on the rules, and on the
 * words of the stack that the steps read: the return addresses, and a saved rbp where a rule asks
 * for it. So when a walk comes to a frame that it was in before, and those words are what they
 * were where they were, then all further frames are what they were. Frames that depend on more
 * end the note.
 *
 * The frames of a memo are at the end of its room, the outermost last: those that are walked
 * again go before the first one that was recognised, and nothing has to move.
 */
#ifndef BPF_UNWIND_MEMO_BPF_H
#define BPF_UNWIND_MEMO_BPF_H

#include "bpf/ktypes.h"
#include "bpf/unwind_abi.h"
#include "bpf/unwind_valid.bpf.h"
#include <bpf/bpf_helpers.h>

/* Bits in frame.bp_at, an address: the step from this frame ... */
enum {
	UNWIND_NOTE_BP = 1, /* ... asked for rbp */
	UNWIND_NOTE_FP = 2, /* ... went by frame pointer */
	/* ... was from the instruction itself, not from a call before it: the rule may be another
	 */
	UNWIND_NOTE_INNER = 4,
	UNWIND_NOTE_BITS = 7,
};

enum {
	/*
	 * Frames that a callback of bpf_loop() takes: each return from one is expensive on some
	 * machines, and each turn of a loop is expensive to verify.
	 */
	UNWIND_NOTE_TURN = 4,
	UNWIND_NOTE_NEAR = 16, /* and these do without any */
	UNWIND_NOTE_TURNS = UNWIND_MEMO_FRAMES / UNWIND_NOTE_TURN,
};

/* Words of the stack that were read in one go. */
struct unwind_window {
	u64 base;
	u32 bytes;
	u32 want; /* next time */
	u32 at;   /* the frame that is compared with a memo */
	u32 pad;
	u64 word[UNWIND_WINDOW_WORDS];
};

struct unwind_frame_note {
	u64 ip;
	u64 sp;    /* the return address to ip is right below; 0: depends on more registers */
	u64 bp_at; /* where this frame's rbp is, 0: in the register */
	u64 bp;    /* what it is, if that matters */
	u64 place; /* from ip to its place in a file */
};

struct unwind_stack_memo {
	struct unwind_valid valid;
	u64 hash;  /* for the program's use, 0 when the frames change: of the frames, ... */
	u64 stack; /* ... the number of the whole stack ... */
	u64 other; /* ... as long as it also has this */
	u32 first; /* UNWIND_MEMO_FRAMES: nothing is known; also 0 while it is not valid */
	u32 busy;  /* for the program's use: its owner may be interrupted */
	u32 by_bp; /* some step asked for rbp while it was still in the register */
	u32 bare;  /* some frame is not a place in a file */
	/* after the outermost one there is nothing but zeros: loops need not look for it */
	struct unwind_frame_note frame[UNWIND_MEMO_FRAMES + UNWIND_NOTE_NEAR];
};

/* What the index is must be opaque: else it is not masked where it is known to be small enough. */
static __always_inline struct unwind_frame_note *unwind_note_at(struct unwind_frame_note *f, u32 at)
{
	u64 index = at;

	barrier_var(index);
	return f + (index & (UNWIND_MEMO_FRAMES - 1));
}

/* --- words of the user stack ------------------------------------------------------------------ */

/*
 * A helper's call costs more than the copy of a few hundred bytes. What cannot be read ends the
 * window before; the word requested has the last word.
 */
__attribute__((noinline)) int unwind_refill(struct unwind_window *w, u64 address)
{
	if (!w)
		return 1;
	u32 n = w->want, page = (4096 - (address & 4095)) & ~7u;

	w->want = UNWIND_WINDOW_NEXT;
	w->base = address;
	if (n > UNWIND_WINDOW_BYTES)
		n = UNWIND_WINDOW_BYTES;
	if (bpf_probe_read_user(w->word, n, (const void *)address)) {
		n = page < UNWIND_WINDOW_NEXT ? page : UNWIND_WINDOW_NEXT;
		if (!n || bpf_probe_read_user(w->word, n, (const void *)address)) {
			n = 8;
			if (bpf_probe_read_user(w->word, n, (const void *)address))
				n = 0;
		}
	}
	w->bytes = n;
	return !n;
}

/* 0 when @to got the word. */
static __always_inline int unwind_word(struct unwind_window *w, u64 *to, u64 address)
{
	u64 at = address - w->base;

	if (at & 7 || at >= w->bytes) {
		if (unwind_refill(w, address))
			return 1;
		at = 0;
	}
	*to = w->word[at >> 3 & (UNWIND_WINDOW_WORDS - 1)];
	return 0;
}

/* Not a function: eight may call one another, and this one is called from the seventh. */
static __always_inline bool unwind_is(struct unwind_window *w, u64 address, u64 value)
{
	u64 word = 0;

	return !unwind_word(w, &word, address) && word == value;
}

/* --- recognising ------------------------------------------------------------------------------ */

/* What changes is in the window: the verifier would follow it on our stack. */
struct unwind_checking {
	struct unwind_window *w;
	struct unwind_stack_memo *m;
};

/* One frame more is as it was. */
static __always_inline bool unwind_check_one(struct unwind_window *w, struct unwind_stack_memo *m,
					     u32 at)
{
	const struct unwind_frame_note *f = unwind_note_at(m->frame, at);
	u64 bp_at = f->bp_at & ~(u64)UNWIND_NOTE_BITS;

	if (f->bp_at & UNWIND_NOTE_BP && bp_at && !unwind_is(w, bp_at, f->bp))
		return false;
	if (at >= UNWIND_MEMO_FRAMES - 1)
		return true;
	f = unwind_note_at(m->frame, at + 1);
	return unwind_is(w, f->sp - 8, f->ip);
}

static long unwind_check_some(u32 turn, void *ctx)
{
	struct unwind_checking *c = ctx;
	u32 i;

	for (i = 0; i < UNWIND_NOTE_TURN; i++) {
		u32 at = c->w->at;

		if (at >= UNWIND_MEMO_FRAMES || !unwind_check_one(c->w, c->m, at))
			return 1;
		c->w->at = at + 1;
	}
	return 0;
}

/* Frames whose words are all in the window; returns the first that is not like that. */
static __always_inline u32 unwind_check_near(struct unwind_window *w, struct unwind_stack_memo *m,
					     u32 at)
{
	const struct unwind_frame_note *f = unwind_note_at(m->frame, at);
	u64 base = w->base + 8, bytes = w->bytes;
	u32 i;

	/* stack pointers that are noted are aligned */
	if (base & 7)
		return at;
	for (i = 0; i < UNWIND_NOTE_NEAR; i++, f++) {
		u64 word = f[1].sp - base;

		if (f->bp_at & UNWIND_NOTE_BP)
			break;
		if (word < bytes && w->word[word >> 3 & (UNWIND_WINDOW_WORDS - 1)] == f[1].ip)
			continue;
		/* the outermost one has no caller that could differ */
		return at + i == UNWIND_MEMO_FRAMES - 1 ? UNWIND_MEMO_FRAMES : at + i;
	}
	return at + i;
}

/*
 * Whether the frames of the memo from @at on are those of the stack: UNWIND_MEMO_FRAMES. Otherwise
 * the index of the last one that is.
 */
__attribute__((noinline)) int unwind_check(struct unwind_window *w, struct unwind_stack_memo *m,
					   u32 at)
{
	struct unwind_checking c = { .w = w, .m = m };

	if (!w || !m)
		return 0;
	at = unwind_check_near(w, m, at);
	if (at >= UNWIND_MEMO_FRAMES)
		return at;
	w->at = at;
	bpf_loop(UNWIND_NOTE_TURNS, unwind_check_some, &c, 0);
	return w->at;
}

/* Reads as much of the stack as is worth it. */
static __always_inline void unwind_look(struct unwind_window *w, const struct unwind_stack_memo *m,
					u64 sp)
{
	u64 far = m->frame[UNWIND_MEMO_FRAMES - 1].sp - sp;

	w->want = m->first >= UNWIND_MEMO_FRAMES || far > UNWIND_WINDOW_BYTES ? UNWIND_WINDOW_NEXT
									      : (u32)far & ~7u;
	unwind_refill(w, sp);
}

/* The stack begins as the memo does, and continues as it does. */
static __always_inline bool unwind_same(struct unwind_window *w, struct unwind_stack_memo *m,
					const struct unwind_valid *valid, u64 ip, u64 sp, u64 bp)
{
	u32 first = m->first;
	const struct unwind_frame_note *f = unwind_note_at(m->frame, first);

	if (!unwind_is_valid(&m->valid, valid) || first >= UNWIND_MEMO_FRAMES || f->ip != ip ||
	    f->sp != sp || (m->by_bp && f->bp != bp))
		return false;
	unwind_look(w, m, sp);
	return unwind_check(w, m, first) == UNWIND_MEMO_FRAMES;
}

#endif
