/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include "analysis/sched.h"

/* Who ran where and who waited, as a picture that zooms; @html: as a page of its own. */
void timeline_svg(struct sched_map *m, bool html, struct buf *out);

#endif
