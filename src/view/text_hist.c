/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms on a screen; their rows are made by result/hist_text.c. */
#include "view/text.h"

#include "result/hist_text.h"
#include "view/cell.h"

enum { ROWS_MOST = 28 };

static void limit(struct buf *out, enum value_type type, u64 value)
{
	struct value cell = value_u(type ? type : VALUE_COUNT, value);

	cell_text(out, &cell);
}

static void end(void *ctx, enum style style, bool whole)
{
	if (whole)
		text_flush_long(ctx, style);
	else
		text_flush(ctx, style);
}

void text_histogram(struct text_out *o, const struct histogram *h)
{
	bool fine = h->kind == HIST_FINE;
	const struct hist_text t = {
		.form = fine ? HIST_UNITS : HIST_ARROWS,
		.line = &o->line,
		.width = o->opts->width,
		.dots = o->opts->unicode ? "\xe2\x80\xa6" : "...",
		.rows = ROWS_MOST,
		.average = o->opts->average && !fine,
		.percentiles = fine,
		.limit = limit,
		.end = end,
		.ctx = o,
	};
	size_t first, last;

	hist_used(h, &first, &last);
	if (h->label) {
		text_clean(o, h->label);
		text_flush(o, STYLE_STRONG);
	}
	if (!last && !h->under && !h->over) {
		buf_addstr(&o->line, "(no values)");
		text_flush(o, STYLE_DIM);
		return;
	}
	hist_text(h, &t);
}
