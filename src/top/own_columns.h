/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns of processes that the user makes of others, and of any counter:
 *
 *	NAME: FORMULA[, UNIT]        iosize: io / (vcsw + 1), bytes
 *
 * In the formula, words are columns with numbers, and what is in brackets is a formula over the
 * machine's counters (counters/formula.h): 100 * io / [rate(sum(disk.bytes))], percent. Anything
 * divided by 0 is 0; what needs a figure that is not known is not known. Units are number, percent,
 * bytes and rate.
 */
#ifndef TOP_OWN_COLUMNS_H
#define TOP_OWN_COLUMNS_H

#include "base/err.h"
#include "top/columns.h"

enum { OWN_MOST = 8, OWN_FORMULAS = FRAME_OWN, OWN_TEXT = 160 };

/* Makes a column, or replaces one of the user's with that name; they last as long as the program.
 */
int own_column_define(const char *text, struct err *e);
/* As they were defined; NULL: there are no more. */
const char *own_column_text(size_t i);
/* Formulas over counters by their number, the same as in machine_frame.own; NULL: no more. */
const char *own_column_formula(size_t i);
const struct top_column *own_column(size_t i);

#endif
