/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits of the past: what each interval added, row by row, packed, for a time and a number of
 * bytes. Threads that slept all through an interval, and waits of those without work that did not
 * end in it, are not kept, as idle processes are not.
 */
#ifndef TOP_WAITS_PAST_H
#define TOP_WAITS_PAST_H

#include "base/buf.h"
#include "base/intern.h"
#include "top/live.h"

struct waits_look {
	u64 begin, end; /* CLOCK_MONOTONIC */
	u64 lost;
	u32 session; /* of the stacks and threads in it */
	u32 n_shares, n_waits;
	size_t size;
	u8 *bytes;
};

struct waits_past {
	struct intern words;
	VEC(struct waits_look) looks;
	size_t bytes;      /* of all looks */
	struct buf packed; /* of the look that is made */
	struct waits_look now;
	u32 session;
};

/* A row as it is kept; strings are numbers of @words. */
struct waits_past_row {
	u32 pid, tid, comm, place, waker, waker_pid, waker_tid;
	u32 thread, stack; /* of the session's profile */
	u32 kind;          /* enum thread_state */
	u64 blocked, runq, count, longest;
};

void waits_past_release(struct waits_past *p);
/* Shares come first, then rows, most important first; then the look is finished. */
void waits_past_share(struct waits_past *p, const struct share_row *row);
void waits_past_row(struct waits_past *p, const struct waits_past_row *row);
/* What is older than @keep_ns, or too much, is forgotten; the last look stays. */
void waits_past_end(struct waits_past *p, u64 begin, u64 end, u64 lost, u64 keep_ns);

/* The interval that was going on at @time, or the last before it; NULL: none that near. */
const struct waits_look *waits_past_at(const struct waits_past *p, u64 time);
typedef void (*waits_past_share_fn)(void *ctx, const struct share_row *row);
typedef void (*waits_past_row_fn)(void *ctx, const struct waits_past_row *row);
/* The strings of shares are valid until the next look is finished. */
void waits_past_read(const struct waits_past *p, const struct waits_look *look,
		     waits_past_share_fn on_share, waits_past_row_fn on_row, void *ctx);

#endif
