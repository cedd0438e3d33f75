/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bcc's trace: [p|r|t|u]:[library]:function[(signature)] [(predicate)] ["format", expression...]
 * as a program of our language, with bcc's columns.
 */
#ifndef LANG_BCC_TRACE_H
#define LANG_BCC_TRACE_H

#include "base/buf.h"
#include "base/err.h"

struct bcc_trace_opts {
	u64 pid; /* process; 0: all */
	u64 tid; /* thread; 0: all */
	u64 uid;
	bool uid_given;
	bool include_self;
	u64 max_events;          /* 0: no limit */
	u64 string_size;         /* 0: as usual */
	const char *name;        /* only commands that contain this; NULL: all */
	const char *cgroup_path; /* NULL: all */
	bool timestamp;          /* seconds since the start */
	bool unix_timestamp;     /* since 1970 instead */
	bool time;               /* of the day */
	bool cpu;
	bool kernel_stack;
	bool user_stack;
	bool address; /* in stacks */
};

/* Could this operand be a probe of that form, rather than the name of a file? */
bool bcc_trace_is_probe(const char *text);
/* The program, and the line above its output. */
int bcc_trace_program(const char *const *probes, size_t n, const struct bcc_trace_opts *opts,
		      struct buf *out, struct buf *header, struct err *e);

#endif
