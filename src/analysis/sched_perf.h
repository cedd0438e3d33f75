/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of 'perf sched latency', as perf counts it: a turn begins at the last event before it
 * that says that the task wants a CPU, run times are those of sched_stat_runtime alone, and names
 * those of the records. Scripts read it; sched_latency.c has the table for people.
 */
#ifndef ANALYSIS_SCHED_PERF_H
#define ANALYSIS_SCHED_PERF_H

#include "base/buf.h"
#include "waits/sched.h"

struct sched_perf_args {
	const char *sort; /* perf's keys; NULL: its default */
	bool pids_apart;
	bool one_cpu; /* wake-ups and migrations are believed as for a recording of one CPU */
};

struct sched_perf;
struct sched_perf *sched_perf_new(struct sched_names *names, const struct sched_perf_args *args);
void sched_perf_free(struct sched_perf *p);
int sched_perf_events(void *perf, const struct sched_event *ev, size_t n);
/* The first key of @sort that perf does not know in *ret_bad, which the caller frees: -EINVAL. */
int sched_perf_check_sort(const char *sort, char **ret_bad);
void sched_perf_text(struct sched_perf *p, struct buf *ret);

#endif
