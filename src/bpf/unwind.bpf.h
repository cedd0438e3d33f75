/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks without frame pointers, from any program that runs in a task's context: perf events,
 * tracepoints, typed raw tracepoints, uprobes.
 *
 *	struct unwind_slot *slot = unwind_slot_take();
 *	if (!slot)
 *		return 0;
 *	slot->first = 0;
 *	slot->pid = unwind_task_id() >> 32;
 *	unwind_validate(slot);
 *	if (unwind_from_task(slot))	or unwind_from_regs(slot, ctx) in a uprobe
 *		n = unwind_run(slot, UNWIND_MAX_FRAMES, memo);	slot->out.ip[0..n), slot->s.end
 *	unwind_slot_give(slot);
 *
 * The state is in one of UNWIND_SLOTS slots per CPU, so that an interrupt may unwind while the
 * task it interrupted is unwinding. The tables are written by src/unwind/feed.c.
 */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "bpf/python.bpf.h"
#include "bpf/unwind_cache_rule.bpf.h"
#include "bpf/unwind_find.bpf.h"
#include "bpf/unwind_memo.bpf.h"
#include "bpf/unwind_regs.bpf.h"

/* Programs that do not want functions of interpreters among the frames leave the code out. */
#ifndef UNWIND_PYTHON_FRAMES
#define UNWIND_PYTHON_FRAMES 1
#endif

/* Whether the frames of this stack are wanted as places in files. */
#ifndef UNWIND_PLACED
#define UNWIND_PLACED(slot) unwind_places
#endif

#define UNWIND_MEM    struct unwind_window
#define UNWIND_INLINE static __always_inline
#define UNWIND_CALLED __attribute__((noinline)) /* and global: verified once */
#define UNWIND_READ(mem, to, bytes, address) \
	bpf_probe_read_user((to), (bytes), (const void *)(address))
#define UNWIND_READ_WORD(mem, to, address) unwind_word((mem), (to), (address))
#include "bpf/unwind_step.h"

/* What every walk touches is kept together: between samples the caches are evicted. */
struct unwind_slot {
	u32 busy;
	u32 pid;
	u32 first; /* index of the first user frame in the record */
	u32 n;
	u32 max; /* user frames */
	u32 at;  /* the frame of the memo that may be the next; UNWIND_MEMO_FRAMES: none */
	u32 noted;
	u8 noting;     /* all frames so far can be remembered */
	u8 recalled;   /* those from slot->at on are as the memo has them */
	u8 remembered; /* the memo has this very stack since this walk */
	u8 leaves;     /* as few frames before those are not remembered: they differ each time */
	u64 walk;      /* the address at which the walk over mappings is */
	u32 n_vmas;
	u16 by_bp;                  /* as in the memo */
	u16 bare;                   /* some frame is not a place in a file */
	u64 kernel_hash, user_hash; /* for the program's use: on old kernels its stack is scarce */
	u64 how;
	u64 kept; /* frames that are in the record already */
	/* of the current step: registers are few, and on old kernels the stack is scarce */
	u64 ip, sp, pc;
	u32 fp_steps;
	u32 hash_first;
	u64 hash;
	struct unwind_valid before;
	struct unwind_state s;
	u64 regs_before[UNWIND_REGS]; /* the walk */
	struct unwind_window window;
	struct unwind_frame_note note[UNWIND_MEMO_FRAMES];
	struct unwind_scratch scratch;
	struct python_walk python;
	struct unwind_vma vmas[UNWIND_RESCUE_VMAS];
#ifdef BPF_RAW
	struct unwind_task_regs regs;
#endif
	struct unwind_sample out;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_SLOTS);
	__type(key, u32);
	__type(value, struct unwind_slot);
} unwind_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_MAX_RULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_counts);
} unwind_counters SEC(".maps");

/* One in this many stacks that were recognised is walked again and compared. Set before loading. */
const volatile u32 unwind_check_every = 1024;

/* Our pid namespace when it is not the first one; set before loading. */
const volatile struct {
	u64 dev;
	u64 ino;
} unwind_pidns = {};

/* tgid << 32 | tid, as our own pid namespace counts; 0 where it cannot see the task. */
static __always_inline u64 unwind_task_id(void)
{
	struct bpf_pidns_info ns;

	if (!unwind_pidns.ino)
		return bpf_get_current_pid_tgid();
	if (bpf_get_ns_current_pid_tgid(unwind_pidns.dev, unwind_pidns.ino, &ns, sizeof(ns)))
		return 0;
	return (u64)ns.tgid << 32 | ns.pid;
}

static __always_inline struct unwind_counts *unwind_counts(void)
{
	u32 all = 0;

	return bpf_map_lookup_elem(&unwind_counters, &all);
}

static __always_inline void unwind_count(u32 which, u64 n)
{
	struct unwind_counts *c = unwind_counts();

	/* otherwise it would not be masked where it is known to be small */
	if (!__builtin_constant_p(which))
		barrier_var(which);
	if (c)
		c->n[which & 31] += n;
}

/* Rare cases: a call is better than inlining. */
__attribute__((noinline)) int unwind_count_rare(u32 which)
{
	unwind_count(which, 1);
	return 0;
}

static __always_inline struct unwind_slot *unwind_slot_take(void)
{
	u32 i;

	/* flags, not a counter: with preemption slots are not given back in order */
#pragma nounroll
	for (i = 0; i < UNWIND_SLOTS; i++) {
		u32 key = i;
		struct unwind_slot *slot = bpf_map_lookup_elem(&unwind_slots, &key);

		if (slot && !__sync_val_compare_and_swap(&slot->busy, 0, 1))
			return slot;
	}
	unwind_count_rare(UNWIND_END_NO_SLOT);
	return 0;
}

static __always_inline void unwind_slot_give(struct unwind_slot *slot)
{
	slot->busy = 0;
}

/* One frame. Non-zero at the end of the stack. */
__attribute__((noinline)) int unwind_step(struct unwind_state *s, struct unwind_scratch *scratch,
					  struct unwind_window *window, u32 pid)
{
	if (!s || !scratch || !window)
		return 1;
	u64 pc = s->reg[UNWIND_REG_IP] - s->returned;
	u32 rule = unwind_rule_lookup(&scratch->valid, pc, &scratch->place);

	if (rule == UNWIND_NO_TABLE) {
		rule = unwind_find_rule(scratch, pc, pid);
		if (rule < UNWIND_NO_TABLE)
			unwind_rule_insert(&scratch->valid, pc, rule, scratch->place);
		else if (scratch->ask.wanted)
			unwind_ask(&scratch->ask);
	}
	scratch->in_python = 0;
	if (rule == UNWIND_NO_MAP)
		return unwind_stop(s, UNWIND_END_NO_MAP);
	if (rule == UNWIND_NO_TABLE)
		return unwind_stop(s, UNWIND_END_NO_TABLE);
	if (rule == UNWIND_NO_CFI)
		return unwind_fp_step(s, window);
	scratch->in_python = rule & UNWIND_IN_PYTHON;
	rule &= UNWIND_MAX_RULES - 1;
	struct unwind_rule *r = bpf_map_lookup_elem(&unwind_rules, &rule);

	if (!r)
		return unwind_stop(s, UNWIND_END_UNSUP);
	return unwind_apply(s, r, window);
}

struct unwind_loop {
	struct unwind_slot *slot;
	struct unwind_stack_memo *memo;
};

static __always_inline bool unwind_push(struct unwind_slot *slot, u64 ip)
{
	u32 at = slot->first + slot->n;

	/* the very value that is checked is the index */
	barrier_var(at);
	if (at >= UNWIND_RECORD_IPS || slot->n >= slot->max)
		return false;
	slot->out.ip[at] = ip;
	slot->n++;
	return true;
}

/* @place: from the address to its place. */
static __always_inline bool unwind_push_placed(struct unwind_slot *slot, u64 ip, u64 place)
{
	if (!UNWIND_PLACED(slot))
		return unwind_push(slot, ip);
	slot->bare |= !place;
	return unwind_push(slot, ip + place);
}

/*
 * Reads the Python frames of the thread; 1: asks where its Python keeps its state, and to be called
 * @again. A function of its own, which calls no other: older kernels give all that call one
 * another 512 bytes of stack.
 */
__attribute__((noinline)) int unwind_python_begin(struct unwind_slot *slot, u32 again)
{
	struct task_struct *task = task_current();

	if (!slot)
		return 0;
	struct python_walk *w = &slot->python;

	struct mm_struct *mm = unwind_mm(task);

	w->ready = 1;
	w->gen = python_program_of(BPF_CORE_READ(mm, start_code), BPF_CORE_READ(mm, end_code),
				   BPF_CORE_READ(mm, start_stack));
	w->mm = unwind_walk_always ? 0 : unwind_mm_number((u64)mm, unwind_kernel_word);
	w->thread = task_field(task, thread.fsbase);
	if (!python_known(w)) {
		if (!slot->scratch.runtime && !again)
			return 1;
		if (!python_find(w, slot->scratch.runtime, slot->scratch.python))
			return 0;
	}
	python_frames(w);
	return 0;
}

static long unwind_python_copy(u32 i, void *ctx)
{
	struct unwind_slot *slot = ((struct unwind_loop *)ctx)->slot;
	u64 word = slot->python.py[slot->python.at & (UNWIND_PYTHON_WORDS - 1)];

	if (!(word & UNWIND_PYTHON_BIT) || !unwind_push(slot, word))
		return 1;
	slot->python.at++;
	return 0;
}

/* Puts in the Python functions that the native frame from @sp to the present one runs. */
__attribute__((noinline)) int unwind_splice(struct unwind_slot *slot, u64 sp)
{
	struct unwind_loop loop = { .slot = slot };

	if (!slot)
		return 0;
	struct python_walk *w = &slot->python;
	u64 anchor = w->py[w->at & (UNWIND_PYTHON_WORDS - 1)];

	if (anchor < sp || anchor >= slot->s.reg[UNWIND_REG_SP])
		return 0;
	w->at++;
	bpf_loop(UNWIND_PYTHON_WORDS, unwind_python_copy, &loop, 0);
	return 0;
}

static long unwind_push_some(u32 turn, void *ctx)
{
	struct unwind_slot *slot = ((struct unwind_loop *)ctx)->slot;
	struct unwind_stack_memo *m = ((struct unwind_loop *)ctx)->memo;
	u32 i, at = slot->at + turn * UNWIND_NOTE_TURN;

	for (i = 0; i < UNWIND_NOTE_TURN; i++, at++) {
		const struct unwind_frame_note *f = unwind_note_at(m->frame, at);

		if (at >= UNWIND_MEMO_FRAMES)
			return 1;
		slot->s.fp_steps += f->bp_at >> 1 & 1;
		if (unwind_push_placed(slot, f->ip, f->place))
			continue;
		slot->s.end = UNWIND_END_DEPTH;
		return 1;
	}
	return 0;
}

/* The frames of the memo from slot->at on into the record. */
static __always_inline void unwind_push_memo(struct unwind_slot *slot, struct unwind_stack_memo *m)
{
	struct unwind_loop loop = { .slot = slot, .memo = m };

	slot->s.end = UNWIND_END_ROOT; /* no other stacks are remembered */
	bpf_loop(UNWIND_NOTE_TURNS, unwind_push_some, &loop, 0);
}

static __always_inline u64 unwind_note_inner(const struct unwind_slot *slot)
{
	return slot->s.returned ? 0 : UNWIND_NOTE_INNER;
}

/* True: the memo has the current frame and all outer ones. */
static __always_inline int unwind_recall(struct unwind_slot *slot, struct unwind_stack_memo *m)
{
	u64 sp = slot->s.reg[UNWIND_REG_SP];
	u32 at = slot->at, i;

	/* what is left out now will be next time */
	for (i = 0; i < UNWIND_NOTE_TURN && at < UNWIND_MEMO_FRAMES; i++, at++) {
		if (unwind_note_at(m->frame, at)->sp >= sp)
			break;
	}
	slot->at = at;
	if (at >= UNWIND_MEMO_FRAMES)
		return 0;
	const struct unwind_frame_note *f = unwind_note_at(m->frame, at);

	if (f->sp != sp || f->ip != slot->s.reg[UNWIND_REG_IP] ||
	    unwind_note_inner(slot) != (f->bp_at & UNWIND_NOTE_INNER) ||
	    (f->bp_at & ~(u64)UNWIND_NOTE_BITS) != slot->s.bp_at ||
	    (!slot->s.bp_at && f->bp != slot->s.reg[UNWIND_REG_BP]))
		return 0;
	i = unwind_check(&slot->window, m, at);
	if (i < UNWIND_MEMO_FRAMES) {
		slot->at = i + 1;
		return 0;
	}
	slot->recalled = 1;
	unwind_push_memo(slot, m);
	return 1;
}

/* Before the step from this frame. */
static __always_inline void unwind_note(struct unwind_slot *slot)
{
	struct unwind_frame_note *f = unwind_note_at(slot->note, slot->noted);

	f->ip = slot->s.reg[UNWIND_REG_IP];
	f->sp = slot->s.reg[UNWIND_REG_SP];
	f->bp_at = slot->s.bp_at | unwind_note_inner(slot);
	f->bp = slot->s.reg[UNWIND_REG_BP];
	slot->s.bp_used = 0;
	slot->s.odd = 0;
	if ((f->sp | slot->s.bp_at) & 7 || slot->noted >= UNWIND_MEMO_FRAMES)
		slot->noting = 0;
}

/* After it. */
static __always_inline void unwind_noted(struct unwind_slot *slot, u32 fp_steps)
{
	struct unwind_frame_note *f = unwind_note_at(slot->note, slot->noted);

	if (slot->s.bp_used) {
		slot->by_bp |= !(f->bp_at & ~(u64)UNWIND_NOTE_BITS);
		f->bp = slot->s.bp_was;
		f->bp_at |= UNWIND_NOTE_BP;
	}
	if (slot->s.fp_steps != fp_steps)
		f->bp_at |= UNWIND_NOTE_FP;
	/* functions of Python change while the C frames that run them stand still */
	if (slot->scratch.in_python)
		slot->noting = 0;
	/* all registers of the innermost frame are known, but not compared */
	if (slot->s.odd) {
		if (slot->noted || !slot->s.returned)
			slot->noting = 0;
		f->sp = 0;
	}
	f->place = slot->scratch.place;
	slot->noted++;
}

static long unwind_one(u32 i, void *ctx)
{
	struct unwind_loop *loop = ctx;
	struct unwind_slot *slot = loop->slot;
	struct unwind_stack_memo *memo = loop->memo;

	slot->ip = slot->s.reg[UNWIND_REG_IP];
	slot->sp = slot->s.reg[UNWIND_REG_SP];
	slot->pc = slot->ip - slot->s.returned;
	slot->fp_steps = slot->s.fp_steps;
	if (memo && slot->at < UNWIND_MEMO_FRAMES && unwind_recall(slot, memo))
		return 1;
	if (memo && slot->noting)
		unwind_note(slot);
	slot->s.method = 0;
	int end = unwind_step(&slot->s, &slot->scratch, &slot->window, slot->pid);

	if (memo && slot->noting)
		unwind_noted(slot, slot->fp_steps);
	if (UNWIND_PYTHON_FRAMES && slot->scratch.in_python) {
		if (!slot->python.ready && unwind_python_begin(slot, 0)) {
			/* the rule was memorised: where it came from was not */
			unwind_find_rule(&slot->scratch, slot->pc, slot->pid);
			unwind_python_begin(slot, 1);
		}
		unwind_splice(slot, slot->sp);
	}
	if (UNWIND_PYTHON_FRAMES && slot->s.method) {
		slot->bare = 1;
		return !unwind_push(slot, unwind_method_word(slot->s.method)) || end ? 1 : 0;
	}
	return !unwind_push_placed(slot, slot->ip, slot->scratch.place) || end ? 1 : 0;
}

static long unwind_remember_some(u32 turn, void *ctx)
{
	struct unwind_slot *slot = ((struct unwind_loop *)ctx)->slot;
	struct unwind_stack_memo *m = ((struct unwind_loop *)ctx)->memo;
	u32 i, from = turn * UNWIND_NOTE_TURN;

	for (i = 0; i < UNWIND_NOTE_TURN; i++, from++) {
		if (from >= slot->noted)
			return 1;
		*unwind_note_at(m->frame, m->first + from) = *unwind_note_at(slot->note, from);
	}
	return 0;
}

/* What was walked goes before what was recognised. */
static __always_inline void unwind_remember(struct unwind_slot *slot, struct unwind_stack_memo *m)
{
	struct unwind_loop loop = { .slot = slot, .memo = m };
	u32 n = slot->noted, to = slot->recalled ? slot->at : UNWIND_MEMO_FRAMES;

	if (slot->s.end != UNWIND_END_ROOT || !slot->noting || n > to ||
	    (slot->recalled && n <= slot->leaves))
		return;
	m->valid = slot->scratch.valid;
	m->hash = 0;
	m->stack = 0;
	m->by_bp = slot->by_bp | (slot->recalled ? m->by_bp : 0);
	m->bare = slot->bare;
	m->first = to - n;
	slot->remembered = 1;
	bpf_loop(UNWIND_NOTE_TURNS, unwind_remember_some, &loop, 0);
}

/* What holds for the stack of the current task that is about to be taken. */
static __always_inline void unwind_validate(struct unwind_slot *slot)
{
	unwind_valid_now(unwind_mm(task_current()), &slot->scratch.valid);
}

/* A macro because @r may be a program's context, from which only plain loads are allowed. */
#define unwind_from_regs(slot, r)               \
	do {                                    \
		u64 *to_ = (slot)->s.reg;       \
                                                \
		to_[UNWIND_REG_R8] = (r)->r8;   \
		to_[UNWIND_REG_R9] = (r)->r9;   \
		to_[UNWIND_REG_R10] = (r)->r10; \
		to_[UNWIND_REG_R11] = (r)->r11; \
		to_[UNWIND_REG_R12] = (r)->r12; \
		to_[UNWIND_REG_R13] = (r)->r13; \
		to_[UNWIND_REG_R14] = (r)->r14; \
		to_[UNWIND_REG_R15] = (r)->r15; \
		to_[UNWIND_REG_DI] = (r)->di;   \
		to_[UNWIND_REG_SI] = (r)->si;   \
		to_[UNWIND_REG_BP] = (r)->bp;   \
		to_[UNWIND_REG_BX] = (r)->bx;   \
		to_[UNWIND_REG_DX] = (r)->dx;   \
		to_[UNWIND_REG_AX] = (r)->ax;   \
		to_[UNWIND_REG_CX] = (r)->cx;   \
		to_[UNWIND_REG_SP] = (r)->sp;   \
		to_[UNWIND_REG_IP] = (r)->ip;   \
	} while (0)

#ifdef BPF_RAW
#define unwind_regs_of(task, slot)      unwind_read_regs((task), &(slot)->regs)
#define unwind_regs_address(slot, from) ((slot)->regs.address)
#else
#define unwind_regs_of(task, slot)      ((struct pt_regs *)bpf_task_pt_regs(task))
#define unwind_regs_address(slot, from) ((u64)(from))
#endif

/* The registers with which the current task entered the kernel. False: it has no user part. */
static __always_inline bool unwind_from_task(struct unwind_slot *slot)
{
	struct task_struct *task = task_current();
	struct pt_regs *regs;

	if (!unwind_mm(task) || (task_field(task, flags) & PF_KTHREAD))
		return false;
	regs = unwind_regs_of(task, slot);
	unwind_from_regs(slot, regs);
	return slot->s.reg[UNWIND_REG_IP] && !(slot->s.reg[UNWIND_REG_IP] >> 63);
}

static __always_inline u64 unwind_mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static long unwind_hash_one(u32 i, void *ctx)
{
	struct unwind_slot *slot = ((struct unwind_loop *)ctx)->slot;

	i += slot->hash_first;
	if (i >= UNWIND_RECORD_IPS)
		return 1;
	slot->hash = unwind_mix(slot->hash, slot->out.ip[i]);
	return 0;
}

/* Of @n frames in the slot, from @first on. */
static __always_inline u64 unwind_hash_frames(struct unwind_slot *slot, u32 first, u32 n)
{
	struct unwind_loop loop = { .slot = slot };

	slot->hash_first = first;
	slot->hash = 0;
	bpf_loop(n, unwind_hash_one, &loop, 0);
	return slot->hash;
}

/* The frames from the registers in the slot on; @memo may be NULL. Global: verified once. */
__attribute__((noinline)) int unwind_walk(struct unwind_slot *slot, struct unwind_stack_memo *memo)
{
	struct unwind_loop loop = { .slot = slot, .memo = memo };

	if (!slot)
		return 0;
	unwind_begin(&slot->s);
	slot->n = 0;
	slot->at = UNWIND_MEMO_FRAMES;
	slot->noted = 0;
	slot->noting = slot->scratch.valid.mm != 0;
	slot->recalled = 0;
	slot->by_bp = 0;
	slot->bare = !UNWIND_PLACED(slot);
	slot->window.bytes = 0;
	slot->window.want = UNWIND_WINDOW_NEXT;
	slot->scratch.runtime = 0;
	slot->scratch.python = 0;
	slot->scratch.in_python = 0;
	slot->scratch.new_code = 0;
	slot->scratch.place = 0;
	slot->scratch.near[0].end = 0;
	slot->scratch.near[1].end = 0;
	slot->python.ready = 0;
	slot->python.python = 0;
	slot->python.fresh = 0;
	slot->python.at = 0;
	slot->python.py[0] = 0;
	if (memo && unwind_is_valid(&memo->valid, &slot->scratch.valid)) {
		slot->at = memo->first;
		unwind_look(&slot->window, memo, slot->s.reg[UNWIND_REG_SP]);
	}
	bpf_loop(slot->max, unwind_one, &loop, 0);
	if (slot->s.end == UNWIND_END_NONE)
		slot->s.end = UNWIND_END_DEPTH;
	else if (slot->scratch.new_code && slot->s.end != UNWIND_END_ROOT)
		slot->s.end = UNWIND_END_NO_TABLE; /* perhaps user space knows more */
	return slot->n;
}

/* --- what was recognised, checked ---------------------------------------------------------------
 */

/* One more stack was recognised. True: it is to be walked, and compared. */
static __always_inline bool unwind_check_due(void)
{
	struct unwind_counts *c = unwind_counts();
	u64 n;

	if (!c)
		return false;
	n = ++c->n[UNWIND_COUNT_RECOGNISED];
	return unwind_check_every && n % unwind_check_every == 0;
}

static __always_inline void unwind_checked(struct unwind_stack_memo *memo, bool right)
{
	unwind_count(UNWIND_COUNT_CHECKED, 1);
	if (right)
		return;
	unwind_count(UNWIND_COUNT_MISRECOGNISED, 1);
	memo->valid.mm = 0;
}

/* As if nothing were known of the process; its registers are in slot->regs_before. */
static __always_inline void unwind_walk_afresh(struct unwind_slot *slot)
{
	slot->before = slot->scratch.valid;
	__builtin_memcpy(slot->s.reg, slot->regs_before, sizeof(slot->s.reg));
	slot->scratch.valid.mm = 0;
	unwind_walk(slot, 0);
	slot->scratch.valid = slot->before;
}

/* Since what holds was checked. */
static __always_inline bool unwind_tables_stood_still(const struct unwind_slot *slot)
{
	return !((u32)READ_ONCE(unwind_epoch) ^ (u32)slot->scratch.valid.seq);
}

/* Rows that were changed meanwhile may have led astray; when they do so again, user space walks. */
static __always_inline void unwind_walk_twice(struct unwind_slot *slot)
{
	unwind_validate(slot);
	unwind_walk_afresh(slot);
	if (!unwind_tables_stood_still(slot))
		slot->s.end = UNWIND_END_NO_TABLE;
}

/* A stack that was recognised from some frame on: whether it is what a walk finds. */
static __always_inline void unwind_check_walk(struct unwind_slot *slot,
					      struct unwind_stack_memo *memo)
{
	u64 hash = unwind_hash_frames(slot, slot->first, slot->n);
	u32 n = slot->n;

	unwind_walk_afresh(slot);
	/* another thread may have changed the tables or the mappings in between */
	unwind_validate(slot);
	if (unwind_is_valid(&slot->before, &slot->scratch.valid))
		unwind_checked(memo,
			       n == slot->n && hash == unwind_hash_frames(slot, slot->first, n));
}

/*
 * Unwinds from the registers in the slot into slot->out.ip, from slot->first on; slot->pid is set,
 * and what holds (unwind_validate). Returns the number of frames; the reason for the end is in
 * slot->s.end. @memo: NULL, or what may know the stack. Only when slot->remembered does it hold
 * this very stack afterwards: one that was checked, or cannot be noted, leaves it with another.
 */
static __always_inline u32 unwind_run(struct unwind_slot *slot, u32 max,
				      struct unwind_stack_memo *memo)
{
	slot->max = max;
	slot->remembered = 0;
	__builtin_memcpy(slot->regs_before, slot->s.reg, sizeof(slot->s.reg));
	unwind_walk(slot, memo);
	if (!unwind_tables_stood_still(slot))
		unwind_walk_twice(slot);
	else if (memo && slot->recalled && unwind_check_due())
		unwind_check_walk(slot, memo);
	else if (memo)
		unwind_remember(slot, memo);
	/* what callers look at is read again: one state for the verifier, not one for each end */
	barrier();
	return slot->n;
}

#endif
