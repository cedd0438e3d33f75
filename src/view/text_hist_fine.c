/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms whose powers of two are divided: bounds with their units, as finely as a screen has
 * rows for, and the percentiles below.
 */
#include "view/text.h"

#include "base/fmt.h"
#include "view/cell.h"

enum { ROWS_MOST = 28, BAR = 40, BAR_LEAST = 8, GAPS = 8 };

/* A row: buckets of the histogram put together. */
struct span {
	u64 first;
	u64 last;
	u64 count;
};

struct rows {
	VEC(struct span) list;
	u64 most;
	size_t width;       /* of the bounds */
	size_t count_width; /* of the counts */
};

static void bound(struct buf *out, const struct histogram *h, u64 v)
{
	struct value cell = value_u(h->value_type ? h->value_type : VALUE_COUNT, v);

	cell_text(out, &cell);
}

/* Buckets that are equal when @shift of their bits are left out share a row. */
static void collect(const struct histogram *h, u32 shift, struct rows *ret)
{
	size_t from = 0, to = h->n_buckets;

	vec_clear(&ret->list);
	while (to && !h->buckets[to - 1])
		to--;
	while (from < to && !h->buckets[from])
		from++;
	from = from >> shift << shift;
	for (size_t i = from; i < to; i++) {
		u64 first, last;

		hist_range(h, i, &first, &last);
		if (!ret->list.len || !(i & ((1ull << shift) - 1)))
			vec_push(&ret->list, (struct span){ .first = first });
		vec_last(&ret->list)->last = last;
		vec_last(&ret->list)->count += h->buckets[i];
	}
}

static void measure(const struct histogram *h, struct rows *r)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	vec_each(it, &r->list) {
		buf_reset(&text);
		bound(&text, h, it->first);
		r->width = MAX(r->width, fmt_width(buf_str(&text)));
		buf_reset(&text);
		bound(&text, h, it->last + (it->last < UINT64_MAX));
		r->width = MAX(r->width, fmt_width(buf_str(&text)));
		buf_reset(&text);
		fmt_count(&text, it->count);
		r->count_width = MAX(r->count_width, fmt_width(buf_str(&text)));
		r->most = MAX(r->most, it->count);
	}
}

static void put(struct text_out *o, size_t width)
{
	size_t w = fmt_width(buf_str(&o->cell));

	buf_fill(&o->line, ' ', width > w ? width - w : 0);
	buf_addstr(&o->line, buf_str(&o->cell));
	buf_reset(&o->cell);
}

static void line(struct text_out *o, const struct histogram *h, const struct rows *r,
		 const struct span *s, size_t bar)
{
	size_t n = r->most ? (size_t)((double)s->count * (double)bar / (double)r->most) : 0;

	buf_reset(&o->cell);
	bound(&o->cell, h, s->first);
	put(o, r->width);
	buf_addstr(&o->line, " - ");
	bound(&o->cell, h, s->last + (s->last < UINT64_MAX));
	put(o, r->width);
	buf_addch(&o->line, ' ');
	fmt_count(&o->cell, s->count);
	put(o, r->count_width);
	if (bar) {
		buf_addstr(&o->line, " |");
		buf_fill(&o->line, '*', n);
		buf_fill(&o->line, ' ', bar - n);
		buf_addch(&o->line, '|');
	}
	text_flush(o, STYLE_NONE);
}

static void percentiles(struct text_out *o, const struct histogram *h)
{
	static const struct {
		const char *name;
		double share;
	} shown[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 } };

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		buf_addf(&o->line, "%s%s ", i ? ", " : "", shown[i].name);
		bound(&o->line, h, hist_percentile(h, shown[i].share));
	}
	buf_addstr(&o->line, " of ");
	fmt_count(&o->line, h->count);
	text_flush_long(o, STYLE_DIM);
}

void text_hist_fine(struct text_out *o, const struct histogram *h)
{
	size_t room = o->opts->width > 0 ? (size_t)o->opts->width : 100, bar = BAR, used;
	struct rows r = { 0 };
	u32 shift = 0;

	collect(h, shift, &r);
	while (r.list.len > ROWS_MOST && shift < h->bits)
		collect(h, ++shift, &r);
	measure(h, &r);
	used = 2 * r.width + r.count_width + GAPS;
	bar = room > used ? MIN(bar, room - used) : 0;
	if (bar < BAR_LEAST)
		bar = 0;
	if (h->under) {
		buf_addf(&o->line, "below 0: %llu", (unsigned long long)h->under);
		text_flush(o, STYLE_NONE);
	}
	vec_each(it, &r.list)
		line(o, h, &r, it, bar);
	percentiles(o, h);
	vec_release(&r.list);
}
