/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined callers of one file, from its DWARF.
 *
 * Each compilation unit is indexed when an address in it is first asked for: its line table as a
 * sorted array, its functions and inlined calls as flat ranges. After that a look-up is three
 * binary searches; nothing is ever scanned for an address.
 */
#ifndef SYMBOL_SRCLINE_H
#define SYMBOL_SRCLINE_H

#include "elf/elf.h"

/* Of all debug sections, unpacked; larger files have no lines. */
#define SRCLINE_MAX_BYTES (1ull << 30)
enum {
	SRCLINE_MAX_UNITS = 1 << 20,
	SRCLINE_MAX_ROWS = 64 << 20,  /* of all units together; likewise scopes */
	SRCLINE_MAX_SPANS = 16 << 20, /* ranges of all units together */
	SRCLINE_MAX_DEPTH = 256,      /* of nested blocks */
	SRCLINE_MAX_NAME = 16 << 10,
	SRCLINE_MAX_CHAIN = 64, /* inlined calls in one another */
};

struct srcline;

/* Strings are ids for srcline_str(), 0: not known. */
struct srcline_frame {
	u32 function; /* as the linker knows it where the compiler recorded it, otherwise its plain
		       * name
		       */
	u32 file;
	u32 line; /* of the instruction; in callers, of the inlined call */
	u32 column;
	bool inlined; /* into the next frame */
};

/* What was not right in the file. */
struct srcline_counts {
	u32 units;
	u32 indexed; /* of them */
	u32 broken;  /* units that could be read only in part, or not at all */
	u64 rows;
	u64 scopes;
	u64 bytes; /* of the debug sections that are read, unpacked */
	bool full; /* a limit was hit: units that came later have no lines */
};

/*
 * @elf is the file that has the debug sections, @alt (or NULL) its alternate file; both stay the
 * caller's and may be released afterwards. -ENODATA: no debug information in it; -EFBIG: too
 * much of it; -ENOTSUP: built without libdw.
 */
int srcline_new(struct srcline **ret, const struct elf *elf, const struct elf *alt);
void srcline_free(struct srcline *s);
/* Whether the sections that srcline_new() needs are there. */
bool srcline_has(const struct elf *elf);
/* The name and build id in .gnu_debugaltlink. False if there is none. */
bool srcline_altlink(const struct elf *elf, struct buf *ret_path, struct buf *ret_build_id);
/*
 * The innermost function at a link-time address and those that it was inlined into, at most
 * @max. 0 if nothing is known.
 */
size_t srcline_find(struct srcline *s, u64 vaddr, struct srcline_frame *ret, size_t max);
const char *srcline_str(const struct srcline *s, u32 id);
void srcline_counts(const struct srcline *s, struct srcline_counts *ret);

/* Indexes every unit. */
void srcline_index_all(struct srcline *s);
struct lineindex;
struct lineindex_owner;
/*
 * All units that are indexed, as a file for the disk (lineindex.h); of the others what @old (or
 * NULL) has. Addresses there are smaller by @shift. -ENODATA: a part of the debug information is
 * in a file that was not found; it may be there the next time.
 */
int srcline_pack(struct srcline *s, u64 shift, struct lineindex *old,
		 const struct lineindex_owner *o, struct buf *ret);

#endif
