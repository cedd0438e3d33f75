/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's histograms out of a recording, by the rules of the program that counts them in
 * the kernel (bpf/offcpu_hist.bpf.c): a delay ends when a task gets a CPU, a turn when it leaves
 * it.
 */
#ifndef WAITS_SCHED_DIST_H
#define WAITS_SCHED_DIST_H

#include "waits/sched.h"
#include "waits/hist.h"

struct sched_dist_opts {
	enum sched_hist_what what;
	enum sched_hist_by by; /* not by cgroup: no event tells it */
	u64 unit;              /* ns of the first bucket */
	u64 frequency;         /* RUNQLEN: looks a second */
	u64 interval;          /* ns of recorded time; 0: all in one */
	/* An interval has ended. Anything but 0 ends the reading with it. */
	int (*on_interval)(void *ctx);
	void *ctx;
};

struct sched_dist;
/* @filter is not NULL and stays the caller's. */
struct sched_dist *sched_dist_new(struct sched_names *names, const struct sched_filter *filter,
				  const struct sched_dist_opts *opts);
void sched_dist_free(struct sched_dist *d);
/*
 * Reads all of the recording; what is counted after the last whole interval can be taken then.
 * Waits that 'fathom record --off-cpu' wrote serve as well, for RUNQLAT. -ENODATA: the recording
 * does not have what is needed.
 */
int sched_dist_read(struct sched_dist *d, const char *path, struct err *e);
/* What was counted since the last call. */
int sched_dist_take(struct sched_dist *d, waits_hist_fn fn, void *ctx);
u64 sched_dist_full(const struct sched_dist *d);
/* Tasks whose coming is not in the recording: the run time that is in it tells when it was. */
u64 sched_dist_inferred(const struct sched_dist *d);
/* Turns that had begun before the recording, or unseen: they are not counted. */
u64 sched_dist_unknown(const struct sched_dist *d);

#endif
