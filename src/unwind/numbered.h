/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files by the numbers that places in them have: see unwind_place(). */
#ifndef UNWIND_NUMBERED_H
#define UNWIND_NUMBERED_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "elf/module_key.h"
#include "unwind/files.h"

struct numbered_file {
	const char *path;
	u8 build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len;
	u64 ino;
	u32 dev; /* major << 20 | minor */
	struct unwind_version version;
	/* where a process had it mapped, which may be gone */
	int pid;
	u64 start, end;
};

/* Its mapping as the symbol store has it; it points into @f. */
struct module_key numbered_key(const struct numbered_file *f);

enum { NUMBERED_MOST = 1 << 20 };
_Static_assert(NUMBERED_MOST < 1ull << (62 - UNWIND_PLACE_OFFSET), "room for their numbers");

struct numbered {
	VEC(struct numbered_file) items; /* [0] is number 1 */
	struct map by_file;              /* hash of key, version and build id -> number */
	struct arena arena;
};

void numbered_release(struct numbered *n);
/*
 * @fd: -1, or the file, which knows its name best. 0: there are too many. The same version of a
 * file keeps its number when its table was given up and is needed again.
 */
u32 numbered_add(struct numbered *n, const struct mapping *map, int pid, int fd,
		 const struct elf *elf, const struct unwind_version *version);
/* NULL: there is no such file. */
const struct numbered_file *numbered_get(const struct numbered *n, u32 number);
const struct numbered_file *numbered_place(const struct numbered *n, u64 place, u64 *ret_offset);

#endif
