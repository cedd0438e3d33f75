/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that the kernel could not finish because a table was missing: it sends registers, the top
 * of the stack and the executable mappings, and the rest is done here, when the table is there.
 * So it does not matter whether the process still exists.
 */
#ifndef UNWIND_RESCUE_H
#define UNWIND_RESCUE_H

#include "unwind/feed.h"

enum { RESCUE_MAX_PROCESSES = 4096 }; /* whose mappings are remembered */

/* Mappings that were noted from events, for processes that are gone. */
struct rescue {
	struct unwind_feed *feed;
	bool places; /* frames are wanted as places in files */
	VEC(struct mappings *) maps;
	struct map by_pid; /* index + 1 */
};

void rescue_init(struct rescue *r, struct unwind_feed *feed);
void rescue_release(struct rescue *r);
void rescue_note_map(struct rescue *r, int pid, const struct mapping *map);
/* Unwinds the user part of @rec into @f. */
void rescue_unwind(struct rescue *r, const struct unwind_rescue *rec, struct unwind_frames *f);

#endif
