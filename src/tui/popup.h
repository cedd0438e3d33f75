/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text or a choice in a box above the screen. */
#ifndef TUI_POPUP_H
#define TUI_POPUP_H

#include "base/buf.h"
#include "base/vec.h"
#include "tui/edit.h"
#include "tui/list.h"

struct popup {
	char *title;
	char *text;       /* lines */
	VEC(u32) begins;  /* of each line in @text */
	VEC(u32) matches; /* lines that are shown: all, or those with what was typed */
	struct list list; /* of @matches */
	struct edit typed;
	bool choice; /* a line can be chosen; otherwise it is read */
	bool typing; /* characters are typed, to find lines */
	bool open;
};

/* Takes copies. */
void popup_open(struct popup *p, const char *title, const char *text, bool choice);
/* The same for a choice among many: what is typed finds lines. */
void popup_open_search(struct popup *p, const char *title, const char *text);
void popup_close(struct popup *p);
void popup_draw(struct grid *g, struct popup *p);
/* True: the key was the popup's; *@ret_chosen is the line that was chosen, else -1. */
bool popup_key(struct popup *p, const struct input *in, int *ret_chosen);
/* Line @n of the text, into @out. */
void popup_line(const struct popup *p, int n, struct buf *out);

/* Breaks lines of @text at blanks so that a popup of a screen @width wide shows them whole. */
void popup_wrap(const char *text, int width, struct buf *out);

#endif
