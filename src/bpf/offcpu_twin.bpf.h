/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of new processes, recognised by what another process of the same program was seen with.
 * Programs are started over and over, in compiles and in scripts, and wait where others have waited
 * before them; but at other addresses: their stack is elsewhere, and so is each file that they have
 * mapped. All words that a walk would read must be what they were, but for that: those that point
 * into the stack moved with it, and those that point into one file all moved alike, and to where
 * that file is. As places in files (unwind_place()) the frames are then the same, and the stack has
 * the same number.
 *
 * Threads that live longer have memos of their own (offcpu_user.bpf.h), which are cheaper.
 */
#ifndef BPF_OFFCPU_TWIN_BPF_H
#define BPF_OFFCPU_TWIN_BPF_H

#include "bpf/offcpu_user.bpf.h"

enum {
	OFFCPU_TWINS = 128,
	OFFCPU_TWIN_WORDS = 48,
	OFFCPU_TWIN_FILES = 4,
	OFFCPU_TWIN_STACK = 4, /* instead of a file: the word points into the stack */
	OFFCPU_TWIN_REGS = 15, /* of struct pt_regs: those that a function may keep things in */
	OFFCPU_YOUNG = 16,     /* sleeps of a thread that is new */
	OFFCPU_MAPPED = 64,    /* processes whose files are remembered */
};

struct offcpu_twin_word {
	u64 value;
	u32 at; /* bytes from the stack pointer on */
	u16 into;
	u16 first; /* of its file: tells where that is */
};

/* What is mapped somewhere. */
struct offcpu_twin_file {
	u64 inode; /* its address; 0: no file */
	u64 ino;
	u64 size;
	u64 offset; /* of the address in the file */
};

/*
 * Files that were found where they should be: a process waits a few times while it is new, and to
 * find a file takes a dozen steps from memory to memory. As with stacks that are known as a whole,
 * nothing has moved as long as it has as much code mapped.
 */
struct offcpu_mapped {
	u64 mm;
	u64 pid; /* memory is used again for other processes */
	u64 exec_vm;
	u64 epoch;
	u64 next;                     /* place */
	u64 start[OFFCPU_TWIN_FILES]; /* where the file would begin */
	u64 file[OFFCPU_TWIN_FILES];  /* a hash of what is there; 0: none */
};

struct offcpu_twin {
	u64 ip, sp, bp;
	u64 by_bp; /* 0: bp does not matter, else ~0 */
	u64 program;
	u64 exec_vm;
	u64 epoch;
	u64 hash; /* of the frames as places; 0: nothing is known */
	u32 frames;
	u16 n_words;
	u16 ip_into;
	u32 hits; /* since a place was last looked for in its set */
	u32 n_files;
	/* the innermost caller, where its address is not on the stack but in a register */
	struct offcpu_twin_word kept;   /* at: from the registers on; value 0: it is on the stack */
	u64 address[OFFCPU_TWIN_FILES]; /* one in each file, and what is there */
	struct offcpu_twin_file file[OFFCPU_TWIN_FILES];
	u64 place[OFFCPU_TWIN_FILES]; /* while it is made: from its addresses to their places */
	u64 whole;                    /* all words are there */
	u64 busy;                     /* somebody changes it */
	struct offcpu_twin_word word[OFFCPU_TWIN_WORDS];
};

/*
 * Of all CPUs, as kernel stacks are: who is recognised by its twin looks at the hash before and
 * after that.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* begins with a page */
	__uint(max_entries, OFFCPU_TWINS);
	__type(key, u32);
	__type(value, struct offcpu_twin);
} offcpu_twins SEC(".maps");

/* What is found out while a twin is compared. */
struct offcpu_moves {
	u64 moved[2 * OFFCPU_TWIN_FILES]; /* by so much */
	u64 hash;
	u64 frames;
	u64 room; /* as offcpu_room */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct offcpu_moves);
} offcpu_moves SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPU_MAPPED);
	__type(key, u32);
	__type(value, struct offcpu_mapped);
} offcpu_files SEC(".maps");

/* What the same program has in common wherever it is mapped. */
static __always_inline u64 offcpu_program(struct task_struct *task, u64 mm)
{
	u64 size = offcpu_mm_word(mm, end_code) - offcpu_mm_word(mm, start_code);
	u64 comm = offcpu_word((u64)task + bpf_core_field_offset(struct task_struct___sched, comm));

	return offcpu_mix(comm, size);
}

/* The first of the places of a twin: by what a move leaves as it is. */
static __always_inline u32 offcpu_twin_set(u64 program, u64 ip, u64 nr, u32 how)
{
	u64 place = offcpu_mix(program, (ip & ~OFFCPU_PAGE) << 32 | (u32)nr << 4 | how);

	return (u32)(place >> 40) & (OFFCPU_TWINS - 1) & -OFFCPU_WAYS;
}

/* Only threads that are new: they have slept a few times. */
static __always_inline bool offcpu_is_young(struct task_struct *task)
{
	return unwind_places &&
	       offcpu_word((u64)task + bpf_core_field_offset(struct task_struct___sched, nvcsw)) <=
		       OFFCPU_YOUNG;
}

/* --- files ------------------------------------------------------------------------------------ */

#define offcpu_field(pointer, type, field) \
	offcpu_word((pointer) + bpf_core_field_offset(struct type, field))

/* The entry of a node of the maple tree (unwind_maps.bpf.h) that leads to @address. */
static __always_inline u64 offcpu_maple_entry(u64 entry, u64 address)
{
	u64 pivot = (entry & ~255ull) + 8;
	u32 n = (entry >> 3 & 15) == MAPLE_ARANGE ? MAPLE_ARANGE_PIVOTS : MAPLE_PIVOTS, i;

	for (i = 0; i < MAPLE_PIVOTS && i < n; i++) {
		u64 last = offcpu_word(pivot + 8 * i);

		if (address <= last || (!last && i))
			break;
	}
	return offcpu_word(pivot + 8 * n + 8 * i);
}

/* What @mm has mapped at @address. A global function: verified once, and by itself. */
__attribute__((noinline)) int offcpu_file_at(u64 mm, u64 address, struct offcpu_twin_file *ret)
{
	u64 entry, type = 0, start, file;
	u32 level;

	if (!OFFCPU_CAST || !ret)
		return 0;
	ret->inode = 0;
	entry = offcpu_word(mm + bpf_core_field_offset(struct mm_struct, mm_mt.ma_root));
	if ((entry & 3) != 2)
		return 0;
	for (level = 0; level < MAPLE_DEPTH && entry >= 4096 && type != MAPLE_LEAF; level++) {
		type = entry >> 3 & 15;
		entry = offcpu_maple_entry(entry, address);
	}
	start = offcpu_field(entry, vm_area_struct, vm_start);
	if (type != MAPLE_LEAF || address < start ||
	    address >= offcpu_field(entry, vm_area_struct, vm_end))
		return 0;
	file = offcpu_field(entry, vm_area_struct, vm_file);
	if (!file)
		return 0;
	ret->inode = offcpu_field(file, file, f_inode);
	ret->ino = offcpu_field(ret->inode, inode, i_ino);
	ret->size = offcpu_field(ret->inode, inode, i_size);
	ret->offset =
		address - start + (offcpu_field(entry, vm_area_struct, vm_pgoff) << PAGE_SHIFT);
	return 1;
}

/* --- recognising ------------------------------------------------------------------------------ */

/* What lies where @w was moved as all that it belongs to. */
static __always_inline bool offcpu_moved_alike(struct offcpu_moves *by,
					       const struct offcpu_twin_word *w, u64 value)
{
	u32 into = w->into & (2 * OFFCPU_TWIN_FILES - 1);
	u64 moved = value - w->value;

	if (!w->first)
		return moved == by->moved[into];
	by->moved[into] = moved;
	return !(moved & ~OFFCPU_PAGE);
}

/* The words from @sp on, in the memory of @pgd. A global function: verified once, and by itself. */
__attribute__((noinline)) int offcpu_same_words(const struct offcpu_twin *m, u64 sp, u64 pgd,
						struct offcpu_moves *by)
{
	u64 memory = offcpu_memory, have = 1, page = 0;
	u32 i, n;

	if (!OFFCPU_CAST || !m || !by)
		return 0;
	n = m->n_words;
	for (i = 0; i < OFFCPU_TWIN_WORDS && i < n; i++) {
		const struct offcpu_twin_word *w = &m->word[i];
		u64 address = sp + w->at;

		if ((address & OFFCPU_PAGE) != have) {
			have = address & OFFCPU_PAGE;
			page = offcpu_walk_tables(pgd, have, memory);
			if (unlikely(!page))
				return 0;
		}
		if (unlikely(!offcpu_moved_alike(by, w,
						 offcpu_word(page + (address & ~OFFCPU_PAGE)))))
			return 0;
	}
	return 1;
}

/* What is remembered of the files of a process. */
static __always_inline struct offcpu_mapped *offcpu_mapped_of(u64 mm, u32 pid)
{
	u32 at = offcpu_mix(mm, pid) >> 40 & (OFFCPU_MAPPED - 1);
	u64 exec_vm = offcpu_mm_word(mm, exec_vm);
	struct offcpu_mapped *f = bpf_map_lookup_elem(&offcpu_files, &at);

	if (!f ||
	    !((f->mm ^ mm) | (f->pid ^ pid) | (f->exec_vm ^ exec_vm) | (f->epoch ^ unwind_epoch)))
		return f;
	__builtin_memset(f, 0, sizeof(*f));
	f->mm = mm;
	f->pid = pid;
	f->exec_vm = exec_vm;
	f->epoch = unwind_epoch;
	return f;
}

static __always_inline bool offcpu_is_mapped(const struct offcpu_mapped *f, u64 start, u64 file)
{
	u64 differs[OFFCPU_TWIN_FILES];
	u32 i;

	for (i = 0; i < OFFCPU_TWIN_FILES; i++)
		differs[i] = (f->start[i] ^ start) | (f->file[i] ^ file);
	return !differs[0] || !differs[1] || !differs[2] || !differs[3];
}

static __always_inline void offcpu_note_mapped(struct offcpu_mapped *f, u64 start, u64 file)
{
	u32 at = f->next++ & (OFFCPU_TWIN_FILES - 1);

	f->start[at] = start;
	f->file[at] = file;
}

/* Each file is where it moved to. */
__attribute__((noinline)) int offcpu_same_files(const struct offcpu_twin *m, u64 mm, u32 pid,
						const struct offcpu_moves *by)
{
	struct offcpu_twin_file now = {};
	struct offcpu_mapped *known;
	u32 i;

	if (!OFFCPU_CAST || !m || !by)
		return 0;
	known = offcpu_mapped_of(mm, pid);
	if (!known)
		return 0;
	for (i = 0; i < OFFCPU_TWIN_FILES && i < m->n_files; i++) {
		const struct offcpu_twin_file *then = &m->file[i];
		u64 start = m->address[i] + by->moved[i] - then->offset;
		u64 file = offcpu_mix(offcpu_mix(then->inode, then->ino), then->size) | 1;

		if (likely(offcpu_is_mapped(known, start, file)))
			continue;
		if (!offcpu_file_at(mm, start + then->offset, &now) ||
		    ((now.inode ^ then->inode) | (now.ino ^ then->ino) | (now.size ^ then->size) |
		     (now.offset ^ then->offset)))
			return 0;
		offcpu_note_mapped(known, start, file);
	}
	return 1;
}

struct offcpu_young {
	u64 program, exec_vm;
	u64 regs, ip, sp, bp;
	u64 mm, pgd;
	u32 pid;
};

static __always_inline bool offcpu_is_twin(const struct offcpu_twin *m,
					   const struct offcpu_young *y, struct offcpu_moves *by)
{
	u64 moved = y->sp - m->sp;

	if (!by->hash || (m->program ^ y->program) | (m->exec_vm ^ y->exec_vm) |
				 (m->epoch ^ unwind_epoch) | ((y->ip ^ m->ip) & ~OFFCPU_PAGE) |
				 (moved & 7) | ((y->bp - m->bp - moved) & m->by_bp))
		return false;
	by->moved[OFFCPU_TWIN_STACK] = moved;
	by->moved[m->ip_into & (2 * OFFCPU_TWIN_FILES - 1)] = y->ip - m->ip;
	if (unlikely(m->kept.value) &&
	    !offcpu_moved_alike(by, &m->kept, offcpu_word(y->regs + m->kept.at)))
		return false;
	return offcpu_same_words(m, y->sp, y->pgd, by) && offcpu_same_files(m, y->mm, y->pid, by);
}

/* A twin of the stack of the current task, which is new; @by has its hash and frames. */
static __always_inline bool offcpu_find_twin(struct task_struct *task, u64 regs, u64 mm, u32 how,
					     struct offcpu_moves *by)
{
	struct offcpu_young y = {
		.program = offcpu_program(task, mm),
		.exec_vm = offcpu_mm_word(mm, exec_vm),
		.regs = regs,
		.ip = offcpu_regs_word(regs, ip),
		.sp = offcpu_regs_word(regs, sp),
		.bp = offcpu_regs_word(regs, bp),
		.mm = mm,
		.pgd = offcpu_mm_word(mm, pgd),
		.pid = task_field(task, tgid),
	};
	u32 i, set = offcpu_twin_set(y.program, y.ip, offcpu_regs_word(regs, orig_ax), how);

	for (i = 0; i < OFFCPU_WAYS; i++) {
		u32 at = set + i;
		struct offcpu_twin *m = bpf_map_lookup_elem(&offcpu_twins, &at);

		if (!m)
			return false;
		by->hash = READ_ONCE(m->hash);
		if (unlikely(!offcpu_is_twin(m, &y, by)))
			continue;
		by->frames = m->frames;
		m->hits++;
		return READ_ONCE(m->hash) == by->hash;
	}
	return false;
}

#ifndef BPF_RAW

/* The number of the whole stack of the current task, a new one; 0: it is not known. */
static __attribute__((noinline)) u64 offcpu_recall_twin(void *ctx, struct task_struct *task,
							u32 how)
{
	u64 regs = offcpu_stack_base(task) + offcpu_regs_at, mm = offcpu_mm_of(task), id, base;
	struct offcpu_kernel_memo *kernel;
	u32 zero = 0;
	struct offcpu_moves *by = bpf_map_lookup_elem(&offcpu_moves, &zero);
	u64 *room;

	if (unlikely(!mm || !by || !offcpu_find_twin(task, regs, mm, how, by)))
		return 0;
	room = &by->room;
	base = offcpu_number(room, (u64)ctx);
	kernel = offcpu_recall_kernel(offcpu_user_set(offcpu_regs_word(regs, orig_ax),
						      offcpu_regs_word(regs, ip), how),
				      base, regs, 0, room);
	if (unlikely(!kernel))
		return 0;
	id = offcpu_stack_number(*room, kernel->n_kernel, by->hash, by->frames, 0);
	if (unlikely(!offcpu_is_known(id)))
		return 0;
	offcpu_count(OFFCPU_COUNT_RECOGNISED, 1);
	return id;
}

#endif

/* --- noting ----------------------------------------------------------------------------------- */

struct offcpu_twin_listing {
	const struct unwind_stack_memo *from;
	struct offcpu_twin *to;
	u64 regs;
};

/* Which of the files @place leads into; OFFCPU_TWIN_FILES: there are too many. */
static __always_inline u32 offcpu_twin_file(struct offcpu_twin *m, u64 ip, u64 place, u16 *first)
{
	u32 i;

	*first = 0;
	for (i = 0; i < OFFCPU_TWIN_FILES; i++) {
		if (i >= m->n_files) {
			m->place[i] = place;
			m->address[i] = ip;
			m->n_files = i + 1;
			*first = 1;
			return i;
		}
		if (m->place[i] == place)
			return i;
	}
	return OFFCPU_TWIN_FILES;
}

static __always_inline bool offcpu_twin_add(struct offcpu_twin *m, u64 address, u64 value, u16 into,
					    u16 first)
{
	u64 at = address - m->sp;
	u32 i = m->n_words;

	barrier_var(i);
	if (i >= OFFCPU_TWIN_WORDS || at >> 20)
		return false;
	m->word[i] = (struct offcpu_twin_word){ value, at, into, first };
	m->n_words = i + 1;
	return true;
}

/* A function without a frame, whose caller is known by a register: which one. */
static __always_inline bool offcpu_twin_keep(struct offcpu_twin *m, u64 regs, u64 value, u16 into,
					     u16 first)
{
	u32 i;

	for (i = 0; i < OFFCPU_TWIN_REGS; i++) {
		if (offcpu_word(regs + 8 * i) != value)
			continue;
		m->kept = (struct offcpu_twin_word){ value, 8 * i, into, first };
		return true;
	}
	return false;
}

/* What unwind_check_one() would ask for, as in offcpu_list_frame(). */
static long offcpu_twin_frame(u32 i, void *ctx)
{
	struct offcpu_twin_listing *l = ctx;
	struct unwind_frame_note *notes = (struct unwind_frame_note *)l->from->frame;
	u32 at = l->from->first + i, file;
	const struct unwind_frame_note *f = unwind_note_at(notes, at);
	u64 bp_at = f->bp_at & ~(u64)UNWIND_NOTE_BITS, sp = f->sp;
	u16 first;

	if (f->bp_at & UNWIND_NOTE_BP && bp_at &&
	    !offcpu_twin_add(l->to, bp_at, f->bp, OFFCPU_TWIN_STACK, 0))
		return 1;
	if (at >= UNWIND_MEMO_FRAMES - 1) {
		l->to->whole = 1;
		return 1;
	}
	f = unwind_note_at(notes, at + 1);
	file = offcpu_twin_file(l->to, f->ip, f->place, &first);
	if (file >= OFFCPU_TWIN_FILES)
		return 1;
	/* its frame may be anywhere if that is told by a register, too: unless there is none */
	if (!sp)
		return f->sp - l->to->sp > 8 ||
		       !offcpu_twin_keep(l->to, l->regs, f->ip, file, first);
	return !offcpu_twin_add(l->to, f->sp - 8, f->ip, file, first);
}

/* The one to be given up in a set; whoever was not recognised for long. */
static __always_inline struct offcpu_twin *offcpu_twin_for(u32 set)
{
	struct offcpu_twin *found = 0;
	u32 i, least = ~0u;

	for (i = 0; i < OFFCPU_WAYS; i++) {
		u32 at = set + i, hits;
		struct offcpu_twin *m = bpf_map_lookup_elem(&offcpu_twins, &at);

		if (!m)
			return 0;
		hits = m->hash ? m->hits + 1 : 0;
		if (hits < least) {
			least = hits;
			found = m;
		}
		m->hits >>= 1;
	}
	return found;
}

/* All of the user's part was walked and is in files, and the memo has it now. */
static __always_inline bool offcpu_is_new_walk(const struct unwind_slot *slot,
					       const struct unwind_stack_memo *memo)
{
	return !slot->bare && slot->out.end == UNWIND_END_ROOT && memo->gen == slot->gen &&
	       slot->out.n_user == UNWIND_MEMO_FRAMES - memo->first;
}

/* The stack of the current task, which was walked: as @from has it. */
static __attribute__((noinline)) int offcpu_note_twin(struct unwind_slot *slot,
						      const struct unwind_stack_memo *from)
{
	struct task_struct *task = task_current();
	u64 regs = offcpu_stack_base(task) + offcpu_regs_at, mm = offcpu_mm_of(task);
	u64 program, ip = offcpu_regs_word(regs, ip);
	struct unwind_frame_note *notes = (struct unwind_frame_note *)from->frame;
	struct offcpu_twin *m;
	u16 first;
	u32 i;

	if (!mm || !offcpu_is_young(task) || !offcpu_is_new_walk(slot, from))
		return 0;
	program = offcpu_program(task, mm);
	m = offcpu_twin_for(
		offcpu_twin_set(program, ip, offcpu_regs_word(regs, orig_ax), slot->how));
	if (!m || __sync_val_compare_and_swap(&m->busy, 0, 1))
		return 0;
	WRITE_ONCE(m->hash, 0);
	barrier();
	m->ip = ip;
	m->sp = offcpu_regs_word(regs, sp);
	m->bp = offcpu_regs_word(regs, bp);
	m->by_bp = from->by_bp ? ~0ull : 0;
	m->program = program;
	m->exec_vm = offcpu_mm_word(mm, exec_vm);
	m->epoch = unwind_epoch;
	m->frames = UNWIND_MEMO_FRAMES - from->first;
	m->n_words = 0;
	m->n_files = 0;
	m->kept.value = 0;
	m->whole = 0;
	m->hits = 1;
	m->ip_into = offcpu_twin_file(m, ip, unwind_note_at(notes, from->first)->place, &first);
	struct offcpu_twin_listing l = { .from = from, .to = m, .regs = regs };

	bpf_loop(UNWIND_MEMO_FRAMES, offcpu_twin_frame, &l, 0);
	for (i = 0; i < OFFCPU_TWIN_FILES && i < m->n_files; i++) {
		if (!offcpu_file_at(mm, m->address[i], &m->file[i]))
			m->whole = 0;
	}
	if (m->whole)
		WRITE_ONCE(m->hash, slot->user_hash);
	WRITE_ONCE(m->busy, 0);
	return 0;
}

#endif
