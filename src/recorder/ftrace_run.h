/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the kernel's tracers: switched on, drained into a reader, put back. */
#ifndef RECORDER_FTRACE_RUN_H
#define RECORDER_FTRACE_RUN_H

#include "capture/ftrace_setup.h"
#include "capture/launch.h"
#include "profile/ftrace.h"

struct ftrace_run_opts {
	struct ftrace_setup setup;
	struct launch *launch; /* prepared, or NULL */
	u64 duration;          /* ns, 0: until a stop or the end of the program */
	bool snapshot;         /* what is read is the snapshot that a trigger took, at the end */
	bool keep;             /* pages stay in the trace, for a file */
	ftrace_event_fn on_event;
	int (*on_round)(void *ctx); /* after the events of a round; may be NULL */
	void *ctx;
};

struct ftrace_run;
/* Everything is set up, nothing is traced yet. */
int ftrace_run_new(struct ftrace_run **ret, const struct ftrace_run_opts *opts, struct err *e);
/* Until the time is over, the program has ended, or a stop. */
int ftrace_run_go(struct ftrace_run *r, struct err *e);
/* Puts tracefs back. */
void ftrace_run_free(struct ftrace_run *r);

struct ftrace_reader *ftrace_run_reader(const struct ftrace_run *r);
/* With opts.keep, after ftrace_run_go(). */
const struct tracedat *ftrace_run_trace(const struct ftrace_run *r);
/* Events that the kernel's rings lost, and pages that were not kept. */
u64 ftrace_run_lost(const struct ftrace_run *r);
bool ftrace_run_on_top(const struct ftrace_run *r);

#endif
