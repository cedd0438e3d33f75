/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of a session: what its files share. Only these files include it. */
#ifndef CAPTURE_SESSION_STATE_H
#define CAPTURE_SESSION_STATE_H

#include "base/buf.h"
#include "base/map.h"
#include "capture/cpuwatch.h"
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

/* What perf_event_open takes for one thread, cgroup or the machine. */
struct unit {
	pid_t pid;
	u64 flags;
};

struct session {
	const struct event_list *events;
	const struct target *target;
	struct launch *launch;
	struct session_opts opts;
	bool on_exec; /* the launched program is the target: its exec enables the events */
	u64 ring_bytes;
	bool ring_asked;        /* that size was requested: less is worth a note */
	VEC(struct slot) slots; /* in the order of @events, then the side band */
	VEC(struct ring) rings;
	VEC(struct session_event) public_events;
	VEC(struct session_note) notes;
	VEC(int) pid_fds; /* of the watched processes; may be fewer than there are */
	struct ring_stats stats;
	struct spread spread;
	struct cpuwatch cpus;
	bool every_cpu;  /* all that were online at the start: others may join */
	bool enabled;    /* the events, not the side band */
	struct map ids;  /* of events that were opened again -> the ids that are known */
	u64 lost_before; /* samples lost by events that are closed */
	u64 vanished;    /* threads that were gone before their events were opened */
	struct err last; /* why the last event failed */
};

/* Each text is noted once. Takes printf arguments; @hint may be NULL. */
void session_note(struct session *s, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Tries, and takes away from the attr what is refused: a descriptor, or a negative errno. */
int session_open_event(struct session *s, struct slot *slot, const struct unit *u, u32 cpu);
/* Its filter, and the ring that its records go to. */
int session_attach_event(struct session *s, struct slot *slot, int fd, u32 cpu, struct err *e);
u64 session_lost_of(const struct slot *slot, int fd);

/* session_cpus.c: CPUs that come back while the session runs. */
void session_cpus_open(struct session *s);
void session_cpus_release(struct session *s);
/* True when there are more rings than before. */
bool session_cpus_look(struct session *s, const struct session_sinks *sinks);
/* As record_sink, with struct session_translation as its context. */
struct session_translation {
	const struct session *session;
	const struct session_sinks *sinks;
	struct buf bytes;
};
int session_translate(void *translation, const void *bytes, size_t n);
/* Replaces the ids of whole records: in samples after the header, in others at the end. */
void session_replace_ids(void *records, size_t n, const struct map *ids);

#endif
