/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Meters of the overview, and tables of disks, networks and groups: formulas over counters. */
#ifndef TOP_METERS_H
#define TOP_METERS_H

#include "cli/monitor.h"
#include "counters/counters.h"
#include "top/frame.h"

struct top_formulas;

/* Prepares all formulas for @set; those that name no counter of it are left out. */
struct top_formulas *top_formulas_new(struct counter_set *set);
void top_formulas_free(struct top_formulas *t);
/* One more, of the user's columns, which frames have in own; broken ones are not known. */
void top_formulas_add(struct top_formulas *t, const char *formula);
/* What has to be read. */
int top_formulas_want(struct counters *c, struct err *e);
void top_meters_fill(const struct top_formulas *t, const struct delta *d, struct machine_frame *f);
void top_sheets_fill(const struct top_formulas *t, const struct delta *d, struct machine_frame *f);
void top_own_fill(const struct top_formulas *t, const struct delta *d, struct machine_frame *f);
/* The value of a counter, of the whole machine where it has instances; 0: not known. */
double top_value(const struct delta *d, const char *counter, const char *instance);
const struct monitor_table *top_sheet_defs(size_t *ret_n);

/* The counter that explains the meter of this number; NULL: there are no more. */
const char *top_meter_counter(size_t i);

#endif
