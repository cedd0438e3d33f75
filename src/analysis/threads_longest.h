/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest waits of a process, those that read the same as one: who waits by name, what for and
 * where make a group; who ended them, by name and place, the endings of a group; what those had
 * been doing, and who had ended that, the pasts of an ending. The times and numbers of each add up
 * to those of what they are parts of.
 */
#ifndef ANALYSIS_THREADS_LONGEST_H
#define ANALYSIS_THREADS_LONGEST_H

#include "analysis/threads.h"

/* So many links of a chain of wakers are told apart. */
enum { LONGEST_LINKS = 4 };

struct pile {
	u32 of; /* the pile that this is a part of: an index, 0 for groups */
	u64 ns, count, max;
	u32 threads; /* so many different: of groups those who wait, of endings the wakers */
	u32 places;  /* of groups: where they wait, which only page faults do in many */
	const struct wait *wait; /* the longest */
};
typedef VEC(struct pile) pile_list;

struct longest {
	pile_list groups, endings, pasts;
};

/* @waits must stay; their places become strings of @p. */
void longest_build(struct profile *p, const wait_list *waits, struct longest *ret);
void longest_release(struct longest *l);

/* The group with the longest wait; or of those behind @last. NULL: there is none. */
const struct pile *longest_group(const struct longest *l, const struct pile *last);
/* The ending of a group, and the past of an ending, that took most; likewise. */
const struct pile *longest_ending(const struct longest *l, const struct pile *group,
				  const struct pile *last);
const struct pile *longest_past(const struct longest *l, const struct pile *ending);

#endif
