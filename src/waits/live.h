/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits of the running machine: the engine in the kernel, names, and the loop that reads both. */
#ifndef WAITS_LIVE_H
#define WAITS_LIVE_H

#include "result/result.h"
#include "waits/kinds.h"
#include "waits/names.h"
#include "waits/observed.h"

struct waits_live {
	struct profile profile;
	struct waits_engine *engine;
	struct waits_names names;
	struct python_names python;
	struct wait_kinds *kinds;
	wait_list waits;
	struct map row_of; /* hash of a row -> index + 1 in @waits */
	u64 together;  /* rows of processes that had ended, which stand under their name alone */
	u64 next_turn; /* when what is in the kernel is taken over */
	u64 give_back; /* when memory is given back next */
	VEC(struct offcpu_wait) single; /* opts.send: as they came; named by collect */
	VEC(struct offcpu_thread) threads;
	u64 begin, end; /* CLOCK_MONOTONIC */
	u64 dropped;    /* of @single, beyond its limit */
	u32 launched;   /* launched process that is held before exec: that wait does not count; 0:
			   none */
	u64 held_blocked, held_runq; /* how long it did */
	int nice;                    /* of ours, before we came first */
	bool hurries;                /* now we do */
	bool only_users; /* the kernel's frames name interrupts that wake, and are left out then */
	bool open;
};

enum {
	WAITS_SINGLE_MOST = 4 << 20,
	WAITS_APART = 8192, /* rows from which on processes that have ended are not separated */
	WAITS_ROWS_KEPT = 1 << 18, /* then what is new stands in one row, and is counted */
};

/* Loads, reads tables and names; nothing is attached yet. on_wait and on_thread are ours. */
int waits_live_open(struct waits_live *l, const struct waits_opts *opts, struct err *e);
void waits_live_release(struct waits_live *l);
int waits_live_start(struct waits_live *l, struct err *e);
/* Until @until (CLOCK_MONOTONIC), a stop, or @done() says so (may be NULL). */
int waits_live_run(struct waits_live *l, u64 until, bool (*done)(void *ctx), void *ctx,
		   struct err *e);
/* Detaches, and asks for the accounts if there are any. */
int waits_live_stop(struct waits_live *l, struct err *e);
/* Appends what the kernel has summed up (or sent) to @waits, with names. */
int waits_live_collect(struct waits_live *l, struct err *e);
/* Between two intervals: forgets waits and samples, keeps names. */
void waits_live_reset(struct waits_live *l);
/* After that: gives up the profile's stacks if it has no room for more. None may be in use. */
int waits_live_renew(struct waits_live *l, struct err *e);
/* What was lost or left out: law 3. */
void waits_live_health(const struct waits_live *l, struct result *ret);
/* The threads and waits of the run so far. */
struct observed waits_live_observed(struct waits_live *l);

#endif
