/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories in which we create and delete files, opened so that nobody else can lead us
 * elsewhere: step by step, no step a link, each owned by root or by us and closed to others.
 * Everything in them is done on the descriptor.
 */
#ifndef BASE_SAFEDIR_H
#define BASE_SAFEDIR_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Opens @path, an absolute path; what is missing is made with mode 0700. -EPERM: a step is a link,
 * or somebody else could put another directory in its place.
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
/* Deletes the files whose names @ours accepts, the least recently used first, until @room more
 * bytes fit below @most. */
void safedir_trim(int dir, u64 room, u64 most, bool (*ours)(const char *name));
/* Calls @each for every name until it returns true. */
bool safedir_each(int dir, bool (*each)(void *ctx, const char *name), void *ctx);

#endif
