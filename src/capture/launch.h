/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that is started but held just before exec(), so that events can be attached to its
 * pid first.
 */
#ifndef CAPTURE_LAUNCH_H
#define CAPTURE_LAUNCH_H

#include <sys/types.h>

#include "base/err.h"

struct launch {
	pid_t pid;       /* 0: none */
	int go_fd;       /* a byte lets it run, closing it ends it */
	int pid_fd;      /* readable when it has ended; -1 on kernels before 5.3 */
	int exec_fd;     /* the errno of a failed exec */
	char *name;      /* argv[0] */
	bool out_to_err; /* asked before it is prepared: our own output is not for its words */
	bool running;
	bool reaped;
	int status; /* as of waitpid(), once reaped */
};

#define LAUNCH_INIT                                       \
	{                                                 \
		.go_fd = -1, .pid_fd = -1, .exec_fd = -1, \
	}

/* Forks; the child waits. @argv ends with NULL. ENOENT, EACCES: there is nothing to run. */
int launch_prepare(struct launch *l, char *const *argv, struct err *e);
/* Lets it exec. An exec that fails is the error returned: ENOENT is "command not found". */
int launch_go(struct launch *l, struct err *e);
/* True once it has ended; never waits. */
bool launch_ended(struct launch *l);
/* Waits for its end and returns its exit status as a shell does: code, or 128 + signal. */
int launch_wait(struct launch *l);
/* Passes a signal on. */
void launch_signal(struct launch *l, int sig);
/* Ends it (SIGKILL) if it never ran; leaves a running one alone. */
void launch_release(struct launch *l);

#endif
