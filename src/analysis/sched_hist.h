/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of the scheduler as a result, counted in the kernel or out of a recording. */
#ifndef ANALYSIS_SCHED_HIST_H
#define ANALYSIS_SCHED_HIST_H

#include "result/result.h"
#include "waits/hist_set.h"

struct sched_hist_opts {
	enum sched_hist_what what;
	bool milliseconds;
	bool occupancy;   /* RUNQLEN: a table in place of histograms */
	const char *file; /* the recording, or NULL */
	u64 time;         /* wall clock at the end of the interval, 0: not shown */
	u64 duration;
	u64 lost;
};

void sched_hist_result(const struct hist_set *set, const struct sched_hist_opts *opts,
		       struct result *ret);

#endif
