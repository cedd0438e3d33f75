/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one path from a place in code to the frames of a profile: names, source lines, functions
 * that were inlined there.
 */
#ifndef PROFILE_FRAMES_H
#define PROFILE_FRAMES_H

#include "profile/machine.h"
#include "profile/profile.h"
#include "runtime/python_names.h"

struct frames {
	struct profile *profile;
	struct symbols *symbols;
	const struct python_source *python; /* lines of functions of Python; NULL: none */
	bool lines;
	bool inlines; /* inlined functions are frames, where debug information has them */
};

/* The function whose code it is; code without a name keeps its module's. */
struct frame frames_plain(const struct frames *m, const struct place *place);
/* The innermost frame of a place; its inline_of leads out to the function whose code it is. */
u32 frames_of(const struct frames *m, const struct place *place);
/* Puts @frame onto @stack, after those that it was inlined into. */
u32 profile_push_frame(struct profile *p, u32 stack, u32 frame);

#endif
