/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Typed rows: what fn/row.c sends, run/row.c receives and run/table.c makes from maps. */
#ifndef LANG_ROW_H
#define LANG_ROW_H

#include "lang/comp.h"

struct run;
struct tool_column;

/* The macro that decides which rows are sent; its parameters are the columns. */
#define ROW_FILTER "row_filter"

/* Is the option given that the column depends on? */
bool row_column_shown(const struct comp *c, const struct tool_column *column);
void comp_filter_rows(struct comp *c);
/* A row has arrived. */
void run_row(struct run *r, const struct event *e, const u8 *bytes);
/* One cell from stored bytes; texts are appended to @texts and are valid while it does not grow:
   their offset is in u until then. */
struct value run_cell(struct run *r, const struct tool_column *column, const struct type *t,
		      const u8 *bytes, struct buf *texts);

#endif
