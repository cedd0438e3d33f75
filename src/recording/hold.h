/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a file, mapped, that cannot be changed or truncated while it is held: it may be checked
 * and used where it is, which costs less than copying it. The kernel grants a lease for that on
 * local files to their owner and to root, if no process has the file open for writing. A process
 * that wants to open it for writing meanwhile waits: hold it for a moment, and do nothing then that
 * may wait itself.
 */
#ifndef RECORDING_HOLD_H
#define RECORDING_HOLD_H

#include "recording/source.h"

/* A zeroed struct holds nothing. */
struct hold {
	u8 *map; /* NULL: nothing is mapped */
	size_t len;
	u64 from;     /* in the file */
	bool refused; /* once is enough: the file is read from then on */
};

/*
 * Some bytes of the file from @at on, at most up to @end, to be let go by hold_drop(). False: there
 * are too few of them, or they cannot be held.
 */
bool hold_take(struct hold *h, const struct source *s, u64 at, u64 end, const u8 **ret_begin,
	       const u8 **ret_end);
void hold_drop(const struct source *s);
void hold_release(struct hold *h);

#endif
