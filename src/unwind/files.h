/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind tables of mapped files, shared by all processes: one for each file. */
#ifndef UNWIND_FILES_H
#define UNWIND_FILES_H

#include "base/map.h"
#include "host/mappings.h"
#include "unwind/unwind.h"

/* Compiled, or taken from the cache, once. */
struct unwind_file {
	struct unwind_table *table; /* NULL: no frame information, or not readable */
	bool unreadable;            /* the file could not be opened */
};

struct unwind_files {
	VEC(struct unwind_file) items;
	struct map by_key;
};

void unwind_files_release(struct unwind_files *f);
/*
 * The table of a mapping of process @pid (0: only by path). Remembered in the mapping; failures
 * too. Never NULL.
 */
const struct unwind_file *unwind_files_get(struct unwind_files *f, struct mapping *map, int pid);
/* The table of this process's vDSO, which is that of every process of the running kernel. */
int unwind_vdso_table(struct unwind_table **ret, u64 *ret_size);

#endif
