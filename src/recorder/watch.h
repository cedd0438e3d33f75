/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of some processes while something else is done: a recording in a temporary file, made in
 * a thread of its own by the same engine as any other.
 *
 *	recorder_watch_start(&w, &opts);
 *	recorder_watch_ready(w);	where a program must not begin before
 *	...
 *	recorder_watch_stop(w, &profile, e);
 *	recorder_watch_free(w);
 */
#ifndef RECORDER_WATCH_H
#define RECORDER_WATCH_H

#include "host/procfs.h"
#include "profile/profile.h"

struct recorder_watch_opts {
	const pid_list *pids; /* and what they start from now on */
	u64 frequency;
};

struct recorder_watch;

void recorder_watch_start(struct recorder_watch **ret, const struct recorder_watch_opts *opts);
/* Returns when samples are taken, or cannot be. */
void recorder_watch_ready(struct recorder_watch *w);
/* Ends it. @profile, which is new, gets the samples with their names; an error says why not. */
int recorder_watch_stop(struct recorder_watch *w, struct profile *profile, struct err *e);
void recorder_watch_free(struct recorder_watch *w);

#endif
