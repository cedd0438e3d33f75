/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cursor in a list that may be longer than its place on the screen. */
#ifndef TUI_LIST_H
#define TUI_LIST_H

#include "tui/grid.h"
#include "tui/key.h"

struct list {
	int cursor;        /* item, 0 on; -1 never */
	int first;         /* item in the topmost line */
	int n;             /* items */
	struct rect place; /* where it was drawn last: for the mouse */
};

/* Keeps cursor and first line within @n items on @lines lines. */
void list_fit(struct list *l, int n, int lines);
/* Moves by arrows, pages, ends, j and k, the wheel, a click; false: it is another key. */
bool list_key(struct list *l, const struct input *in);
void list_go(struct list *l, int item);

#endif
