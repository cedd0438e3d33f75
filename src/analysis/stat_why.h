/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time went that was not counted: running, waiting for a CPU, blocked and on what. From
 * the kernel's own sums, which cost nothing and know no reason, or from the waits of each thread.
 */
#ifndef ANALYSIS_STAT_WHY_H
#define ANALYSIS_STAT_WHY_H

#include "analysis/threads.h"
#include "host/delay.h"

/* The time of a thread, or of several together. */
struct stat_share {
	u32 threads; /* 0: nothing is known */
	u64 wall;
	u64 ns[STATE_COUNT]; /* STATE_OTHER: blocked, who knows on what */
};

struct stat_why {
	struct stat_share main; /* the main thread: its time is what the user waits */
	struct stat_share all;
	bool reasons;             /* blocked time is distinguished by what it was for */
	struct pressure pressure; /* of the machine, in @wall */
	u64 wall;
};

/* What the kernel has summed up for one thread in @wall ns. */
void stat_why_of_delay(struct stat_share *ret, const struct delay *d, u64 wall);
/* The accounts of all threads; @pid: whose main thread stands by itself. */
void stat_why_of_accounts(struct stat_why *ret, const account_list *accounts, u32 pid);
/* One line for each of the above that is known; nothing if none is. */
void stat_why_text(const struct stat_why *w, struct buf *out);
void stat_why_result(const struct stat_why *w, struct result *r);

#endif
