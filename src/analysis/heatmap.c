/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/heatmap.h"

#include <math.h>

enum {
	SUBSECOND_ROWS = 50,
	SUBSECOND_LEAST = 8, /* seconds from which on a column is a second */
	UTILIZATION_ROWS = 10,
	ROWS_PER_OCTAVE = 4,
	LINEAR_ROWS = 50,
	COLUMNS_USUAL = 120,
	PERCENT_FULL = 10000, /* hundredths of a percent */
};

static const double heat_line_shares[HEAT_LINES] = { 0.5, 0.9, 0.99 };

static int no_data(struct err *e, const char *what)
{
	return err_set(e, ENODATA, "nothing to draw: no %s", what);
}

/* --- the grid ------------------------------------------------------------------------------- */

static int make_grid(struct heatmap *h, u64 last, struct err *e)
{
	u64 columns = (last - h->start) / h->step + 1;

	if (columns > HEATMAP_COLUMNS_MOST) {
		err_set(e, EFBIG, "%llu columns are too many", (unsigned long long)columns);
		err_hint(e, "--time takes a part of it, --step makes columns wider");
		return -EFBIG;
	}
	h->columns = (u32)columns;
	h->cells = xcalloc((size_t)h->columns * h->rows, sizeof(*h->cells));
	return 0;
}

static void linear_edges(struct heatmap *h, u32 rows, u64 low, u64 high)
{
	h->rows = rows;
	h->edges = xcalloc(rows + 1ul, sizeof(*h->edges));
	for (u32 i = 0; i <= rows; i++)
		h->edges[i] = low + (u64)((double)(high - low) * i / rows);
}

static void add_cell(struct heatmap *h, u32 column, u32 row, u64 n)
{
	u64 *cell = &h->cells[(size_t)column * h->rows + row];

	*cell += n;
	h->total += n;
	h->most = MAX(h->most, *cell);
}

/* Where a value lies among ascending edges. */
static u32 row_of(const struct heatmap *h, u64 value)
{
	u32 low = 0, high = h->rows;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (value >= h->edges[middle])
			low = middle;
		else
			high = middle;
	}
	return low;
}

double heatmap_height(const struct heatmap *h, u64 value)
{
	u32 row = row_of(h, value);
	double low = (double)h->edges[row], high = (double)h->edges[row + 1];

	if (value <= h->edges[0])
		return 0;
	return row + MIN(((double)value - low) / MAX(high - low, 1), 1.0);
}

const char *heatmap_noun(const struct heatmap *h)
{
	switch (h->kind) {
	case HEAT_LATENCY: return "events";
	case HEAT_UTILIZATION: return "CPUs";
	default: return "samples";
	}
}

void heatmap_release(struct heatmap *h)
{
	free(h->edges);
	free(h->cells);
	free(h->shares);
	for (int i = 0; i < HEAT_LINES; i++)
		free(h->lines[i]);
	*h = (struct heatmap){ 0 };
}

/* --- offset in the second ------------------------------------------------------------------- */

static bool is_idle(const struct profile *p, const struct profile_sample *s)
{
	const struct profile_thread *t = &p->threads.items[s->thread];

	return s->thread && !t->tid && streq(profile_str(p, t->comm), "swapper");
}

struct span {
	u64 first, last, n;
};

static struct span span_of(const struct profile *p, const struct heatmap_opts *o, u64 *idle)
{
	struct span s = { .first = UINT64_MAX };

	vec_each(sample, &p->samples) {
		if (sample->event != o->event || !sample->time)
			continue;
		if (!o->idle && is_idle(p, sample)) {
			*idle += sample->count;
			continue;
		}
		s.first = MIN(s.first, sample->time);
		s.last = MAX(s.last, sample->time);
		s.n++;
	}
	return s;
}

/* Of a short recording a column for each second would show nothing: tenths, then. */
static u64 subsecond_step(const struct heatmap_opts *o, u64 span)
{
	if (o->step)
		return o->step;
	return span < SUBSECOND_LEAST * NSEC_PER_SEC ? NSEC_PER_SEC / 10 : NSEC_PER_SEC;
}

/* How long ago the sample before it was; 0: not known. */
static u64 period_of(const struct profile *p, const struct profile_sample *s)
{
	const struct profile_event *ev = &p->events.items[s->event];

	return ev->frequency ? NSEC_PER_SEC / ev->frequency : 0;
}

/* @count samples over the @period that ends at @at. */
static void spread(struct heatmap *h, u64 at, u64 period, u64 count)
{
	double cell = (double)h->step / h->rows, wide = (double)period / cell, left = wide;
	double from = (double)at / cell;
	size_t cells = (size_t)h->columns * h->rows;

	for (ptrdiff_t i = (ptrdiff_t)MIN(from, (double)cells - 1); i >= 0; i--) {
		double part = wide > 0 ? MIN(left, from - (double)i) : 1;

		h->shares[i] += (float)((wide > 0 ? part / wide : 1) * (double)count);
		left -= part;
		from = (double)i;
		if (left <= 0)
			return;
	}
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* A few heavy cells must not make all others pale. */
static void find_most_share(struct heatmap *h)
{
	size_t cells = (size_t)h->columns * h->rows, first = 0;
	_cleanup_free_ float *sorted = xmemdup(h->shares, cells * sizeof(*sorted));

	qsort(sorted, cells, sizeof(*sorted), compare_floats);
	while (first < cells && sorted[first] <= 0)
		first++;
	if (first < cells)
		h->most_share = sorted[first + (cells - 1 - first) * 995 / 1000];
}

int heatmap_subsecond(struct heatmap *h, const struct profile *p, const struct heatmap_opts *o,
		      struct err *e)
{
	struct span s;
	int r;

	*h = (struct heatmap){ .kind = HEAT_SUBSECOND };
	s = span_of(p, o, &h->idle);
	if (!s.n)
		return no_data(e, "sample has a time");
	h->step = subsecond_step(o, s.last - s.first);
	h->start = s.first - s.first % h->step;
	linear_edges(h, o->rows ? o->rows : SUBSECOND_ROWS, 0, h->step);
	r = make_grid(h, s.last, e);
	if (r < 0) {
		heatmap_release(h);
		return r;
	}
	h->shares = xcalloc((size_t)h->columns * h->rows, sizeof(*h->shares));
	vec_each(sample, &p->samples) {
		u64 at = sample->time - h->start;

		if (sample->event != o->event || !sample->time || (!o->idle && is_idle(p, sample)))
			continue;
		add_cell(h, (u32)(at / h->step), row_of(h, at % h->step), sample->count);
		spread(h, at, period_of(p, sample), sample->count);
	}
	find_most_share(h);
	return 0;
}

/* --- latency -------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten. */
static u64 round_step(double step)
{
	double power = pow(10, floor(log10(MAX(step, 1.0)))), part = step / power;

	return (u64)(power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10));
}

static u64 choose_step(const struct heatmap_opts *o, u64 span)
{
	u32 most = o->most_columns ? o->most_columns : COLUMNS_USUAL;

	return o->step ? o->step : round_step((double)(span + 1) / most);
}

static void log_edges(struct heatmap *h, u32 rows, u64 low, u64 high)
{
	double from = log2((double)MAX(low, 1ull)), to = log2((double)MAX(high, 2ull));

	from = floor(from);
	to = MAX(ceil(to), from + 1);
	if (!rows)
		rows = (u32)MIN((to - from) * ROWS_PER_OCTAVE, (double)HEATMAP_ROWS_MOST);
	h->rows = rows;
	h->edges = xcalloc(rows + 1ul, sizeof(*h->edges));
	for (u32 i = 0; i <= rows; i++)
		h->edges[i] = (u64)exp2(from + (to - from) * i / rows);
	/* below 16 the parts of an octave are smaller than 1 */
	for (u32 i = 1; i <= rows; i++)
		h->edges[i] = MAX(h->edges[i], h->edges[i - 1] + 1);
}

static int compare_points(const void *a, const void *b)
{
	const struct latency_point *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* @values of one column. */
static void set_lines(struct heatmap *h, u32 column, u64 *values, size_t n)
{
	if (!n)
		return;
	qsort(values, n, sizeof(*values), compare_u64);
	for (int i = 0; i < HEAT_LINES; i++)
		h->lines[i][column] = values[(size_t)(ceil(heat_line_shares[i] * (double)n)) - 1];
}

static void fill_latency(struct heatmap *h, const struct latency_point *points, size_t n)
{
	VEC(u64) values = { 0 };
	u32 column = 0;

	for (int i = 0; i < HEAT_LINES; i++)
		h->lines[i] = xcalloc(h->columns, sizeof(u64));
	for (size_t i = 0; i < n; i++) {
		u32 at = (u32)((points[i].time - h->start) / h->step);

		if (at != column) {
			set_lines(h, column, values.items, values.len);
			vec_clear(&values);
			column = at;
		}
		vec_push(&values, points[i].value);
		if (points[i].value < h->edges[0] || points[i].value > h->edges[h->rows])
			h->outside++;
		else
			add_cell(h, at, row_of(h, points[i].value), 1);
	}
	set_lines(h, column, values.items, values.len);
	vec_release(&values);
}

int heatmap_latency(struct heatmap *h, const latency_points *points, const struct heatmap_opts *o,
		    struct err *e)
{
	struct latency_point *sorted;
	u64 low = UINT64_MAX, high = 0, last;
	size_t n = points->len;
	int r;

	*h = (struct heatmap){ .kind = HEAT_LATENCY };
	if (!n)
		return no_data(e, "event with a duration");
	sorted = xmemdup(points->items, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_points);
	for (size_t i = 0; i < n; i++) {
		low = MIN(low, sorted[i].value);
		high = MAX(high, sorted[i].value);
	}
	low = o->min ? o->min : low;
	high = o->max ? o->max : high;
	last = sorted[n - 1].time;
	h->step = choose_step(o, last - sorted[0].time);
	h->start = sorted[0].time - sorted[0].time % h->step;
	if (o->linear)
		linear_edges(h, o->rows ? o->rows : LINEAR_ROWS, o->min, MAX(high, o->min + 1));
	else
		log_edges(h, o->rows, low, MAX(high, low + 1));
	r = make_grid(h, last, e);
	if (r >= 0)
		fill_latency(h, sorted, n);
	else
		heatmap_release(h);
	free(sorted);
	return r;
}

/* --- utilisation ---------------------------------------------------------------------------- */

/* Time that a sample stands for. */
static u64 busy_time(const struct profile *p, const struct profile_sample *s)
{
	const struct profile_event *ev = &p->events.items[s->event];

	if (streq(profile_str(p, ev->unit), "ns"))
		return s->weight;
	return ev->frequency ? NSEC_PER_SEC / ev->frequency * s->count : 0;
}

/* Samples of other events say when something happened, not how long a CPU was busy. */
static int check_time(const struct profile *p, u16 event, struct err *e)
{
	const struct profile_event *ev = &p->events.items[event];

	if (ev->frequency || streq(profile_str(p, ev->unit), "ns"))
		return 0;
	err_set(e, ENODATA, "'%s' does not tell how long a CPU was busy", profile_str(p, ev->name));
	err_hint(e, "take samples of CPU time: fathom record -a");
	return -ENODATA;
}

static u32 count_cpus(const struct profile *p, u16 event)
{
	u32 most = 0;

	vec_each(s, &p->samples)
		if (s->event == event && s->cpu >= 0)
			most = MAX(most, (u32)s->cpu + 1);
	return most ? MAX(most, MIN(p->cpus, 8192u)) : 0;
}

static void fill_utilization(struct heatmap *h, const struct profile *p,
			     const struct heatmap_opts *o, u32 cpus)
{
	u64 *busy = xcalloc((size_t)h->columns * cpus, sizeof(*busy));

	vec_each(s, &p->samples)
		if (s->event == o->event && s->time && s->cpu >= 0 && !is_idle(p, s))
			busy[(s->time - h->start) / h->step * cpus + (u32)s->cpu] +=
				busy_time(p, s);
	for (u32 column = 0; column < h->columns; column++) {
		for (u32 cpu = 0; cpu < cpus; cpu++) {
			double share = (double)busy[(size_t)column * cpus + cpu] / (double)h->step;

			add_cell(h, column, row_of(h, (u64)(MIN(share, 1.0) * PERCENT_FULL)), 1);
		}
	}
	free(busy);
}

int heatmap_utilization(struct heatmap *h, const struct profile *p, const struct heatmap_opts *o,
			struct err *e)
{
	struct heatmap_opts all = *o;
	u32 cpus = count_cpus(p, o->event);
	struct span s;
	int r;

	*h = (struct heatmap){ .kind = HEAT_UTILIZATION };
	r = check_time(p, o->event, e);
	if (r < 0)
		return r;
	all.idle = true;
	s = span_of(p, &all, &h->idle);
	if (!s.n || !cpus) {
		no_data(e, "sample has a time and a CPU");
		err_hint(e, "record the whole machine: fathom record -a");
		return -ENODATA;
	}
	h->step = choose_step(o, s.last - s.first);
	/* a column must hold several samples, or everything is 0 or 100 % */
	if (!o->step)
		h->step = MAX(h->step, 100 * NSEC_PER_MSEC);
	h->start = s.first - s.first % h->step;
	linear_edges(h, o->rows ? o->rows : UTILIZATION_ROWS, 0, PERCENT_FULL);
	r = make_grid(h, s.last, e);
	if (r < 0) {
		heatmap_release(h);
		return r;
	}
	fill_utilization(h, p, o, cpus);
	return 0;
}

/* --- as tables ------------------------------------------------------------------------------ */

static enum value_type edge_type(const struct heatmap *h)
{
	return h->kind == HEAT_UTILIZATION ? VALUE_PERCENT : VALUE_DURATION;
}

static struct value edge_value(const struct heatmap *h, u64 v)
{
	return h->kind == HEAT_UTILIZATION ? value_d(VALUE_PERCENT, (double)v / 100)
					   : value_u(VALUE_DURATION, v);
}

static void lines_table(const struct heatmap *h, struct result *ret)
{
	static const struct column columns[] = {
		{ "time", "TIME", VALUE_DURATION, 0 },
		{ "p50", "P50", VALUE_DURATION, 0 },
		{ "p90", "P90", VALUE_DURATION, 0 },
		{ "p99", "P99", VALUE_DURATION, 0 },
	};
	struct table *t = result_table(ret, "percentiles", NULL, columns, ARRAY_SIZE(columns));

	for (u32 i = 0; i < h->columns; i++) {
		struct row *row;

		if (!h->lines[HEAT_LINES - 1][i])
			continue;
		row = table_row(ret, t);
		row->cells[0] = value_u(VALUE_DURATION, h->start + i * h->step);
		for (int k = 0; k < HEAT_LINES; k++)
			row->cells[1 + k] = value_u(VALUE_DURATION, h->lines[k][i]);
	}
}

void heatmap_report(const struct heatmap *h, struct result *ret)
{
	const struct column columns[] = {
		{ "time", "TIME", VALUE_DURATION, 0 },
		{ "from", "FROM", edge_type(h), 0 },
		{ "to", "TO", edge_type(h), 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
	};
	struct table *t = result_table(ret, "cells", NULL, columns, ARRAY_SIZE(columns));

	for (u32 column = 0; column < h->columns; column++) {
		for (u32 i = 0; i < h->rows; i++) {
			struct row *row;

			if (!heatmap_cell(h, column, i))
				continue;
			row = table_row(ret, t);
			row->cells[0] = value_u(VALUE_DURATION, h->start + column * h->step);
			row->cells[1] = edge_value(h, h->edges[i]);
			row->cells[2] = edge_value(h, h->edges[i + 1]);
			row->cells[3] = value_u(VALUE_COUNT, heatmap_cell(h, column, i));
		}
	}
	if (h->kind == HEAT_LATENCY)
		lines_table(h, ret);
	result_fact(ret, "step", NULL, value_u(VALUE_DURATION, h->step));
	result_fact(ret, "total", NULL, value_u(VALUE_COUNT, h->total));
	if (h->outside)
		result_loss(ret, "outside", "events outside of the rows shown", h->outside);
	if (h->unmatched)
		result_loss(ret, "unmatched", "events without a counterpart", h->unmatched);
	result_fact(ret, "idle_samples", NULL, value_u(VALUE_COUNT, h->idle));
}
