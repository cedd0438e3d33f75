/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Observing waits of the running machine or of a program, for the commands that do so. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "waits/live.h"
#include "capture/launch.h"
#include "cli/cli.h"

/* A live run: opens, starts the program if one is given, runs for the duration, stops. */
struct wait_run {
	const struct context *ctx;
	struct waits_live live;
	struct launch launch;
	const range_list *pids; /* the run ends with the last of them; NULL or empty: it does not */
};

int wait_run_open(struct wait_run *r, struct context *ctx, struct waits_opts *opts, struct err *e);
/* Starts; @until 0: until stopped or the program ends. */
int wait_run_start(struct wait_run *r, struct err *e);
int wait_run_go(struct wait_run *r, u64 until, struct err *e);
/* The program, or all processes that were named, have ended. */
bool wait_run_ended(struct wait_run *r);
void wait_run_release(struct wait_run *r);
/* Ends the program if it still runs; its status for the command's own. */
int wait_run_status(struct wait_run *r);

/* Reports that no thread of the target was seen, and possible reasons; returns the status. */
int wait_not_seen(struct context *ctx, const range_list *pids);
/* Says so where the one process that was named has started others. */
void wait_note_children(const range_list *pids, struct result *ret);

#endif
