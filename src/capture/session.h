/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in progress: events opened on a target, one ring per CPU, and the loop that reads
 * them.
 *
 *	session_new -> session_open -> (synth_*) -> session_enable -> session_run -> session_disable
 *	-> session_drain -> session_free
 *
 * The session never prints. What went on in a reduced way (an event that would not open, a smaller
 * buffer, a CPU that went away) is in session_notes().
 */
#ifndef CAPTURE_SESSION_H
#define CAPTURE_SESSION_H

#include "capture/event.h"
#include "capture/launch.h"
#include "capture/ring.h"
#include "capture/target.h"

enum {
	SESSION_RING_BYTES = 512 << 10, /* per CPU, at least, unless asked for */
	SESSION_RING_MOST = 4 << 20,    /* per CPU, for tracepoints and high rates, */
	SESSION_RING_COPIES = 32 << 20, /* and where tracepoints bring copies of stacks ... */
	SESSION_RINGS_MOST = 64 << 20,  /* ... as long as all together stay below this */
	SESSION_STACK_BYTES = 8192,
	SESSION_STACK_MOST = 65528,
};

struct session_opts {
	u64 frequency;       /* Hz for events without their own period; 0 with @period 0: 99 */
	u64 period;          /* counts per sample; wins over frequency */
	bool every_software; /* every software event that is not a clock is sampled */
	enum stack_mode stack;
	u32 stack_size;  /* STACK_DWARF: bytes of user stack per sample */
	u32 max_stack;   /* frames, 0: the kernel's limit */
	u64 ring_bytes;  /* per CPU; 0: by the kind and rate of events */
	u64 sweep_ns;    /* rings are read at least this often; 0: 250 ms */
	bool overwrite;  /* flight recorder: rings keep the newest, read only by session_dump() */
	bool no_inherit; /* not the children */
	bool idle;       /* take samples in the idle task, too */
	bool user_only;
	bool kernel_only;
	bool exclude_self; /* tracepoints: not those that this process hits */
	bool late_enable;  /* a launched program runs before session_enable(), not from it on */
	bool cgroup_ids;   /* PERF_SAMPLE_CGROUP and CGROUP records */
	bool switches;     /* SWITCH records */
	bool addresses;    /* PERF_SAMPLE_ADDR */
	bool phys_addresses;
	bool data_maps;  /* mappings that are not code, too; implied by addresses and STACK_DWARF */
	bool registers;  /* user registers of every sample, also without stacks */
	bool counting;   /* no sampling at all: for BPF programs and counters */
	u64 branch_type; /* branch_sample_type for all events, 0: none */
	int clock_id;    /* -1: perf's own clock; 0 is CLOCK_REALTIME: set it */
};

struct session_event {
	const char *name;
	struct perf_event_attr attr; /* as the kernel accepted it */
	const u64 *late;             /* the words after it */
	const u64 *ids;              /* one per open descriptor */
	size_t n_ids;
	const char *sysname; /* tracepoints: "sched"; the name after the colon follows in name */
	const char *tp_name; /* tracepoints: "sched_switch" */
	bool side_band;      /* our own dummy event */
	u32 leader;          /* index into session_events() */
};

struct session_note {
	char *text;
	char *hint; /* or NULL */
};

struct session;

/* Keeps @events, @target and @launch (may be NULL), which must live as long as the session. */
struct session *session_new(const struct event_list *events, const struct target *target,
			    struct launch *launch, const struct session_opts *opts);
void session_free(struct session *s);

/*
 * Opens everything, disabled. Events that fail are noted and left out; if none is left, that is
 * the error: EPERM, EACCES (privileges), ENOENT, ENODEV, EOPNOTSUPP (not on this machine) ...
 */
int session_open(struct session *s, struct err *e);
int session_enable(struct session *s, struct err *e);
int session_disable(struct session *s);
/* Counting stops, or continues, in a session that runs; what processes do is reported all the time.
 */
void session_switch(struct session *s, bool on);

/* Called after each sweep over all rings; 0 to continue, > 0 to stop, < 0 for an error. */
typedef int (*session_round)(void *ctx);

/* A CPU is back, or new: event @index of session_events() has a new descriptor on it, not enabled
 * yet. */
typedef void (*session_reopened)(void *ctx, size_t index, int fd);

struct session_sinks {
	record_sink records;
	session_round round;       /* may be NULL */
	session_reopened reopened; /* may be NULL */
	void *ctx;
	const int *wake_fd; /* ends the wait for data when it can be read; NULL or <= 0: none */
};

/*
 * Reads until a stop is requested (base/stop.h), the launched program ends, every watched thread
 * is gone, @until (CLOCK_MONOTONIC ns, 0: no end) is reached, or round() says so.
 */
int session_run(struct session *s, u64 until, const struct session_sinks *sinks, struct err *e);
/* One last sweep, after session_disable(). */
int session_drain(struct session *s, const struct session_sinks *sinks, struct err *e);
/* Overwrite mode: hands over the content of the rings; recording continues afterwards. */
int session_dump(struct session *s, const struct session_sinks *sinks, struct err *e);

/* For the header of a recording. Valid until session_free(). */
const struct session_event *session_events(const struct session *s, size_t *ret_n);
const struct session_note *session_notes(const struct session *s, size_t *ret_n);
const struct ring_stats *session_stats(const struct session *s);
/* Samples that the kernel could not store, summed over the counters (read_format LOST); 0 where
 * the kernel does not say. */
u64 session_lost_exact(const struct session *s);
/* The ring size that was granted, per CPU. */
u64 session_ring_bytes(const struct session *s);
/* Descriptors of event @index, one per CPU and thread: for attaching BPF programs. */
const int *session_event_fds(const struct session *s, size_t index, size_t *ret_n);

#endif
