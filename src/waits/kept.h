/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel has sent once under a number: stacks, wakers, chains. Time is cut into turns, and
 * what is in use is sent, or named by a thread that still has it, in each of them; what was not for
 * a whole turn is forgotten. So a day takes as much memory as a minute.
 */
#ifndef WAITS_KEPT_H
#define WAITS_KEPT_H

#include "base/map.h"

struct waits_kept {
	struct map items; /* number -> struct kept_item * */
};

void waits_kept_release(struct waits_kept *k);
/* What is kept under the number; NULL: nothing. */
void *waits_kept_get(const struct waits_kept *k, u64 id);
/* A copy of @bytes (NULL: zeros), or what is kept already, as seen in @turn. */
void *waits_kept_put(struct waits_kept *k, u64 id, u64 turn, const void *bytes, size_t size);
/* It was named in @turn; nothing happens if it is not known. */
void waits_kept_hold(struct waits_kept *k, u64 id, u64 turn);
/* All that was not seen in @turn or the one before. */
void waits_kept_forget(struct waits_kept *k, u64 turn);

#endif
