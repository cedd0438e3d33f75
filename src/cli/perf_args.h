/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of perf that ask for what is done here anyway, or for a way of doing it that does not
 * exist here and changes no result: accepted, so that lines from a shell's history work.
 */
#ifndef CLI_PERF_ARGS_H
#define CLI_PERF_ARGS_H

#include "cli/cli.h"

struct perf_args {
	bool flag;
	const char *value;
};

/* For OPT_INCLUDE. */
extern const struct opt perf_record_options[];
extern const struct opt perf_report_options[];

#endif
