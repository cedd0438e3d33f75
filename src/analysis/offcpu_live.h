/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits of the running machine: the engine in the kernel, names, and the loop that reads both. */
#ifndef ANALYSIS_OFFCPU_LIVE_H
#define ANALYSIS_OFFCPU_LIVE_H

#include "analysis/offcpu.h"
#include "analysis/offcpu_names.h"

struct offcpu_live {
	struct profile profile;
	struct offcpu *engine;
	struct offcpu_names names;
	struct python_names python;
	wait_list waits;
	VEC(struct offcpu_wait) single; /* opts.send: as they came; named by collect */
	VEC(struct offcpu_thread) threads;
	u64 begin, end; /* CLOCK_MONOTONIC */
	u64 dropped;    /* of @single, beyond its limit */
	u32 launched;   /* process that waits for our word to begin: that wait is none; 0: none */
	u64 held_blocked, held_runq; /* how long it did */
	int nice;                    /* of ours, before we came first */
	bool hurries;                /* now we do */
	bool only_users; /* the kernel's frames name interrupts that wake, and are left out then */
	bool open;
};

enum { OFFCPU_SINGLE_MOST = 4 << 20 };

/* Loads, reads tables and names; nothing is attached yet. on_wait and on_thread are ours. */
int offcpu_live_open(struct offcpu_live *l, const struct offcpu_opts *opts, struct err *e);
void offcpu_live_release(struct offcpu_live *l);
int offcpu_live_start(struct offcpu_live *l, struct err *e);
/* Until @until (CLOCK_MONOTONIC), a stop, or @done() says so (may be NULL). */
int offcpu_live_run(struct offcpu_live *l, u64 until, bool (*done)(void *ctx), void *ctx,
		    struct err *e);
/* Detaches, and asks for the accounts if there are any. */
int offcpu_live_stop(struct offcpu_live *l, struct err *e);
/* Appends what the kernel has summed up (or sent) to @waits, with names. */
int offcpu_live_collect(struct offcpu_live *l, struct err *e);
/* Between two intervals: forgets waits and samples, keeps names. */
void offcpu_live_reset(struct offcpu_live *l);
/* What was lost or left out: law 3. */
void offcpu_live_health(const struct offcpu_live *l, struct result *ret);

#endif
