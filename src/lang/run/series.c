/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tseries(): values by intervals of time, as a chart whose time runs downwards. */
#include "lang/run/run.h"

/* Columns of the chart, its two edges included. */
enum { SERIES_WIDTH = 53 };

struct point {
	u64 epoch;
	s64 value;
	u64 count;
};

static u64 word_of(const u8 *p, size_t i)
{
	u64 n;

	memcpy(&n, p + i * 8, 8);
	return n;
}

static int by_epoch(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

/* CPUs fill their own slots: those of one interval are put together. */
static size_t series_points(const struct type *t, const struct map_dump *d, const u8 *values,
			    struct point *ret)
{
	size_t n = 0, slots = (size_t)t->p[1];

	for (size_t cpu = 0; cpu < d->cpus; cpu++) {
		for (size_t i = 0; i < slots; i++) {
			const u8 *p = values + cpu * d->value_size + i * 24;
			struct point q = { word_of(p, 0), (s64)word_of(p, 1), word_of(p, 2) };
			size_t k = 0;

			if (!q.count)
				continue;
			while (k < n && ret[k].epoch != q.epoch)
				k++;
			if (k == n) {
				ret[n++] = q;
				continue;
			}
			if (t->p[2] == T_MIN)
				ret[k].value = MIN(ret[k].value, q.value);
			else if (t->p[2] == T_MAX)
				ret[k].value = MAX(ret[k].value, q.value);
			else if (t->p[2])
				ret[k].value += q.value;
			else
				ret[k].value = q.value;
			ret[k].count += q.count;
		}
	}
	qsort(ret, n, sizeof(*ret), by_epoch);
	/* Slots that were not used again are from before the window. */
	while (n && ret[0].epoch + slots <= ret[n - 1].epoch)
		memmove(ret, ret + 1, --n * sizeof(*ret));
	for (size_t i = 0; i < n; i++)
		ret[i].value = t->p[2] == T_AVG ? ret[i].value / (s64)ret[i].count : ret[i].value;
	return n;
}

/* --- text ------------------------------------------------------------------------------------- */

/* How times are shown: as finely as the intervals are. */
struct precision {
	u64 at_least; /* nanoseconds of an interval */
	const char *head;
	const char *format;
	u64 unit; /* of the digits after it, in nanoseconds; 0: none */
	int digits;
};

static const struct precision precisions[] = {
	{ NSEC_PER_SEC, "hh:mm:ss", "%H:%M:%S", 0, 0 },
	{ NSEC_PER_MSEC, "hh:mm:ss.ms ", "%H:%M:%S", NSEC_PER_MSEC, 3 },
	{ NSEC_PER_USEC, "hh:mm:ss.us    ", "%H:%M:%S", NSEC_PER_USEC, 6 },
	{ 0, "hh:mm:ss.ns       ", "%H:%M:%S", 1, 9 },
};

static const struct precision *precision_of(u64 interval, size_t points)
{
	const struct precision *p = precisions;

	if (points < 2)
		return &precisions[ARRAY_SIZE(precisions) - 1];
	while (interval < p->at_least)
		p++;
	return p;
}

static void add_time(struct run *r, const struct precision *p, u64 wall_ns, struct buf *out)
{
	run_strftime(r, p->format, wall_ns, out);
	if (p->unit)
		buf_addf(out, ".%0*llu", p->digits,
			 (unsigned long long)(wall_ns % NSEC_PER_SEC / p->unit));
}

struct chart {
	const struct precision *precision;
	s64 low, high;
};

static size_t column(const struct chart *c, s64 value)
{
	double share = (double)(value - c->low) / (double)(c->high - c->low);

	return (size_t)(share * (SERIES_WIDTH - 1));
}

static void add_limits(const struct chart *c, struct buf *out)
{
	char low[24], high[24];
	int n = snprintf(low, sizeof(low), "%lld", (long long)c->low);

	snprintf(high, sizeof(high), "%lld", (long long)c->high);
	buf_fill(out, ' ', strlen(c->precision->head) + 1);
	buf_addf(out, "%s%*s\n", low, SERIES_WIDTH - n, high);
}

static void add_edge(const struct chart *c, const char *head, char edge, struct buf *out)
{
	buf_addf(out, "%-*s ", (int)strlen(c->precision->head), head);
	buf_addch(out, edge);
	buf_fill(out, '_', SERIES_WIDTH - 2);
	buf_addch(out, edge);
	buf_addch(out, '\n');
}

/* One line; @p is NULL for an interval without values. */
static void add_line(struct run *r, const struct chart *c, u64 wall_ns, const struct point *p,
		     struct buf *out)
{
	char line[SERIES_WIDTH + 1];

	memset(line, ' ', SERIES_WIDTH);
	line[0] = line[SERIES_WIDTH - 1] = '|';
	line[SERIES_WIDTH] = 0;
	if (c->low < 0 && c->high > 0)
		line[column(c, 0)] = '.';
	if (p)
		line[column(c, p->value)] = '*';
	add_time(r, c->precision, wall_ns, out);
	buf_addf(out, " %s ", line);
	if (p)
		buf_addf(out, "%lld\n", (long long)p->value);
	else
		buf_addstr(out, "-\n");
}

static void series_text(struct run *r, const struct type *t, const struct point *p, size_t n,
			struct buf *out)
{
	struct chart c = { precision_of((u64)t->p[0], n), p[0].value, p[0].value };
	u64 epoch = p[0].epoch;

	for (size_t i = 1; i < n; i++) {
		c.low = MIN(c.low, p[i].value);
		c.high = MAX(c.high, p[i].value);
	}
	if (c.low == c.high) {
		c.low -= c.low > INT64_MIN;
		c.high += c.high < INT64_MAX;
	}
	add_limits(&c, out);
	add_edge(&c, c.precision->head, '|', out);
	for (size_t i = 0; i < n; epoch++) {
		bool hit = p[i].epoch == epoch;

		add_line(r, &c, epoch * (u64)t->p[0], hit ? &p[i] : NULL, out);
		i += hit;
	}
	add_edge(&c, "", 'v', out);
	add_limits(&c, out);
}

static void series_json(struct run *r, const struct type *t, const struct point *p, size_t n,
			struct buf *out)
{
	buf_addch(out, '[');
	for (size_t i = 0; i < n; i++) {
		u64 start = p[i].epoch * (u64)t->p[0];

		buf_addf(out, "%s{\"interval_start\":\"", i ? "," : "");
		run_strftime(r, "%Y-%m-%d %H:%M:%S", start, out);
		buf_addf(out, ".%09llu\",\"value\":%lld}",
			 (unsigned long long)(start % NSEC_PER_SEC), (long long)p[i].value);
	}
	buf_addch(out, ']');
}

void run_series(struct run *r, const struct type *t, const struct map_dump *d, const u8 *values,
		struct buf *out, bool json)
{
	struct point *p = xcalloc((size_t)t->p[1] * d->cpus + 1, sizeof(*p));
	size_t n = series_points(t, d, values, p);

	if (json)
		series_json(r, t, p, n, out);
	else if (n)
		series_text(r, t, p, n, out);
	if (!json)
		buf_addch(out, '\n');
	free(p);
}
