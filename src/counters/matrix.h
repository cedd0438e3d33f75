/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with a line for each thing and a column for each CPU: the first line names the CPUs, of
 * which some may be offline. A value's instance is "THING/CPU".
 */
#ifndef COUNTERS_MATRIX_H
#define COUNTERS_MATRIX_H

#include "counters/reader.h"

/* Writes what a line is of, from its first word (without the colon) and what follows its numbers.
 */
typedef void (*matrix_label)(struct span first, struct span rest, struct buf *out);

/* Values go to the source's first row, sums over all CPUs to the second. @label NULL: the first
 * word. */
void parse_matrix(struct reader *r, const char *text, size_t len, matrix_label label);

#endif
