/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs, where it is mounted or, when it is not, as a mount of our own that has no place in any
 * directory: other processes do not see it, and it is gone when the descriptor is closed.
 */
#ifndef HOST_TRACEFS_H
#define HOST_TRACEFS_H

#include "base/buf.h"
#include "base/err.h"

struct tracefs {
	int fd;        /* the directory, for openat(); -1: not open */
	char *mounted; /* where it is mounted; NULL: only ours */
	char own[32];  /* its path for this process, as long as it is open, if it is only ours */
};

#define TRACEFS_INIT     \
	{                \
		.fd = -1 \
	}

int tracefs_open(struct tracefs *t, struct err *e);
void tracefs_release(struct tracefs *t);
/* Its path, for code that opens files by path. */
static inline const char *tracefs_root(const struct tracefs *t)
{
	return t->mounted ? t->mounted : t->own;
}
/* Reads "available_tracers", "events/sched/sched_switch/format" ... up to @max bytes. */
int tracefs_read(const struct tracefs *t, const char *file, size_t max, struct buf *ret,
		 struct err *e);
/* The same in a directory of tracefs that is open. */
int tracefs_read_in(int dir, const char *file, size_t max, struct buf *ret, struct err *e);
/* Number of an event for perf_event_open(2); -ENOENT when there is no such event. */
int tracefs_event_id(const struct tracefs *t, const char *group, const char *event, u64 *ret,
		     struct err *e);

#endif
