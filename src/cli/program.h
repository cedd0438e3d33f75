/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program that a command launches: the same exit statuses and the same end for all. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "capture/launch.h"

/* Positive: there is nothing to run, and this is the exit status that a shell has for it. */
int program_prepare(struct launch *l, char *const *argv, struct err *e);
/*
 * Ends it if it still runs, as the sender of the signal would have. Its exit status; 0
 * for one that only fathom ended, and without a program.
 */
int program_end(struct launch *l);

#endif
