/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of perf that request what is done here anyway, or a method that does not exist here and
 * changes no result: accepted, so that command lines from a shell's history work.
 */
#ifndef CLI_PERF_ARGS_H
#define CLI_PERF_ARGS_H

#include "cli/cli.h"

#define PERF_FILE "perf.data"

struct perf_args {
	bool flag;
	const char *value;
	/* of report, by perf's name */
	bool samples, period, modes;
	bool dump, stats, tasks;
	const char *separator;
	const char *part; /* of the names of functions */
	bool info;
	/* of diff */
	const char *compute, *keys;
	bool baseline_only;
	bool tui; /* report: a browser in the terminal */
};

/* For OPT_INCLUDE. */
extern const struct opt perf_record_options[];
extern const struct opt perf_report_options[];
extern const struct opt perf_diff_options[];
extern const struct opt perf_annotate_options[];
/* Of strace and perf trace, and what does the like here. */
extern const struct opt strace_peer_options[];

/* --symbol-filter, as a glob for --symbols; @symbols is it, or stays. */
char *perf_args_symbols(const struct perf_args *a, const char **symbols);
/* -D, --stats and --tasks: 1 when none of them was given, otherwise a status. */
int perf_args_dump(struct context *ctx, const struct perf_args *a, const char *input);

#endif
