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
	OFFCPU_GROUP = 4, /* words that are compared in one turn of a loop */
	OFFCPU_KERNEL_GROUPS = 6,
	OFFCPU_USER_GROUPS = 10,
};
#define PAGE_ADDRESS       0x000ffffffffff000ull
#define OFFCPU_PAGE        (-4096ull)
#define OFFCPU_DEPTH       0x3fffull             /* of an address in a kernel stack */
#define OFFCPU_FOUR_LEVELS 0xffff800000000000ull /* the kernel begins here, with five before */

/* Words of one page, or of the kernel's stack. Where there are fewer, the first is there again. */
struct offcpu_group {
	u64 page;
	u64 value[OFFCPU_GROUP];
	u16 at[OFFCPU_GROUP]; /* bytes from there on */
};

/* All words by which a stack is told from others. */
struct offcpu_whole_memo {
	u64 gen; /* 0: nothing is known */
	u64 ip, sp, bp;
	u64 by_bp; /* 0: bp does not matter, else ~0 */
	/* whose it was the last time, and the number that it has for that process */
	u64 mm;
	u64 exec_vm;
	u64 epoch;
	u64 stack;
	u32 pid;
	u32 n_kernel;
	u64 outermost; /* of the kernel's return addresses: right before the registers */
	u64 sight;     /* of the kernel's part */
	u64 hash;      /* of the user's, ... */
	u64 noted;     /* ... which was in this generation when this was made */
	u64 number;    /* see offcpu_number() */
	u32 frames;
	u32 bare;             /* its number is not the same in every process */
	u32 hits;             /* since it was last looked at */
	u16 n_groups, filled; /* while it is made: of the user's, and words in the last one */
	u16 kernel_groups, user_groups;
	struct offcpu_group kernel[OFFCPU_KERNEL_GROUPS];
	struct offcpu_group user[OFFCPU_USER_GROUPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPU_WHOLE_MEMOS);
	__type(key, u32);
	__type(value, struct offcpu_whole_memo);
} offcpu_whole_memos SEC(".maps");

/* The entry for @address in a table of the level whose entries cover 1 << @shift bytes. */
static __always_inline u64 offcpu_entry(u64 table, u64 address, u32 shift)
{
	return offcpu_word(table + (address >> shift & 511) * 8);
}

/* Where the kernel has the page of @address; 0: it is not there. */
static __always_inline u64 offcpu_walk_tables(u64 pgd, u64 address, u64 memory)
{
	u64 table = pgd, e;

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

/* --- recognising ------------------------------------------------------------------------------ */

/* As far as words differ, or 0. */
static __always_inline u64 offcpu_group_differs(const struct offcpu_group *g, u64 from)
{
	return (offcpu_word(from + g->at[0]) ^ g->value[0]) |
	       (offcpu_word(from + g->at[1]) ^ g->value[1]) |
	       (offcpu_word(from + g->at[2]) ^ g->value[2]) |
	       (offcpu_word(from + g->at[3]) ^ g->value[3]);
}

static __always_inline bool offcpu_same_kernel(const struct offcpu_whole_memo *m, u64 base)
{
	u32 i, n = m->kernel_groups;

	for (i = 0; i < OFFCPU_KERNEL_GROUPS && i < n; i++) {
		if (offcpu_group_differs(&m->kernel[i], base))
			return false;
	}
	return true;
}

static __always_inline bool offcpu_same_user(const struct offcpu_whole_memo *m, u64 pgd)
{
	u64 memory = offcpu_memory, have = 0, page = 0;
	u32 i, n = m->user_groups;

	for (i = 0; i < OFFCPU_USER_GROUPS && i < n; i++) {
		const struct offcpu_group *g = &m->user[i];

		if (g->page != have) {
			have = g->page;
			page = offcpu_walk_tables(pgd, have, memory);
			if (!page)
				return false;
		}
		if (offcpu_group_differs(g, page))
			return false;
	}
	return true;
}

/*
 * Another process than the last time, or it has mapped other code. Processes that were forked from
 * one share what is known, but have numbers of their own.
 */
__attribute__((noinline)) int offcpu_same_program(struct offcpu_whole_memo *m, u64 mm, u32 pid)
{
	u64 id;

	if (!OFFCPU_CAST || !m || m->gen != offcpu_direct_generation(mm))
		return 0;
	id = offcpu_stack_number(m->sight, m->n_kernel, m->hash, m->frames, m->bare ? pid : 0);
	if (!offcpu_is_known(id))
		return 0;
	m->mm = mm;
	m->exec_vm = offcpu_mm_word(mm, exec_vm);
	m->epoch = unwind_epoch;
	m->pid = pid;
	m->stack = id;
	return 1;
}

/*
 * The kernel's stack between @base and @regs, and the user's in @mm, are those of the memo. A
 * global function: verified once, and by itself.
 */
__attribute__((noinline)) int offcpu_same_stack(struct offcpu_whole_memo *m, u64 base, u64 regs,
						u64 mm, u32 pid)
{
	if (!OFFCPU_CAST || !m)
		return 0;
	if ((m->bp ^ offcpu_regs_word(regs, bp)) & m->by_bp)
		return 0;
	if ((m->mm != mm || m->pid != pid || m->epoch != unwind_epoch ||
	     m->exec_vm != offcpu_mm_word(mm, exec_vm)) &&
	    !offcpu_same_program(m, mm, pid))
		return 0;
	return offcpu_word(regs - 8) == m->outermost && offcpu_same_kernel(m, base) &&
	       offcpu_same_user(m, offcpu_mm_word(mm, pgd));
}

/* By where in user space the thread is, and how it got here. */
static __always_inline struct offcpu_whole_memo *offcpu_whole_of(u64 ip, u64 sp, u32 pid, u32 how)
{
	u64 place = offcpu_mix(ip, sp ^ (pid & 2) ^ (u64)how << 32);
	u32 at = offcpu_memo_at(place, pid, how, OFFCPU_WHOLE_MEMOS);

	return bpf_map_lookup_elem(&offcpu_whole_memos, &at);
}

/* The number of the current task's whole stack if it is known, else 0. */
static __always_inline u64 offcpu_recall_stack(void *ctx, struct task_struct *task, u32 pid,
					       u32 how)
{
	u64 regs = offcpu_stack_base(task) + offcpu_regs_at, mm;
	u64 ip = offcpu_regs_word(regs, ip), sp = offcpu_regs_word(regs, sp);
	struct offcpu_whole_memo *m = offcpu_whole_of(ip, sp, task_field(task, pid), how);

	if (!m || !m->gen || m->ip != ip || m->sp != sp)
		return 0;
	mm = offcpu_mm_of(task);
	if (!mm || !offcpu_same_stack(m, offcpu_number(&m->number, (u64)ctx), regs, mm, pid))
		return 0;
	m->hits++;
	offcpu_count(OFFCPU_COUNT_RECOGNISED, 1);
	return m->stack;
}

/* The kernel's part of what was recognised as a whole, which is not to be forgotten; 0: was not. */
static __always_inline u64 offcpu_still_used(struct offcpu_whole_memo *m)
{
	if (!m->hits)
		return 0;
	m->hits = 0;
	return m->sight;
}

/* --- noting ----------------------------------------------------------------------------------- */

struct offcpu_listing {
	const struct unwind_stack_memo *from;
	const struct offcpu_kernel_memo *kernel;
	struct offcpu_whole_memo *to;
};

static __always_inline void offcpu_begin_group(struct offcpu_group *g, u64 page, u16 at, u64 value)
{
	g->page = page;
	g->at[0] = g->at[1] = g->at[2] = g->at[3] = at;
	g->value[0] = g->value[1] = g->value[2] = g->value[3] = value;
}

static __always_inline bool offcpu_list_word(struct offcpu_whole_memo *m, u64 address, u64 value)
{
	u64 page = address & OFFCPU_PAGE;
	u16 at = address & ~OFFCPU_PAGE;
	u32 i = m->n_groups - 1, k = m->filled;

	barrier_var(i);
	barrier_var(k);
	if (i < OFFCPU_USER_GROUPS && k < OFFCPU_GROUP && m->user[i].page == page) {
		m->user[i].at[k] = at;
		m->user[i].value[k] = value;
		m->filled = k + 1;
		return true;
	}
	i = m->n_groups;
	barrier_var(i);
	if (i >= OFFCPU_USER_GROUPS)
		return false;
	offcpu_begin_group(&m->user[i], page, at, value);
	m->n_groups = i + 1;
	m->filled = 1;
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
		l->to->user_groups = l->to->n_groups; /* all of it */
		l->to->gen = l->from->gen;
		return 1;
	}
	f = unwind_note_at(notes, at + 1);
	return !offcpu_list_word(l->to, f->sp - 8, f->ip);
}

/* The @i-th of the frames that are compared, from the innermost on; the outermost is not. */
static long offcpu_list_kernel(u32 i, void *ctx)
{
	struct offcpu_listing *l = ctx;
	u32 at = l->kernel->first + i, group = i / OFFCPU_GROUP, k = i % OFFCPU_GROUP;

	if (at + 1 >= l->kernel->n_kernel || at >= OFFCPU_MEMO_KERNEL)
		return 1;
	if (group >= OFFCPU_KERNEL_GROUPS)
		return 1;
	u16 bytes = 8 * l->kernel->kernel_at[at];
	struct offcpu_group *g = &l->to->kernel[group];

	if (!k)
		offcpu_begin_group(g, 0, bytes, l->kernel->kernel_ra[at]);
	g->at[k] = bytes;
	g->value[k] = l->kernel->kernel_ra[at];
	l->to->kernel_groups = group + 1;
	return 0;
}

/* Both parts of the stack have just been recognised, each by its memo. */
static __always_inline void offcpu_note_stack(const struct offcpu_kernel_memo *kernel,
					      const struct unwind_stack_memo *from,
					      struct offcpu_whole_memo *m, struct pt_regs *regs,
					      u64 sight)
{
	struct offcpu_listing l = { .from = from, .kernel = kernel, .to = m };
	u32 last = kernel->n_kernel - 1;

	/* also one that has too many words */
	if (m->noted == from->gen && m->hash == from->hash && m->sight == sight &&
	    m->ip == regs->ip && m->sp == regs->sp && (!from->by_bp || m->bp == regs->bp))
		return;
	m->gen = 0;
	m->mm = 0;
	m->n_groups = 0;
	m->filled = 0;
	m->kernel_groups = 0;
	m->noted = from->gen;
	m->hash = from->hash;
	m->bare = from->bare;
	m->ip = regs->ip;
	m->sp = regs->sp;
	m->bp = regs->bp;
	m->by_bp = from->by_bp ? ~0ull : 0;
	m->frames = UNWIND_MEMO_FRAMES - from->first;
	m->sight = sight;
	m->n_kernel = kernel->n_kernel;
	m->outermost = kernel->kernel_ra[last & (OFFCPU_MEMO_KERNEL - 1)];
	/* of places there is one for each frame here */
	if (last - kernel->first > OFFCPU_KERNEL_GROUPS * OFFCPU_GROUP || kernel->differs)
		return;
	bpf_loop(OFFCPU_KERNEL_GROUPS * OFFCPU_GROUP, offcpu_list_kernel, &l, 0);
	bpf_loop(UNWIND_MEMO_FRAMES, offcpu_list_frame, &l, 0);
	if (READ_ONCE(kernel->sight) != m->sight)
		m->gen = 0; /* it has become another's */
}

/* --- where all memory is ---------------------------------------------------------------------- */

#ifndef BPF_RAW

struct offcpu_finding {
	u64 pgd;
	u64 sp;   /* of the program that asks, ... */
	u64 word; /* ... and what is there */
};

/*
 * It begins at a multiple of 1 GB below any page table. Where it is right, the tables lead to
 * themselves, and to the memory of the program that asks; either may seem so where it is wrong.
 */
static long offcpu_try_memory(u32 i, void *ctx)
{
	struct offcpu_finding *f = ctx;
	u64 memory = (f->pgd & -(1ull << 30)) - ((u64)i << 30), page;

	if (offcpu_walk_tables(f->pgd, f->pgd, memory) != f->pgd)
		return 0;
	page = offcpu_walk_tables(f->pgd, f->sp, memory);
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

	offcpu_regs_at = offcpu_number(&offcpu_regs_at, (u64)regs) - offcpu_stack_base(task);
	if (!mm || bpf_probe_read_user(&f.word, sizeof(f.word), (const void *)f.sp) || !f.word)
		return 0;
	f.pgd = offcpu_mm_word(mm, pgd);
	offcpu_five_levels = f.pgd < OFFCPU_FOUR_LEVELS;
	bpf_loop(offcpu_options.memory_tries, offcpu_try_memory, &f, 0);
	return 0;
}

#endif

#endif
