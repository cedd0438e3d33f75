/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/flame.h"

#include "base/buf.h"
#include "base/fmt.h"

enum { LABEL_LEAST = 3, PERCENT_ROOM = 7 };

/* Where a weight begins, in columns; from 0 to @width. */
static int column_of(const struct flame_view *v, int width, u64 weight)
{
	double at;

	if (weight <= v->from || !v->width)
		return 0;
	at = (double)(weight - v->from) / (double)v->width * width + 0.5;
	return at > width ? width : (int)at;
}

static bool place_of(struct rect r, const struct flame_cells *b, const struct flame_view *v,
		     struct rect *ret)
{
	int begin, end, row = (int)b->depth - (int)v->depth;

	if (row < 0 || row >= r.h)
		return false;
	begin = column_of(v, r.w, b->start);
	end = column_of(v, r.w, b->start + b->weight);
	*ret = (struct rect){ r.x + begin, r.y + r.h - 1 - row, end - begin, 1 };
	return end > begin;
}

static void draw_box(struct grid *g, struct rect at, const struct flame_cells *b,
		     const struct flame_view *v)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	enum role role = b->chosen ? ROLE_CURSOR : b->found ? ROLE_FOUND : ROLE_TEXT;
	int inner = at.w > 1 ? at.w - 1 : at.w;

	fmt_clean(&text, b->name, strlen(b->name));
	if ((int)fmt_width(buf_str(&text)) + PERCENT_ROOM <= inner && v->whole)
		buf_addf(&text, " %.1f%%", 100 * (double)b->weight / (double)v->whole);
	/* without colours a bar begins each box */
	if (!g->theme->colored) {
		grid_put(g, at.x, at.y, '|', role);
		if (inner > LABEL_LEAST)
			grid_text(g, at.x + 1, at.y, inner - 1, buf_str(&text), role);
	} else if (inner >= LABEL_LEAST) {
		grid_text(g, at.x, at.y, inner, buf_str(&text), role);
	}
	at.w = inner;
	if (b->chosen || b->found)
		grid_paint(g, at, role);
	else if (g->theme->colored)
		grid_color(g, at, b->color);
}

u32 flame_draw(struct grid *g, struct rect r, const struct flame_cells *boxes, size_t n,
	       const struct flame_view *v)
{
	u32 thin = 0;

	for (size_t i = 0; i < n; i++) {
		struct rect at;

		if (boxes[i].start + boxes[i].weight <= v->from ||
		    boxes[i].start >= v->from + v->width)
			continue;
		if (place_of(r, &boxes[i], v, &at))
			draw_box(g, at, &boxes[i], v);
		else if (boxes[i].depth >= v->depth && boxes[i].depth < v->depth + (u32)MAX(r.h, 0))
			thin++;
	}
	return thin;
}

size_t flame_at(struct rect r, const struct flame_cells *boxes, size_t n,
		const struct flame_view *v, int x, int y)
{
	for (size_t i = 0; i < n; i++) {
		struct rect at;

		if (place_of(r, &boxes[i], v, &at) && y == at.y && x >= at.x && x < at.x + at.w)
			return i;
	}
	return SIZE_MAX;
}
