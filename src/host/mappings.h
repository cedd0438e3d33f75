/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process: the one model of them, for running processes, core files and
 * recordings alike.
 */
#ifndef HOST_MAPPINGS_H
#define HOST_MAPPINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "bpf/unwind_abi.h"

enum { MAPPINGS_MOST = 1 << 20 }; /* of one process; further ones are left out */

struct mapping {
	u64 start;
	u64 end;
	u64 offset; /* in the file */
	u64 ino;    /* 0: no file */
	u32 dev;    /* as the kernel writes it: major << 20 | minor */
	u32 id;     /* for the owner of the mappings: a module or a table; 0 at first */
	struct unwind_version version; /* of the file; all 0: not known */
	bool exec;
	bool write;
	bool other_build; /* a core file's: the file that has this path now is another one */
	const char *path; /* as in /proc/PID/maps, "" if there is none */
};

struct mappings {
	struct arena arena;
	VEC(struct mapping) items; /* by address, not overlapping */
};

void mappings_release(struct mappings *m);
int mappings_read(struct mappings *m, int pid, struct err *e);
/* The text of a maps file; lines that are not understood are skipped. */
void mappings_parse(struct mappings *m, const char *text, size_t n);
/* Appends one in any order; mappings_sort() must follow. @path is copied. */
void mappings_push(struct mappings *m, const struct mapping *map);
/* Sorts them; of those that overlap, the first by address stays. */
void mappings_sort(struct mappings *m);
/* Replaces what the new mapping covers, as mmap() does. @path is copied. */
void mappings_add(struct mappings *m, const struct mapping *map);
/* The same, but @path is not copied; false: there are too many already. */
bool mappings_cover(struct mappings *m, const struct mapping *map);
/* Replaces all of @to, which shares the paths of @from then. */
void mappings_copy(struct mappings *to, const struct mappings *from);
struct mapping *mappings_find(const struct mappings *m, u64 address);
/* The first that ends after @address; NULL: none. */
struct mapping *mappings_from(const struct mappings *m, u64 address);

/* Opens the file of a mapping, also a deleted one while the process lives (@pid 0: by path). */
int mapping_open(const struct mapping *map, int pid);

#endif
