/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures that are computed from counters: the formulas of RATIO rows, and the columns of the
 * monitors. What is in the table is what is computed.
 *
 *	100 * (cpu.user + cpu.nice) / cpu.total
 *
 * A name is the counter of the same instance (a disk, a CPU), or the machine's where there is but
 * one: of a cumulative counter what it grew by in the interval, of a gauge its value, of a RATIO
 * what its formula gives. name{all} names the instance. rate(x) is x for each second, sum(name) of
 * all instances, total(name) since boot, max(x, y), min(x, y), seconds is the length of the
 *interval. Anything divided by 0 is 0, as in the tools that people know. A figure that needs a
 *counter that is not there is not known; opt(name) is 0 instead.
 */
#ifndef COUNTERS_FORMULA_H
#define COUNTERS_FORMULA_H

#include "base/err.h"
#include "counters/snapshot.h"

enum { FORMULA_STEPS = 64, FORMULA_DEPTH = 8 };

struct formula_step {
	u8 op;
	u32 counter;
	u32 instance;
	double number;
};

struct formula {
	u32 n;
	struct formula_step steps[FORMULA_STEPS];
};

bool formula_names_counter(const struct formula_step *s);
/* @set may grow an instance that is named. */
int formula_parse(struct formula *ret, struct counter_set *set, const char *text, struct err *e);
/* The formulas of all RATIO rows; to be called once the tables are in @set. */
int formula_prepare(struct counter_set *set, struct err *e);
/* The counter whose instances a RATIO has, itself for others; SET_NONE: it has none. */
u32 formula_domain(const struct counter_set *set, u32 counter);
/* False: not known. */
bool formula_eval(const struct formula *f, const struct delta *d, u32 instance, double *ret);
/* A counter of any kind, RATIO too. */
bool formula_counter(const struct delta *d, u32 counter, u32 instance, double *ret);

#endif
