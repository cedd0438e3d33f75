/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations from one tracepoint of a recording to another with the same key. */
#ifndef PROFILE_PAIRS_H
#define PROFILE_PAIRS_H

#include "base/err.h"
#include "base/vec.h"

enum { LATENCY_POINTS_MOST = 1 << 27 };

/* Something that took @value nanoseconds and ended at @time. */
struct latency_point {
	u64 time;
	u64 value;
};
typedef VEC(struct latency_point) latency_points;

struct event_pair {
	const char *from, *to; /* events: "block:block_rq_issue" */
	const char *key;       /* fields that both have, comma separated: "dev,sector" */
	bool blocks; /* a flush has no place: sector 0 when it is issued, -1 when it is complete */
};

int latency_points_too_many(struct err *e);
/*
 * Reads a recording of the two events, with their data. *@ret_unmatched counts ends without a
 * beginning, and the other way round.
 */
int event_pair_points(const char *path, const struct event_pair *pair, latency_points *ret,
		      u64 *ret_unmatched, struct err *e);

#endif
