/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On-CPU and off-CPU time of the same threads in one tree, whose whole is the wall-clock time of
 * the threads: "hot/cold". Every stack ends in a mark that says what the thread did there.
 *
 * How long a thread lived and ran is the scheduler's count (profile.accounts), where the recording
 * has it; samples only tell how a process's time on CPU divides. Time for which there is no sample
 * gets a frame that says so.
 */
#ifndef ANALYSIS_HOTCOLD_H
#define ANALYSIS_HOTCOLD_H

#include "base/err.h"
#include "profile/profile.h"
#include "waits/kinds.h"

#define HOTCOLD_EVENT "wall-time"

/* Blocked time has the kind of its wait, HOT_KINDS and on, where that is known. */
enum hotcold_state {
	HOT_ON_CPU,
	HOT_RUNQ,
	HOT_BLOCKED,
	HOT_UNKNOWN,
	HOT_KINDS,
	HOT_STATES = HOT_KINDS + STATE_COUNT
};

static inline bool hotcold_is_blocked(int state)
{
	return state == HOT_BLOCKED || state >= HOT_KINDS;
}

/* "on CPU": words for people. */
const char *hotcold_words(enum hotcold_state s);
/* The state that a frame marks, HOT_STATES: none. */
enum hotcold_state hotcold_state_of(const struct profile *p, const struct frame *f);
/* The frame that marks it. */
u32 hotcold_mark(struct profile *p, enum hotcold_state s);
/* The frame of time on CPU without a sample where. */
#define HOTCOLD_NOT_SAMPLED "[not sampled]"

struct hotcold {
	u16 event;          /* HOTCOLD_EVENT of the profile */
	u64 ns[HOT_STATES]; /* what they sum to */
	u64 threads;        /* that have an account; 0: lifetimes are not known */
	u64 idle;           /* ns of waiting for work, which are not among them unless asked for */
	u64 left_out; /* ns of samples of threads without an account: idle CPUs, the recorder itself
		       */
};

/*
 * Adds samples of HOTCOLD_EVENT to the profile. -ENODATA when it has no time off the CPU, or when
 * its time on CPU is not known in ns. @idle: waiting for work is part of it.
 */
int hotcold_build(struct profile *p, bool idle, struct hotcold *ret, struct err *e);

#endif
