/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a recording names: what must be there to read code and lines later. */
#ifndef RECORDER_NEEDED_H
#define RECORDER_NEEDED_H

#include "base/err.h"
#include "base/vec.h"

enum { NEEDED_ID = 20 };

struct needed_file {
	char *path;
	u8 id[NEEDED_ID];
	u8 id_size; /* 0: none was recorded */
	u64 samples;
};

struct needed_files {
	VEC(struct needed_file) list;
};

/* @hits: only files that have samples. An ELF file in the place of a recording is itself. */
int needed_load(struct needed_files *f, const char *path, bool hits, struct err *e);
/* The running kernel, by /sys/kernel/notes. */
int needed_kernel(struct needed_files *f, struct err *e);
void needed_release(struct needed_files *f);

#endif
