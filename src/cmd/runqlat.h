/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runqlat, cpudist and runqlen share. */
#ifndef CMD_RUNQLAT_H
#define CMD_RUNQLAT_H

#include "capture/offcpu_hist.h"
#include "cli/cli.h"

struct hist_args {
	const char *input;
	range_list pids;
	u64 duration;
	u64 interval;
	u64 frequency;
	int by;
	bool milliseconds;
	bool off;
	bool per_process, per_thread, per_cpu;
};

extern const struct opt hist_options[];
int hist_command(struct context *ctx, struct hist_args *a, enum sched_hist_what what);

#endif
