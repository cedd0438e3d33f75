/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in the form of perf's --stdio, for scripts that read that: a heading of comment lines,
 * columns two blanks apart, shares with two decimals.
 */
#ifndef VIEW_PERF_FORM_H
#define VIEW_PERF_FORM_H

#include "base/buf.h"
#include "profile/profile.h"
#include "result/result.h"

struct perf_form {
	const char *separator; /* -t: instead of blanks; NULL: none */
	const char *fields;    /* -F: which columns, in which order; NULL: the usual ones */
	const char *delta;     /* the title of differences; NULL: "Delta Abs" */
	bool quiet;            /* -q: rows alone */
	bool samples, period;  /* -n, --show-total-period */
	bool modes;            /* --showcpuutilization */
};

/* The columns of @t whose keys perf knows, under perf's titles. */
void perf_form_table(const struct table *t, const struct perf_form *f, struct buf *out);
/* A report: what report_build() made of @p, with all rows. */
void perf_form_report(const struct result *r, const struct profile *p, const struct perf_form *f,
		      struct buf *out);

#endif
