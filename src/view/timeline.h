/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include "analysis/sched.h"
#include "waits/marks.h"

/* Who ran where and who waited, as a picture that zooms; @html: as a page of its own. */
/* @file: what the events were read from, for commands that the picture suggests. */
void timeline_svg(struct sched_map *m, const struct marks *marks, const char *file, bool html,
		  struct buf *out);

#endif
