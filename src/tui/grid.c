/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/grid.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/fmt.h"

static const struct look_role *look_of(const struct grid *g, enum role role)
{
	return &g->theme->roles[role < ROLE_COUNT ? role : ROLE_TEXT];
}

static struct cell blank(const struct grid *g)
{
	const struct look_role *l = look_of(g, ROLE_TEXT);

	return (struct cell){ .rune = ' ', .width = 1, .attr = l->attr, .fg = l->fg, .bg = l->bg };
}

void grid_init(struct grid *g, int width, int height, const struct theme *theme)
{
	*g = (struct grid){ .theme = theme };
	grid_resize(g, width, height);
}

void grid_release(struct grid *g)
{
	free(g->cells);
	g->cells = NULL;
}

void grid_resize(struct grid *g, int width, int height)
{
	g->width = MIN(MAX(width, 1), GRID_WIDTH_MOST);
	g->height = MIN(MAX(height, 1), GRID_HEIGHT_MOST);
	g->cells = xreallocarray(g->cells, (size_t)g->width * (size_t)g->height, sizeof(*g->cells));
	grid_clear(g);
}

void grid_clear(struct grid *g)
{
	const struct cell empty = blank(g);

	for (size_t i = 0; i < (size_t)g->width * (size_t)g->height; i++)
		g->cells[i] = empty;
}

static struct cell *cell_at(struct grid *g, int x, int y)
{
	return &g->cells[(size_t)y * (size_t)g->width + (size_t)x];
}

/* Half of a wide character cannot stay when its other half is drawn over. */
static void free_cell(struct grid *g, int x, int y)
{
	struct cell *c = cell_at(g, x, y);

	if (!c->width && x > 0)
		cell_at(g, x - 1, y)->rune = ' ', cell_at(g, x - 1, y)->width = 1;
	if (c->width == 2 && x + 1 < g->width)
		cell_at(g, x + 1, y)->rune = ' ', cell_at(g, x + 1, y)->width = 1;
}

static bool is_drawable(u32 rune)
{
	/* controls, and marks that turn the direction of what follows */
	return rune >= 0x20 && !(rune >= 0x7f && rune < 0xa0) && rune != 0xad &&
	       !(rune >= 0x200b && rune <= 0x200f) && !(rune >= 0x2028 && rune <= 0x202e) &&
	       !(rune >= 0x2060 && rune <= 0x206f) && rune != 0xfeff;
}

/* What stands for a character where only ASCII may be drawn. */
static u32 ascii_of(u32 rune)
{
	static const struct {
		u32 from, to;
		char ascii;
	} table[] = {
		{ 0x2500, 0x2501, '-' }, { 0x2502, 0x2503, '|' }, { 0x2504, 0x257f, '+' },
		{ 0x2581, 0x2583, '.' }, { 0x2584, 0x2586, ':' }, { 0x2587, 0x2588, '#' },
		{ 0x2589, 0x258c, '#' }, { 0x258d, 0x258f, ':' }, { 0x2026, 0x2026, '~' },
		{ 0x2800, 0x28ff, '*' }, { 0x25b2, 0x25b3, '^' }, { 0x25bc, 0x25bd, 'v' },
		{ 0x2192, 0x2192, '>' }, { 0x203a, 0x203a, '>' }, { 0x00b7, 0x00b7, '.' },
		{ 0x00b0, 0x00b0, 'o' }, { 0x25cf, 0x25cf, '*' }, { 0x2591, 0x2593, '%' },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (rune >= table[i].from && rune <= table[i].to)
			return (u32)table[i].ascii;
	return '?';
}

static int put(struct grid *g, int x, int y, u32 rune, const struct look_role *look)
{
	struct cell *c;
	int width;

	if (!is_drawable(rune))
		rune = '?';
	if (g->ascii && rune > 0x7e)
		rune = ascii_of(rune);
	width = (int)fmt_rune_width(rune);
	if (!width)
		return 0;
	if (y < 0 || y >= g->height || x < 0 || x + width > g->width)
		return width;
	for (int i = 0; i < width; i++)
		free_cell(g, x + i, y);
	c = cell_at(g, x, y);
	*c = (struct cell){
		.rune = rune, .width = (u8)width, .attr = look->attr, .fg = look->fg, .bg = look->bg
	};
	if (width == 2) {
		c[1] = *c;
		c[1].width = 0;
		c[1].rune = ' ';
	}
	return width;
}

void grid_put(struct grid *g, int x, int y, u32 rune, enum role role)
{
	put(g, x, y, rune, look_of(g, role));
}

int grid_text(struct grid *g, int x, int y, int room, const char *text, enum role role)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	const struct look_role *look = look_of(g, role);
	size_t end, n;
	bool cut;
	int at = 0;

	if (room <= 0)
		return 0;
	fmt_clean(&clean, text, strlen(text));
	text = buf_str(&clean);
	n = clean.len;
	end = fmt_cut(text, (size_t)room);
	cut = end < n;
	if (cut)
		end = fmt_cut(text, (size_t)room - 1);
	for (size_t i = 0; i < end;) {
		u32 rune = '?';
		size_t len = fmt_rune(text + i, end - i, &rune);

		at += put(g, x + at, y, rune, look);
		i += len ? len : 1;
	}
	if (cut)
		at += put(g, x + at, y, 0x2026, look);
	return at;
}

int grid_textf(struct grid *g, int x, int y, int room, enum role role, const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	return grid_text(g, x, y, room, buf_str(&text), role);
}

void grid_text_right(struct grid *g, int x, int y, int room, const char *text, enum role role)
{
	int width = (int)fmt_width(text);

	grid_text(g, x + MAX(room - width, 0), y, MIN(room, MAX(width, 0)), text, role);
}

static struct rect inside(const struct grid *g, struct rect r)
{
	int right = MIN(r.x + r.w, g->width), below = MIN(r.y + r.h, g->height);

	r.x = MAX(r.x, 0);
	r.y = MAX(r.y, 0);
	r.w = MAX(right - r.x, 0);
	r.h = MAX(below - r.y, 0);
	return r;
}

void grid_fill(struct grid *g, struct rect r, u32 rune, enum role role)
{
	r = inside(g, r);
	for (int y = 0; y < r.h; y++)
		for (int x = 0; x < r.w; x++)
			grid_put(g, r.x + x, r.y + y, rune, role);
}

void grid_paint(struct grid *g, struct rect r, enum role role)
{
	const struct look_role *l = look_of(g, role);

	r = inside(g, r);
	for (int y = 0; y < r.h; y++) {
		for (int x = 0; x < r.w; x++) {
			struct cell *c = cell_at(g, r.x + x, r.y + y);

			c->fg = l->fg;
			c->bg = l->bg;
			c->attr = l->attr;
		}
	}
}

void grid_color(struct grid *g, struct rect r, s16 bg)
{
	r = inside(g, r);
	for (int y = 0; y < r.h; y++) {
		for (int x = 0; x < r.w; x++) {
			struct cell *c = cell_at(g, r.x + x, r.y + y);

			c->fg = 16;
			c->bg = bg;
		}
	}
}

void grid_box(struct grid *g, struct rect r, const char *title, enum role role)
{
	if (r.w < 2 || r.h < 2)
		return;
	for (int x = 1; x < r.w - 1; x++) {
		grid_put(g, r.x + x, r.y, 0x2500, role);
		grid_put(g, r.x + x, r.y + r.h - 1, 0x2500, role);
	}
	for (int y = 1; y < r.h - 1; y++) {
		grid_put(g, r.x, r.y + y, 0x2502, role);
		grid_put(g, r.x + r.w - 1, r.y + y, 0x2502, role);
	}
	grid_put(g, r.x, r.y, 0x250c, role);
	grid_put(g, r.x + r.w - 1, r.y, 0x2510, role);
	grid_put(g, r.x, r.y + r.h - 1, 0x2514, role);
	grid_put(g, r.x + r.w - 1, r.y + r.h - 1, 0x2518, role);
	if (title && r.w > 6)
		grid_textf(g, r.x + 2, r.y, r.w - 4, role, " %s ", title);
}

void grid_bar(struct grid *g, int x, int y, int eighths, enum role role)
{
	if (eighths > 0)
		grid_put(g, x, y, eighths >= 8 ? 0x2588 : 0x2590u - (u32)eighths, role);
}

void grid_column(struct grid *g, int x, int y, int eighths, enum role role)
{
	if (eighths > 0)
		grid_put(g, x, y, 0x2580u + (u32)MIN(eighths, 8), role);
}

static int cube(u8 v)
{
	return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

s16 color_of_rgb(u8 r, u8 g, u8 b)
{
	return (s16)(16 + 36 * cube(r) + 6 * cube(g) + cube(b));
}
