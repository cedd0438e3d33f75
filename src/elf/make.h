/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of ELF files: functions that were made at run time, one after another, with names,
 * source lines and a build id, so that every reader of ELF files can name them.
 */
#ifndef ELF_MAKE_H
#define ELF_MAKE_H

#include "base/buf.h"
#include "base/intern.h"

enum { ELF_MAKE_MOST = 1 << 30, ELF_MAKE_ID = 20 };

struct elf_make_line {
	u64 offset; /* into the function; never less than that of the line before */
	const char *file;
	u32 line;
};

/* A zeroed one is ready. */
struct elf_make {
	u16 machine;
	struct buf text, symbols, strings, lines;
	struct intern files; /* by number, from 1 on */
	u8 build_id[ELF_MAKE_ID];
};

void elf_make_release(struct elf_make *m);
/*
 * Adds a function; returns where it is in the file, which is its address, too. 0: the file would
 * become larger than ELF_MAKE_MOST.
 */
u64 elf_make_add(struct elf_make *m, const char *name, const void *code, size_t size);
/* The lines of the function that was added last, at @at. */
void elf_make_lines(struct elf_make *m, u64 at, size_t size, const struct elf_make_line *lines,
		    size_t n);
/* Appends the file to an empty buffer; the build id is known then. */
void elf_make_finish(struct elf_make *m, struct buf *ret);

#endif
