/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys and the mouse, as the driver or a test gives them. Names of keys are data. */
#ifndef TUI_KEY_H
#define TUI_KEY_H

#include "base/base.h"

enum key {
	/* characters are themselves; Ctrl-A is 1 */
	TUI_TAB = '\t',
	TUI_ENTER = '\r',
	TUI_ESC = 27,
	TUI_BACKSPACE = 127,
	TUI_FIRST = 0x110000,
	TUI_UP = TUI_FIRST,
	TUI_DOWN,
	TUI_LEFT,
	TUI_RIGHT,
	TUI_HOME,
	TUI_END,
	TUI_PAGE_UP,
	TUI_PAGE_DOWN,
	TUI_INSERT,
	TUI_DELETE,
	TUI_BACKTAB,
	TUI_F1,
	TUI_F12 = TUI_F1 + 11,
	TUI_RESIZE,
	TUI_CLICK, /* at input.x, input.y */
	TUI_DOUBLE_CLICK,
	TUI_WHEEL_UP,
	TUI_WHEEL_DOWN,
	TUI_DRAG,
	TUI_LAST = TUI_DRAG,
};

struct input {
	u32 key; /* enum key or a character */
	int x, y;
};

/* "F3", "Enter", "Ctrl-C", "a"; never NULL, good until the next call with the same @room. */
const char *input_name(u32 key, char room[16]);
/*
 * The next key of a line such as "Down Enter 3 'text' click:10,4", which is moved past it; false:
 * the end, or (*@text is not at its end then) a word that is not a key.
 */
bool input_parse(const char **text, struct input *ret);

#endif
