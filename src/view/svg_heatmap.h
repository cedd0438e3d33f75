/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heat maps as SVG and in characters. */
#ifndef VIEW_SVG_HEATMAP_H
#define VIEW_SVG_HEATMAP_H

#include "analysis/heatmap.h"
#include "base/buf.h"

struct heat_view {
	const char *title;
	const char *subtitle; /* or NULL */
	const char *file;     /* for the command that draws a range as a flame graph; or NULL */
	const char *event;    /* likewise */
	bool log_count;       /* colours by the logarithm of the count */
	int width;            /* of the terminal */
	int height;           /* likewise, lines for cells */
	bool color, unicode;
};

/* One file; with scripts, two clicks choose a range and give the command that draws it. */
void svg_heatmap(const struct heatmap *h, const struct heat_view *v, struct buf *out);
void term_heatmap(const struct heatmap *h, const struct heat_view *v, struct buf *out);

/* How hot: 0..1. */
double heat_of(const struct heatmap *h, u64 count, bool log_count);
/* Lower edge of a row, for axes: "250ms", "16us", "40%". */
void heat_edge_text(const struct heatmap *h, u64 edge, struct buf *out);

#endif
