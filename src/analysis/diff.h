/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two profiles compared. Both are loaded into one struct profile, one after the other, so that
 * their frames and stacks are the same; then they are the two events of it that the flame graph
 * and the viewer compare, "before" and "after".
 *
 *	profile_load(p, "old", ...);
 *	diff_end_before(&d, p, e);
 *	profile_load(p, "new", ...);
 *	diff_join(&d, p, &opts, e);
 */
#ifndef ANALYSIS_DIFF_H
#define ANALYSIS_DIFF_H

#include "base/err.h"
#include "profile/profile.h"
#include "result/result.h"

struct diff_opts {
	bool absolute; /* compare as they are: else both are made equally large */
	bool relative; /* sort by growth in parts of what there was */
	bool swap;
	double confidence; /* 0..1, as in struct flame_opts */
	u32 max_lines;     /* of each table, 0: all */
};

struct diff_side {
	u16 event;     /* of the profile, after diff_join() */
	u32 name;      /* string: where it came from */
	u64 samples;   /* of the event */
	double weight; /* of all, as counted: before normalisation */
	u32 counts;    /* string: the event that was compared */
	u64 lost;
	u32 fault; /* string: how the file is damaged */
	u64 first_time;
	u64 duration;
};

typedef VEC(struct profile_sample) profile_samples;

struct diff {
	profile_samples kept; /* of the first side, while the second is loaded */
	struct diff_side before, after;
	double factor;   /* what weights of before were multiplied by */
	double exposure; /* see struct flame_opts */
};

/*
 * -ENODATA when there is no sample. Takes what was loaded so far for the earlier side, out of the
 * profile: filters of the other must not see it. diff_join() gives it back.
 */
int diff_end_before(struct diff *d, struct profile *p, struct err *e);
/*
 * Compares the first event that both have; where they have none in common, the first of each, and
 * diff_mixed() tells. Of two recordings the earlier one is moved to the time of the later.
 */
int diff_join(struct diff *d, struct profile *p, const struct diff_opts *opts, struct err *e);
/* Both sides were in one input, as folded stacks with two counts; -EINVAL when they are not. */
int diff_columns(struct diff *d, struct profile *p, const struct diff_opts *opts, struct err *e);

void diff_release(struct diff *d);

/* The sides count different things: events of other names, save that plain samples go with all. */
bool diff_mixed(const struct diff *d, const struct profile *p);

/* Tables of functions and of stacks that changed. */
void diff_report(const struct diff *d, struct profile *p, const struct diff_opts *opts,
		 struct result *ret);

#endif
