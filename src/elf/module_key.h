/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ELF_MODULE_KEY_H
#define ELF_MODULE_KEY_H

#include <sys/types.h>

#include "base/base.h"

/*
 * One mapped file, as it was recorded. What is not known stays 0. With a pid the
 * file is looked for through that process first: right for containers and deleted files.
 */
struct module_key {
	const char *path;
	const u8 *build_id;
	size_t build_id_len;
	u32 maj, min;
	u64 ino, ino_gen;
	u64 changed; /* change time, CLOCK_REALTIME: another one is another file */
	u64 mapped;  /* when it was mapped, likewise: what was written later is not what ran */
	pid_t pid;
	u64 map_start, map_end;
};

#endif
