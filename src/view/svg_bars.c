/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_bars.h"

#include "view/svg.h"

enum {
	BAR_HEIGHT = 44,
	BAR_GAP = 30,
	LEFT = 20,
	WIDTH = 1000,
	TOP = 56,
	LEGEND_ROW = 22,
	LEGEND_COLUMN = 330,
	LEGEND_COLUMNS = 3,
	LABEL_LEAST = 4, /* percent: narrower pieces have no number in them */
};

struct bars {
	const struct taxonomy *taxonomy;
	const struct breakdown *sides;
	size_t n;
	struct buf *out;
};

static void add_text(struct bars *b, const char *s)
{
	svg_escape(b->out, s, strlen(s), true);
}

static const char *name_of(const struct bars *b, u32 c)
{
	return c < b->taxonomy->components.len ? b->taxonomy->components.items[c].name : "unmapped";
}

static const char *color_of(const struct bars *b, u32 c)
{
	return c < b->taxonomy->components.len ? b->taxonomy->components.items[c].color : "#ffffff";
}

static u32 next_of(const struct bars *b, u32 c)
{
	return c + 1 < b->taxonomy->components.len ? c + 1 : COMPONENT_UNMAPPED;
}

static void add_piece(struct bars *b, const struct breakdown *side, u32 c, double from, double y)
{
	double share = breakdown_share(side, c), x = LEFT + from * WIDTH / 100;
	double w = share * WIDTH / 100;

	if (share <= 0)
		return;
	buf_addstr(b->out, "<g><title>");
	add_text(b, name_of(b, c));
	buf_addf(b->out,
		 ": %.2f%%, %llu samples</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
		 "height=\"%d\" fill=\"%s\" stroke=\"#333\" stroke-width=\".5\"/>",
		 share, (unsigned long long)side->samples[c], x, y, w, BAR_HEIGHT, color_of(b, c));
	if (share >= LABEL_LEAST)
		buf_addf(b->out,
			 "<text class=\"in\" x=\"%.2f\" y=\"%.1f\" text-anchor=\"middle\">%.1f%%"
			 "</text>",
			 x + w / 2, y + BAR_HEIGHT / 2.0 + 5, share);
	buf_addstr(b->out, "</g>\n");
}

static void add_bar(struct bars *b, const struct breakdown *side, double y)
{
	double from = 0;

	buf_addf(b->out, "<text x=\"%d\" y=\"%.1f\">", LEFT, y - 6);
	add_text(b, side->title);
	buf_addf(b->out, "</text>\n");
	for (u32 c = 0;; c = next_of(b, c)) {
		add_piece(b, side, c, from, y);
		from += breakdown_share(side, c);
		if (c == COMPONENT_UNMAPPED)
			return;
	}
}

static void add_legend(struct bars *b, double top)
{
	size_t i = 0;

	for (u32 c = 0;; c = next_of(b, c), i++) {
		double x = LEFT + (double)(i % LEGEND_COLUMNS) * LEGEND_COLUMN;
		size_t row = i / LEGEND_COLUMNS;
		double y = top + (double)row * LEGEND_ROW;

		buf_addf(b->out,
			 "<rect x=\"%.0f\" y=\"%.0f\" width=\"13\" height=\"13\" fill=\"%s\" "
			 "stroke=\"#333\" stroke-width=\".5\"/><text x=\"%.0f\" y=\"%.0f\">",
			 x, y - 11, color_of(b, c), x + 20, y);
		add_text(b, name_of(b, c));
		buf_addstr(b->out, "</text>\n");
		if (c == COMPONENT_UNMAPPED)
			return;
	}
}

static void begin(struct bars *b, const char *title, double height)
{
	buf_addf(b->out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bars\" width=\"%d\" "
		 "height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"name\" "
		 "font-family=\"" SVG_FONT "\" font-size=\"13\">\n"
		 "<title id=\"name\">",
		 WIDTH + 2 * LEFT, height, WIDTH + 2 * LEFT, height);
	add_text(b, title);
	buf_addstr(b->out, "</title>\n<style>\n"
			   "svg.bars { background: #fff }\n.bars text { fill: #111 }\n"
			   ".bars .heading { font-size: 17px; font-weight: 600 }\n"
			   ".bars .in { fill: #000; pointer-events: none }\n"
			   "@media (prefers-color-scheme: dark) {\n"
			   "svg.bars { background: #1c1d22 }\n.bars text { fill: #eee }\n"
			   ".bars .in { fill: #000 }\n}\n</style>\n");
	buf_addf(b->out, "<text class=\"heading\" x=\"%d\" y=\"26\">", LEFT);
	add_text(b, title);
	buf_addstr(b->out, "</text>\n");
}

void svg_bars(const struct taxonomy *t, const struct breakdown *sides, size_t n, const char *title,
	      struct buf *out)
{
	struct bars b = { .taxonomy = t, .sides = sides, .n = n, .out = out };
	double legend = TOP + 12 + (double)n * (BAR_HEIGHT + BAR_GAP);
	size_t rows = DIV_ROUND_UP(t->components.len + 1, (size_t)LEGEND_COLUMNS);

	begin(&b, title, legend + (double)rows * LEGEND_ROW + 10);
	for (size_t i = 0; i < n; i++)
		add_bar(&b, &sides[i], TOP + (double)i * (BAR_HEIGHT + BAR_GAP));
	add_legend(&b, legend);
	buf_addstr(out, "</svg>\n");
}
