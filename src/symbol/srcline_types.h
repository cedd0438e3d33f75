/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types, parameters of functions and addresses of lines, from the DWARF of one file. */
#ifndef SYMBOL_SRCLINE_TYPES_H
#define SYMBOL_SRCLINE_TYPES_H

#include "symbol/srcline.h"

enum {
	DTYPE_MAX_DEPTH = 64,      /* typedefs of typedefs, structs in structs */
	DTYPE_MAX_DIES = 16 << 20, /* observed for one answer */
	DTYPE_MAX_MEMBERS = 1 << 16,
};

enum dtype_kind { DTYPE_VOID, DTYPE_INT, DTYPE_FLOAT, DTYPE_PTR, DTYPE_STRUCT, DTYPE_ARRAY };

/* Types are known by numbers from 1; 0 is void. Typedefs and qualifiers are looked through. */
struct dtype {
	enum dtype_kind kind;
	u64 size;
	bool is_signed;
	bool is_char;
	const char *name; /* "" when it has none; belongs to the file */
	u32 elem;         /* DTYPE_PTR, DTYPE_ARRAY: of what */
	u64 count;        /* DTYPE_ARRAY */
};

struct dtype_member {
	const char *name; /* "" for one without a name */
	u32 type;
	u64 bit_offset;
	u32 bits; /* of a bit field, else 0 */
};

bool srcline_type(struct srcline *s, u32 id, struct dtype *ret);
/* As C writes it, typedefs by their names: "struct x*", "uint8_t". */
void srcline_type_name(struct srcline *s, u32 id, struct buf *out);
/* Members of a struct, union or class, those of its bases as well. */
void srcline_members(struct srcline *s, u32 id,
		     void (*each)(void *ctx, const struct dtype_member *m), void *ctx);
/* "struct x", "union x", "class x", "enum x" or the name of a typedef; 0: none. */
u32 srcline_find_type(struct srcline *s, const char *name);
/* Parameters of the function that begins at a link-time address; false: it is not known. */
bool srcline_params(struct srcline *s, u64 vaddr,
		    void (*each)(void *ctx, const char *name, u32 type), void *ctx);
/* Link-time addresses where code of a line begins. @file may be the end of a path. */
void srcline_addresses(struct srcline *s, const char *file, u32 line,
		       void (*each)(void *ctx, u64 vaddr), void *ctx);

#endif
