/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/list.h"

enum { WHEEL_LINES = 3 };

void list_fit(struct list *l, int n, int lines)
{
	l->n = n;
	lines = MAX(lines, 1);
	l->cursor = MIN(MAX(l->cursor, 0), MAX(n - 1, 0));
	l->first = MIN(l->first, MAX(n - lines, 0));
	if (l->cursor < l->first)
		l->first = l->cursor;
	if (l->cursor >= l->first + lines)
		l->first = l->cursor - lines + 1;
	l->first = MAX(l->first, 0);
}

void list_go(struct list *l, int item)
{
	l->cursor = MIN(MAX(item, 0), MAX(l->n - 1, 0));
}

static bool click(struct list *l, const struct input *in)
{
	int line = in->y - l->place.y;

	if (in->x < l->place.x || in->x >= l->place.x + l->place.w || line < 0 ||
	    line >= l->place.h || l->first + line >= l->n)
		return false;
	list_go(l, l->first + line);
	return true;
}

bool list_key(struct list *l, const struct input *in)
{
	int page = MAX(l->place.h - 1, 1);
	const struct {
		u32 key;
		int by;
	} moves[] = { { TUI_UP, -1 },
		      { 'k', -1 },
		      { TUI_DOWN, 1 },
		      { 'j', 1 },
		      { TUI_PAGE_UP, -page },
		      { TUI_PAGE_DOWN, page },
		      { TUI_HOME, -l->n },
		      { TUI_END, l->n },
		      { TUI_WHEEL_UP, -WHEEL_LINES },
		      { TUI_WHEEL_DOWN, WHEEL_LINES } };

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		if (moves[i].key == in->key) {
			list_go(l, l->cursor + moves[i].by);
			return true;
		}
	}
	return in->key == TUI_CLICK && click(l, in);
}
