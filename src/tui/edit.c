/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/edit.h"

#include "base/buf.h"
#include "base/fmt.h"

void edit_set(struct edit *e, const char *text)
{
	e->len = strnlen(text, sizeof(e->text) - 1);
	memcpy(e->text, text, e->len);
	e->text[e->len] = '\0';
}

bool edit_key(struct edit *e, const struct input *in)
{
	_cleanup_buf_ struct buf rune = BUF_INIT;

	if (in->key == TUI_BACKSPACE && e->len) {
		do
			e->len--;
		while (e->len && ((u8)e->text[e->len] & 0xc0) == 0x80);
		e->text[e->len] = '\0';
		return true;
	}
	if (in->key == 21) { /* Ctrl-U */
		edit_set(e, "");
		return true;
	}
	if (in->key < 0x20 || in->key == 0x7f || in->key >= TUI_FIRST)
		return false;
	buf_addutf8(&rune, in->key);
	if (e->len + rune.len >= sizeof(e->text))
		return false;
	memcpy(e->text + e->len, buf_str(&rune), rune.len + 1);
	e->len += rune.len;
	return true;
}

void edit_draw(struct grid *g, struct rect r, const char *label, const struct edit *e)
{
	int at;

	grid_fill(g, r, ' ', ROLE_TEXT);
	at = grid_text(g, r.x, r.y, r.w, label, ROLE_KEY) + 1;
	at += grid_text(g, r.x + at, r.y, r.w - at - 1, e->text, ROLE_TEXT);
	grid_put(g, r.x + at, r.y, ' ', ROLE_CURSOR);
	grid_paint(g, (struct rect){ r.x + at, r.y, 1, 1 }, ROLE_CURSOR);
}
