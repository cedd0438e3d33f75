/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of the kernel's locks, its memory and its deferred work: who waits, asks and runs. */
#ifndef TOOL_KERNEL_EVENTS_H
#define TOOL_KERNEL_EVENTS_H

#include "base/err.h"
#include "result/result.h"

struct recording;

enum kernel_events_what {
	KERNEL_LOCKS,
	KERNEL_MEMORY,
	KERNEL_WORK,
	KERNEL_WORK_LATENCY, /* the wait before work instead of the work */
};

enum kernel_locks_by { LOCKS_BY_STACK, LOCKS_BY_LOCK, LOCKS_BY_THREAD };

struct kernel_events_opts {
	enum kernel_events_what what;
	enum kernel_locks_by by;
	bool cross; /* memory: objects that another CPU frees */
	u64 top;    /* rows, 0: all */
};

/* -ENODATA: the recording has none of these events. */
int kernel_events_read(const char *path, const struct kernel_events_opts *o, struct result *ret,
		       struct err *e);
int kernel_events_replay(struct recording *rec, const struct kernel_events_opts *o,
			 struct result *ret, struct err *e);

#endif
