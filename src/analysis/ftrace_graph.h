/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the kernel's function graph: sums for each function, and stacks with their own time. */
#ifndef ANALYSIS_FTRACE_GRAPH_H
#define ANALYSIS_FTRACE_GRAPH_H

#include "profile/ftrace.h"
#include "profile/profile.h"
#include "result/result.h"

struct ftrace_graph;
/* @profile may be NULL: then only sums are kept. It gets a sample for each call. */
struct ftrace_graph *ftrace_graph_new(struct ftrace_reader *reader, struct profile *profile);
void ftrace_graph_free(struct ftrace_graph *g);
/* An ftrace_event_fn. Events that are not of the function graph are passed over. */
int ftrace_graph_event(void *graph, const struct ftrace_event *ev);
/* @sort: total, self, avg, max, count, name; NULL: total. @lines 0: all. -EINVAL: no such key. */
int ftrace_graph_result(struct ftrace_graph *g, const char *sort, u32 lines, struct result *ret,
			struct err *e);
/* How long calls took, of all functions that were traced, as a histogram. */
void ftrace_graph_latency(struct ftrace_graph *g, bool nanoseconds, struct result *ret);
u64 ftrace_graph_calls(const struct ftrace_graph *g);
/* Ends whose start was not seen: counted with their own time, without callers. */
u64 ftrace_graph_unmatched(const struct ftrace_graph *g);

#endif
