/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a probe goes and where variables are there, from the DWARF of a file: functions and lines
 * become addresses, variables become what tracefs fetches: "%di", "-20(%bp):s32", "+8(%di):u64".
 */
#ifndef SYMBOL_PROBE_DWARF_H
#define SYMBOL_PROBE_DWARF_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct probe_dwarf;

/* A function with an optional line relative to its own, or a line of a file. */
struct probe_place {
	const char *func; /* NULL: @file and @line */
	const char *file; /* NULL: any */
	u32 line;
	bool has_line;
	bool variables; /* they are wanted there: after the code that sets up the frame */
	bool no_inline; /* not where the function was inlined: it has no return there */
};

typedef VEC(u64) probe_addresses;

/* The debug information of @path or of its debug file. -ENODATA: there is none. */
int probe_dwarf_new(struct probe_dwarf **ret, const char *path, struct err *e);
void probe_dwarf_free(struct probe_dwarf *d);
/*
 * Link-time addresses: of each function of that name and of each place where it was inlined; of a
 * line, the first in each of them. The error names the nearest line with code, or similar names.
 */
int probe_dwarf_addresses(struct probe_dwarf *d, const struct probe_place *p, probe_addresses *ret,
			  struct err *e);
/* The first of them. */
int probe_dwarf_address(struct probe_dwarf *d, const struct probe_place *p, u64 *ret,
			struct err *e);
/* @expr: "var", "var->member", "var.member", "var[2]"; @type NULL: by its own. */
int probe_dwarf_variable(struct probe_dwarf *d, u64 vaddr, const char *expr, const char *type,
			 struct buf *ret, struct err *e);
/* Variables that exist at the address; @known: they can be fetched there. */
typedef void (*probe_variable_fn)(void *ctx, const char *type, const char *name, bool known,
				  bool parameter);
int probe_dwarf_variables(struct probe_dwarf *d, u64 vaddr, probe_variable_fn fn, void *ctx,
			  struct err *e);

struct probe_lines {
	char *file; /* as compiled */
	u32 first, last;
	u32 zero;      /* the line that numbers are relative to; 0: they are absolute */
	VEC(u32) code; /* lines that can be probed, ascending */
};

void probe_lines_release(struct probe_lines *l);
/* @to 0: to the end of the function, or ten lines. */
int probe_dwarf_lines(struct probe_dwarf *d, const struct probe_place *p, u32 to,
		      struct probe_lines *ret, struct err *e);

#endif
