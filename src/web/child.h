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

struct child {
	pid_t pid; /* 0: none */
	int fd;    /* readable when it has ended */
};

#define CHILD_INIT                 \
	{                          \
		.pid = 0, .fd = -1 \
	}

/* @out_path: standard output; NULL: none. @log_path: standard error. Both are made in @dir. */
int child_start(struct child *c, const struct command_line *line, int dir, const char *out_path,
		const char *log_path, struct err *e);
/* To be called when @fd is readable: its status, as wait() gives it; adds its CPU time, ns. */
int child_reap(struct child *c, u64 *ret_cpu);
void child_signal(const struct child *c, int signal);
/* Ends it at once and waits for that. */
void child_kill(struct child *c);
/* CPU time so far, ns. */
u64 child_cpu(const struct child *c);

#endif
