/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts as a result, which --json and --csv show and --compare reads. */
#ifndef ANALYSIS_STAT_RESULT_H
#define ANALYSIS_STAT_RESULT_H

#include "analysis/stat.h"
#include "base/buf.h"

/* @time: of an interval, since the start; 0: the whole. @no_pmu: hardware was not even asked. */
void stat_result(const struct stat_set *s, const char *subject, bool no_pmu, u64 time,
		 struct result *r);
/* What was not counted and why, in a line or two; nothing if there is no such event. */
void stat_missing(const struct stat_set *s, bool no_pmu, struct buf *out);
bool stat_any_missing(const struct stat_set *s);

/* --- two of them ------------------------------------------------------------------------------ */

/* One event of one group, run by run. */
struct stat_series {
	char *group; /* or NULL */
	char *event;
	char *unit;
	VEC(double) values;
};

struct stat_file {
	VEC(struct stat_series) series;
};

/* Reads what stat_result() gives in its JSON form. */
int stat_file_parse(const char *text, size_t len, const char *name, struct stat_file *ret,
		    struct err *e);
void stat_file_release(struct stat_file *f);
/* A table of differences, each with the probability that it is chance. */
void stat_compare(const struct stat_file *a, const struct stat_file *b, struct result *r);

#endif
