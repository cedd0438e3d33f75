/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of kept binaries, in perf's form: DIR/PATH/ID/elf is a copy of a file, "debug" beside
 * it one of the symbols that it was stripped of, and a link
 * DIR/.build-id/xx/REST leads to its folder. Names and code are found in ~/.debug by it.
 */
#ifndef SYMBOL_KEEP_H
#define SYMBOL_KEEP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

/* ~/.debug, or what $PERF_BUILDID_DIR says; must be freed. */
char *keep_folder(void);
/* The build id of an ELF file in hexadecimal; -ENODATA: it has none. */
int keep_build_id(const char *path, struct buf *ret, struct err *e);
/* Where the symbols are that the ELF file @path was stripped of; -ENOENT: nowhere. */
int keep_find_debug(const char *path, struct buf *ret);
/* Keeps a copy of @path; 1: it was there. *@ret_id (may be NULL) gets its build id. */
int keep_add(const char *folder, const char *path, struct buf *ret_id, struct err *e);
/* Removes what was kept under a build id. -ENOENT: nothing. */
int keep_remove(const char *folder, const char *id, struct err *e);

struct kept_file {
	char *id, *path; /* as it was when it was kept */
};
typedef VEC(struct kept_file) kept_files;
int keep_list(const char *folder, kept_files *ret, struct err *e);
void keep_list_release(kept_files *l);

#endif
