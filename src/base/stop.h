/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Stop and report", said by a signal: SIGINT, SIGTERM, SIGHUP set the flag once; a second one
 * ends the process at once (128 + signal), unless it is the echo of the first. The flag is also a
 * file descriptor, so that a poll() cannot miss a signal that comes just before it: nothing races.
 */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include "base/err.h"

/* Installs the handlers; SIGPIPE becomes EPIPE. Call once, early. */
int stop_install(struct err *e);
/*
 * From now on a signal ends the process at once: finished files are read and analysed, nothing is
 * captured that a report could show.
 */
void stop_at_once(void);
bool stop_requested(void);
/* Readable once a stop was requested; -1 before stop_install(). */
int stop_fd(void);
/* Waits until a stop is requested or the time is over; true when stopped. */
bool stop_wait(u64 ns);
/* The signal that asked, 0 if none. */
int stop_signal(void);
/* Writing into a closed pipe is an error from now on, not a signal. */
void stop_ignore_pipe(void);
/* For a child between fork and exec: SIGHUP and SIGPIPE as they were when this program was
 * started, the others at their defaults. */
void stop_reset_in_child(void);

#endif
