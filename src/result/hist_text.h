/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The renderer of histograms as text: one for all commands, with the layouts that users know. */
#ifndef RESULT_HIST_TEXT_H
#define RESULT_HIST_TEXT_H

#include "result/hist.h"

enum hist_form {
	HIST_ARROWS = 1, /* "     4 -> 7          : 12       |****|": bcc */
	HIST_BRACKETS,   /* "[4, 8)                12 |@@@@|": bpftrace */
	HIST_UNITS,      /* "4.00us - 8.00us 12 |****|": as finely as the rows allow */
};

struct hist_text {
	enum hist_form form;
	struct buf *line;          /* where lines are made */
	int width;                 /* columns to stay within; 0: no limit */
	const char *dots;          /* of a heading that is cut; NULL: none */
	size_t rows;               /* at most, where powers of two are divided; 0: any */
	u64 divisor;               /* of the counts; 0: none */
	bool average, percentiles; /* lines below */
	void (*limit)(struct buf *out, enum value_type type, u64 value); /* HIST_UNITS */
	/* A line is complete; @whole: it must not be cut. NULL: a newline is appended. */
	void (*end)(void *ctx, enum style style, bool whole);
	void *ctx;
};

void hist_text(const struct histogram *h, const struct hist_text *t);

#endif
