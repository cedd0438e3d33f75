/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of text that is being typed. */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H

#include "tui/grid.h"
#include "tui/key.h"

enum { EDIT_MOST = 256 };

struct edit {
	char text[EDIT_MOST];
	size_t len;
};

void edit_set(struct edit *e, const char *text);
/* True: the key changed the text. Enter and Esc are the caller's. */
bool edit_key(struct edit *e, const struct input *in);
void edit_draw(struct grid *g, struct rect r, const char *label, const struct edit *e);

#endif
