/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from a server, by build id. Off unless the user names servers: it tells them which
 * programs run here, and it is slow. elfutils' debuginfod-find does the work and keeps the cache.
 */
#ifndef SYMBOL_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_H

#include "base/buf.h"

/* For one file; after that the servers are not asked again. */
enum { DEBUGINFOD_TIMEOUT_S = 30 };

struct debuginfod {
	const char *urls; /* separated by blanks; NULL or "": off */
	bool given_up;    /* no such program, or a file took too long */
};

/* Appends the path of the debug file. -ENOENT: they have none; -ETIMEDOUT; -ENOTSUP: off. */
int debuginfod_find(struct debuginfod *d, const u8 *build_id, size_t len, struct buf *ret_path);

#endif
