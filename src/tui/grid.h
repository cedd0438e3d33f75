/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen of cells in memory. Widgets draw into it without knowing of any terminal; it becomes
 * text, ANSI or SVG (tui/export.h), or the difference to what a terminal shows (tui/driver.h).
 *
 * Invariants: a wide character is a cell of width 2 and, right of it, a cell of width 0; no cell
 * holds a control character, so that text from outside can be drawn as it is.
 */
#ifndef TUI_GRID_H
#define TUI_GRID_H

#include "base/base.h"
#include "tui/theme.h"

enum { GRID_WIDTH_MOST = 2000, GRID_HEIGHT_MOST = 1000 };

struct cell {
	u32 rune;
	u8 width; /* 0: the right half of a wide character */
	u8 attr;  /* enum tui_attr */
	s16 fg;   /* of the 256 colours; -1: the terminal's own */
	s16 bg;
};

struct grid {
	int width, height;
	struct cell *cells;
	const struct theme *theme;
	bool ascii; /* nothing beyond ASCII is drawn */
};

struct rect {
	int x, y, w, h;
};

void grid_init(struct grid *g, int width, int height, const struct theme *theme);
void grid_release(struct grid *g);
/* All cells are blank afterwards. */
void grid_resize(struct grid *g, int width, int height);
void grid_clear(struct grid *g);

static inline struct rect grid_all(const struct grid *g)
{
	return (struct rect){ 0, 0, g->width, g->height };
}

static inline const struct cell *grid_at(const struct grid *g, int x, int y)
{
	return &g->cells[(size_t)y * (size_t)g->width + (size_t)x];
}

/* One character; where there is no room for it, nothing happens. */
void grid_put(struct grid *g, int x, int y, u32 rune, enum role role);
/*
 * UTF-8 text in at most @room columns, with a mark where it is cut; control characters and what is
 * not UTF-8 become visible. Returns the columns used.
 */
int grid_text(struct grid *g, int x, int y, int room, const char *text, enum role role);
int grid_textf(struct grid *g, int x, int y, int room, enum role role, const char *fmt, ...)
	PRINTF_LIKE(6, 7);
/* The same, ending at @x + @room. */
void grid_text_right(struct grid *g, int x, int y, int room, const char *text, enum role role);
void grid_fill(struct grid *g, struct rect r, u32 rune, enum role role);
/* Changes colours of what is drawn, as for a cursor line; text keeps its own where @keep. */
void grid_paint(struct grid *g, struct rect r, enum role role);
/* The background of one cell by its colour: flames and heat. Text on it is black. */
void grid_color(struct grid *g, struct rect r, s16 bg);
/* A frame of lines around @r, with a title in the upper one. */
void grid_box(struct grid *g, struct rect r, const char *title, enum role role);
/* A part of a column in eighths, 0..8, growing from the left or from below. */
void grid_bar(struct grid *g, int x, int y, int eighths, enum role role);
void grid_column(struct grid *g, int x, int y, int eighths, enum role role);

/* The nearest of the 256 colours. */
s16 color_of_rgb(u8 r, u8 g, u8 b);

#endif
