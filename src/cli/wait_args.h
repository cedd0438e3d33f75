/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands about waiting share: one table of options, and the filter made of them. */
#ifndef CLI_WAIT_ARGS_H
#define CLI_WAIT_ARGS_H

#include "cli/output.h"
#include "cli/target.h"
#include "waits/engine.h"

struct wait_args {
	struct target_args target;
	const char *input;
	u64 interval;
	bool folded;
	bool raw;
	struct output_args output;
	const char *title;
	bool runqueue;
	bool open;
	bool idle;
	bool children;
	u64 min_us, max_us;
	u64 min, max;
	u32 states;
	str_list comms;
	u64 period;
	u64 rows;
	u64 lines;
	bool user_threads, kernel_threads;
	bool by_thread;
	bool walk_always;
	bool no_kernel, no_user;
};

extern const struct opt wait_options[];

/* Help text common to all of them. */
#define WAIT_NOTES                                                                                \
	"While it loads, observes and resolves names, fathom raises its own priority (nice -20) " \
	"where that is allowed: it needs a fifth of a second of CPU time in all, and would have " \
	"to wait many seconds for that where hundreds of threads want a CPU. Programs that it "   \
	"starts run at normal priority."

/* The target in the form that the engine takes. */
struct wait_filter {
	struct waits_opts opts;
	VEC(u32) uids;
	VEC(char *) cgroups;
};

int wait_filter_make(struct wait_filter *f, const struct wait_args *a, struct err *e);
void wait_filter_release(struct wait_filter *f);
/* The states requested: bits of enum wait_in. */
u32 wait_states(const struct wait_args *a);
/* Of a process that was named, a wait that continues all the time may be the answer. */
bool wait_shows_open(const struct wait_args *a);

/* A recording is checked, no program: EXIT_USAGE when there is one. */
int wait_no_program(struct context *ctx);

#endif
