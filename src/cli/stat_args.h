/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of 'fathom stat': those of perf stat, and what they ask to count. */
#ifndef CLI_STAT_ARGS_H
#define CLI_STAT_ARGS_H

#include "analysis/stat.h"
#include "cli/cli.h"
#include "cli/target.h"

struct stat_event_arg {
	const char *text;
	enum { ARG_EVENT, ARG_FILTER, ARG_METRIC } kind;
};

struct stat_args {
	struct target_args target;
	VEC(struct stat_event_arg) events;
	int detail;
	bool topdown;
	bool null_run;
	u64 repeat;
	bool repeat_given;
	u64 interval;
	u64 interval_count;
	bool interval_clear;
	bool summary;
	bool no_word;
	u64 delay;
	u64 timeout;
	const char *separator;
	bool json_lines;
	const char *output;
	bool append;
	u64 log_fd;
	bool log_fd_given;
	bool by_cpu, by_core, by_cluster, by_die, by_socket, by_node, by_thread;
	const char *cgroups;
	bool metric_only;
	bool no_scale;
	bool scale;
	bool table;
	bool no_inherit;
	bool user_only, kernel_only, no_guest;
	bool no_big;
	bool sync;
	const char *control;
	const char *pre, *post;
	bool compare;
	bool strict;
	bool why;
	bool as_perf; /* called by perf's name */
};

extern const struct opt stat_options[];
void stat_args_release(void *args);

/* EXIT_USAGE with the error set when they contradict one another; else 0. */
int stat_args_check(const struct context *ctx, const struct stat_args *a, struct err *e);
enum stat_by stat_args_by(const struct stat_args *a);
/* The lines are of CPUs, or of what holds them. */
bool stat_by_cpus(enum stat_by by);
/* perf's forms: its lines for all events, counted or not. */
bool stat_perf_form(const struct stat_args *a);
/*
 * What to count. *ret_no_pmu: the default events are only those that software counts, for there
 * are no others here.
 */
int stat_args_events(const struct stat_args *a, bool whole, struct event_list *ret,
		     bool *ret_no_pmu, struct err *e);

#endif
