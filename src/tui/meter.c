/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/meter.h"

#include <math.h>

#include "base/fmt.h"

static void draw_parts(struct grid *g, int x, int y, int width, const struct meter *m)
{
	/* a letter for each part where there are no colours to tell them apart */
	static const char marks[METER_PARTS] = "|#*+-=%o";
	double sum = 0;
	int at = 0;

	for (size_t i = 0; i < m->n_parts; i++) {
		double share = m->parts[i].share;
		int end;

		if (!isfinite(share) || share < 0)
			continue;
		sum = MIN(sum + share, 1);
		end = (int)(sum * width + 0.5);
		for (; at < end; at++)
			grid_put(g, x + at, y, g->theme->colored ? '|' : (u32)marks[i],
				 m->parts[i].role);
	}
}

void meter_draw(struct grid *g, struct rect r, const struct meter *m, int label_width)
{
	int text = (int)fmt_width(m->text), bar;

	label_width = MIN(label_width, r.w);
	grid_text(g, r.x, r.y, label_width, m->label, ROLE_KEY);
	bar = r.w - label_width - 2;
	if (bar < 4) {
		grid_text(g, r.x + label_width + 1, r.y, r.w - label_width - 1, m->text, ROLE_TEXT);
		return;
	}
	grid_put(g, r.x + label_width, r.y, '[', ROLE_BOLD);
	grid_put(g, r.x + label_width + 1 + bar, r.y, ']', ROLE_BOLD);
	draw_parts(g, r.x + label_width + 1, r.y, bar, m);
	if (text <= bar)
		grid_text(g, r.x + label_width + 1 + bar - text, r.y, text, m->text, ROLE_TEXT);
}

void graph_draw(struct grid *g, struct rect r, const double *values, size_t n, double most,
		enum role role)
{
	for (int x = 0; x < r.w; x++) {
		int left = r.w - 1 - x, eighths;
		double v;

		if ((size_t)left >= n || most <= 0)
			continue;
		v = values[n - 1 - (size_t)left];
		eighths = isfinite(v) ? (int)(MIN(MAX(v / most, 0), 1) * 8 * r.h + 0.5) : 0;
		for (int y = 0; y < r.h && eighths > 0; y++, eighths -= 8)
			grid_column(g, r.x + x, r.y + r.h - 1 - y, MIN(eighths, 8), role);
	}
}
