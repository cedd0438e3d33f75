/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -o FILE and --force: the same for every command that writes a file of some format. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/buf.h"
#include "cli/cli.h"

struct output_args {
	const char *path; /* NULL: none; "-" is stdout */
	bool force;
};

/* For OPT_INCLUDE. */
extern const struct opt output_options[];

/*
 * EXIT_USAGE when the name ends in none of @extensions (NULL: any; "svg html"), EXIT_FAILED when
 * the file exists; 0 otherwise, also without a file. To be asked before anything is read.
 */
int output_check(struct context *ctx, const struct output_args *o, const char *extensions);
/* True when the file's name ends in ".@extension". */
bool output_is(const struct output_args *o, const char *extension);
/* To stdout without a file. Says on stderr what file was written, how large, and what opens it. */
int output_write(struct context *ctx, const struct output_args *o, const struct buf *text);

#endif
