/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The separate files that hold the symbols of stripped ones. */
#ifndef SYMBOL_DEBUG_H
#define SYMBOL_DEBUG_H

#include "symbol/debuginfod.h"
#include "elf/elf.h"

/* Checksums of larger debug files are not computed; a build id is checked at any size. */
#define DEBUG_MAX_CRC_BYTES (1ull << 30)
/* Of an unpacked .gnu_debugdata. */
enum { MINIDEBUG_MAX_BYTES = 64 << 20 };

struct debug_search {
	const struct elf *main;
	const char *path; /* of the main file, as its process knows it */
	const char *root; /* of its process, tried after our own; or NULL */
	const char *dir;  /* "/usr/lib/debug" */
	const u8 *build_id;
	size_t build_id_len;
	struct debuginfod *server; /* asked last; or NULL */
	bool lines;                /* wanted for its DWARF, not for its symbol table */
};

/*
 * By build id, then by .gnu_debuglink, then from a server. What is found belongs to the main file:
 * its build id is the same, or its checksum is right. -ENOENT when there is none.
 */
int debug_find(const struct debug_search *search, struct elf *ret, struct buf *ret_path);
/* The alternate file that dwz moved common parts of @debug (at @path) to. -ENOENT likewise. */
int debug_find_alt(const struct debug_search *search, const struct elf *debug, const char *path,
		   struct elf *ret);
/*
 * The small symbol table packed into the file itself (.gnu_debugdata). The bytes go to @storage,
 * which must outlive @ret. -ENOENT when there is none.
 */
int minidebug_open(const struct elf *main, struct buf *storage, struct elf *ret);

#endif
