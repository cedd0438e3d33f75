/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a process that took most, those that read the same as one: the thread's name, the
 * kind and the place make a group; the waker's name and place an ending of a group; what the waker
 * did meanwhile, and on whom it waited, a past of an ending. The times and numbers of each add up
 * to those of the whole that they are parts of.
 */
#ifndef ANALYSIS_THREADS_LONGEST_H
#define ANALYSIS_THREADS_LONGEST_H

#include "analysis/threads.h"

/* Links of a chain of wakers that are distinguished. */
enum { LONGEST_LINKS = 3 };

struct pile {
	u32 of; /* the pile that this is a part of: an index, 0 for groups */
	u64 ns, count, max;
	u64 before, open; /* of these, began before the observation; are still going on */
	u32 threads; /* the number of different ones: of groups the waiting ones, of endings the
			wakers */
	u32 places;  /* of groups: where they wait, which only page faults do in many */
	const struct wait *wait; /* the longest */
};
typedef VEC(struct pile) pile_list;

struct longest {
	pile_list groups, endings, pasts;
};

/* @waits must stay; their places become strings of @p. @idle: waiting for work, too. */
void longest_build(struct profile *p, const wait_list *waits, bool idle, struct longest *ret);
void longest_release(struct longest *l);

/* The group that took most, or the next one after @last; NULL: none. Likewise the endings
 * of a group, and the pasts of an ending. */
const struct pile *longest_group(const struct longest *l, const struct pile *last);
const struct pile *longest_ending(const struct longest *l, const struct pile *group,
				  const struct pile *last);
const struct pile *longest_past(const struct longest *l, const struct pile *ending,
				const struct pile *last);

#endif
