/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of programs: their words as a histogram, its text, its JSON. */
#include "lang/run/run.h"
#include "result/hist_text.h"

enum { HIST_ROWS = 32 };

struct histogram run_histogram(const struct type *t, u64 *sum)
{
	struct histogram h = { .buckets = sum + 1, .under = sum[0] };

	if (t->kind == T_LHIST) {
		h.kind = HIST_LINEAR;
		h.min = t->p[0];
		h.step = (u64)t->p[2];
		h.n_buckets = (size_t)((t->p[1] - t->p[0]) / t->p[2]);
		h.over = h.buckets[h.n_buckets];
	} else {
		h.kind = HIST_FINE;
		h.bits = (u32)t->p[0];
		h.n_buckets = (size_t)HIST_LOG2_BUCKETS << h.bits;
	}
	h.count = h.under + h.over;
	for (size_t i = 0; i < h.n_buckets; i++)
		h.count += h.buckets[i];
	return h;
}

void run_hist(const struct run *r, const struct type *t, u64 *sum, u64 div, struct buf *out)
{
	const struct histogram h = run_histogram(t, sum);

	/* bits of times without a divisor: as finely as a screen has room for */
	hist_text(&h, &(struct hist_text){ .form = HIST_BRACKETS,
					   .line = out,
					   .rows = t->kind == T_HIST && t->p[1] ? HIST_ROWS : 0,
					   .divisor = t->kind == T_HIST ? div : 1,
					   .percentiles = r->c->config.percentiles });
	buf_addch(out, '\n');
}

void run_hist_json(const struct type *t, u64 *sum, u64 div, struct buf *out)
{
	const struct histogram h = run_histogram(t, sum);
	struct hist_rows rows = { 0 };

	div = t->kind == T_HIST ? div : 1;
	hist_rows(&rows, &h, HIST_ROWS_TO_OPEN, 0);
	buf_addch(out, '[');
	vec_each(row, &rows.list) {
		buf_addstr(out, row > rows.list.items ? ",{" : "{");
		if (row->place != HIST_BELOW) {
			buf_addstr(out, "\"min\": ");
			hist_number(out, &h, row->first);
			buf_addstr(out, ", ");
		}
		if (row->place != HIST_ABOVE) {
			buf_addstr(out, "\"max\": ");
			if (row->place == HIST_BELOW)
				buf_addf(out, "%lld", (long long)row->last - 1);
			else
				hist_number(out, &h, row->last);
			buf_addstr(out, ", ");
		}
		buf_addf(out, "\"count\": %llu}", (unsigned long long)(row->count / div));
	}
	buf_addch(out, ']');
	hist_rows_release(&rows);
}
