/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heat maps: time from left to right in columns, a value upwards in rows, and in each cell how
 * much fell there.
 */
#ifndef ANALYSIS_HEATMAP_H
#define ANALYSIS_HEATMAP_H

#include "base/err.h"
#include "profile/pairs.h"
#include "profile/profile.h"
#include "result/result.h"

enum heatmap_kind { HEAT_SUBSECOND, HEAT_LATENCY, HEAT_UTILIZATION };

enum {
	HEATMAP_COLUMNS_MOST = 20000,
	HEATMAP_ROWS_MOST = 1000,
};

enum { HEAT_LINES = 3 }; /* half, 90 % and 99 % of the points are below */

struct heatmap {
	enum heatmap_kind kind;
	u32 columns, rows;
	u64 start;  /* time of the left edge, ns */
	u64 step;   /* of a column, ns */
	u64 *edges; /* rows + 1: the lower edge of each row, upwards; ns, or hundredths of % */
	u64 *cells; /* column * rows + row */
	/*
	 * For colours, likewise by cell: each sample stands for the time since the one before it,
	 * so that steady load is even whatever rows and sampling rate have in common. NULL: the
	 * cells.
	 */
	float *shares;
	double most_share;
	u64 most; /* of the cells */
	u64 total;
	u64 *lines[HEAT_LINES]; /* latency: percentiles by column, 0 where there is nothing */
	u64 idle;               /* samples of the idle task, which are not shown */
	u64 unmatched;          /* of pairs: events without a counterpart, which have no latency */
	u64 outside;            /* points that no row is for */
};

struct heatmap_opts {
	u16 event;
	u32 rows;         /* 0: what suits */
	u64 step;         /* of columns; 0: what suits */
	bool idle;        /* show samples of the idle task, too */
	bool linear;      /* latency: rows of equal height */
	u64 min, max;     /* latency: of the rows, 0: of the data */
	u32 most_columns; /* when the step is chosen here; 0: 120 */
};

/* A column for each second, rows for its parts. The profile must not be merged. */
int heatmap_subsecond(struct heatmap *h, const struct profile *p, const struct heatmap_opts *o,
		      struct err *e);
/* How many CPUs were how busy; from samples of a clock. */
int heatmap_utilization(struct heatmap *h, const struct profile *p, const struct heatmap_opts *o,
			struct err *e);
int heatmap_latency(struct heatmap *h, const latency_points *points, const struct heatmap_opts *o,
		    struct err *e);
void heatmap_release(struct heatmap *h);

static inline u64 heatmap_cell(const struct heatmap *h, u32 column, u32 row)
{
	return h->cells[(size_t)column * h->rows + row];
}
/* "samples", "events", "CPUs" */
const char *heatmap_noun(const struct heatmap *h);
/* Where a value lies: the row, with fractions. */
double heatmap_height(const struct heatmap *h, u64 value);
void heatmap_report(const struct heatmap *h, struct result *ret);

/* --- where points come from (heatmap_points.c) --- */

/* The weight of each sample of the event is a time: off-CPU times and the like. */
int heat_points_of_weights(const struct profile *p, u16 event, latency_points *ret, struct err *e);
/* Lines of two numbers, time and latency; other lines are counted in *@ret_bad. */
int heat_points_of_text(const char *text, size_t len, u64 time_unit, u64 value_unit,
			latency_points *ret, u64 *ret_bad, struct err *e);

#endif
