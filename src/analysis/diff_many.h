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

struct diff_many_line {
	u32 dso, symbol;                /* strings */
	double percent[DIFF_MANY_MOST]; /* own share, of the first event */
	u16 in;                         /* a bit for each profile that has it */
};

struct diff_many {
	struct intern strings, ids;
	VEC(struct diff_many_line) lines;
	u32 names[DIFF_MANY_MOST];
	u64 samples[DIFF_MANY_MOST];
	size_t n;
	u32 event; /* string: what the first counts */
};

void diff_many_init(struct diff_many *d);
void diff_many_release(struct diff_many *d);
/* -E2BIG: too many; -ENODATA: no sample. */
int diff_many_add(struct diff_many *d, struct profile *p, const char *name, struct err *e);
/* A table with the largest differences first; @max_lines 0: all. */
void diff_many_report(struct diff_many *d, u32 max_lines, struct result *ret);

#endif
