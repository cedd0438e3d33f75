/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole stacks that were seen before, recognised without a single call. To read memory of the user
 * takes a helper, which costs more than all the rest of a switch; but the kernel has all memory
 * mapped once more for itself, and where the user's page is there stands in the page tables.
 * Interrupts are off at a switch and at a waking, so no table is freed while it is read (that is
 * how the kernel itself looks pages up in haste). Whatever is read must be, word for word, what the
 * unwinder met there when it went this way (unwind_memo.bpf.h): what cannot be read, or is not
 * that, is left to it.
 */
#ifndef BPF_OFFCPU_USER_BPF_H
#define BPF_OFFCPU_USER_BPF_H

/* Where the kernel has the memory with the physical address 0; 0: not known. Found when loaded. */
u64 offcpu_memory = 0;
u32 offcpu_five_levels = 0; /* of page tables, not four */

enum {
	PAGE_PRESENT = 0x1,
	PAGE_LARGE = 0x80,
	OFFCPU_WORDS = 32, /* of a user stack that tell it from others */
};
#define PAGE_ADDRESS       0x000ffffffffff000ull
#define OFFCPU_FOUR_LEVELS 0xffff800000000000ull /* the kernel begins here, with five before */

struct offcpu_user_memo {
	u64 gen;   /* 0: nothing is known */
	u64 noted; /* as it was when this was made */
	u64 ip, sp, bp;
	u64 hash;
	u64 stack; /* the number of the whole ... */
	u64 other; /* ... with this kernel's part and process */
	u64 number;
	u32 frames;
	u32 n;
	u32 by_bp;
	u32 pad;
	struct {
		u64 at;
		u64 value;
	} word[OFFCPU_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPU_MEMOS);
	__type(key, u32);
	__type(value, struct offcpu_user_memo);
} offcpu_user_memos SEC(".maps");

/* The entry for @address in a table of the level whose entries cover 1 << @shift bytes. */
static __always_inline u64 offcpu_entry(u64 table, u64 address, u32 shift)
{
	return offcpu_word(table + (address >> shift & 511) * 8);
}

/*
 * Where the kernel has the page of @address; 0: it is not there. A global function: verified once,
 * and by itself.
 */
__attribute__((noinline)) u64 offcpu_page(u64 pgd, u64 address, u64 memory)
{
	u64 table = pgd, e;

	if (!OFFCPU_CAST)
		return 0;
	if (offcpu_five_levels) {
		e = offcpu_entry(table, address, 48);
		if (!(e & PAGE_PRESENT))
			return 0;
		table = memory + (e & PAGE_ADDRESS);
	}
	e = offcpu_entry(table, address, 39);
	if (!(e & PAGE_PRESENT))
		return 0;
	e = offcpu_entry(memory + (e & PAGE_ADDRESS), address, 30);
	if (!(e & PAGE_PRESENT))
		return 0;
	if (e & PAGE_LARGE)
		return memory + (e & PAGE_ADDRESS & -(1ull << 30)) + (address & 0x3ffff000);
	e = offcpu_entry(memory + (e & PAGE_ADDRESS), address, 21);
	if (!(e & PAGE_PRESENT))
		return 0;
	if (e & PAGE_LARGE)
		return memory + (e & PAGE_ADDRESS & -(1ull << 21)) + (address & 0x1ff000);
	e = offcpu_entry(memory + (e & PAGE_ADDRESS), address, 12);
	return e & PAGE_PRESENT ? memory + (e & PAGE_ADDRESS) : 0;
}

/* All words of the memo are in the user's memory. */
static __always_inline bool offcpu_same_words(const struct offcpu_user_memo *m, u64 pgd)
{
	u64 memory = offcpu_memory, have = 0, page = 0;
	u32 i, n = m->n;

	for (i = 0; i < OFFCPU_WORDS && i < n; i++) {
		u64 at = m->word[i].at;

		if ((at ^ have) >> PAGE_SHIFT) {
			page = offcpu_page(pgd, at, memory);
			if (!page)
				return false;
			have = at;
		}
		if (offcpu_word(page + (at & 0xfff)) != m->word[i].value)
			return false;
	}
	return true;
}

/*
 * The kernel's stack between @base and @top, and the user's in @mm, are those of the memos. A
 * global function, too.
 */
__attribute__((noinline)) int offcpu_same_stack(struct offcpu_user_memo *m,
						struct offcpu_kernel_memo *kernel, u64 base,
						u64 top, u64 mm)
{
	if (!OFFCPU_CAST || !m || !kernel)
		return 0;
	return offcpu_recall_direct(base, top, kernel) &&
	       offcpu_same_words(m, offcpu_mm_word(mm, pgd));
}

/*
 * The number of the current task's whole stack if it is known, else 0. Processes that were forked
 * from one share what is known, but have numbers of their own.
 */
static __always_inline u64 offcpu_recall_stack(struct offcpu_user_memo *m,
					       struct offcpu_kernel_memo *kernel, void *ctx,
					       struct task_struct *task, struct pt_regs *regs,
					       u32 pid)
{
	u64 mm, other;

	if (!offcpu_memory || !m->gen || !kernel->n_kernel || m->ip != regs->ip ||
	    m->sp != regs->sp || (m->by_bp && m->bp != regs->bp))
		return 0;
	mm = offcpu_mm_of(task);
	if (!mm || m->gen != offcpu_direct_generation(mm))
		return 0;
	if (!offcpu_same_stack(m, kernel, offcpu_number(&m->number, (u64)ctx),
			       offcpu_number(&m->number, (u64)regs), mm))
		return 0;
	kernel->misses = 0;
	other = offcpu_mix(kernel->sight, pid);
	if (m->other != other) {
		u64 id = offcpu_stack_number(kernel->sight, kernel->n_kernel, m->hash, m->frames,
					     pid);

		if (!bpf_map_lookup_elem(&offcpu_seen, &id))
			return 0;
		m->other = other;
		m->stack = id;
	}
	offcpu_count(OFFCPU_COUNT_RECOGNISED, 1);
	unwind_count(UNWIND_COUNT_SAMPLES, 1);
	unwind_count(UNWIND_END_ROOT, 1);
	unwind_count(UNWIND_COUNT_FRAMES, m->frames);
	return m->stack;
}

struct offcpu_listing {
	const struct unwind_stack_memo *from;
	struct offcpu_user_memo *to;
};

static __always_inline bool offcpu_list_word(struct offcpu_user_memo *m, u64 at, u64 value)
{
	u32 i = m->n;

	barrier_var(i);
	if (i >= OFFCPU_WORDS)
		return false;
	m->word[i].at = at;
	m->word[i].value = value;
	m->n = i + 1;
	return true;
}

/* What unwind_check_one() would ask for. */
static long offcpu_list_frame(u32 i, void *ctx)
{
	struct offcpu_listing *l = ctx;
	struct unwind_frame_note *notes = (struct unwind_frame_note *)l->from->frame;
	u32 at = l->from->first + i;
	const struct unwind_frame_note *f = unwind_note_at(notes, at);
	u64 bp_at = f->bp_at & ~(u64)UNWIND_NOTE_BITS;

	if (f->bp_at & UNWIND_NOTE_BP && bp_at && !offcpu_list_word(l->to, bp_at, f->bp))
		return 1;
	if (at >= UNWIND_MEMO_FRAMES - 1) {
		l->to->gen = l->from->gen; /* all of it */
		return 1;
	}
	f = unwind_note_at(notes, at + 1);
	return !offcpu_list_word(l->to, f->sp - 8, f->ip);
}

/* The stack of @from has just been recognised. */
static __always_inline void offcpu_note_stack(struct offcpu_user_memo *m,
					      const struct unwind_stack_memo *from,
					      struct pt_regs *regs)
{
	struct offcpu_listing l = { .from = from, .to = m };

	/* also one that has too many words */
	if (m->noted == from->gen && m->hash == from->hash && m->ip == regs->ip &&
	    m->sp == regs->sp && (!from->by_bp || m->bp == regs->bp))
		return;
	m->gen = 0;
	m->n = 0;
	m->other = 0;
	m->noted = from->gen;
	m->hash = from->hash;
	m->ip = regs->ip;
	m->sp = regs->sp;
	m->bp = regs->bp;
	m->by_bp = from->by_bp;
	m->frames = UNWIND_MEMO_FRAMES - from->first;
	bpf_loop(UNWIND_MEMO_FRAMES, offcpu_list_frame, &l, 0);
}

/* --- where all memory is ---------------------------------------------------------------------- */

#ifndef BPF_RAW

struct offcpu_finding {
	u64 pgd;
	u64 sp;   /* of the program that asks, ... */
	u64 word; /* ... and what is there */
};

/* It begins at a multiple of 1 GB below any page table: the one that leads to itself is right. */
static long offcpu_try_memory(u32 i, void *ctx)
{
	struct offcpu_finding *f = ctx;
	u64 memory = (f->pgd & -(1ull << 30)) - ((u64)i << 30);
	u64 page = offcpu_page(f->pgd, f->pgd, memory);

	/* what is at a wrong place may look like an entry that leads there */
	if (page != f->pgd)
		return 0;
	page = offcpu_page(f->pgd, f->sp, memory);
	if (!page || offcpu_word(page + (f->sp & 0xfff)) != f->word)
		return 0;
	offcpu_memory = memory;
	return 1;
}

#endif
#ifdef BPF_RAW

/* There is no way to read it without a call. */
SEC("raw_tp")
int offcpu_find_memory(void *ctx)
{
	return 0;
}

#else

/* Run once by the program that loads this. */
SEC("syscall")
int offcpu_find_memory(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct offcpu_finding f = { .sp = regs->sp & ~7ull };
	u64 mm = offcpu_mm_of(task);

	if (!mm || bpf_probe_read_user(&f.word, sizeof(f.word), (const void *)f.sp) || !f.word)
		return 0;
	f.pgd = offcpu_mm_word(mm, pgd);
	offcpu_five_levels = f.pgd < OFFCPU_FOUR_LEVELS;
	bpf_loop(offcpu_options.memory_tries, offcpu_try_memory, &f, 0);
	return 0;
}

#endif

#endif
