/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of the scheduler that the kernel counts: waiting, turns, lengths of run queues. */
#ifndef CAPTURE_OFFCPU_HIST_H
#define CAPTURE_OFFCPU_HIST_H

#include "base/err.h"
#include "base/parse.h"
#include "bpf/offcpu_hist_abi.h"

struct sched_hist_opts {
	enum sched_hist_what what;
	enum sched_hist_by by;
	const range_list *pids; /* NULL or empty: all */
	u64 unit;               /* ns of the first bucket: 1000 counts microseconds */
	u64 frequency;          /* RUNQLEN: Hz */
};

struct sched_hist_run;

int sched_hist_new(struct sched_hist_run **ret, const struct sched_hist_opts *opts, struct err *e);
void sched_hist_free(struct sched_hist_run *r);
typedef int (*sched_hist_fn)(void *ctx, const struct sched_hist_key *key,
			     const struct sched_hist *hist);
/* What was counted since the last call. */
int sched_hist_take(struct sched_hist_run *r, sched_hist_fn fn, void *ctx);
/* Values that found no histogram because there were too many. */
u64 sched_hist_full(const struct sched_hist_run *r);
/* Times that a thread could not be kept in mind, where there is no task storage. */
u64 sched_hist_no_room(const struct sched_hist_run *r);
/* Ends that were not delivered and had to be worked out. */
u64 sched_hist_inferred(const struct sched_hist_run *r);

#endif
