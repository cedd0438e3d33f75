/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histograms of one interval with their labels, in the order in which they are shown. */
#ifndef WAITS_HIST_SET_H
#define WAITS_HIST_SET_H

#include "base/buf.h"
#include "host/cgroup.h"
#include "waits/hist.h"

struct hist_labelled {
	struct sched_hist_key key;
	struct sched_hist hist;
	struct buf label; /* empty: of everything */
};

struct hist_set {
	enum sched_hist_by by;
	struct cgroup_mounts cgroups;
	VEC(struct hist_labelled) each;
};

void hist_set_init(struct hist_set *s, enum sched_hist_by by);
void hist_set_release(struct hist_set *s);
/* A waits_hist_fn; @set is a struct hist_set. */
int hist_set_add(void *set, const struct sched_hist_key *key, const struct sched_hist *hist);
/* CPUs by their number, tasks and groups by their counts. */
void hist_set_sort(struct hist_set *s);

#endif
