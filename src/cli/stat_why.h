/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the time of what is counted went: by the sums of the kernel, or with --why by its waits. */
#ifndef CLI_STAT_WHY_H
#define CLI_STAT_WHY_H

#include "analysis/stat_why.h"
#include "cli/wait_args.h"
#include "waits/live.h"

struct stat_watch {
	bool on; /* --why */
	u32 pid; /* whose main thread stands by itself; 0: none */
	bool launched;
	struct waits_live live;
	struct wait_filter filter;
	bool open;
	struct delay before;      /* of the process, at the start */
	struct pressure pressure; /* likewise */
	struct stat_why why;
};

/* @launched: the program that is held before exec; 0: none. Positive: an exit status. */
int stat_watch_open(struct stat_watch *w, const struct target_args *a, u32 launched, struct err *e);
int stat_watch_start(struct stat_watch *w, struct err *e);
int stat_watch_run(struct stat_watch *w, u64 until, bool (*done)(void *), void *ctx, struct err *e);
/* @main: of the program, which has ended. Fills w->why. */
int stat_watch_stop(struct stat_watch *w, const struct delay *main, u64 wall, struct err *e);
void stat_watch_release(struct stat_watch *w);

#endif
