/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of counting: lets the program go, reads at each interval, obeys --control, and ends with
 * the program, the watched processes, the time, or a signal.
 */
#ifndef RECORDER_COUNT_RUN_H
#define RECORDER_COUNT_RUN_H

#include "capture/count.h"
#include "capture/launch.h"
#include "host/delay.h"
#include "recorder/control.h"

struct count_run {
	struct counting *counting;
	const struct target *target;
	struct launch *launch;   /* pid 0: none */
	struct control *control; /* NULL: none */
	u64 delay;               /* ns before counting begins */
	bool paused;             /* it begins when --control says so */
	bool on_exec;            /* the counters begin with the exec */
	u64 interval;            /* ns; 0: none */
	u64 intervals_most;      /* 0: any number */
	u64 timeout;             /* ns; 0: none */
	/* After each interval, with the time since the start; 0 to continue, < 0 for an error. */
	int (*on_interval)(void *ctx, u64 since, u64 length);
	void *ctx;
	/*
	 * Waits in place of us, until @until or as soon as done() says so: what watches beside has
	 * a loop of its own. NULL: nothing does. It does not go with intervals and --control.
	 */
	int (*beside)(void *ctx, u64 until, bool (*done)(void *), void *done_ctx);
	/* results */
	u64 wall;          /* ns that were counted */
	u64 since;         /* CLOCK_MONOTONIC of the start */
	u64 last;          /* of the last interval's end */
	struct delay held; /* of the program before it was let go: not part of its run */
	struct delay main; /* of the program's main thread, once it has ended */
};

int recorder_count_run(struct count_run *r, struct err *e);

#endif
