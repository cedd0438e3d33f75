/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under which name a frame is shown in pictures. The inside of flame.c. */
#ifndef ANALYSIS_FLAME_NAMES_H
#define ANALYSIS_FLAME_NAMES_H

#include "profile/profile.h"

/*
 * frame -> the frame it is shown as: one for each name and kind, wherever it comes from; code
 * without name goes by its module, "[libfoo.so]". To be freed; covers all frames there are.
 */
u32 *flame_shown_frames(struct profile *p);

#endif
