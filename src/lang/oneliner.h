/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bcc's one-line tools share: their way of naming probes, and the rounds they show. */
#ifndef LANG_ONELINER_H
#define LANG_ONELINER_H

#include "base/buf.h"
#include "base/err.h"
#include "lang/lang.h"

/*
 * "vfs_*", "p::vfs_read", "c:malloc", "t:sched:sched_switch", "u:python:gc__start", "r:c:malloc"
 * appended as the probe of our language; @is_return forces or is told (by "r:") that returns are
 * meant. Patterns keep their '*'.
 */
int oneliner_probe(const char *spec, bool is_return, struct buf *out, struct err *e);

struct oneliner {
	const char *name; /* for diagnostics */
	void *ctx;
	/* Once everything is attached; then after every round and at the end. */
	void (*begin)(void *ctx, struct lang *l);
	void (*show)(void *ctx, struct lang *l);
	const char *const *maps; /* to be cleared after a round; ends with NULL */
	u64 interval;            /* seconds of a round; 0: only the end is shown */
	u64 count;               /* rounds; 0: no limit */
	u64 duration;            /* seconds; 0: no limit */
	u32 pid;
};

/*
 * The [interval [count]] that bcc's tools take behind their pattern; missing words change
 * nothing.
 */
int oneliner_rounds(struct oneliner *o, const char *const *words, size_t n, struct err *e);
/* Runs until the last round or a stop; what is wrong with the program goes to @diagnostics. */
int oneliner_run(const struct oneliner *o, const char *source, struct buf *diagnostics,
		 struct err *e);

#endif
