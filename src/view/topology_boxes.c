/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boxes of a machine in a terminal. */
#include "view/topology_form.h"

#include "base/fmt.h"
#include "view/term.h"

enum { GRID_MOST = 1 << 24, STYLE_SHIFT = 24 };

/* Lines, as corners and edges: unicode, then ASCII. */
struct strokes {
	u32 across, down, top_left, top_right, bottom_left, bottom_right;
};

static const struct strokes lines_of[] = {
	{ '-', '|', '+', '+', '+', '+' },
	{ 0x2500, 0x2502, 0x250c, 0x2510, 0x2514, 0x2518 },
};

/* A character and its style in each cell. */
struct grid {
	u32 *cells;
	u32 w, h;
	const struct strokes *lines;
};

static void put(struct grid *g, u32 x, u32 y, u32 c, enum style style)
{
	if (x < g->w && y < g->h)
		g->cells[(size_t)y * g->w + x] = c | (u32)style << STYLE_SHIFT;
}

/* What is not ASCII in a label becomes a question mark: cells hold one column each. */
static void put_text(struct grid *g, u32 x, u32 y, const char *s, enum style style)
{
	for (; *s; s++) {
		u8 c = (u8)*s;

		if ((c & 0xc0) == 0x80)
			continue;
		put(g, x++, y, c < 0x80 ? c : '?', style);
	}
}

static void draw_box(struct grid *g, const struct topo_box *b)
{
	const struct strokes *s = g->lines;
	u32 right = b->x + b->w - 1, bottom = b->y + b->h - 1;

	for (u32 x = b->x; x <= right; x++) {
		put(g, x, b->y, s->across, STYLE_DIM);
		put(g, x, bottom, s->across, STYLE_DIM);
	}
	for (u32 y = b->y; y <= bottom; y++) {
		put(g, b->x, y, s->down, STYLE_DIM);
		put(g, right, y, s->down, STYLE_DIM);
	}
	put(g, b->x, b->y, s->top_left, STYLE_DIM);
	put(g, right, b->y, s->top_right, STYLE_DIM);
	put(g, b->x, bottom, s->bottom_left, STYLE_DIM);
	put(g, right, bottom, s->bottom_right, STYLE_DIM);
	put(g, b->x + 1, b->y, ' ', STYLE_NONE);
	put_text(g, b->x + 2, b->y, b->title, STYLE_STRONG);
	put(g, b->x + 2 + (u32)fmt_width(b->title), b->y, ' ', STYLE_NONE);
}

static enum style load_style(double share)
{
	return share >= 0.9 ? STYLE_BAD : share >= 0.6 ? STYLE_WARN : STYLE_GOOD;
}

static void draw_bar(struct grid *g, u32 x, u32 y, double share, const char *text)
{
	u32 filled = (u32)(share * TOPO_BAR + 0.5);

	for (u32 i = 0; i < TOPO_BAR; i++)
		put(g, x + i, y, i < filled ? '#' : '.',
		    i < filled ? load_style(share) : STYLE_DIM);
	put_text(g, x + TOPO_BAR + 1, y, text, load_style(share));
}

static void draw_line(struct grid *g, const struct topo_line *l, const struct topo_load *load)
{
	double share = l->obj && load ? topo_share(l->obj, load) : -1;
	char text[16];

	put_text(g, l->x, l->y, l->text, STYLE_NONE);
	if (share < 0)
		return;
	snprintf(text, sizeof(text), "%3.0f%%", 100 * share);
	draw_bar(g, l->x + l->w - TOPO_BAR - 5, l->y, share, text);
}

static void write_row(const struct grid *g, u32 y, bool color, struct buf *out)
{
	const u32 *row = g->cells + (size_t)y * g->w;
	enum style style = STYLE_NONE;
	u32 end = g->w;

	while (end && (row[end - 1] & 0xffffff) == ' ')
		end--;
	for (u32 x = 0; x < end; x++) {
		enum style next = (enum style)(row[x] >> STYLE_SHIFT);

		if (color && next != style)
			buf_addf(out, "%s%s", style != STYLE_NONE ? TERM_RESET : "",
				 term_style(next));
		style = next;
		buf_addutf8(out, row[x] & 0xffffff);
	}
	if (color && style != STYLE_NONE)
		buf_addstr(out, TERM_RESET);
	buf_addch(out, '\n');
}

void topology_form_boxes(const struct topo_layout *l, const struct topo_load *load, bool unicode,
			 bool color, struct buf *out)
{
	struct grid g = { .w = l->w, .h = l->h, .lines = &lines_of[unicode] };

	if (l->w && l->h > GRID_MOST / l->w) {
		buf_addstr(out, "this machine is too large for boxes\n");
		return;
	}
	g.cells = xcalloc((size_t)l->w * l->h + 1, sizeof(*g.cells));
	for (size_t i = 0; i < (size_t)l->w * l->h; i++)
		g.cells[i] = ' ';
	vec_each(b, &l->boxes)
		draw_box(&g, b);
	vec_each(line, &l->lines)
		draw_line(&g, line, load);
	for (u32 y = 0; y < g.h; y++)
		write_row(&g, y, color, out);
	free(g.cells);
}
