/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows that are shown one by one as they come: the widths of columns are known beforehand. Text for
 * people, a line of JSON each (after one that says what the columns are), or CSV.
 */
#ifndef VIEW_ROWS_H
#define VIEW_ROWS_H

#include "base/buf.h"
#include "result/result.h"

enum rows_format { ROWS_TEXT, ROWS_JSON, ROWS_CSV };

struct rows_column {
	const char *key;
	const char *title;
	const char *kind; /* for machines */
	const char *unit; /* or NULL */
	enum value_type type;
	u32 width;
	bool uncut;  /* never shortened */
	bool spare;  /* left out first where the line is short */
	bool coarse; /* the time of day without its fraction */
	bool hidden; /* machine output only */
	bool absent; /* in no output */
	bool stack;  /* frames, outermost first, with ';' between: lines below the row */
};

struct rows_view {
	enum rows_format format;
	const char *command;
	struct rows_column *columns;
	size_t n;
	int width; /* of the screen; 0: lines are never cut */
	bool color;
	bool *shown; /* text: columns that have room */
	struct buf cell;
};

/* @columns must outlive it. */
void rows_init(struct rows_view *s, enum rows_format format, const char *command,
	       struct rows_column *columns, size_t n, int width, bool color);
void rows_release(struct rows_view *s);
/* Headings; of JSON the line about the columns. */
void rows_begin(struct rows_view *s, struct buf *out);
void rows_add(struct rows_view *s, const struct value *cells, struct buf *out);

#endif
