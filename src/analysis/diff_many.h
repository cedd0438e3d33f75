/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several profiles against the first of them: the share of each function in that, and by how much
 * it differs in the others. Profiles are added one after another, so that one is in memory.
 */
#ifndef ANALYSIS_DIFF_MANY_H
#define ANALYSIS_DIFF_MANY_H

#include "base/err.h"
#include "base/intern.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "result/result.h"

enum { DIFF_MANY_MOST = 16 };

enum diff_many_how { DIFF_DELTA_ABS, DIFF_DELTA, DIFF_RATIO, DIFF_WEIGHTED };

struct diff_many_opts {
	enum diff_many_how how;
	s64 before, after;  /* DIFF_WEIGHTED: what the periods are multiplied with */
	const char *sort;   /* any of comm, dso and symbol; NULL: dso,symbol */
	bool baseline_only; /* nothing that only one profile has */
	bool period;        /* columns of periods */
};

struct diff_many_line {
	u32 comm, dso, symbol; /* strings; 0: not asked for */
	u64 period[DIFF_MANY_MOST];
	double percent[DIFF_MANY_MOST]; /* own share, of the first event */
	u16 in;                         /* a bit for each profile that has it */
};

struct diff_many {
	struct intern strings, ids;
	VEC(struct diff_many_line) lines;
	u32 names[DIFF_MANY_MOST];
	u64 samples[DIFF_MANY_MOST];
	struct diff_many_opts opts;
	size_t n;
	u32 event; /* string: what the first counts */
};

/* @opts NULL: the usual ones. */
void diff_many_init(struct diff_many *d, const struct diff_many_opts *opts);
/* "delta", "ratio", "wdiff:1,2" and the like. */
int diff_many_parse(const char *text, struct diff_many_opts *ret, struct err *e);
void diff_many_release(struct diff_many *d);
/* -E2BIG: too many; -ENODATA: no sample. */
int diff_many_add(struct diff_many *d, struct profile *p, const char *name, struct err *e);
/* A table with the largest differences first; @max_lines 0: all. */
void diff_many_report(struct diff_many *d, u32 max_lines, struct result *ret);

#endif
