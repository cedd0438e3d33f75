/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, and the unwind tables of the files behind them. Tables are shared
 * between processes: one for each file (device, inode, size).
 */
#ifndef UNWIND_MAPS_H
#define UNWIND_MAPS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "unwind/unwind.h"

enum { MAPS_MAX = 1 << 20 }; /* mappings of one process that are looked at */

struct unwind_map {
	u64 start;
	u64 end;
	u64 offset; /* in the file */
	u64 ino;    /* 0: no file */
	u32 dev;    /* as the kernel writes it: major << 20 | minor */
	u32 table;  /* id + 1 in the files, 0: not looked up yet */
	bool exec;
	bool write;
	bool other_build; /* a core file's: not the file that lies here now */
	const char *path; /* as in /proc/PID/maps, "" if there is none */
};

struct unwind_maps {
	struct arena arena;
	VEC(struct unwind_map) items; /* by address, not overlapping */
};

void unwind_maps_release(struct unwind_maps *m);
int unwind_maps_read(struct unwind_maps *m, int pid, struct err *e);
/* The text of a maps file; lines that are not understood are skipped. */
void unwind_maps_parse(struct unwind_maps *m, const char *text, size_t n);
/* Adds one without looking where; unwind_maps_sort() must follow. @path is copied. */
void unwind_maps_push(struct unwind_maps *m, const struct unwind_map *map);
/* Puts them in order; of those that overlap, the first by address stays. */
void unwind_maps_sort(struct unwind_maps *m);
/* Replaces what the new mapping covers, as mmap() does. @path is copied. */
void unwind_maps_add(struct unwind_maps *m, const struct unwind_map *map);
/* The same; @path is not copied. */
void unwind_maps_cover(struct unwind_maps *m, const struct unwind_map *map);
struct unwind_map *unwind_maps_find(const struct unwind_maps *m, u64 address);

/* Tables by file. Each file is compiled (or taken from the cache) once. */
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
 * The table behind a mapping of process @pid (0: only by path). Remembered in the mapping; failures
 * too. Never NULL.
 */
const struct unwind_file *unwind_files_get(struct unwind_files *f, struct unwind_map *map, int pid);
/* The table of this process's vDSO, which is that of every process of the running kernel. */
int unwind_vdso_table(struct unwind_table **ret, u64 *ret_size);
/* Opens the file behind a mapping, also a deleted one while the process lives. */
int unwind_map_open(const struct unwind_map *map, int pid);

#endif
