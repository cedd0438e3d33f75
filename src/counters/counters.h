/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: reads the counters of this machine, or of a copy of its /proc and /sys.
 *
 *	struct counters *c;
 *	struct snapshot now = SNAPSHOT_INIT, before = SNAPSHOT_INIT;
 *
 *	counters_new(&c, NULL, e);
 *	counters_want(c, "disk.reads", e);      // or a formula; only what is wanted is read
 *	counters_sweep(c, &before);
 *	...
 *	counters_sweep(c, &now);
 *	delta_init(&d, counters_set(c), &before, &now);
 *	delta_value(&d, counter, instance, &value);
 *	counters_free(c);
 *
 * A source that cannot be read leaves its counters out of the snapshot; counters_why() says why.
 */
#ifndef COUNTERS_COUNTERS_H
#define COUNTERS_COUNTERS_H

#include "base/err.h"
#include "counters/formula.h"
#include "counters/snapshot.h"

struct counters;

/* @root: the directory that proc and sys are in, NULL: "/". */
int counters_new(struct counters **ret, const char *root, struct err *e);
void counters_free(struct counters *c);
/* Shared with all snapshots of @c; it grows with the sweeps. */
struct counter_set *counters_set(struct counters *c);

/* All that the formula needs, a name alone included; -EINVAL: there is no such counter. */
int counters_want(struct counters *c, const char *formula, struct err *e);
/* Every source, or only those that cost little. */
void counters_want_all(struct counters *c, bool costly);
/*
 * What each process, or each thread, did since the sweep before: snapshot.tasks. Later calls change
 * between the two.
 */
int counters_want_tasks(struct counters *c, bool per_thread, struct err *e);
/* Before that: the exact CPU meter with it (snapshot.tasks.meter), and sleeps for disks. */
void counters_want_meter(struct counters *c, bool meter, bool disk);
bool counters_wanted(const struct counters *c, u32 source);

/*
 * Waits for the next sweep, and keeps reports of tasks that end meanwhile; true: a stop was
 * requested.
 */
bool counters_wait(struct counters *c, u64 ns);
/* For loops of others: readable when counters_drain() is to be called; -1: never. */
int counters_fd(const struct counters *c);
void counters_drain(struct counters *c);
/* Reads what is wanted into @into, whose memory is used again. */
void counters_sweep(struct counters *c, struct snapshot *into);
/* What the last sweep said of a source: 0, or a negative errno. */
int counters_why(const struct counters *c, u32 source);

#endif
