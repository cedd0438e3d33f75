/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of a session: what its files share. Only these files include it. */
#ifndef CAPTURE_SESSION_STATE_H
#define CAPTURE_SESSION_STATE_H

#include "capture/session.h"
#include "capture/spread.h"

/* One event on all threads and CPUs. */
struct slot {
	const struct event *event; /* NULL: the side band */
	char *name;
	char *tp_name; /* tracepoints: the name without system and modifiers */
	struct perf_event_attr attr;
	u64 late[PERFSYS_LATE];
	u32 leader;      /* slot index */
	bool dead;       /* would not open; noted */
	int group_fd;    /* descriptor on the thread and CPU being opened, -1: none */
	range_list cpus; /* the only CPUs it counts on; empty: all */
	VEC(int) fds;
	VEC(u64) ids;
	VEC(u32) fd_cpus; /* of each descriptor */
};

struct session {
	const struct event_list *events;
	const struct target *target;
	struct launch *launch;
	struct session_opts opts;
	bool on_exec; /* the launched program is the target: its exec enables the events */
	u64 ring_bytes;
	bool ring_asked;        /* that size was asked for: less is worth a note */
	VEC(struct slot) slots; /* in the order of @events, then the side band */
	VEC(struct ring) rings;
	VEC(struct session_event) public_events;
	VEC(struct session_note) notes;
	VEC(int) pid_fds; /* of the watched processes; may be fewer than there are */
	struct ring_stats stats;
	struct spread spread;
	u64 vanished;    /* threads that were gone before their events were opened */
	struct err last; /* why the last event failed */
};

/* Each text is noted once. Takes printf arguments; @hint may be NULL. */
void session_note(struct session *s, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
