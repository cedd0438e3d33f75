/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is controlled while it runs, through a pipe or a FIFO, as perf can be:
 * commands are lines of text, and each is answered when it is done.
 *
 *	--control fd:5,6	reads from descriptor 5, answers on 6
 *	--control fifo:in,out	the same with FIFOs; the answers may be left out
 */
#ifndef RECORDER_CONTROL_H
#define RECORDER_CONTROL_H

#include "base/buf.h"
#include "base/err.h"

enum { CONTROL_LINE_MOST = 4096 }; /* longer lines are no commands */

enum control_command {
	CONTROL_NONE,    /* nothing is waiting */
	CONTROL_UNKNOWN, /* a line that is not a command: its text is in @line */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT, /* everything so far goes to a file of its own */
	CONTROL_STOP,
	CONTROL_PING,
};

struct control {
	int fd;     /* above 2; 0: none, or the other end is closed */
	int ack;    /* 0: none */
	bool ended; /* no more can be read: what is left is in @in */
	struct buf in;
	struct buf line; /* the last command */
};

/* @text as above. -EINVAL: it is neither form. */
int recorder_control_open(struct control *c, const char *text, struct err *e);
void recorder_control_release(struct control *c);
/* The next line. Call until it is CONTROL_NONE: the rest waits without the descriptor telling. */
enum control_command recorder_control_next(struct control *c);
/* What was requested is done; @known false: it was not a command. There may be no reader. */
void recorder_control_answer(struct control *c, bool known);

#endif
