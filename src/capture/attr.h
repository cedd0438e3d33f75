/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an event description to the perf_event_attr that records it, and what to give up, in which
 * order, when the kernel refuses it.
 */
#ifndef CAPTURE_ATTR_H
#define CAPTURE_ATTR_H

#include "capture/session.h"

/* @group_member: not the leader of its group. @on_exec: it starts with the exec of its task. */
void attr_for_event(struct perf_event_attr *ret, const struct event *ev,
		    const struct session_opts *opts, bool group_member, bool on_exec);
/* The dummy event that carries MMAP2, COMM, FORK and the like. */
void attr_for_side_band(struct perf_event_attr *ret, const struct session_opts *opts);

/*
 * Takes the next thing away that an older kernel or another PMU may not know; false when there is
 * nothing left. @error is the (positive) errno of the refusal. What a user must know is put into
 * @ret_note (a literal), NULL otherwise.
 */
bool attr_give_up(struct perf_event_attr *attr, int error, const char **ret_note);

/* An errno of perf_event_open in words that help. */
int attr_open_error(int error, const char *name, const struct perf_event_attr *attr,
		    bool whole_machine, struct err *e);

/* An event takes a descriptor for each CPU or thread: as many as the hard limit allows. */
void attr_raise_fd_limit(void);

#endif
