/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flame graph in cells: one row of boxes for each depth, the root at the bottom. */
#ifndef TUI_FLAME_H
#define TUI_FLAME_H

#include "tui/grid.h"

struct flame_cells {
	const char *name;
	u32 parent, depth;
	u64 start, weight;
	s16 color;
	bool found, chosen;
};

struct flame_view {
	u64 from, width; /* what of the whole is drawn */
	u32 depth;       /* row at the bottom */
	u64 whole;       /* 100 % */
};

/* Boxes are in the order parents first. Returns how many had no column of their own. */
u32 flame_draw(struct grid *g, struct rect r, const struct flame_cells *boxes, size_t n,
	       const struct flame_view *v);
/* The box at a place; SIZE_MAX: none. */
size_t flame_at(struct rect r, const struct flame_cells *boxes, size_t n,
		const struct flame_view *v, int x, int y);

#endif
