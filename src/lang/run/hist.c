/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms: their buckets, rows of text, percentiles. */
#include "lang/run/run.h"

enum { HIST_ROWS = 32 };

static void add_scaled(struct buf *out, u64 n)
{
	static const char units[] = " KMGTPE";
	size_t u = 0;

	while (n >= 1024 && n % 1024 == 0 && u + 1 < sizeof(units) - 1) {
		n /= 1024;
		u++;
	}
	buf_addu(out, n);
	if (u)
		buf_addch(out, units[u]);
}

/* Limits of bucket @i: [low, high). */
static void hist_limits(u32 bits, size_t i, u64 *low, u64 *high)
{
	u64 step, base;

	i--;
	if (!bits) {
		*low = i ? 1ull << (i - 1) : 0;
		*high = i ? (i < 64 ? 1ull << i : UINT64_MAX) : 1;
		return;
	}
	if (i < 1ull << bits) {
		*low = i;
		*high = i + 1;
		return;
	}
	base = (i >> bits) - 1;
	step = 1ull << base;
	*low = ((1ull << bits) + (i & ((1ull << bits) - 1))) << base;
	*high = *low + step;
}

static void lhist_label(struct buf *out, s64 n)
{
	buf_addf(out, "%lld", (long long)n);
}

/* Parts of powers of two are no round numbers: they are shown whole. */
static void add_limit(const struct type *t, u64 n, struct buf *out)
{
	if (t->p[0])
		buf_addu(out, n);
	else
		add_scaled(out, n);
}

/* Where the last whole bucket ends: what is above goes to the open one. */
static s64 lhist_end(const struct type *t)
{
	return t->p[0] + (t->p[1] - t->p[0]) / t->p[2] * t->p[2];
}

static void bucket_label(const struct type *t, size_t i, size_t last, struct buf *out)
{
	u64 low, high;

	if (t->kind == T_LHIST) {
		s64 from = t->p[0] + ((s64)i - 1) * t->p[2];

		if (i == 0) {
			buf_addstr(out, "(..., ");
			lhist_label(out, t->p[0]);
			buf_addch(out, ')');
		} else if (i == last) {
			buf_addch(out, '[');
			lhist_label(out, lhist_end(t));
			buf_addstr(out, ", ...)");
		} else {
			buf_addch(out, '[');
			lhist_label(out, from);
			if (t->p[2] == 1) {
				buf_addch(out, ']');
				return;
			}
			buf_addstr(out, ", ");
			lhist_label(out, from + t->p[2]);
			buf_addch(out, ')');
		}
		return;
	}
	if (i == 0) {
		buf_addstr(out, "(..., 0)");
		return;
	}
	hist_limits((u32)t->p[0], i, &low, &high);
	buf_addch(out, '[');
	add_limit(t, low, out);
	if (high > low + 1) {
		buf_addstr(out, ", ");
		add_limit(t, high, out);
		buf_addch(out, ')');
	} else {
		buf_addch(out, ']');
	}
}

static bool used_buckets(const struct type *t, const u64 *sum, size_t *first, size_t *last,
			 u64 *max)
{
	size_t n = type_stored(t) / 8;
	bool any = false;

	*max = 0;
	for (size_t i = 0; i < n; i++) {
		if (!sum[i])
			continue;
		if (!any)
			*first = i;
		any = true;
		*last = i;
		*max = MAX(*max, sum[i]);
	}
	return any;
}

static size_t lhist_last(const struct type *t)
{
	return t->kind == T_LHIST ? (size_t)((t->p[1] - t->p[0]) / t->p[2]) + 1 : SIZE_MAX;
}

/* Limits of any bucket as numbers; false where one of them is open. */
static bool bucket_limits(const struct type *t, size_t i, s64 *low, s64 *high)
{
	u64 from, to;

	if (i == 0 || i == lhist_last(t))
		return false;
	if (t->kind == T_LHIST) {
		*low = t->p[0] + ((s64)i - 1) * t->p[2];
		*high = *low + t->p[2];
		return true;
	}
	hist_limits((u32)t->p[0], i, &from, &to);
	*low = (s64)from;
	*high = (s64)MIN(to, (u64)INT64_MAX);
	return true;
}

/* The value below which @share of all lie, as if those of a bucket were spread evenly. */
static void add_percentile(const struct type *t, const u64 *sum, u64 total, double share,
			   struct buf *out)
{
	double rank = share * (double)total, before = 0;
	size_t i = 0, n = type_stored(t) / 8;
	s64 low, high;

	while (i + 1 < n && before + (double)sum[i] < rank)
		before += (double)sum[i++];
	if (bucket_limits(t, i, &low, &high))
		buf_addf(out, "%lld",
			 (long long)((double)low +
				     (double)(high - low) * (rank - before) / (double)sum[i]));
	else
		bucket_label(t, i, lhist_last(t), out);
}

static void add_percentiles(const struct type *t, const u64 *sum, struct buf *out)
{
	static const struct {
		const char *name;
		double share;
	} shown[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 } };
	u64 total = 0;

	for (size_t i = 0; i < type_stored(t) / 8; i++)
		total += sum[i];
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		buf_addf(out, "%s%s ", i ? ", " : "", shown[i].name);
		add_percentile(t, sum, total, shown[i].share, out);
	}
	buf_addf(out, " of %llu\n", (unsigned long long)total);
}

/* The bucket of @bits that a value belongs to. */
static size_t hist_index(u32 bits, u64 n)
{
	u32 log;

	if (n < 1ull << bits)
		return (size_t)n + 1;
	log = 63 - (u32)__builtin_clzll(n);
	return ((size_t)(log - bits + 1) << bits) + (n >> (log - bits) & ((1ull << bits) - 1)) + 1;
}

/* The same histogram with fewer buckets; @ret has room for those of @t. */
static void coarsen(const struct type *t, const u64 *sum, struct type *as, u64 *ret)
{
	u64 low, high;

	memset(ret, 0, type_stored(t));
	ret[0] = sum[0];
	for (size_t i = 1; i < type_stored(t) / 8; i++) {
		if (!sum[i])
			continue;
		hist_limits((u32)t->p[0], i, &low, &high);
		ret[hist_index((u32)as->p[0], low)] += sum[i];
	}
}

static void add_rows(const struct type *t, const u64 *sum, u64 div, struct buf *out)
{
	size_t first = 0, last = 0;
	u64 max;

	if (!used_buckets(t, sum, &first, &last, &max))
		return;
	/* bars are of what is shown */
	max = t->kind == T_LHIST ? max : MAX(max / div, 1ull);
	for (size_t i = first; i <= last; i++) {
		size_t start = out->len;
		u64 n = t->kind == T_LHIST ? sum[i] : sum[i] / div;
		size_t bar = (size_t)((double)n * RUN_BAR_WIDTH / (double)max);

		bucket_label(t, i, lhist_last(t), out);
		if (out->len - start < 16)
			buf_fill(out, ' ', 16 - (out->len - start));
		buf_addf(out, "%8llu |", (unsigned long long)n);
		buf_fill(out, '@', bar);
		buf_fill(out, ' ', RUN_BAR_WIDTH - bar);
		buf_addstr(out, "|\n");
	}
}

/* Times that nobody said how finely to divide: as finely as a screen has room for. */
static void add_rows_that_fit(const struct type *t, const u64 *sum, u64 div, struct buf *out)
{
	u64 *coarse = xcalloc(1, type_stored(t));
	struct type as = *t;
	size_t first = 0, last = 0;
	u64 max;

	memcpy(coarse, sum, type_stored(t));
	while (used_buckets(&as, coarse, &first, &last, &max) && last - first >= HIST_ROWS &&
	       as.p[0]) {
		as.p[0]--;
		coarsen(t, sum, &as, coarse);
	}
	add_rows(&as, coarse, div, out);
	free(coarse);
}

void run_hist(const struct run *r, const struct type *t, const u64 *sum, u64 div, struct buf *out)
{
	size_t first, last;
	u64 max;

	if (!used_buckets(t, sum, &first, &last, &max)) {
		buf_addch(out, '\n');
		return;
	}
	if (t->kind == T_HIST && t->p[1])
		add_rows_that_fit(t, sum, div, out);
	else
		add_rows(t, sum, div, out);
	if (r->c->config.percentiles)
		add_percentiles(t, sum, out);
	buf_addch(out, '\n');
}

void run_hist_json(const struct type *t, const u64 *sum, u64 div, struct buf *out)
{
	size_t first = 0, last = 0;
	u64 max, low, high;

	buf_addch(out, '[');
	if (used_buckets(t, sum, &first, &last, &max)) {
		for (size_t i = first; i <= last; i++) {
			unsigned long long n = t->kind == T_LHIST ? sum[i] : sum[i] / div;

			buf_addstr(out, i > first ? ",{" : "{");
			if (t->kind == T_LHIST) {
				s64 from = t->p[0] + ((s64)i - 1) * t->p[2];

				if (i)
					buf_addf(out, "\"min\": %lld, ", (long long)from);
				if (i != lhist_last(t))
					buf_addf(out, "\"max\": %lld, ",
						 (long long)(i ? from + t->p[2] - 1 : t->p[0] - 1));
			} else if (i == 0) {
				buf_addstr(out, "\"max\": -1, ");
			} else {
				hist_limits((u32)t->p[0], i, &low, &high);
				buf_addf(out, "\"min\": %llu, \"max\": %llu, ",
					 (unsigned long long)low, (unsigned long long)(high - 1));
			}
			buf_addf(out, "\"count\": %llu}", n);
		}
	}
	buf_addch(out, ']');
}
