/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules and names for code that a process made at run time, from any source. */
#ifndef RUNTIME_CODE_H
#define RUNTIME_CODE_H

#include "base/intern.h"
#include "base/vec.h"
#include "bpf/unwind_abi.h"

/* The rule from this address on: END with aux 1 where a frame pointer is kept, with 0 outside. */
struct code_row {
	u64 address;
	struct unwind_rule rule;
};

struct code_rows {
	u64 start; /* of what may ever be code of this kind */
	u64 end;
	VEC(struct code_row) rows, old_rows; /* by address; as they were before */
};

static inline void code_rows_release(struct code_rows *c)
{
	vec_release(&c->rows);
	vec_release(&c->old_rows);
}

/* Adds a row after the others; what changes nothing is left out. */
void code_rows_add(struct code_rows *c, u64 address, const struct unwind_rule *rule);

/* The rule at an address; NULL: none, follow the frame pointer. */
const struct unwind_rule *code_rows_find(const struct code_rows *c, u64 address);

/* What code is called, from a moment on that is known to lie between two looks at it. */
struct code_name {
	u64 time; /* not before this it came to be, CLOCK_MONOTONIC */
	u64 sure; /* and not after this */
	u64 start;
	u64 size;
	u32 pid;
	u32 name; /* in the strings */
};

enum { CODE_MAX_NAMES = 1 << 20 }; /* of all processes; later ones are dropped and counted */

struct code_names {
	VEC(struct code_name) list;
	struct intern strings;
	u64 dropped;
};

static inline void code_names_release(struct code_names *n)
{
	vec_release(&n->list);
	intern_release(&n->strings);
}

/* @entry without its name, which is copied. */
void code_names_add(struct code_names *n, const struct code_name *entry, const char *name);

/* A frame of @bytes, the caller's rbp just below the return address if there is room for it. */
static inline struct unwind_rule code_frame(u32 bytes)
{
	struct unwind_rule r = { .cfa = UNWIND_CFA_SP, .cfa_off = (s32)bytes };

	r.bx_off = UNWIND_BX_LOST;
	if (bytes >= 16) {
		r.bp = UNWIND_BP_CFA;
		r.bp_off = -16;
	}
	return r;
}

#endif
