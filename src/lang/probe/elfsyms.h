/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user probes need of ELF files: places of functions by name, static tracepoints. */
#ifndef LANG_ELFSYMS_H
#define LANG_ELFSYMS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct elf_function {
	const char *name; /* in the arena */
	u64 offset;       /* in the file */
	u64 size;
};

typedef VEC(struct elf_function) elf_functions;

struct usdt_site {
	const char *provider;
	const char *name;
	const char *args;
	u64 offset;    /* in the file */
	u64 semaphore; /* in the file; 0: none */
};

typedef VEC(struct usdt_site) usdt_sites;

/* Every function of the file that @match accepts; strings live in @arena. */
int elfsyms_functions(const char *path, bool (*match)(void *ctx, const char *name), void *ctx,
		      struct arena *arena, elf_functions *ret, struct err *e);
/* The file offset of a link-time address. */
int elfsyms_offset(const char *path, u64 vaddr, u64 *ret, struct err *e);
/* The other way: where an offset of the file is linked to. */
int elfsyms_vaddr(const char *path, u64 offset, u64 *ret, struct err *e);
/* Link-time address and size of a variable or function. */
int elfsyms_address(const char *path, const char *name, u64 *ret, u64 *ret_size, struct err *e);
int elfsyms_usdt(const char *path, struct arena *arena, usdt_sites *ret, struct err *e);
/* "bash", "libc", "/bin/x" -> the file; NULL when there is none. In the arena. */
char *elfsyms_find(const char *name, struct arena *arena);

typedef VEC(const char *) elf_paths;

/*
 * What a program, given as a shell would take it, will map: its file and the libraries that it and
 * they ask for, where those are in the usual places. Strings live in @arena.
 */
void elfsyms_files(const char *program, struct arena *arena, elf_paths *ret);

#endif
