/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPUs and tasks did other than running, as a recording of 'perf timechart record' has it:
 * power states of CPUs, and I/O of tasks by their system calls (with -I).
 */
#ifndef WAITS_ACTIVITY_H
#define WAITS_ACTIVITY_H

#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

struct recording;

enum activity_kind {
	ACTIVITY_IDLE,      /* of a CPU: detail is the number of the state */
	ACTIVITY_FREQUENCY, /* of a CPU: detail in kHz */
	ACTIVITY_DISK,      /* of a task: detail is the name of the call; as of the next */
	ACTIVITY_SYNC,
	ACTIVITY_NETWORK,
	ACTIVITY_POLL,
	ACTIVITY_KINDS
};

struct activity {
	u64 begin, end;
	u32 who; /* CPU, or thread */
	u32 detail;
	u64 bytes;
	u8 kind; /* enum activity_kind */
	bool failed;
};

enum { ACTIVITIES_MOST = 1 << 20 };

struct activities {
	VEC(struct activity) items; /* in order of their ends */
	struct intern names;
	struct map comms; /* tid -> name */
	u64 first, last;  /* of all events */
	u64 counts[ACTIVITY_KINDS];
	u64 dropped; /* beyond ACTIVITIES_MOST */
	u64 unbegun; /* ends of I/O whose begin is not in the recording */
};

/* A recording without such events has none, which is not an error. */
int activities_read(struct recording *r, struct activities *ret, struct err *e);
void activities_release(struct activities *a);
/* "idle", "frequency", "disk", "sync", "network", "poll" */
const char *activity_name(enum activity_kind kind);
/* NULL: not known. */
const char *activities_comm(const struct activities *a, u32 tid);

#endif
