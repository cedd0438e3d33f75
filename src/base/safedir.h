/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories in which files are created and deleted, opened so that no other user can redirect us:
 * step by step, no step a link, each owned by root or by us and closed to others. Everything in
 * them is done on the descriptor.
 */
#ifndef BASE_SAFEDIR_H
#define BASE_SAFEDIR_H

#include "base/buf.h"
#include "base/err.h"

#define SAFEDIR_WRITTEN ".written"
enum { SAFEDIR_FILE_LEAST = 16 << 10, SAFEDIR_LOOK = 8 << 20 };

/*
 * Opens @path, an absolute path; what is missing is made with mode 0700. -EPERM: a step is a link,
 * or another user could put another directory in its place.
 */
int safedir_open(const char *path, struct err *e);
/*
 * The cache: $XDG_CACHE_HOME/fathom, $HOME/.cache/fathom or /var/cache/fathom, the first that is
 * safe, with "/name" appended. So root never uses a cache below a directory of another user.
 */
int safedir_cache_path(const char *name, struct buf *ret, struct err *e);

/* A file that we wrote: regular, ours, closed to others, at most @max bytes; -EPERM if it is not.
 */
int safedir_open_file(int dir, const char *name, u64 max, u64 *ret_size);
/* Written beside and renamed. */
int safedir_write(int dir, const char *name, const void *bytes, size_t n);
/*
 * Deletes the files whose names @ours accepts, the least recently used first, until @room more
 * bytes fit below @most. Each file counts as SAFEDIR_FILE_LEAST bytes at least.
 */
void safedir_trim(int dir, u64 room, u64 most, bool (*ours)(const char *name));
/*
 * Before each file of @size bytes that is written: trims the first time, and once in SAFEDIR_LOOK
 * bytes. To look at all files for each new one takes longer the more there are.
 */
void safedir_make_room(int dir, u64 size, u64 most, bool (*ours)(const char *name));
/* Calls @each for every name until it returns true. */
bool safedir_each(int dir, bool (*each)(void *ctx, const char *name), void *ctx);

#endif
