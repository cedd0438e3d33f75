/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms, in the layout that users of bcc's tools know. */
#include "view/text.h"

#include "base/fmt.h"

enum { STARS = 40, STARS_WIDE = 20, STARS_LEAST = 8, NARROW_BITS = 32, COUNT_WIDTH = 8 };

/* How wide the columns are and how many stars fit beside them. */
struct layout {
	bool single; /* the buckets are single values */
	int digits;  /* of the bounds */
	int indent;  /* before the heading of the ranges */
	int range;   /* width of that heading: it ends where the ranges end */
	int stars;   /* 0: no room for any */
	u64 most;    /* the fullest bucket has all the stars */
};

/* Index after the last bucket that counted anything. */
static size_t used_buckets(const struct histogram *h)
{
	size_t n = h->n_buckets;

	while (n && !h->buckets[n - 1])
		n--;
	return n;
}

/* 0 and 1 share a line, as in bcc. */
static bool shares_first(const struct histogram *h)
{
	return h->kind == HIST_LOG2 && h->n_buckets > 1;
}

static u64 first_count(const struct histogram *h)
{
	u64 sum;

	return __builtin_add_overflow(h->buckets[0], h->buckets[1], &sum) ? UINT64_MAX : sum;
}

static u64 fullest(const struct histogram *h, size_t n)
{
	u64 most = MAX(h->under, h->over);

	if (shares_first(h))
		most = MAX(most, first_count(h));
	for (size_t i = 0; i < n; i++)
		most = MAX(most, h->buckets[i]);
	return most;
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

static int digits_of(u64 v)
{
	return snprintf(NULL, 0, "%llu", (unsigned long long)v);
}

/*
 * On a narrow screen the stars give way first, then the columns lose their spare room, then each
 * range becomes its lower bound.
 */
static void squeeze(struct layout *l, int width, u64 last, int sign)
{
	int room = width - l->indent - l->range - COUNT_WIDTH - 6;

	if (room >= STARS_LEAST) {
		l->stars = MIN(l->stars, room);
		return;
	}
	l->digits = digits_of(last) + sign;
	l->indent = 0;
	l->range = l->single ? l->digits : 2 * l->digits + 4;
	if (l->range + 3 + digits_of(l->most) > width) {
		l->single = true;
		l->range = l->digits;
	}
	room = width - l->range - COUNT_WIDTH - 6;
	l->stars = room >= STARS_LEAST ? MIN(l->stars, room) : 0;
}

static struct layout layout_of(const struct text_out *o, const struct histogram *h, size_t n)
{
	bool single = h->kind == HIST_LINEAR && h->step == 1;
	u64 first, last = 1;
	struct layout l;

	if (h->over)
		n = h->n_buckets;
	if (n)
		hist_range(h, n - 1, &first, &last);
	l = full_layout(single, last >> NARROW_BITS && !single);
	l.most = fullest(h, n);
	if (o->opts->width > 0)
		squeeze(&l, o->opts->width, MAX(last, 1), h->under || h->over ? 2 : 0);
	return l;
}

static void heading(struct text_out *o, const struct layout *l, const char *unit)
{
	buf_fill(&o->line, ' ', (size_t)l->indent);
	buf_reset(&o->cell);
	fmt_clean(&o->cell, unit, strlen(unit));
	text_fit(o, buf_str(&o->cell), (size_t)l->range, false);
	buf_addstr(&o->line, l->stars ? " : count     distribution" : " : count");
	text_flush(o, STYLE_STRONG);
}

static void stars(struct text_out *o, const struct layout *l, u64 count)
{
	int n = l->most ? (int)((double)l->stars * (double)count / (double)l->most) : 0;

	buf_addf(&o->line, " : %-*llu", COUNT_WIDTH, (unsigned long long)count);
	if (!l->stars) {
		text_flush(o, STYLE_NONE);
		return;
	}
	buf_addstr(&o->line, " |");
	buf_fill(&o->line, '*', (size_t)n);
	buf_fill(&o->line, ' ', (size_t)(l->stars - n));
	buf_addch(&o->line, '|');
	text_flush(o, STYLE_NONE);
}

/* Single values stand on the left, after what the heading's width leaves. */
static int before_single(const struct layout *l)
{
	return l->indent + l->range - l->digits;
}

static void range(struct text_out *o, const struct layout *l, u64 first, u64 last)
{
	if (l->single)
		buf_addf(&o->line, "%*s%-*llu", before_single(l), "", l->digits,
			 (unsigned long long)first);
	else
		buf_addf(&o->line, "%*llu -> %-*llu", l->digits, (unsigned long long)first,
			 l->digits, (unsigned long long)last);
}

/* "< 10", "> 99": what a linear histogram has no bucket for. */
static void outside(struct text_out *o, const struct layout *l, char sign, u64 bound, u64 count)
{
	char text[32];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%c %llu", sign, (unsigned long long)bound);
	if (l->single)
		buf_addf(&o->line, "%*s%-*s", MAX(before_single(l) - 2, 0), "",
			 before_single(l) < 2 ? l->digits : l->digits + 2, text);
	else
		buf_addf(&o->line, "%*s    %*s", l->digits, text, l->digits, "");
	stars(o, l, count);
}

static void buckets(struct text_out *o, const struct histogram *h, const struct layout *l, size_t n)
{
	size_t i = 0;

	if (shares_first(h)) {
		range(o, l, 0, 1);
		stars(o, l, first_count(h));
		i = 2;
	}
	for (; i < n; i++) {
		u64 first, last;

		hist_range(h, i, &first, &last);
		range(o, l, first, last);
		stars(o, l, h->buckets[i]);
	}
}

static void average(struct text_out *o, const struct histogram *h, const char *unit)
{
	buf_addf(&o->line, "avg = %llu ", (unsigned long long)(h->total / h->count));
	text_clean(o, unit);
	buf_addf(&o->line, ", total: %llu ", (unsigned long long)h->total);
	text_clean(o, unit);
	buf_addf(&o->line, ", count: %llu", (unsigned long long)h->count);
	text_flush_long(o, STYLE_NONE);
}

void text_histogram(struct text_out *o, const struct histogram *h)
{
	const char *unit = h->unit ? h->unit : "value";
	size_t n = used_buckets(h);
	struct layout l = layout_of(o, h, n);
	u64 first, last = 0;

	if (h->label) {
		text_clean(o, h->label);
		text_flush(o, STYLE_STRONG);
	}
	if (!n && !h->under && !h->over) {
		buf_addstr(&o->line, "(no values)");
		text_flush(o, STYLE_DIM);
		return;
	}
	if (h->kind == HIST_FINE) {
		text_hist_fine(o, h);
		return;
	}
	heading(o, &l, unit);
	outside(o, &l, '<', h->min, h->under);
	buckets(o, h, &l, n);
	if (h->over) {
		hist_range(h, h->n_buckets - 1, &first, &last);
		outside(o, &l, '>', last, h->over);
	}
	if (o->opts->average && h->count)
		average(o, h, unit);
}
