/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table by which Go programs know their own functions (.gopclntab): it is there also when
 * everything else was stripped. Its layout changed in Go 1.16, 1.18 and 1.20. The bytes are
 * foreign: nothing is read beyond them.
 */
#ifndef RUNTIME_GOTAB_H
#define RUNTIME_GOTAB_H

#include "elf/elf.h"

#define GOTAB_MAX_BYTES (512ull << 20)
enum { GOTAB_MAX_FUNCTIONS = 8 << 20, GOTAB_MAX_NAME = 4096 };

struct gotab {
	const u8 *bytes;
	u64 len;
	u32 magic;
	u8 pointer; /* bytes of an address */
	u8 quantum; /* addresses inside of functions are counted in these */
	u64 count;
	u64 text;      /* addresses are relative to this, from Go 1.18 on */
	u64 names;     /* where names begin */
	u64 numbers;   /* where tables of values by address begin */
	u64 functions; /* where the sorted table begins; its second column is relative to this */
	u8 column;     /* bytes of a number in it */
};

struct gotab_function {
	u64 start; /* addresses */
	u64 end;
	u64 about; /* where in the table it is described */
};

/* The section that contains it, or NULL. */
const struct elf_section *gotab_section(const struct elf *elf);
/* False when it is not such a table. @text: address of .text, for tables that lack it. */
bool gotab_open(struct gotab *t, const void *bytes, size_t len, u64 text);
/* Function @i; false when there is none that can be used. */
bool gotab_function(const struct gotab *t, u64 i, struct gotab_function *ret);
/* Its name, not NUL-terminated, and how long it is, not longer than is good; 0: none. */
size_t gotab_name(const struct gotab *t, const struct gotab_function *f, const char **ret);

/* How far the stack pointer is below its place at the entry, by address. */
struct gotab_depth {
	const struct gotab *t;
	u64 at;      /* in the table */
	u64 address; /* where the value begins to hold */
	u64 end;     /* of the function */
	s64 value;
	bool begun;
};

void gotab_depth_begin(struct gotab_depth *d, const struct gotab *t,
		       const struct gotab_function *f);
/* The next stretch; false at the end. */
bool gotab_depth_next(struct gotab_depth *d, u64 *ret_start, s64 *ret_depth);

#endif
