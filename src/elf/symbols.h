/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of an ELF file by name: where requested functions and variables are. The
 * table that names addresses is symbol/symtab.h.
 */
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include "base/arena.h"
#include "base/vec.h"
#include "elf/elf.h"

/* Larger tables are refused: the largest browsers with all their symbols stay below. */
#define ELF_MAX_SYMTAB (256ull << 20)
#define ELF_MAX_STRTAB (512ull << 20)

/* Symbol @i of the raw bytes of a symbol table, in the 64-bit form. */
void elf_symbol(const struct elf *elf, const char *table, size_t i, Elf64_Sym *ret);
static inline size_t elf_symbol_size(const struct elf *elf)
{
	return elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* A table and the strings it refers to; false: unusable. */
bool elf_read_table(const struct elf *elf, const struct elf_section *s, u64 max, struct buf *ret,
		    struct buf *ret_strings);

struct elf_wanted {
	const char *name;
	u64 vaddr; /* 0: not found */
	u64 size;
};

/*
 * Looks for @want[0..n) among the exported symbols. False when the first of them does not exist:
 * the others were not looked for then.
 */
bool elf_find_exported(const struct elf *elf, struct elf_wanted *want, size_t n);
/* Link-time address and size of a variable or function, exported or not. */
bool elf_find_symbol(const struct elf *elf, const char *name, u64 *ret, u64 *ret_size);

struct elf_function {
	const char *name; /* in the arena */
	u64 offset;       /* in the file */
	u64 size;
};

typedef VEC(struct elf_function) elf_functions;

/* Every function of the file that @match accepts; names live in @arena. */
void elf_list_functions(const struct elf *elf, bool (*match)(void *ctx, const char *name),
			void *ctx, struct arena *arena, elf_functions *ret);

/* The function that has the byte at @offset of the file; its name lives in @arena. */
bool elf_find_function_at(const struct elf *elf, u64 offset, struct arena *arena,
			  struct elf_function *ret);

#endif
