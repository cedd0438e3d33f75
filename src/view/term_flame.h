/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flame graph in characters. */
#ifndef VIEW_TERM_FLAME_H
#define VIEW_TERM_FLAME_H

#include "view/svg_colors.h"

struct term_flame_opts {
	int width; /* columns */
	bool color;
	bool unicode;
	bool inverted; /* the root is at the top */
	struct svg_colors_opts colors;
};

/* The heading, a line for each row of boxes, the legend, and what was left out. */
void term_flame(const struct flame *f, const struct term_flame_opts *opts, struct buf *out);

#endif
