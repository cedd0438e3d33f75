/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which recording is read: the same option for every command that reads one. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/cli.h"

#define INPUT_DEFAULT "fathom.data"

struct input_args {
	const char *input; /* never NULL after parsing; "-" is the standard input */
};

/* For OPT_INCLUDE. */
extern const struct opt input_options[];

/*
 * Fails with a message and a hint when the recording cannot be read: it is not there, a
 * directory, not ours to read, or a terminal. Reads nothing.
 */
int input_check(const struct input_args *in, struct err *e);

#endif
