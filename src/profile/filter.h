/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples are kept: the filters of load_opts, for whatever was read. */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/load.h"

/* True when @name matches one of the comma-separated globs; NULL matches all. */
bool filter_name(const char *globs, const char *name);
/* True when the list is empty or holds @id. */
bool filter_id(const range_list *list, u64 id);

/*
 * Drops the samples of @p that @opts leave out, and the halves of stacks that they do not want.
 * For readers of text, which read everything; recordings are filtered while they are read.
 */
void profile_filter(struct profile *p, const struct load_opts *opts);

#endif
