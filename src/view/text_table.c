/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables. A column is as wide as its widest cell. When that is too much for the line, columns that
 * are COLUMN_SPARE are left out, and named below the table, until the rest fits in its narrow form:
 * one column gives way (the one marked COLUMN_FILL, otherwise the last one of text) as long as it
 * keeps a good part of the line, then the other texts down to the length of a long command name,
 * then that one again; what is still too long is cut at the edge. Nothing wraps.
 */
#include "view/text.h"

#include "base/fmt.h"
#include "view/cell.h"
#include "view/term.h"

#include <math.h>

enum {
	GAP = 2,         /* blanks between columns */
	FILL_GOOD = 40,  /* percent of the line that the column which gives way keeps at first, */
	FILL_SOME = 30,  /* when that much is left to it no other column must go, */
	FILL_LEAST = 8,  /* and this many columns it keeps in the end */
	TEXT_LEAST = 16, /* other texts keep this much */
	COLUMN_MOST =
		400 /* without a width: wider cells stick out instead of filling up all others */
};

static bool on_right(const struct column *c)
{
	return cell_is_number(c->type) && !(c->flags & COLUMN_LEFT);
}

static const char *heading(const struct column *c)
{
	return c->title ? c->title : c->key;
}

static void whole_percent(struct buf *out, double percent)
{
	if (percent <= 0)
		buf_addch(out, '.');
	else if (percent < 1)
		buf_addstr(out, "<1%");
	else
		buf_addf(out, "%.0f%%", percent);
}

static size_t gap_of(const struct table *t)
{
	return t->looks ? 1 : GAP;
}

static bool has_decimals(const struct table *t, size_t i, const struct value *v)
{
	return t->looks && t->looks[i].decimals && v->type == VALUE_NUMBER && isfinite(v->d);
}

/* An empty cell in the middle is "-", so that columns can still be distinguished by blanks. */
static const char *cell(struct text_out *o, const struct table *t, size_t i, const struct value *v,
			bool last)
{
	const struct column *c = &t->columns[i];

	buf_reset(&o->cell);
	if (v->type == VALUE_PERCENT && (c->flags & COLUMN_WHOLE))
		whole_percent(&o->cell, v->d);
	else if (t->looks && v->type == VALUE_TIME)
		fmt_clock(&o->cell, v->u, t->looks[i].decimals ? t->looks[i].decimals - 1 : 0);
	else if (has_decimals(t, i, v))
		buf_addf(&o->cell, "%.*f", t->looks[i].decimals - 1, v->d);
	else if (v->type)
		cell_text(&o->cell, v);
	else if (!last)
		buf_addch(&o->cell, '-');
	return buf_str(&o->cell);
}

static size_t last_visible(const struct table *t)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < t->n_columns; i++)
		if (!(t->columns[i].flags & COLUMN_HIDDEN))
			last = i;
	return last;
}

/* Columns that are not shown have no width. */
static void measure(struct text_out *o, const struct table *t, size_t last, size_t *widths)
{
	size_t most = o->opts->width > 0 ? (size_t)o->opts->width : COLUMN_MOST;

	for (size_t i = 0; i < t->n_columns; i++) {
		size_t w = 0;

		if (t->columns[i].flags & COLUMN_HIDDEN)
			continue;
		if (o->opts->header || t->looks)
			w = fmt_width(heading(&t->columns[i]));
		if (t->looks)
			w = MAX(w, t->looks[i].width);
		vec_each(row, &t->rows)
			w = MAX(w, fmt_width(cell(o, t, i, &row->cells[i], i == last)));
		widths[i] = MAX(MIN(w, most), 1u);
	}
}

static size_t fill_column(const struct table *t, const size_t *widths)
{
	size_t fill = SIZE_MAX;
	bool marked = false;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		bool mark = c->flags & COLUMN_FILL;

		if (!widths[i] || (!mark && (marked || c->type != VALUE_TEXT)))
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

static bool is_other_text(const struct table *t, size_t i, size_t fill)
{
	return t->columns[i].type == VALUE_TEXT && i != fill;
}

static size_t part_of(size_t limit, size_t percent)
{
	return MAX(limit * percent / 100, (size_t)FILL_LEAST);
}

/* How wide the table is; @narrow: when all texts have given what they can well give. */
static size_t total_width(const struct table *t, const size_t *widths, size_t limit, bool narrow)
{
	size_t total = 0, fill = fill_column(t, widths);

	for (size_t i = 0; i < t->n_columns; i++) {
		size_t w = widths[i];

		if (!w)
			continue;
		if (narrow && i == fill)
			w = MIN(w, part_of(limit, t->columns[i].flags & COLUMN_MAIN ? FILL_GOOD
										    : FILL_SOME));
		else if (narrow && is_other_text(t, i, fill))
			w = MIN(w, (size_t)TEXT_LEAST);
		total += w + (total ? gap_of(t) : 0);
	}
	return total;
}

static double share_of(const struct table *t, size_t column)
{
	double sum = 0;

	if (t->columns[column].type != VALUE_PERCENT)
		return HUGE_VAL;
	vec_each(row, &t->rows)
		sum += row->cells[column].d;
	return sum;
}

/* Of shares the one with the least in it goes first, of others the rightmost. */
static size_t most_spare(const struct table *t, const size_t *widths)
{
	size_t found = SIZE_MAX;
	double least = HUGE_VAL;

	for (size_t i = 0; i < t->n_columns; i++) {
		if (!widths[i] || !(t->columns[i].flags & COLUMN_SPARE) || share_of(t, i) > least)
			continue;
		least = share_of(t, i);
		found = i;
	}
	return found;
}

static void drop_spare(const struct table *t, size_t limit, size_t *widths)
{
	size_t i;

	while (total_width(t, widths, limit, true) > limit) {
		i = most_spare(t, widths);
		if (i == SIZE_MAX)
			return;
		widths[i] = 0;
	}
}

static void shrink(const struct table *t, size_t limit, size_t *widths)
{
	size_t total = total_width(t, widths, limit, false), fill = fill_column(t, widths), excess;

	if (total <= limit || fill == SIZE_MAX)
		return;
	excess = give(&widths[fill], part_of(limit, FILL_GOOD), total - limit);
	for (size_t i = t->n_columns; i-- > 0 && excess;)
		if (widths[i] && is_other_text(t, i, fill))
			excess = give(&widths[i], TEXT_LEAST, excess);
	give(&widths[fill], FILL_LEAST, excess);
}

static void put(struct text_out *o, const struct table *t, size_t i, const char *s, size_t width)
{
	bool right = on_right(&t->columns[i]);

	/* Without a width nothing is cut; what may not be pushes the rest of its line. */
	if (o->opts->width <= 0 || t->columns[i].flags & COLUMN_UNCUT)
		width = MAX(width, fmt_width(s));
	if (o->line.len)
		buf_fill(&o->line, ' ', gap_of(t));
	text_fit(o, s, width, right);
}

static void headings(struct text_out *o, const struct table *t, const size_t *widths)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (widths[i])
			put(o, t, i, heading(&t->columns[i]), widths[i]);
	text_flush(o, STYLE_STRONG);
}

/* "----memory----": as wide as the columns under it. */
static void group_heading(struct text_out *o, const char *name, size_t width)
{
	size_t n = MIN(fmt_width(name), width), left = (width - n) / 2;

	buf_fill(&o->line, '-', left);
	text_cut(o, name, n);
	buf_fill(&o->line, '-', width - n - left);
}

static bool same_group(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static void groups(struct text_out *o, const struct table *t, const size_t *widths)
{
	for (size_t i = 0, next; i < t->n_columns; i = next) {
		const char *group = t->looks[i].group;
		size_t width = 0;

		for (next = i; next < t->n_columns && same_group(group, t->looks[next].group);
		     next++)
			if (widths[next])
				width += widths[next] + (width ? gap_of(t) : 0);
		if (!width)
			continue;
		if (o->line.len)
			buf_fill(&o->line, ' ', gap_of(t));
		if (group)
			group_heading(o, group, width);
		else
			buf_fill(&o->line, ' ', width);
	}
	text_flush(o, STYLE_STRONG);
}

static bool has_groups(const struct table *t)
{
	for (size_t i = 0; t->looks && i < t->n_columns; i++)
		if (t->looks[i].group)
			return true;
	return false;
}

static void rows(struct text_out *o, const struct table *t, size_t last, const size_t *widths)
{
	vec_each(row, &t->rows) {
		for (size_t i = 0; i < t->n_columns; i++) {
			size_t at = o->line.len;

			if (!widths[i])
				continue;
			put(o, t, i, cell(o, t, i, &row->cells[i], i == last), widths[i]);
			text_mark(o, at,
				  t->columns[i].flags & COLUMN_WEIGHT ? text_weight(row->cells[i].d)
								      : row->cells[i].style);
		}
		text_flush(o, row->style);
	}
}

static void name_dropped(struct text_out *o, const struct table *t, const size_t *widths)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (widths[i] || (t->columns[i].flags & COLUMN_HIDDEN))
			continue;
		buf_addstr(&o->line, o->line.len ? ", " : "a wider terminal also shows ");
		buf_addstr(&o->line, heading(&t->columns[i]));
	}
	if (o->line.len)
		text_flush(o, STYLE_DIM);
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
	if (o->opts->width > 0) {
		drop_spare(t, (size_t)o->opts->width, widths);
		shrink(t, (size_t)o->opts->width, widths);
	}
	if (o->opts->header && has_groups(t))
		groups(o, t, widths);
	if (o->opts->header)
		headings(o, t, widths);
	rows(o, t, last, widths);
	if (!t->looks || o->opts->header)
		name_dropped(o, t, widths);
	if (!t->rows.len && o->opts->header) {
		buf_addstr(&o->line, "(nothing)");
		text_flush(o, STYLE_DIM);
	}
}
