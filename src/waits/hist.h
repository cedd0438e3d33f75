/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of the scheduler that the kernel counts: waiting, turns, lengths of run queues. */
#ifndef WAITS_HIST_H
#define WAITS_HIST_H

#include "base/err.h"
#include "base/parse.h"
#include "bpf/offcpu_hist_abi.h"

struct waits_hist_opts {
	enum sched_hist_what what;
	enum sched_hist_by by;
	const range_list *pids; /* NULL or empty: all */
	u64 unit;               /* ns of the first bucket: 1000 counts microseconds */
	u64 frequency;          /* RUNQLEN: Hz */
};

struct waits_hist;

int waits_hist_new(struct waits_hist **ret, const struct waits_hist_opts *opts, struct err *e);
void waits_hist_free(struct waits_hist *r);
typedef int (*waits_hist_fn)(void *ctx, const struct sched_hist_key *key,
			     const struct sched_hist *hist);
/* What was counted since the last call. */
int waits_hist_take(struct waits_hist *r, waits_hist_fn fn, void *ctx);
/* Values that found no histogram because there were too many. */
u64 waits_hist_full(const struct waits_hist *r);
/* Times that a thread could not be remembered, where there is no task storage. */
u64 waits_hist_no_room(const struct waits_hist *r);
/* Ends that were not delivered and had to be worked out. */
u64 waits_hist_inferred(const struct waits_hist *r);

#endif
