/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/hist.h"

const struct hist_percentile hist_percentiles[HIST_PERCENTILES] = {
	{ "p50", "p50", 0.5 },
	{ "p90", "p90", 0.9 },
	{ "p99", "p99", 0.99 },
	{ "p99.9", "p999", 0.999 },
};

static struct histogram *add_hist(struct result *r, const char *name, const char *label,
				  const char *unit, size_t n_buckets)
{
	struct histogram *h = arena_zalloc(&r->arena, sizeof(*h));

	h->name = value_text(r, name).s;
	h->label = value_text(r, label).s;
	h->unit = value_text(r, unit).s;
	h->n_buckets = n_buckets;
	h->buckets = arena_zalloc(&r->arena, n_buckets * sizeof(*h->buckets));
	vec_push(&r->sections, (struct section){ .type = SECTION_HISTOGRAM, .histogram = h });
	return h;
}

struct histogram *result_hist_log2(struct result *r, const char *name, const char *label,
				   const char *unit)
{
	struct histogram *h = add_hist(r, name, label, unit, HIST_LOG2_BUCKETS);

	h->kind = HIST_LOG2;
	return h;
}

struct histogram *result_hist_linear(struct result *r, const char *name, const char *label,
				     const char *unit, s64 min, s64 max, u64 step)
{
	struct histogram *h;
	u64 n;

	if (!step || max <= min)
		return NULL;
	n = ((u64)max - (u64)min - 1) / step + 1;
	if (n > HIST_LINEAR_MOST)
		return NULL;
	h = add_hist(r, name, label, unit, n);
	h->kind = HIST_LINEAR;
	h->min = min;
	h->step = step;
	return h;
}

struct histogram *result_hist_fine(struct result *r, const char *name, const char *label,
				   const char *unit, u32 bits)
{
	struct histogram *h;

	bits = MIN(bits, (u32)HIST_BITS_MOST);
	h = add_hist(r, name, label, unit, (size_t)HIST_LOG2_BUCKETS << bits);
	h->kind = HIST_FINE;
	h->bits = bits;
	h->value_type = VALUE_COUNT;
	return h;
}

struct histogram *result_hist_copy(struct result *r, const char *name, const char *label,
				   const char *unit, const struct histogram *h)
{
	struct histogram *to = add_hist(r, name, label, unit, h->n_buckets), as = *h;

	as.name = to->name;
	as.label = to->label;
	as.unit = to->unit;
	as.buckets = to->buckets;
	memcpy(as.buckets, h->buckets, h->n_buckets * sizeof(*h->buckets));
	*to = as;
	return to;
}

static size_t fine_bucket(u32 bits, u64 value)
{
	u32 log;

	if (value < 1ull << bits)
		return (size_t)value;
	log = 63 - (u32)__builtin_clzll(value);
	return ((size_t)(log - bits + 1) << bits) +
	       (size_t)(value >> (log - bits) & ((1ull << bits) - 1));
}

static void fine_range(u32 bits, size_t i, u64 *ret_first, u64 *ret_last)
{
	u64 base = i >> bits;

	if (base)
		base--;
	*ret_first = i < 1ull << bits ? i : ((1ull << bits) + (i & ((1ull << bits) - 1))) << base;
	*ret_last = *ret_first + (1ull << base) - 1;
}

static u64 *bucket_of(struct histogram *h, u64 value)
{
	u64 i;

	if (h->kind == HIST_LOG2)
		return &h->buckets[value ? 64 - __builtin_clzll(value) : 0];
	if (h->kind == HIST_FINE)
		return &h->buckets[fine_bucket(h->bits, value)];
	if (h->min > 0 && value < (u64)h->min)
		return &h->under;
	if (value > INT64_MAX)
		return &h->over;
	i = (value - (u64)h->min) / h->step;
	return i < h->n_buckets ? &h->buckets[i] : &h->over;
}

void hist_add(struct histogram *h, u64 value, u64 count)
{
	u64 *bucket = bucket_of(h, value);

	*bucket = add_sat(*bucket, count);
	h->count = add_sat(h->count, count);
	h->total = add_sat(h->total, mul_sat(value, count));
}

/* The lower limit of bucket @i, or the largest number. */
static s64 linear_limit(const struct histogram *h, size_t i)
{
	s64 sum;

	return __builtin_add_overflow(h->min, mul_sat(i, h->step), &sum) ? INT64_MAX : sum;
}

void hist_range(const struct histogram *h, size_t i, u64 *ret_first, u64 *ret_last)
{
	switch (h->kind) {
	case HIST_LOG2: fine_range(0, i, ret_first, ret_last); break;
	case HIST_FINE: fine_range(h->bits, i, ret_first, ret_last); break;
	case HIST_LINEAR:
		*ret_first = (u64)linear_limit(h, i);
		*ret_last = (u64)linear_limit(h, i + 1) - 1;
		break;
	}
}

void hist_used(const struct histogram *h, size_t *ret_first, size_t *ret_end)
{
	size_t from = 0, to = h->n_buckets;

	while (to && !h->buckets[to - 1])
		to--;
	while (from < to && !h->buckets[from])
		from++;
	*ret_first = from;
	*ret_end = to;
}

/* The first number of over, the one after the last of under. */
static u64 open_limit(const struct histogram *h, enum hist_place place)
{
	if (h->kind != HIST_LINEAR)
		return place == HIST_BELOW ? 0 : UINT64_MAX;
	return (u64)linear_limit(h, place == HIST_BELOW ? 0 : h->n_buckets);
}

enum hist_place hist_percentile(const struct histogram *h, double share, u64 *ret)
{
	double rank = share * (double)h->count, before = (double)h->under;
	u64 first = 0, last = 0, part;
	size_t i = 0;

	*ret = open_limit(h, HIST_BELOW);
	if (!h->count || rank <= before)
		return HIST_BELOW;
	while (i < h->n_buckets && before + (double)h->buckets[i] < rank)
		before += (double)h->buckets[i++];
	if (i == h->n_buckets) {
		*ret = open_limit(h, HIST_ABOVE);
		return HIST_ABOVE;
	}
	hist_range(h, i, &first, &last);
	part = (u64)(((double)(last - first) + 1) * (rank - before) / (double)h->buckets[i]);
	*ret = h->kind == HIST_LINEAR ? first + part : add_sat(first, part);
	return HIST_INSIDE;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void row_range(const struct histogram *h, u32 flags, u32 bits, size_t i,
		      struct hist_row *ret)
{
	hist_range(h, i, &ret->first, &ret->last);
	if (h->kind == HIST_FINE)
		fine_range(bits, fine_bucket(bits, ret->first), &ret->first, &ret->last);
	else if (h->kind == HIST_LOG2 && flags & HIST_ROWS_JOIN && i < 2)
		*ret = (struct hist_row){ .first = 0, .last = 1 };
}

static void add_row(struct hist_rows *r, struct hist_row row)
{
	struct hist_row *last = r->list.len ? vec_last(&r->list) : NULL;

	if (last && last->first == row.first && last->place == row.place)
		last->count = add_sat(last->count, row.count);
	else
		vec_push(&r->list, row);
	r->most = MAX(r->most, vec_last(&r->list)->count);
}

static void collect(struct hist_rows *r, const struct histogram *h, u32 flags)
{
	size_t from, to;

	vec_clear(&r->list);
	r->most = 0;
	hist_used(h, &from, &to);
	if (flags & HIST_ROWS_TO_OPEN && h->over) {
		from = to ? from : h->n_buckets;
		to = h->n_buckets;
	}
	if (flags & HIST_ROWS_FROM_MIN || (flags & HIST_ROWS_TO_OPEN && h->under))
		from = 0;
	if (h->under)
		add_row(r, (struct hist_row){ .last = open_limit(h, HIST_BELOW),
					      .count = h->under,
					      .place = HIST_BELOW });
	for (size_t i = from; i < to; i++) {
		struct hist_row row = { .place = HIST_INSIDE };

		row_range(h, flags, r->bits, i, &row);
		row.count = h->buckets[i];
		add_row(r, row);
	}
	if (h->over)
		add_row(r, (struct hist_row){ .first = open_limit(h, HIST_ABOVE),
					      .count = h->over,
					      .place = HIST_ABOVE });
}

void hist_rows(struct hist_rows *r, const struct histogram *h, u32 flags, size_t most)
{
	r->bits = h->bits;
	collect(r, h, flags);
	while (most && r->list.len > most && r->bits) {
		r->bits--;
		collect(r, h, flags);
	}
}

void hist_rows_release(struct hist_rows *r)
{
	vec_release(&r->list);
}

void hist_number(struct buf *out, const struct histogram *h, u64 limit)
{
	if (h->kind == HIST_LINEAR)
		buf_addf(out, "%lld", (long long)limit);
	else
		buf_addu(out, limit);
}
