/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A series as one line: its name, its shape, its smallest, mean and largest value. */
#include "view/text.h"

#include <math.h>

#include "base/fmt.h"
#include "view/cell.h"

enum { SHAPE_LEAST = 8, SHAPE_MOST = 60 };

struct summary {
	size_t n; /* points that are numbers */
	double min, max, mean;
};

static struct summary summarize(const struct series *s)
{
	struct summary sum = { 0 };

	vec_each(p, &s->points) {
		if (!isfinite(p->value))
			continue;
		sum.min = sum.n ? fmin(sum.min, p->value) : p->value;
		sum.max = sum.n ? fmax(sum.max, p->value) : p->value;
		sum.n++;
		/* the running mean: a sum could overflow */
		sum.mean += (p->value - sum.mean) / (double)sum.n;
	}
	return sum;
}

/* Mean of points [from, to), NAN when none of them is a number. */
static double mean_of(const struct series *s, size_t from, size_t to)
{
	double mean = NAN;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		double v = s->points.items[i].value;

		if (!isfinite(v))
			continue;
		mean = n++ ? mean + (v - mean) / (double)n : v;
	}
	return mean;
}

static void level(struct text_out *o, double share)
{
	static const char ascii[] = "_.-=+*#@";
	size_t i = share > 0 ? (size_t)(fmin(share, 1) * 7.999) : 0;

	if (o->opts->unicode)
		buf_addf(&o->line, "\xe2\x96%c", (char)(0x81 + i)); /* U+2581 to U+2588 */
	else
		buf_addch(&o->line, ascii[i]);
}

/* From zero, so that a series that hardly moves looks like one; from its least if that is less. */
static void shape(struct text_out *o, const struct series *s, const struct summary *sum,
		  size_t room)
{
	size_t n = s->points.len, cells = MIN(n, room);
	double low = fmin(sum->min, 0), span = sum->max - low;

	for (size_t i = 0; i < cells; i++) {
		double v = mean_of(s, i * n / cells, (i + 1) * n / cells);

		if (isnan(v))
			buf_addch(&o->line, ' ');
		else
			level(o, span > 0 && isfinite(span) ? (v - low) / span : 0);
	}
}

static void figure(struct buf *out, const char *name, enum value_type type, double v)
{
	struct value value = cell_of_real(type, v);

	buf_addf(out, "  %s ", name);
	cell_text(out, &value);
}

void text_series(struct text_out *o, const struct series *s)
{
	struct summary sum = summarize(s);
	size_t room = SHAPE_MOST, used;

	text_clean(o, s->title ? s->title : s->name ? s->name : "series");
	buf_addstr(&o->line, "  ");
	if (!sum.n) {
		buf_addstr(&o->line, "(no values)");
		text_flush(o, STYLE_DIM);
		return;
	}
	buf_reset(&o->cell);
	figure(&o->cell, "min", s->type, sum.min);
	figure(&o->cell, "avg", s->type, sum.mean);
	figure(&o->cell, "max", s->type, sum.max);
	used = fmt_width(buf_str(&o->line)) + fmt_width(buf_str(&o->cell));
	if (o->opts->width > 0)
		room = (size_t)o->opts->width > used ? (size_t)o->opts->width - used : 0;
	shape(o, s, &sum, MIN(MAX(room, (size_t)SHAPE_LEAST), (size_t)SHAPE_MOST));
	buf_add(&o->line, buf_str(&o->cell), o->cell.len);
	text_flush(o, STYLE_NONE);
}
