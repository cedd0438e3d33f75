/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns under headings, lines under a cursor. What a cell says comes from the caller. */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "base/buf.h"
#include "tui/list.h"

struct table_column {
	const char *title;
	int width;  /* 0: what is left */
	bool right; /* numbers */
};

struct table_view {
	const struct table_column *columns;
	size_t n_columns;
	int sorted; /* column, -1: none */
	bool ascending;
	int shift; /* columns that are scrolled out on the left; the first stays */
	/* Writes a cell; returns how it looks. */
	enum role (*cell)(void *ctx, int row, size_t column, struct buf *out);
	/* Of a whole line; ROLE_TEXT: as its cells say. May be NULL. */
	enum role (*line)(void *ctx, int row);
	void *ctx;
};

void table_draw(struct grid *g, struct rect r, const struct table_view *t, struct list *l,
		int rows);
/* The column whose heading is at @x; -1: none. */
int table_column_at(const struct table_view *t, struct rect r, int x);

#endif
