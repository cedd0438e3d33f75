/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command of fathom as a child process, whose lines are read as they come. It ends with us,
 * however we end.
 */
#ifndef TOP_FEED_H
#define TOP_FEED_H

#include "base/buf.h"
#include "base/err.h"

struct feed;

/* @words: a command with its options, without the name of the program; ended by NULL. */
int feed_start(struct feed **ret, const char *const *words, struct err *e);
/* Kills it, unless it has ended. */
void feed_free(struct feed *c);
/* For poll(): readable when there are lines, or it has ended. */
int feed_fd(const struct feed *c);
/* The next whole line, without its newline; false: none for now. Never waits. */
bool feed_line(struct feed *c, struct buf *ret);
/* It has ended and all lines are read; *@ret_status is that of exit(), or -1. */
bool feed_ended(struct feed *c, int *ret_status);
/* Its standard error, a few lines at most. */
const char *feed_errors(struct feed *c);
/* CPU time that it has used so far, all threads, ns; 0: it has ended. */
u64 feed_cpu_ns(const struct feed *c);
/* That of all child processes that have ended. */
u64 feed_ended_cpu_ns(void);

#endif
