/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits as a profile, and as tables: what off-CPU, wakeup, off-wake and chain graphs are made of.
 * Where the waits come from (the running kernel, a recording) makes no difference here.
 */
#ifndef ANALYSIS_WAITS_H
#define ANALYSIS_WAITS_H

#include "base/buf.h"
#include "base/err.h"
#include "result/result.h"
#include "waits/kinds.h"

/* What the stacks of the profile show. */
enum wait_view {
	WAIT_VIEW_SLEEPER, /* the stack that waits */
	WAIT_VIEW_WAKER,   /* the stack that wakes, its target on top */
	WAIT_VIEW_BOTH,    /* sleeper, "--", waker upside down */
	WAIT_VIEW_CHAIN,   /* the same, on to the waker's waker */
};

/* "anon_pipe_read < read < wait_for_data < main": the innermost informative frames. */
void wait_place(const struct profile *p, u32 stack, struct buf *out);
/* Without the function of the kernel, where the program has a name for the call. */
void wait_place_brief(const struct profile *p, u32 stack, struct buf *out);
/* The stack that a view shows for a wait. */
u32 wait_stack(struct profile *p, const struct wait *w, enum wait_view view);
/*
 * Adds samples of OFFCPU_EVENT (blocked time) and RUNQ_EVENT to @p, in whose frames and threads the
 * waits are written. @kinds: each stack ends in the mark of what it waited for (hotcold.h).
 */
void waits_to_profile(struct profile *p, const wait_list *waits, enum wait_view view, bool kinds);

/*
 * The waits of a recording whose wakers are known (profile.wakes) as samples of OFFWAKE_EVENT: the
 * stack that waited and on it, upside down, its waker. False: none.
 */
bool wakes_to_profile(struct profile *p);
/* The same for waits that are in memory. */
bool waits_add_wakers(struct profile *p, const wait_list *waits);

/* Removes waits of threads without work (kinds.h); returns their total time. */
u64 waits_drop_idle(wait_list *waits);
/* Waits that look the same in this view become one. */
void waits_merge(struct profile *p, wait_list *waits, enum wait_view view);
/*
 * Tables for people: the heaviest waits with their stacks. @runq: by run-queue time. At most
 * @lines of them, 0: all.
 */
void waits_to_result(struct profile *p, wait_list *waits, enum wait_view view, bool runq, u32 lines,
		     struct result *ret);
/* "root;...;leaf microseconds" lines, sorted. */
void waits_to_folded(struct profile *p, const wait_list *waits, enum wait_view view, bool runq,
		     struct buf *out);

#endif
