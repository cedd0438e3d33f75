/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bcc's one-line tools share: their way of naming probes, and the rounds they show. */
#ifndef LANG_ONELINER_H
#define LANG_ONELINER_H

#include "base/buf.h"
#include "base/err.h"
#include "lang/lang.h"

/* "vfs_*", "p::vfs_read", "c:malloc", "t:sched:sched_switch", "u:python:gc__start", "r:c:malloc" */
struct oneliner_spec {
	char kind;           /* p, r, t, u */
	const char *library; /* or group of tracepoints; not ended by a NUL */
	size_t library_len;
	const char *name; /* function, event or probe, with its '*' */
	size_t name_len;
};

/* @len bytes of @text; the parts point into it. */
int oneliner_parse(const char *text, size_t len, struct oneliner_spec *ret, struct err *e);
/* Is the place in a user program, so that the pid decides already what is attached? */
/* A function through which a system call is entered, also in the spelling "sys_read". */
bool oneliner_is_wrapper(const struct oneliner_spec *s);
bool oneliner_is_user(const struct oneliner_spec *s);
/* Appends the probe in our language; @is_return: its returns even if it is "p:". */
void oneliner_probe(const struct oneliner_spec *s, bool is_return, struct buf *out);
/*
 * The same where the name is a regular expression that matches from the start: a list of all that
 * it matches. -ENOENT: nothing does.
 */
int oneliner_probe_regexp(const struct oneliner_spec *s, bool is_return, struct buf *out,
			  struct err *e);

struct oneliner {
	const char *name;      /* for diagnostics */
	const char *made_from; /* what the user wrote */
	void *ctx;
	/* Once everything is attached; then after every round and at the end. */
	void (*begin)(void *ctx, struct lang *l);
	void (*show)(void *ctx, struct lang *l);
	const char *const *maps; /* to be cleared after a round; ends with NULL */
	u64 interval;            /* nanoseconds of a round; 0: only the end is shown */
	u64 count;               /* rounds; 0: no limit */
	u64 duration;            /* nanoseconds; 0: no limit */
	u32 pid;
};

/*
 * The [interval [count]] that bcc's tools take after their pattern; missing words change
 * nothing.
 */
int oneliner_rounds(struct oneliner *o, const char *const *words, size_t n, struct err *e);
/*
 * Runs until the last round or a stop; what is wrong with the program goes to @diagnostics, and
 * what was lost while it ran to @report.
 */
int oneliner_run(const struct oneliner *o, const char *source, struct buf *diagnostics,
		 struct buf *report, struct err *e);

#endif
