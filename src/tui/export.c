/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/export.h"

enum { CELL_WIDTH = 9, CELL_HEIGHT = 18, BASELINE = 14, FONT_SIZE = 15, MARGIN = 8 };

static int last_used(const struct grid *g, int y)
{
	int x = g->width;

	while (x > 0 && grid_at(g, x - 1, y)->rune == ' ' && grid_at(g, x - 1, y)->width)
		x--;
	return x;
}

void grid_export_text(const struct grid *g, struct buf *out)
{
	for (int y = 0; y < g->height; y++) {
		int end = last_used(g, y);

		for (int x = 0; x < end; x++)
			if (grid_at(g, x, y)->width)
				buf_addutf8(out, grid_at(g, x, y)->rune);
		buf_addch(out, '\n');
	}
}

static bool same_look(const struct cell *a, const struct cell *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->attr == b->attr;
}

static void add_escape(struct buf *out, const struct cell *c)
{
	static const struct {
		u8 attr;
		const char *code;
	} codes[] = { { ATTR_BOLD, ";1" },
		      { ATTR_DIM, ";2" },
		      { ATTR_UNDERLINE, ";4" },
		      { ATTR_REVERSE, ";7" } };

	buf_addstr(out, "\033[0");
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (c->attr & codes[i].attr)
			buf_addstr(out, codes[i].code);
	if (c->fg >= 0)
		buf_addf(out, ";38;5;%d", c->fg);
	if (c->bg >= 0)
		buf_addf(out, ";48;5;%d", c->bg);
	buf_addch(out, 'm');
}

void grid_export_ansi(const struct grid *g, struct buf *out)
{
	for (int y = 0; y < g->height; y++) {
		const struct cell *before = NULL;

		for (int x = 0; x < g->width; x++) {
			const struct cell *c = grid_at(g, x, y);

			if (!c->width)
				continue;
			if (!before || !same_look(before, c))
				add_escape(out, c);
			buf_addutf8(out, c->rune);
			before = c;
		}
		buf_addstr(out, "\033[0m\n");
	}
}

/* --- SVG -------------------------------------------------------------------------------------- */

static void add_color(struct buf *out, int index, const char *otherwise)
{
	static const u8 basic[16][3] = {
		{ 0, 0, 0 },       { 205, 0, 0 },   { 0, 205, 0 },   { 205, 205, 0 },
		{ 0, 0, 238 },     { 205, 0, 205 }, { 0, 205, 205 }, { 229, 229, 229 },
		{ 127, 127, 127 }, { 255, 0, 0 },   { 0, 255, 0 },   { 255, 255, 0 },
		{ 92, 92, 255 },   { 255, 0, 255 }, { 0, 255, 255 }, { 255, 255, 255 },
	};
	static const u8 levels[] = { 0, 95, 135, 175, 215, 255 };

	if (index < 0 || index > 255)
		buf_addstr(out, otherwise);
	else if (index < 16)
		buf_addf(out, "#%02x%02x%02x", basic[index][0], basic[index][1], basic[index][2]);
	else if (index < 232)
		buf_addf(out, "#%02x%02x%02x", levels[(index - 16) / 36],
			 levels[(index - 16) / 6 % 6], levels[(index - 16) % 6]);
	else
		buf_addf(out, "#%02x%02x%02x", 8 + 10 * (index - 232), 8 + 10 * (index - 232),
			 8 + 10 * (index - 232));
}

static const char dark[] = "#16181d", light[] = "#d8dbe2";

static void add_background(struct buf *out, const struct cell *c)
{
	if (c->attr & ATTR_REVERSE)
		add_color(out, c->fg, light);
	else
		add_color(out, c->bg, dark);
}

static void add_escaped(struct buf *out, u32 rune)
{
	if (rune == '<')
		buf_addstr(out, "&lt;");
	else if (rune == '>')
		buf_addstr(out, "&gt;");
	else if (rune == '&')
		buf_addstr(out, "&amp;");
	else if (rune == ' ')
		/* not folded, whatever the viewer thinks of xml:space */
		buf_addstr(out, "&#160;");
	else
		buf_addutf8(out, rune);
}

/* Cells from @x on that look the same; returns where the next run begins. */
static int run_end(const struct grid *g, int x, int y)
{
	const struct cell *first = grid_at(g, x, y);

	do
		x++;
	while (x < g->width && same_look(first, grid_at(g, x, y)));
	return x;
}

static void add_run_text(const struct grid *g, int x, int end, int y, struct buf *out)
{
	const struct cell *c = grid_at(g, x, y);
	bool blank = true;

	for (int i = x; i < end; i++)
		blank &= grid_at(g, i, y)->rune == ' ';
	if (blank)
		return;
	buf_addf(out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"", MARGIN + x * CELL_WIDTH,
		 MARGIN + y * CELL_HEIGHT + BASELINE, (end - x) * CELL_WIDTH);
	if (c->attr & ATTR_REVERSE)
		add_color(out, c->bg, dark);
	else
		add_color(out, c->fg, light);
	buf_addf(out, "\"%s%s%s>", c->attr & ATTR_BOLD ? " font-weight=\"bold\"" : "",
		 c->attr & ATTR_DIM ? " opacity=\"0.6\"" : "",
		 c->attr & ATTR_UNDERLINE ? " text-decoration=\"underline\"" : "");
	for (int i = x; i < end; i++)
		if (grid_at(g, i, y)->width)
			add_escaped(out, grid_at(g, i, y)->rune);
	buf_addstr(out, "</text>\n");
}

void grid_export_svg(const struct grid *g, const char *title, struct buf *out)
{
	int width = g->width * CELL_WIDTH + 2 * MARGIN,
	    height = g->height * CELL_HEIGHT + 2 * MARGIN;

	buf_addf(out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		 "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		 "monospace\" font-size=\"%d\" xml:space=\"preserve\">\n<title>",
		 width, height, width, height, FONT_SIZE);
	for (const char *s = title; *s; s++) {
		if (*s == ' ')
			buf_addch(out, ' ');
		else
			add_escaped(out, (u8)*s);
	}
	buf_addf(out, "</title>\n<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\"/>\n", width,
		 height, dark);
	for (int y = 0; y < g->height; y++) {
		for (int x = 0, end; x < g->width; x = end) {
			const struct cell *c = grid_at(g, x, y);

			end = run_end(g, x, y);
			if (c->bg >= 0 || c->attr & ATTR_REVERSE) {
				buf_addf(out,
					 "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
					 "fill=\"",
					 MARGIN + x * CELL_WIDTH, MARGIN + y * CELL_HEIGHT,
					 (end - x) * CELL_WIDTH, CELL_HEIGHT);
				add_background(out, c);
				buf_addstr(out, "\"/>\n");
			}
			add_run_text(g, x, end, y, out);
		}
	}
	buf_addstr(out, "</svg>\n");
}
