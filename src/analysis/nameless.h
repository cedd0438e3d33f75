/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run-time code without names: how much, whose, and what would name it. */
#ifndef ANALYSIS_NAMELESS_H
#define ANALYSIS_NAMELESS_H

#include "profile/profile.h"
#include "result/result.h"

/* A note for each runtime whose nameless frames are at least @least percent of all frames. */
void nameless_notes(const struct profile *p, double least, struct result *ret);

#endif
