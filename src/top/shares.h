/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did in an interval, in shares of it: on a CPU, wanting one, or blocked, by what they
 * waited for. They sum to 100 %.
 */
#ifndef TOP_SHARES_H
#define TOP_SHARES_H

#include "base/map.h"
#include "base/vec.h"
#include "waits/kinds.h"

enum share {
	SHARE_RUN,
	SHARE_RUNNABLE,
	SHARE_DISK,
	SHARE_LOCK,
	SHARE_NET,
	SHARE_SLEEP,
	SHARE_OTHER,
	SHARE_COUNT
};

struct share_row {
	u32 pid, tid;
	u64 wall;
	u64 ns[SHARE_COUNT];
	u64 longest;       /* of a sum: what the thread with these words waited */
	const char *waker; /* the waker of most of its waits; "": none seen */
	const char *place; /* of its longest wait */
};

struct shares {
	VEC(struct share_row) rows;
	struct map by_tid; /* -> place + 1; */
	struct map by_pid; /* sums of processes: place in @sums + 1 */
	VEC(struct share_row) sums;
};

void shares_release(struct shares *s);
/* Which share a state of a thread counts for. */
enum share share_of_state(enum thread_state s);
const char *share_name(enum share s);
void shares_add(struct shares *s, const struct share_row *row);
/* Of a thread, or (@tid 0) of a whole process; NULL: not known. */
const struct share_row *shares_get(const struct shares *s, u32 pid, u32 tid);

#endif
