/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms: their buckets, the limits of those, percentiles, and the rows that people see. */
#ifndef RESULT_HIST_H
#define RESULT_HIST_H

#include "base/buf.h"
#include "result/result.h"

/*
 * LOG2: bucket i counts values in [2^(i-1), 2^i), bucket 0 counts 0. LINEAR: bucket i counts
 * [min + i*step, min + (i+1)*step), which may be negative; under and over hold the rest. FINE: as
 * LOG2, but each power of two is divided into 2^bits buckets. The under of LOG2 and FINE holds
 * negative values.
 */
enum hist_kind { HIST_LOG2, HIST_LINEAR, HIST_FINE };
enum { HIST_BITS_MOST = 5, HIST_LOG2_BUCKETS = 65, HIST_LINEAR_MOST = 4096 };

struct histogram {
	const char *name;  /* JSON key of the section */
	const char *label; /* what this one is of ("disk = sda"), or NULL */
	const char *unit;  /* "usecs": heading of the range column */
	enum hist_kind kind;
	s64 min;                    /* linear only */
	u64 step;                   /* linear only */
	u32 bits;                   /* fine only */
	enum value_type value_type; /* fine only: how people get the bounds */
	u64 *buckets;
	size_t n_buckets;
	u64 under, over;
	u64 count, total; /* of all values: average */
};

struct histogram *result_hist_log2(struct result *r, const char *name, const char *label,
				   const char *unit);
/* NULL when step is 0, max is not above min, or there would be more than HIST_LINEAR_MOST buckets.
 */
struct histogram *result_hist_linear(struct result *r, const char *name, const char *label,
				     const char *unit, s64 min, s64 max, u64 step);
/* @bits is at most HIST_BITS_MOST. */
struct histogram *result_hist_fine(struct result *r, const char *name, const char *label,
				   const char *unit, u32 bits);
/* A copy of @h, which may be in any memory, under other names. */
struct histogram *result_hist_copy(struct result *r, const char *name, const char *label,
				   const char *unit, const struct histogram *h);
void hist_add(struct histogram *h, u64 value, u64 count);

/* Smallest and largest value that bucket @i counts; those of linear ones are signed. */
void hist_range(const struct histogram *h, size_t i, u64 *ret_first, u64 *ret_last);
/* The first bucket that counted anything and the one after the last; both 0 where none did. */
void hist_used(const struct histogram *h, size_t *ret_first, size_t *ret_end);

enum hist_place { HIST_BELOW = -1, HIST_INSIDE, HIST_ABOVE };

/*
 * The value below which @share (0 to 1) of all lie, as if those of a bucket were spread evenly; in
 * under and over it is the nearest limit of a bucket.
 */
enum hist_place hist_percentile(const struct histogram *h, double share, u64 *ret);

enum { HIST_PERCENTILES = 4 };

/* Those that every view shows. */
extern const struct hist_percentile {
	const char *name; /* "p99.9" */
	const char *key;  /* "p999" */
	double share;
} hist_percentiles[HIST_PERCENTILES];

/* One bucket, or neighbours put together. */
struct hist_row {
	u64 first, last;
	u64 count;
	enum hist_place place; /* below: less than last; above: first and more */
};

struct hist_rows {
	VEC(struct hist_row) list;
	u32 bits; /* FINE: into how many parts powers of two are divided now */
	u64 most; /* count of the fullest */
};

enum hist_rows_flags {
	HIST_ROWS_FROM_MIN = 1 << 0, /* from the first bucket on, used or not */
	HIST_ROWS_JOIN = 1 << 1,     /* 0 and 1 of LOG2 share a row */
	HIST_ROWS_TO_OPEN = 1 << 2,  /* no holes between under, the buckets and over */
};

/*
 * The rows from the first bucket that counted anything to the last, empty ones between them too;
 * FINE ones are divided less finely until there are at most @most (0: any number). @r is zeroed
 * or was filled before.
 */
void hist_rows(struct hist_rows *r, const struct histogram *h, u32 flags, size_t most);
void hist_rows_release(struct hist_rows *r);

/* Appends a limit as a plain number. */
void hist_number(struct buf *out, const struct histogram *h, u64 limit);

#endif
