/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of one file: a flat table by link-time address, built from its symbol tables. */
#ifndef SYMBOL_SYMTAB_H
#define SYMBOL_SYMTAB_H

#include "base/span.h"
#include "base/vec.h"
#include "elf/symbols.h"

/* Fixed layout: the disk cache holds these as they are. */
struct sym {
	u64 start; /* address at link time */
	u64 size;
	u32 name;  /* offset into strings; means nothing with SYM_FDE */
	u32 flags; /* SYM_PLT, SYM_IFUNC, SYM_FDE */
};
_Static_assert(sizeof(struct sym) == 24, "part of the cache format");

struct symtab {
	struct span_table spans; /* ids are indexes into syms */
	struct sym *syms;        /* by start */
	size_t len;
	char *strings; /* strings[strings_len] is NUL */
	size_t strings_len;
	const void *map; /* not NULL: all of the above is in this mapping */
	size_t map_len;
};

#define SYMTAB_INIT \
	{           \
		0   \
	}

/* NULL when there is none. */
const struct sym *symtab_find(const struct symtab *t, u64 vaddr);
static inline const char *symtab_name(const struct symtab *t, const struct sym *s)
{
	return t->strings + s->name;
}
void symtab_release(struct symtab *t);

/* One symbol as found, before aliases are merged. */
struct candidate {
	u32 name;
	u32 flags;
	bool sizeless; /* its end is a guess */
	bool typed;
	u64 resolver; /* of a nameless PLT entry: the function it goes to */
};

struct symtab_builder {
	VEC(struct span) spans; /* rank: which alias is the better name */
	VEC(struct candidate) candidates;
	struct buf strings;
};

void symtab_builder_release(struct symtab_builder *b);
/*
 * Adds the functions of a SHT_SYMTAB or SHT_DYNSYM section. Symbols without a size reach to the
 * next one if the table is @complete, otherwise they name only their first byte. Returns how many
 * there were or an error.
 */
ssize_t symtab_add_section(struct symtab_builder *b, const struct elf *elf,
			   const struct elf_section *s, bool complete);
/* The exported functions of a file without section headers, by its dynamic segment. */
ssize_t symtab_add_dynamic(struct symtab_builder *b, const struct elf *elf);
/* What a Go program knows of its own functions. Returns how many there were. */
size_t symtab_add_go(struct symtab_builder *b, const struct elf *elf);
/* The stubs that call into other files. */
void symtab_add_plt(struct symtab_builder *b, const struct elf *elf);
/* Code that has unwind entries: what is still nameless in the end is grouped by them. */
void symtab_add_fdes(struct symtab_builder *b, const struct elf *elf);
/* Merges aliases, resolves overlaps. The builder is empty afterwards. */
void symtab_finish(struct symtab_builder *b, struct symtab *ret);

/* For the parts of the builder: raw bytes of a symbol table of this file's class. */
struct symbol_source {
	const struct elf *elf;
	const char *syms;
	size_t count;
	u32 strings_base;
	u64 strings_len;
	bool complete;
	bool sections; /* section numbers can be believed */
};
ssize_t symtab_add_source(struct symtab_builder *b, const struct symbol_source *src);

#endif
