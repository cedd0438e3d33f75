/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target and the duration: the same letters for every command that captures. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <sys/types.h>

#include "cli/cli.h"

/* All empty means the whole machine until Ctrl-C. */
struct target_args {
	range_list pids;
	range_list tids;
	str_list users;   /* names or numbers */
	str_list cgroups; /* paths */
	range_list cpus;
	bool all;
	u64 duration; /* nanoseconds; 0: until stopped */
	bool duration_given;
};

/*
 * Include it in a table with
 *	{ .type = OPT_INCLUDE, .include = target_options, .offset = offsetof(struct x, target) }
 */
extern const struct opt target_options[];

struct target;
/*
 * What they mean. A program that was @launched (0: none) is the target where they name no other;
 * else it only says for how long.
 */
int target_choose(struct target *t, const struct target_args *a, pid_t launched, struct err *e);

#endif
