/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/hist_text.h"

#include "base/fmt.h"

enum {
	STARS = 40,
	STARS_WIDE = 20,
	STARS_LEAST = 8,
	NARROW_BITS = 32,
	COUNT_WIDTH = 8,
	UNITS_GAPS = 8,
	UNITS_WIDTH = 100, /* where no width is known */
	BRACKETS_LABEL = 16,
	BRACKETS_BAR = 52,
};

/* A histogram on its way to text. */
struct drawing {
	const struct histogram *h;
	const struct hist_text *t;
	struct hist_rows rows;
};

static void end_line(const struct drawing *d, enum style style, bool whole)
{
	if (d->t->end)
		d->t->end(d->t->ctx, style, whole);
	else
		buf_addch(d->t->line, '\n');
}

static u64 shown_count(const struct drawing *d, u64 count)
{
	return d->t->divisor > 1 ? count / d->t->divisor : count;
}

/* Bars are of what is shown; the fullest row has the whole @width. */
static void bar(const struct drawing *d, u64 count, char c, size_t width)
{
	u64 most = MAX(shown_count(d, d->rows.most), (u64)1);
	size_t n = (size_t)((double)width * (double)shown_count(d, count) / (double)most);

	buf_addch(d->t->line, '|');
	buf_fill(d->t->line, c, n);
	buf_fill(d->t->line, ' ', width - n);
	buf_addch(d->t->line, '|');
}

/* --- brackets --------------------------------------------------------------------------------- */

/* 1024 is 1K: powers of two, and parts of them that are not smaller than the unit, are round. */
static void add_scaled(struct buf *out, u64 n, u32 bits)
{
	static const char units[] = " KMGTPE";
	u32 power = n ? 63 - (u32)__builtin_clzll(n) : 0;
	u32 unit = power > bits ? (power - bits) / 10 : 0;

	buf_addu(out, n >> unit * 10);
	if (unit)
		buf_addch(out, units[unit]);
}

static void bracket_limit(const struct drawing *d, u64 n)
{
	if (d->h->kind == HIST_LINEAR)
		hist_number(d->t->line, d->h, n);
	else
		add_scaled(d->t->line, n, d->rows.bits);
}

static void bracket_label(const struct drawing *d, const struct hist_row *row)
{
	struct buf *out = d->t->line;

	buf_addstr(out, row->place == HIST_BELOW ? "(..., " : "[");
	bracket_limit(d, row->place == HIST_BELOW ? row->last : row->first);
	if (row->place == HIST_ABOVE) {
		buf_addstr(out, ", ...)");
		return;
	}
	if (row->place == HIST_INSIDE && row->first == row->last) {
		buf_addch(out, ']');
		return;
	}
	if (row->place == HIST_INSIDE) {
		buf_addstr(out, ", ");
		bracket_limit(d, add_sat(row->last, 1));
	}
	buf_addch(out, ')');
}

static void brackets(const struct drawing *d)
{
	struct buf *out = d->t->line;

	vec_each(row, &d->rows.list) {
		size_t start = out->len;

		bracket_label(d, row);
		if (out->len - start < BRACKETS_LABEL)
			buf_fill(out, ' ', BRACKETS_LABEL - (out->len - start));
		buf_addf(out, "%8llu ", (unsigned long long)shown_count(d, row->count));
		bar(d, row->count, '@', BRACKETS_BAR);
		end_line(d, STYLE_NONE, false);
	}
}

/* --- arrows ----------------------------------------------------------------------------------- */

/* How wide the columns are and how many stars fit beside them. */
struct layout {
	bool single; /* the buckets are single values */
	int digits;  /* of the limits */
	int indent;  /* before the heading of the ranges */
	int range;   /* width of that heading: it ends where the ranges end */
	int stars;   /* 0: no room for any */
};

static const char *number_text(const struct drawing *d, u64 n, char *buf, size_t size)
{
	snprintf(buf, size, d->h->kind == HIST_LINEAR ? "%lld" : "%llu", (long long)n);
	return buf;
}

static int digits_of(const struct drawing *d, u64 n)
{
	char text[32];

	return (int)strlen(number_text(d, n, text, sizeof(text)));
}

/* bcc's layout: 78 columns, or 72 with single values. */
static struct layout full_layout(bool single, bool wide)
{
	if (single)
		return (struct layout){
			.single = true, .digits = 10, .indent = 5, .range = 13, .stars = STARS
		};
	if (wide)
		return (struct layout){
			.digits = 20, .indent = 15, .range = 29, .stars = STARS_WIDE
		};
	return (struct layout){ .digits = 10, .indent = 5, .range = 19, .stars = STARS };
}

/*
 * On a narrow screen the stars give way first, then the columns lose their spare room, then each
 * range becomes its lower limit.
 */
static void squeeze(const struct drawing *d, struct layout *l, int digits)
{
	int room = d->t->width - l->indent - l->range - COUNT_WIDTH - 6;

	if (room >= STARS_LEAST) {
		l->stars = MIN(l->stars, room);
		return;
	}
	l->digits = digits + (d->h->under || d->h->over ? 2 : 0);
	l->indent = 0;
	l->range = l->single ? l->digits : 2 * l->digits + 4;
	if (l->range + 3 + digits_of(d, d->rows.most) > d->t->width) {
		l->single = true;
		l->range = l->digits;
	}
	room = d->t->width - l->range - COUNT_WIDTH - 6;
	l->stars = room >= STARS_LEAST ? MIN(l->stars, room) : 0;
}

static struct layout layout_of(const struct drawing *d)
{
	bool single = d->h->kind == HIST_LINEAR && d->h->step == 1;
	int digits = 1;
	struct layout l;

	vec_each(row, &d->rows.list) {
		if (row->place != HIST_ABOVE)
			digits = MAX(digits, digits_of(d, row->last));
		if (row->place != HIST_BELOW)
			digits = MAX(digits, digits_of(d, row->first));
	}
	l = full_layout(single, !single && digits > digits_of(d, UINT32_MAX));
	if (d->t->width > 0)
		squeeze(d, &l, digits);
	return l;
}

static void heading(const struct drawing *d, const struct layout *l)
{
	const char *unit = d->h->unit ? d->h->unit : "value", *dots = d->t->dots;
	size_t room = (size_t)l->range, dots_width = dots ? fmt_width(dots) : 0;
	_cleanup_buf_ struct buf text = BUF_INIT;

	fmt_clean(&text, unit, strlen(unit));
	if (fmt_width(buf_str(&text)) > room) {
		dots_width = dots_width < room ? dots_width : 0;
		buf_truncate(&text, fmt_cut(buf_str(&text), room - dots_width));
		buf_addstr(&text, dots_width ? dots : "");
	}
	buf_fill(d->t->line, ' ', (size_t)l->indent);
	buf_addstr(d->t->line, buf_str(&text));
	buf_fill(d->t->line, ' ', room - MIN(room, fmt_width(buf_str(&text))));
	buf_addstr(d->t->line, l->stars ? " : count     distribution" : " : count");
	end_line(d, STYLE_STRONG, false);
}

/* Single values stand on the left, after what the heading's width leaves. */
static int before_single(const struct layout *l)
{
	return l->indent + l->range - l->digits;
}

static void arrow_range(const struct drawing *d, const struct layout *l, const struct hist_row *row)
{
	char first[32], last[32];

	number_text(d, row->first, first, sizeof(first));
	number_text(d, row->last, last, sizeof(last));
	if (l->single)
		buf_addf(d->t->line, "%*s%-*s", before_single(l), "", l->digits, first);
	else
		buf_addf(d->t->line, "%*s -> %-*s", l->digits, first, l->digits, last);
}

/* "< 10", "> 99": what a histogram has no bucket for. */
static void arrow_open(const struct drawing *d, const struct layout *l, const struct hist_row *row)
{
	bool below = row->place == HIST_BELOW;
	char number[32], text[40];

	number_text(d, below ? row->last : row->first - 1, number, sizeof(number));
	snprintf(text, sizeof(text), "%c %s", below ? '<' : '>', number);
	if (l->single)
		buf_addf(d->t->line, "%*s%-*s", MAX(before_single(l) - 2, 0), "",
			 before_single(l) < 2 ? l->digits : l->digits + 2, text);
	else
		buf_addf(d->t->line, "%*s    %*s", l->digits, text, l->digits, "");
}

static void arrows(const struct drawing *d)
{
	struct layout l = layout_of(d);

	heading(d, &l);
	vec_each(row, &d->rows.list) {
		if (row->place == HIST_INSIDE)
			arrow_range(d, &l, row);
		else
			arrow_open(d, &l, row);
		buf_addf(d->t->line, " : %-*llu", COUNT_WIDTH,
			 (unsigned long long)shown_count(d, row->count));
		if (l.stars) {
			buf_addch(d->t->line, ' ');
			bar(d, row->count, '*', (size_t)l.stars);
		}
		end_line(d, STYLE_NONE, false);
	}
}

/* --- limits with units ------------------------------------------------------------------------ */

static void unit_limit(const struct drawing *d, struct buf *out, u64 n)
{
	if (d->t->limit)
		d->t->limit(out, d->h->value_type, n);
	else
		hist_number(out, d->h, n);
}

/* Appends the limit, aligned to the right in @width columns; returns how many it takes. */
static size_t unit_column(const struct drawing *d, struct buf *out, u64 n, size_t width)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t w;

	unit_limit(d, &text, n);
	w = fmt_width(buf_str(&text));
	buf_fill(out, ' ', width > w ? width - w : 0);
	buf_addstr(out, buf_str(&text));
	return w;
}

static void add_count(const struct drawing *d, u64 count, size_t width)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	fmt_count(&text, shown_count(d, count));
	buf_fill(d->t->line, ' ', width > text.len ? width - text.len : 0);
	buf_addstr(d->t->line, buf_str(&text));
}

static void unit_row(const struct drawing *d, const struct hist_row *row, size_t width)
{
	if (row->place == HIST_BELOW) {
		buf_fill(d->t->line, ' ', width > 2 ? 2 * width + 3 - strlen("below 0") : 0);
		buf_addstr(d->t->line, "below 0");
		return;
	}
	unit_column(d, d->t->line, row->first, width);
	buf_addstr(d->t->line, " - ");
	unit_column(d, d->t->line, add_sat(row->last, 1), width);
}

static void units(const struct drawing *d)
{
	size_t room = d->t->width > 0 ? (size_t)d->t->width : UNITS_WIDTH, stars = STARS, used;
	_cleanup_buf_ struct buf scratch = BUF_INIT;
	size_t width = 0, count_width;

	vec_each(row, &d->rows.list) {
		width = MAX(width, unit_column(d, &scratch, row->first, 0));
		width = MAX(width, unit_column(d, &scratch, add_sat(row->last, 1), 0));
	}
	buf_reset(&scratch);
	fmt_count(&scratch, shown_count(d, d->rows.most));
	count_width = scratch.len;
	used = 2 * width + count_width + UNITS_GAPS;
	stars = room > used ? MIN(stars, room - used) : 0;
	vec_each(row, &d->rows.list) {
		unit_row(d, row, width);
		buf_addch(d->t->line, ' ');
		add_count(d, row->count, count_width);
		if (stars >= STARS_LEAST) {
			buf_addch(d->t->line, ' ');
			bar(d, row->count, '*', stars);
		}
		end_line(d, STYLE_NONE, false);
	}
}

/* --- lines below ------------------------------------------------------------------------------ */

static void average(const struct drawing *d)
{
	const char *unit = d->h->unit ? d->h->unit : "value";
	struct buf *out = d->t->line;

	buf_addf(out, "avg = %llu ", (unsigned long long)(d->h->total / d->h->count));
	fmt_clean(out, unit, strlen(unit));
	buf_addf(out, ", total: %llu ", (unsigned long long)d->h->total);
	fmt_clean(out, unit, strlen(unit));
	buf_addf(out, ", count: %llu", (unsigned long long)d->h->count);
	end_line(d, STYLE_NONE, true);
}

static void percentiles(struct drawing *d)
{
	struct buf *out = d->t->line;

	d->rows.bits = d->h->bits;
	for (size_t i = 0; i < HIST_PERCENTILES; i++) {
		struct hist_row open;

		buf_addf(out, "%s%s ", i ? ", " : "", hist_percentiles[i].name);
		open.place = hist_percentile(d->h, hist_percentiles[i].share, &open.first);
		open.last = open.first;
		if (open.place == HIST_INSIDE)
			unit_limit(d, out, open.first);
		else
			bracket_label(d, &open);
	}
	buf_addstr(out, " of ");
	if (d->t->limit)
		fmt_count(out, d->h->count);
	else
		buf_addu(out, d->h->count);
	end_line(d, STYLE_DIM, true);
}

void hist_text(const struct histogram *h, const struct hist_text *t)
{
	static const u32 flags[] = {
		[HIST_ARROWS] = HIST_ROWS_FROM_MIN | HIST_ROWS_JOIN,
		[HIST_BRACKETS] = HIST_ROWS_TO_OPEN,
		[HIST_UNITS] = 0,
	};
	struct drawing d = { .h = h, .t = t };

	hist_rows(&d.rows, h, flags[t->form], t->rows);
	if (d.rows.list.len) {
		switch (t->form) {
		case HIST_ARROWS: arrows(&d); break;
		case HIST_BRACKETS: brackets(&d); break;
		case HIST_UNITS: units(&d); break;
		}
		if (t->average && h->count)
			average(&d);
		if (t->percentiles)
			percentiles(&d);
	}
	hist_rows_release(&d.rows);
}
