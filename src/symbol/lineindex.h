/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined functions of one file, flat and on disk: a look-up reads a few pages of
 * it and needs neither libdw nor the debug file.
 *
 * The file: a head, the address at which each block begins, a sum for each page; then, from a page
 * boundary on, the pages: blocks of cells, one page each; scopes; strings (length and bytes). A
 * cell says what holds from its address up to that of the next. Numbers in cells are ULEB128, most
 * of them differences to the cell before; a block start again, so that it can be read alone.
 *
 * Pages are read, never mapped: a file that shrinks meanwhile is an error, not a signal. A page
 * that does not match its sum, and any number that leads out of the file, ends the use of all of
 * it.
 */
#ifndef SYMBOL_LINEINDEX_H
#define SYMBOL_LINEINDEX_H

#include "symbol/srcline.h"

#define LINEINDEX_MAX_FILE (64u << 20)
enum { LINE_PAGE = 1024 };

/* Whose lines they are: a build id can be forged, the fingerprint is of the file's headers. */
struct lineindex_owner {
	const u8 *build_id;
	size_t build_id_len;
	u64 fingerprint;
};

/* What holds from an address on. Strings are references, 0: not known. */
struct line_cell {
	u64 start;
	u32 file; /* 0: no line */
	u32 line;
	u32 column;
	u32 scope;
};

/* Values of scope; the first that is there, and those after it, are LINE_FIRST and on. */
enum { LINE_NOWHERE, LINE_PENDING, LINE_FIRST };

/* A function, or an inlined call. */
struct line_scope {
	u32 caller; /* number + 1 of the scope around it, which has a smaller one; 0: none */
	u32 name;
	u32 call_file;
	u32 call_line;
	u32 call_column;
};

struct lineindex;

/* Takes @fd over, also when it fails. -EBADMSG: not such a file; -ESTALE: of another file. */
int lineindex_open_fd(struct lineindex **ret, int fd, u64 size, const struct lineindex_owner *o);
/* The same over bytes that outlive it. */
int lineindex_open_mem(struct lineindex **ret, const void *bytes, size_t size,
		       const struct lineindex_owner *o);
void lineindex_free(struct lineindex *x);
/*
 * As srcline_find(), with references for strings. False: it is not known, the debug information
 * has to be asked.
 */
bool lineindex_find(struct lineindex *x, u64 vaddr, struct srcline_frame *ret, size_t max,
		    size_t *ret_n);
/* Appends a string. False: none. */
bool lineindex_str(struct lineindex *x, u32 ref, struct buf *ret);
/* Pages or numbers were found that are not right: it tells no more. */
bool lineindex_is_broken(const struct lineindex *x);
/* Nothing is pending, or everything was requested. */
bool lineindex_is_whole(const struct lineindex *x);
/* Compilation units of the file. */
u32 lineindex_units(const struct lineindex *x);

/* All cells in order of address. */
struct lineindex_cursor {
	struct lineindex *x;
	u32 block, left;
	const u8 *at, *end;
	struct line_cell cell;
};

struct lineindex_cursor lineindex_cells(struct lineindex *x);
bool lineindex_next(struct lineindex_cursor *c);
/* @number is a value of line_cell's scope, from LINE_FIRST on. */
bool lineindex_scope(struct lineindex *x, u32 number, struct line_scope *ret);

/* Making one: strings and scopes before the cells that have them, cells in order of address. */
struct lineindex_builder;

struct lineindex_builder *lineindex_builder_new(void);
void lineindex_builder_free(struct lineindex_builder *b);
u32 lineindex_add_string(struct lineindex_builder *b, const char *text, size_t len);
/* Returns its number for cells. */
u32 lineindex_add_scope(struct lineindex_builder *b, const struct line_scope *s);
void lineindex_add_cell(struct lineindex_builder *b, const struct line_cell *c);
/* The bytes of the file; -EFBIG when they are too many. */
int lineindex_finish(struct lineindex_builder *b, const struct lineindex_owner *o, u32 units,
		     bool whole, struct buf *ret);

/* The form of the file; for lineindex*.c only. */
struct lineindex_head {
	char magic[8];
	u64 total; /* bytes of the file */
	u64 hash;  /* of head (but this), starts and sums */
	u64 fingerprint;
	u64 base; /* starts of blocks are relative to it */
	u64 strings_len;
	u32 blocks;
	u32 scopes;
	u32 units;
	u32 whole;
	u64 build_id_len;
	u8 build_id[64];
};
_Static_assert(sizeof(struct lineindex_head) == 136, "part of the form on disk");

#define LINEINDEX_MAGIC "FTHLIN\0\3"

/* Flags in the first number of a cell: what differs from the cell before. */
enum { CELL_FILE = 1, CELL_LINE = 2, CELL_SCOPE = 4, CELL_SHIFT = 3 };

/* Where everything is. */
struct lineindex_layout {
	u32 pages, scope_page, string_page;
	u64 body, total;
};

/* False when the sizes are absurd. */
bool lineindex_layout(const struct lineindex_head *h, struct lineindex_layout *ret);
u64 lineindex_hash(const struct lineindex_head *h, const u32 *tables, size_t count);

#endif
