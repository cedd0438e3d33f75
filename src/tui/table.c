/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/table.h"

#include "base/fmt.h"

/* The width that a column gets, when the screen has @left columns from it on. */
static int width_of(const struct table_view *t, size_t i, int left)
{
	int width = t->columns[i].width, after = 0;

	if (width)
		return width;
	for (size_t k = i + 1; k < t->n_columns; k++)
		after += t->columns[k].width + 1;
	return MAX(left - after, 8);
}

static bool is_shifted_out(const struct table_view *t, size_t i)
{
	return i > 0 && (int)i <= t->shift;
}

static void draw_head(struct grid *g, struct rect r, const struct table_view *t)
{
	int x = 0;

	grid_fill(g, (struct rect){ r.x, r.y, r.w, 1 }, ' ', ROLE_HEAD);
	for (size_t i = 0; i < t->n_columns && x < r.w; i++) {
		const struct table_column *c = &t->columns[i];
		bool sorted = (int)i == t->sorted;
		_cleanup_buf_ struct buf title = BUF_INIT;
		int width;

		if (is_shifted_out(t, i))
			continue;
		width = MIN(width_of(t, i, r.w - x), r.w - x);
		buf_addstr(&title, c->title);
		if (sorted && (int)fmt_width(c->title) < width)
			buf_addstr(&title, t->ascending ? "\xe2\x96\xb2" : "\xe2\x96\xbd");
		if (c->right)
			grid_text_right(g, r.x + x, r.y, width, buf_str(&title),
					sorted ? ROLE_SORTED : ROLE_HEAD);
		else
			grid_text(g, r.x + x, r.y, width, buf_str(&title),
				  sorted ? ROLE_SORTED : ROLE_HEAD);
		x += width + 1;
	}
}

static void draw_line(struct grid *g, struct rect r, const struct table_view *t, int row)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int x = 0;

	for (size_t i = 0; i < t->n_columns && x < r.w; i++) {
		const struct table_column *c = &t->columns[i];
		enum role role;
		int width;

		if (is_shifted_out(t, i))
			continue;
		width = MIN(width_of(t, i, r.w - x), r.w - x);
		buf_reset(&text);
		role = t->cell(t->ctx, row, i, &text);
		if (c->right)
			grid_text_right(g, r.x + x, r.y, width, buf_str(&text), role);
		else
			grid_text(g, r.x + x, r.y, width, buf_str(&text), role);
		x += width + 1;
	}
}

void table_draw(struct grid *g, struct rect r, const struct table_view *t, struct list *l, int rows)
{
	if (r.h < 1)
		return;
	draw_head(g, r, t);
	l->place = (struct rect){ r.x, r.y + 1, r.w, r.h - 1 };
	list_fit(l, rows, l->place.h);
	for (int i = 0; i < l->place.h && l->first + i < rows; i++) {
		struct rect line = { r.x, l->place.y + i, r.w, 1 };
		int row = l->first + i;
		enum role role = t->line ? t->line(t->ctx, row) : ROLE_TEXT;

		draw_line(g, line, t, row);
		if (row == l->cursor)
			grid_paint(g, line, ROLE_CURSOR);
		else if (role != ROLE_TEXT)
			grid_paint(g, line, role);
	}
}

int table_column_at(const struct table_view *t, struct rect r, int x)
{
	int at = 0;

	for (size_t i = 0; i < t->n_columns && at < r.w; i++) {
		int width;

		if (is_shifted_out(t, i))
			continue;
		width = MIN(width_of(t, i, r.w - at), r.w - at);
		if (x >= r.x + at && x < r.x + at + width)
			return (int)i;
		at += width + 1;
	}
	return -1;
}
