/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include "analysis/sched.h"
#include "waits/marks.h"

struct timeline {
	struct sched_map *map;
	const struct marks *marks;
	const struct sched_kinds *kinds; /* and of which machine it is */
	const char *file;                /* what was read, for commands that the picture suggests */
};

/* Who ran where and who waited, as a picture that zooms; @html: as a page of its own. */
void timeline_svg(const struct timeline *t, bool html, struct buf *out);

#endif
