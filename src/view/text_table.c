/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables. A column is as wide as its widest cell. When that is too much for the line, one column
 * gives way (the one marked COLUMN_FILL, else the last one of text) as long as it keeps a good part
 * of the line, then the other texts down to the length of a long command name, then that one
 * again; what is still too long is cut at the edge. Nothing wraps.
 */
#include "view/text.h"

#include "base/fmt.h"
#include "view/cell.h"
#include "view/term.h"

enum {
	GAP = 2,         /* blanks between columns */
	FILL_GOOD = 40,  /* percent of the line that the column which gives way keeps at first, */
	FILL_LEAST = 8,  /* and this much in the end */
	TEXT_LEAST = 16, /* other texts keep this much */
	COLUMN_MOST =
		400 /* without a width: wider cells stick out instead of filling up all others */
};

static bool visible(const struct column *c)
{
	return !(c->flags & COLUMN_HIDDEN);
}

static bool on_right(const struct column *c)
{
	return cell_is_number(c->type) && !(c->flags & COLUMN_LEFT);
}

static const char *heading(const struct column *c)
{
	return c->title ? c->title : c->key;
}

/* An empty cell in the middle is "-", so that columns can still be told apart by blanks. */
static const char *cell(struct text_out *o, const struct value *v, bool last)
{
	buf_reset(&o->cell);
	if (v->type)
		cell_text(&o->cell, v);
	else if (!last)
		buf_addch(&o->cell, '-');
	return buf_str(&o->cell);
}

static size_t last_visible(const struct table *t)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < t->n_columns; i++)
		if (visible(&t->columns[i]))
			last = i;
	return last;
}

static void measure(struct text_out *o, const struct table *t, size_t last, size_t *widths)
{
	size_t most = o->opts->width > 0 ? (size_t)o->opts->width : COLUMN_MOST;

	for (size_t i = 0; i < t->n_columns; i++) {
		size_t w = 0;

		if (!visible(&t->columns[i]))
			continue;
		if (o->opts->header)
			w = fmt_width(heading(&t->columns[i]));
		vec_each(row, &t->rows)
			w = MAX(w, fmt_width(cell(o, &row->cells[i], i == last)));
		widths[i] = MIN(w, most);
	}
}

static size_t fill_column(const struct table *t)
{
	size_t fill = SIZE_MAX;
	bool marked = false;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		bool mark = c->flags & COLUMN_FILL;

		if (!visible(c) || (!mark && (marked || c->type != VALUE_TEXT)))
			continue;
		fill = i;
		marked |= mark;
	}
	return fill;
}

static size_t give(size_t *width, size_t least, size_t excess)
{
	size_t n = *width > least ? MIN(*width - least, excess) : 0;

	*width -= n;
	return excess - n;
}

static void shrink(const struct table *t, size_t limit, size_t *widths)
{
	size_t total = 0, fill = fill_column(t), excess;

	for (size_t i = 0; i < t->n_columns; i++)
		if (visible(&t->columns[i]))
			total += widths[i] + (total ? GAP : 0);
	if (total <= limit || fill == SIZE_MAX)
		return;
	excess = give(&widths[fill], MAX(limit * FILL_GOOD / 100, FILL_LEAST), total - limit);
	for (size_t i = t->n_columns; i-- > 0 && excess;)
		if (visible(&t->columns[i]) && t->columns[i].type == VALUE_TEXT && i != fill)
			excess = give(&widths[i], TEXT_LEAST, excess);
	give(&widths[fill], FILL_LEAST, excess);
}

static void put(struct text_out *o, const struct table *t, size_t i, const char *s, size_t width)
{
	bool right = on_right(&t->columns[i]);

	/* Without a width nothing is cut. */
	if (o->opts->width <= 0)
		width = MAX(width, fmt_width(s));
	if (o->line.len)
		buf_fill(&o->line, ' ', GAP);
	text_fit(o, s, width, right);
}

static void headings(struct text_out *o, const struct table *t, const size_t *widths)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (visible(&t->columns[i]))
			put(o, t, i, heading(&t->columns[i]), widths[i]);
	text_flush(o, STYLE_STRONG);
}

static void rows(struct text_out *o, const struct table *t, size_t last, const size_t *widths)
{
	vec_each(row, &t->rows) {
		for (size_t i = 0; i < t->n_columns; i++)
			if (visible(&t->columns[i]))
				put(o, t, i, cell(o, &row->cells[i], i == last), widths[i]);
		text_flush(o, row->style);
	}
}

void text_table(struct text_out *o, const struct table *t)
{
	size_t last = last_visible(t);
	_cleanup_free_ size_t *widths = xcalloc(t->n_columns + 1, sizeof(*widths));

	if (t->title) {
		text_clean(o, t->title);
		text_flush(o, STYLE_STRONG);
	}
	measure(o, t, last, widths);
	if (o->opts->width > 0)
		shrink(t, (size_t)o->opts->width, widths);
	if (o->opts->header)
		headings(o, t, widths);
	rows(o, t, last, widths);
	if (!t->rows.len && o->opts->header) {
		buf_addstr(&o->line, "(nothing)");
		text_flush(o, STYLE_DIM);
	}
}
