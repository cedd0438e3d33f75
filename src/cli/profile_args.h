/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples of which recording: the same options for every command that reads profiles. */
#ifndef CLI_PROFILE_ARGS_H
#define CLI_PROFILE_ARGS_H

#include "cli/cli.h"
#include "cli/perf_args.h"
#include "profile/load.h"

struct profile_args {
	const char *input; /* NULL: fathom.data, otherwise perf.data */
	const char *event;
	const char *comms;
	const char *dsos;
	const char *symbols;
	range_list pids;
	range_list tids;
	range_list cpus;
	const char *time; /* FROM,TO */
	bool no_kernel;
	bool no_user;
	bool no_inline;
	const char *guest_kallsyms, *guest_modules;
};

/* For OPT_INCLUDE. */
extern const struct opt profile_options[];
/* What perf report and perf script call some of them. */
extern const struct opt profile_perf_options[];

/*
 * Turns the arguments into what profile_load() takes; *@ret points into @args. "10%-20%" is not
 * known before the recording was read: only seconds are taken.
 */
int profile_args_opts(const struct profile_args *args, struct load_opts *ret, struct err *e);
/* The operand [FILE] in the place of -i; EXIT_USAGE when both are given, else 0. */
int profile_args_input(struct context *ctx, const char **input);
/* profile_args_opts() for a command with that operand; EXIT_USAGE or 0. */
int profile_args_take(struct context *ctx, struct profile_args *args, struct load_opts *ret);
/* Loads with a progress line; @opts may carry more than the arguments did. */
int profile_args_load(struct context *ctx, const struct profile_args *args, struct load_opts *opts,
		      struct profile *ret);
/*
 * Loads as profile_args_load() does, and lets @look show it; its status, or why there is nothing to
 * look at. @args are the command's own.
 */
int profile_args_look(struct context *ctx, const struct profile_args *which, struct load_opts *opts,
		      int (*look)(struct context *ctx, const void *args, struct profile *p),
		      const void *args);
/* What was lost or could not be read, for those whose output has no place for it. */
void profile_args_warn(const struct profile *p);
/* That only @event is shown, when others have samples, too. */
void profile_args_warn_event(const struct profile *p, u16 event);

#endif
