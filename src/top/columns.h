/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of processes and threads: data. Sorting, filters, sums, help and JSON come from them. */
#ifndef TOP_COLUMNS_H
#define TOP_COLUMNS_H

#include "base/buf.h"
#include "top/frame.h"
#include "top/live.h"
#include "top/shares.h"

enum top_kind { KIND_NUMBER, KIND_PERCENT, KIND_BYTES, KIND_RATE, KIND_TIME, KIND_TEXT };

enum {
	TOP_SUMS = 1 << 0,   /* of a tree: that of all below is shown */
	TOP_SHOWN = 1 << 1,  /* unless columns are chosen */
	TOP_THREAD = 1 << 2, /* of threads: shown where rows are threads */
	TOP_WAITS = 1 << 3,  /* needs the programs that watch waits */
	TOP_ASCENDING = 1 << 4,
	TOP_SAMPLES = 1 << 5, /* needs samples */
};

/* What a column may need in addition to the task. */
struct top_context {
	const struct machine_frame *frame;
	const struct shares *shares;         /* NULL: not known */
	const struct profile_frame *profile; /* NULL: not known */
	u32 selected;                        /* thread under the cursor; 0: none */
};

struct top_column {
	const char *key;
	const char *title;
	int width;
	enum top_kind kind;
	u8 decimals;
	u32 flags;
	/* Not a number: not known. */
	double (*get)(const struct top_task *t, const struct top_context *ctx);
	const char *(*text)(const struct top_task *t, const struct top_context *ctx);
	double warn, bad;    /* 0: neither */
	const char *meaning; /* one sentence, */
	const char *from;    /* where the kernel says it, and the formula, */
	const char *deeper;  /* and what a high value suggests, with the command that digs deeper */
};

const struct top_column *top_columns(size_t *ret_n);
/* -1: no such column. */
int top_column_find(const char *key, size_t n);
double top_column_value(const struct top_column *c, const struct top_task *t,
			const struct top_context *ctx);
void top_column_format(const struct top_column *c, double value, struct buf *out);

#endif
