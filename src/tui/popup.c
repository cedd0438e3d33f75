/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/popup.h"

#include "base/fmt.h"

void popup_open(struct popup *p, const char *title, const char *text, bool choice)
{
	popup_close(p);
	*p = (struct popup){
		.title = xstrdup(title), .text = xstrdup(text), .choice = choice, .open = true
	};
}

void popup_close(struct popup *p)
{
	free(p->title);
	free(p->text);
	*p = (struct popup){ 0 };
}

static const char *line_at(const struct popup *p, int n)
{
	const char *s = p->text;

	while (n-- > 0 && s)
		s = (s = strchr(s, '\n')) ? s + 1 : NULL;
	return s;
}

void popup_line(const struct popup *p, int n, struct buf *out)
{
	const char *s = line_at(p, n);

	if (s)
		buf_add(out, s, strcspn(s, "\n"));
}

static void measure(const struct popup *p, int *ret_lines, int *ret_width)
{
	int lines = 0, width = (int)fmt_width(p->title) + 4;
	_cleanup_buf_ struct buf line = BUF_INIT;

	for (const char *s = p->text; s && *s; s = line_at(p, lines)) {
		buf_reset(&line);
		buf_add(&line, s, strcspn(s, "\n"));
		width = MAX(width, (int)fmt_width(buf_str(&line)));
		lines++;
	}
	*ret_lines = lines;
	*ret_width = width;
}

enum { WRAP_LEAST = 16, FRAME = 4 };

/* Bytes of @s, of a line of @len, that fit @width; breaks at the last blank that does. */
static size_t piece_of(const char *s, size_t len, size_t width)
{
	size_t n = len;

	if (len <= width)
		return len;
	for (n = width; n > width / 2 && s[n] != ' '; n--)
		;
	return s[n] == ' ' ? n : len;
}

void popup_wrap(const char *text, int width, struct buf *out)
{
	size_t room = (size_t)MAX(width - FRAME, (int)WRAP_LEAST);

	while (*text) {
		size_t len = strcspn(text, "\n"), indent = strspn(text, " "), at = 0;
		bool first = true;

		do {
			size_t n = piece_of(text + at, len - at, room - (first ? 0 : indent + 2));

			if (!first)
				buf_fill(out, ' ', indent + 2);
			buf_add(out, text + at, n);
			buf_addch(out, '\n');
			at += n;
			while (at < len && text[at] == ' ')
				at++;
			first = false;
			if (indent + 2 >= room / 2)
				indent = 0;
		} while (at < len);
		text += len + (text[len] == '\n');
	}
}

void popup_draw(struct grid *g, struct popup *p)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int lines, width;
	struct rect r;

	if (!p->open)
		return;
	measure(p, &lines, &width);
	r.w = MIN(width + 4, g->width);
	r.h = MIN(lines + 2, g->height);
	r.x = (g->width - r.w) / 2;
	r.y = (g->height - r.h) / 2;
	grid_fill(g, r, ' ', ROLE_TEXT);
	grid_box(g, r, p->title, ROLE_FRAME);
	p->list.place = (struct rect){ r.x + 2, r.y + 1, r.w - 4, MAX(r.h - 2, 0) };
	if (p->choice)
		list_fit(&p->list, lines, p->list.place.h);
	p->list.n = lines;
	p->list.first = MIN(p->list.first, MAX(lines - p->list.place.h, 0));
	for (int i = 0; i < p->list.place.h; i++) {
		struct rect at = { p->list.place.x, p->list.place.y + i, p->list.place.w, 1 };

		buf_reset(&line);
		popup_line(p, p->list.first + i, &line);
		grid_text(g, at.x, at.y, at.w, buf_str(&line), ROLE_TEXT);
		if (p->choice && p->list.first + i == p->list.cursor)
			grid_paint(g, at, ROLE_CURSOR);
	}
}

/* A text has no cursor: the arrows move its lines. */
static bool scroll(struct popup *p, const struct input *in)
{
	struct list l = p->list;

	l.cursor = l.first;
	if (in->key == TUI_CLICK || !list_key(&l, in))
		return false;
	p->list.first = MIN(l.cursor, MAX(l.n - l.place.h, 0));
	return true;
}

bool popup_key(struct popup *p, const struct input *in, int *ret_chosen)
{
	*ret_chosen = -1;
	if (!p->open || in->key == TUI_RESIZE)
		return false;
	if (in->key == TUI_ENTER || in->key == TUI_DOUBLE_CLICK) {
		if (p->choice)
			*ret_chosen = p->list.cursor;
		p->open = false;
		return true;
	}
	if (in->key == TUI_ESC || in->key == 'q' || in->key == TUI_F1 + 9) {
		p->open = false;
		return true;
	}
	if (p->choice)
		list_key(&p->list, in);
	else if (!scroll(p, in))
		p->open = false;
	return true;
}
