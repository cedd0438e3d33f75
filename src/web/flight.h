/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The past as stacks: a recorder that runs while a page with the right to record is open, and
 * writes into the folder of the jobs. A file that still grows can be read up to its last second;
 * when it is large another one takes over, and the one before it stays for a while. Beside
 * it latencies of disks are counted.
 */
#ifndef WEB_FLIGHT_H
#define WEB_FLIGHT_H

#include "web/job.h"
#include "web/latency.h"

struct flight {
	struct child child;
	struct latency latency;
	u64 since;    /* mono, ns: what is older is not there */
	u64 part;     /* mono, ns: begin of the file that grows */
	u64 cpu_last; /* for its budget */
	u32 over;
	char *why_not; /* why it does not run, or NULL */
};

#define FLIGHT_INIT                 \
	{                           \
		.child = CHILD_INIT \
	}

void flight_release(struct flight *f, struct jobs *j);
int flight_start(struct flight *f, struct jobs *j, struct err *e);
void flight_stop(struct flight *f, struct jobs *j);
/* Each second; true: something changed. */
bool flight_tick(struct flight *f, struct jobs *j, double seconds);
/* The file that has the most of the span (mono, ns); @ret_note: what is missing, or NULL. */
int flight_find(const struct flight *f, struct jobs *j, u64 from, u64 to, char **ret_file,
		const char **ret_note, struct err *e);

#endif
