/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bar of several parts, and a graph of the past. */
#ifndef TUI_METER_H
#define TUI_METER_H

#include "tui/grid.h"

enum { METER_PARTS = 8 };

struct meter_part {
	double share; /* of the whole, 0..1 */
	enum role role;
};

struct meter {
	const char *label;
	const char *text; /* on the right end of the bar */
	struct meter_part parts[METER_PARTS];
	size_t n_parts;
};

/* One line: "label[||||||    12.3%]"; without room for a bar, label and text. */
void meter_draw(struct grid *g, struct rect r, const struct meter *m, int label_width);
/* Values 0..@most, newest last and on the right; eighths of cells from below. */
void graph_draw(struct grid *g, struct rect r, const double *values, size_t n, double most,
		enum role role);

#endif
