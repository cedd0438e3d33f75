/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each wait of a recording of the scheduler's events was for, and where it was made. */
#ifndef WAITS_SCHED_KINDS_H
#define WAITS_SCHED_KINDS_H

#include "base/vec.h"
#include "waits/kinds.h"

struct recording;

struct sched_kind {
	u64 begin;
	u32 tid;
	u8 kind; /* enum thread_state */
};

struct sched_kinds {
	VEC(struct sched_kind) switches; /* by the stack at the switch; in order of tid, begin */
	VEC(struct sched_kind) waits;    /* of 'record --off-cpu', by the system call, too */
	char *host, *kernel;             /* may be "" */
};

/* Replays the recording. One without stacks has no kinds, which is not an error. */
int sched_kinds_read(struct recording *r, struct sched_kinds *ret, struct err *e);
/* Of the thread's wait that began then; STATE_COUNT: nothing but its state is known. */
enum thread_state sched_kinds_at(const struct sched_kinds *k, u32 tid, u64 begin);
void sched_kinds_release(struct sched_kinds *k);

#endif
