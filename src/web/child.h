/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work of the engine runs in processes of its own: this program again, with arguments that are
 * made here from numbers and names. What it attaches is gone when it is gone, and it goes when
 * the engine does.
 */
#ifndef WEB_CHILD_H
#define WEB_CHILD_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

#include <sys/types.h>

/* argv, each item owned. */
struct command_line {
	VEC(char *) words;
};

void command_line_release(struct command_line *c);
void command_line_add(struct command_line *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* How fathom ends where there was nothing to record or to show. */
enum { CHILD_NOTHING = 4 };

struct child {
	pid_t pid; /* 0: none */
	int fd;    /* readable when it has ended */
	int log;   /* its standard error, in memory; kept until the next start */
};

#define CHILD_INIT                            \
	{                                     \
		.pid = 0, .fd = -1, .log = -1 \
	}

/* @out_path: standard output, a new file in @dir; NULL: none. */
int child_start(struct child *c, const struct command_line *line, int dir, const char *out_path,
		struct err *e);
/* @out: a descriptor for its standard output; -1: none. */
int child_start_to(struct child *c, const struct command_line *line, int out, struct err *e);
/* Its first error line and hint, where it said some and nothing is in *@ret. */
void child_words(const struct child *c, char **ret_error, char **ret_hint);
/* Its output without control sequences; NULL: none. To be freed. */
char *child_text(const struct child *c);
/* A message for a status without error output; to be freed. */
char *child_end_text(int status);
/* Ends it and forgets its words. */
void child_release(struct child *c);
/* To be called when @fd is readable: its status, as wait() gives it; adds its CPU time, ns. */
int child_reap(struct child *c, u64 *ret_cpu);
void child_signal(const struct child *c, int signal);
/* Ends it at once and waits for that. */
void child_kill(struct child *c);
/* CPU time so far, ns. */
u64 child_cpu(const struct child *c);

#endif
