/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that every stack of a language has and no programmer wrote: start-up code, interpreters,
 * kernel entry. Pictures of waiting show a run of it as one box.
 */
#ifndef ANALYSIS_PLUMBING_H
#define ANALYSIS_PLUMBING_H

#include "profile/profile.h"

struct plumbing_rule {
	const char *box;   /* "[start]" */
	const char *names; /* an extended regular expression, JavaScript's too */
};

/* Ends with an empty one. */
extern const struct plumbing_rule plumbing_rules[];

/*
 * @shown: frame -> the frame it is shown as. Frames of a rule's functions become its box, a marker
 * of @p; neighbours are for the tree to join. False: none.
 */
bool plumbing_fold(struct profile *p, u32 *shown, size_t n);
bool plumbing_is_box(const char *name);

#endif
