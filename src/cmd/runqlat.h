/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runqlat, cpudist and runqlen share. */
#ifndef CMD_RUNQLAT_H
#define CMD_RUNQLAT_H

#include "waits/hist.h"
#include "cli/cli.h"

struct hist_args {
	const char *input;
	range_list pids;
	u64 duration;
	u64 interval;
	u64 frequency;
	int by;
	bool milliseconds;
	bool timestamp;
	bool off;
	bool occupancy;
	bool per_process, per_thread, per_cpu;
};

/* Each command adds what it alone has. */
extern const struct opt hist_options[];
#define HIST_MILLISECONDS                                                                          \
	{                                                                                          \
		'm', "milliseconds", OPT_FLAG, .offset = offsetof(struct hist_args, milliseconds), \
					       .help = "milliseconds, not microseconds"            \
	}

int hist_command(struct context *ctx, struct hist_args *a, enum sched_hist_what what);

#endif
