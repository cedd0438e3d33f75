/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user-space unwinder: the same tables and the same step as in the kernel, over registers and
 * memory that may come from a stopped thread, a core file or a sample with a copy of its stack.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "unwind/table.h"

struct unwind_source {
	void *ctx;
	u64 regs[UNWIND_REGS]; /* by enum unwind_reg */
	/* All @n bytes, or a negative errno. */
	int (*read)(void *ctx, u64 address, void *to, size_t n);
	/*
	 * The rule in force at @pc; NULL where there is no frame information (a JIT's code).
	 * -ENOENT: not executable; -EAGAIN: a file whose table could not be had.
	 */
	int (*find)(void *ctx, u64 pc, const struct unwind_rule **ret);
	/*
	 * Frames of another kind that are before the one whose part of the stack is from @from
	 * up to @to: at most @room of them into @ip, and how many; NULL: none.
	 */
	size_t (*before)(void *ctx, u64 from, u64 to, u64 *ip, size_t room);
};

/* A copy of the bytes of a stack from some address on. */
struct unwind_copy {
	const void *bytes;
	u64 start;
	u64 size;
};

/* All @n bytes, or -EFAULT when the copy does not have them. */
static inline int unwind_copy_read(const struct unwind_copy *c, u64 address, void *to, size_t n)
{
	u64 at = address - c->start;

	if (address < c->start || at > c->size || n > c->size - at)
		return -EFAULT;
	memcpy(to, (const char *)c->bytes + at, n);
	return 0;
}

/* Where to continue in a stack that is unwound up to some frame; see struct unwind_state. */
struct unwind_resume {
	bool returned;
	bool full;
	bool bx_lost;
	u32 fp_steps;
};

struct unwind_frames {
	u64 *ip;    /* the caller's room: innermost first; return addresses from the second on */
	size_t max; /* of that room */
	size_t n;
	enum unwind_end end;
	u32 fp_steps; /* frames that were found by frame pointer */
};

/* Fills @f->ip, n, end and fp_steps. There is always at least one frame if max is not 0. */
void unwind_user(const struct unwind_source *source, struct unwind_frames *f);
/* The registers of @source are those of frame @f->n, which is not in @f->ip yet. */
void unwind_user_from(const struct unwind_source *source, const struct unwind_resume *from,
		      struct unwind_frames *f);

/*
 * Registers as perf samples carry them: @values holds one word for each bit of @mask
 * (PERF_REG_X86_*), at most @n of them. False when sp or ip is missing.
 */
bool unwind_regs_from_perf(u64 regs[UNWIND_REGS], const u64 *values, size_t n, u64 mask);
/* From struct user_regs_struct: what ptrace and core files have. */
struct user_regs_struct;
void unwind_regs_from_user(u64 regs[UNWIND_REGS], const struct user_regs_struct *u);

/* A few words for people: "stack memory could not be read". Never NULL. */
const char *unwind_end_text(enum unwind_end end);
/* A stable lower_case key for machines. Never NULL. */
const char *unwind_end_key(enum unwind_end end);

#endif
