/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains interval by interval. A wait belongs to the interval in which it ends, and what its waker
 * did may be in those before: their waits and threads are kept, the latest of them.
 */
#ifndef WAITS_HISTORY_H
#define WAITS_HISTORY_H

#include "waits/live.h"

enum { WAITS_HISTORY_MOST = 1 << 17 }; /* waits of the intervals before */

struct waits_history {
	size_t first; /* wait of this interval in live->waits */
	u64 known;    /* waits that ended before this have been forgotten */
};

/* Collects what ended in the interval, and appends it to @ret as parts (waits/blame.h). */
int waits_history_take(struct waits_history *h, struct waits_live *l, wait_list *ret,
		       struct err *e);
/* The next interval begins. */
void waits_history_pass(struct waits_history *h, struct waits_live *l);

#endif
