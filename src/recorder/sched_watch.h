/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's events of the running machine, as a recording held in memory. */
#ifndef RECORDER_SCHED_WATCH_H
#define RECORDER_SCHED_WATCH_H

#include "base/err.h"

/*
 * Watches for @duration ns (0: until a stop). *@ret_fd is the recording, at its start; the caller
 * closes it.
 */
int sched_watch(u64 duration, u64 ring_bytes, int *ret_fd, struct err *e);

#endif
