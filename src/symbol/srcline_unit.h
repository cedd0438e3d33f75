/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What struct srcline is made of; for srcline*.c only. */
#ifndef SYMBOL_SRCLINE_UNIT_H
#define SYMBOL_SRCLINE_UNIT_H

#ifdef HAVE_LIBDW

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "symbol/lineindex.h"
#include "base/span.h"
#include "symbol/srcline.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

struct line_row {
	u32 file; /* 0: nothing from here on */
	u32 line;
	u32 column;
};

/* A function, or a call that was replaced by the body of one. */
struct scope {
	u32 caller; /* index + 1 of the scope around it */
	u32 name;
	u32 call_file;
	u32 call_line;
	u32 call_column;
	bool inlined;
};

struct unit {
	Dwarf_Die die;
	bool scoped; /* scopes are there */
	bool lined;  /* rows are */
	bool broken;
	bool partial; /* its functions are in a file that was not found */
	u64 *row_starts;
	struct line_row *rows;
	size_t row_count;
	struct span_table spans; /* ids are indexes into scopes */
	VEC(struct scope) scopes;
};

struct srcline {
	int fd, alt_fd;
	Elf *elf, *alt_elf;
	Dwarf *dwarf, *alt;
	u64 text_start, text_end; /* of the code; what is outside was discarded by the linker */
	VEC(struct unit) units;
	struct span_table unit_spans; /* ids are indexes into units */
	struct intern strings;
	struct map names; /* address of a DIE -> string + 1 */
	VEC(Dwarf_Die) dies;
	struct map die_ids; /* address of a DIE -> number in dies + 1 */
	struct srcline_counts counts;
	u64 spans;   /* ranges so far */
	bool no_alt; /* the alternate file was not found */
};

typedef VEC(struct span) span_list;

/* The ranges of a DIE that are code, as spans; false when there is none, or no room. */
bool unit_add_ranges(struct srcline *s, Dwarf_Die *die, u32 id, u32 rank, span_list *ret);
/* Indexes functions and inlined calls. @outer (or NULL) gets the ranges of the functions. */
void unit_index_scopes(struct srcline *s, struct unit *u, u32 id, span_list *outer);
/* Indexes the line table. */
void unit_index_rows(struct srcline *s, struct unit *u);
/* Both, once. */
void unit_index(struct srcline *s, struct unit *u, u32 id);
void unit_release(struct unit *u);

/*
 * The DWARF of a file; the caller ends both and closes the descriptor. NULL: none that is sound.
 * @whole: also the sections that lines do not need, such as where variables are.
 */
Dwarf *srcline_open_dwarf(const struct elf *elf, bool whole, int *ret_fd, Elf **ret_elf);

#endif
#endif
