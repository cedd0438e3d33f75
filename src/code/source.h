/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source files, read when they are first asked for. */
#ifndef CODE_SOURCE_H
#define CODE_SOURCE_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"

enum { SOURCE_FILE_MOST = 32 << 20, SOURCE_FILES_MOST = 4096 };

struct source_file {
	char *text;        /* NULL: it cannot be read */
	VEC(char *) lines; /* ends with a NUL each */
	u64 changed;       /* seconds since 1970 */
	bool told;         /* by source_files_newer() */
};

struct source_files {
	const char *prefix; /* in front of each path, after @strip parts of it; or NULL */
	u64 strip;
	struct intern names;
	VEC(struct source_file) files; /* by the id of its name */
	u64 missing;                   /* files that are not there */
};

void source_files_init(struct source_files *s, const char *prefix, u64 strip);
void source_files_release(struct source_files *s);
/* The text of a line, or NULL; it stays until the release. */
const char *source_files_line(struct source_files *s, const char *file, u32 line);
/*
 * The file was changed after @time: its lines may be others than those that were compiled. True
 * once for each file, and only if it was read.
 */
bool source_files_newer(struct source_files *s, const char *file, u64 time);

#endif
