/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a recording as they are: perf's -D, --stats and --tasks. */
#ifndef VIEW_PERF_DUMP_H
#define VIEW_PERF_DUMP_H

#include "base/err.h"
#include "recording/recording.h"

/* Returns other than 0 to end. */
typedef int (*perf_dump_cb)(void *ctx, const char *text, size_t n);

/* Each record with its bytes and what it says, in the order of the file. */
int perf_dump(struct recording *r, perf_dump_cb cb, void *ctx, struct err *e);
/* How many records there are of each type, and how many samples of each event. */
int perf_dump_stats(struct recording *r, struct buf *out, struct err *e);
/* The threads, each below the one that made it. */
int perf_dump_tasks(struct recording *r, struct buf *out, struct err *e);

#endif
