/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/popup.h"

#include "base/fmt.h"

/* Blanks in what was typed stand for anything: "sort mem". */
static bool matches(const char *line, const char *typed)
{
	while (*(typed += strspn(typed, " "))) {
		char word[EDIT_MOST];
		size_t n = strcspn(typed, " ");

		snprintf(word, sizeof(word), "%.*s", (int)n, typed);
		line = strcasestr(line, word);
		if (!line)
			return false;
		line += n;
		typed += n;
	}
	return true;
}

static void find_matches(struct popup *p)
{
	vec_clear(&p->matches);
	for (size_t i = 0; i < p->begins.len; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT;

		popup_line(p, (int)i, &line);
		if (!p->typed.len || matches(buf_str(&line), p->typed.text))
			vec_push(&p->matches, (u32)i);
	}
	p->list.n = (int)p->matches.len;
}

void popup_open(struct popup *p, const char *title, const char *text, bool choice)
{
	popup_close(p);
	p->title = xstrdup(title);
	p->text = xstrdup(text);
	p->choice = choice;
	p->open = true;
	for (const char *s = p->text; *s;) {
		vec_push(&p->begins, (u32)(s - p->text));
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	find_matches(p);
}

void popup_open_search(struct popup *p, const char *title, const char *text)
{
	popup_open(p, title, text, true);
	p->typing = true;
}

void popup_close(struct popup *p)
{
	free(p->title);
	free(p->text);
	vec_release(&p->begins);
	vec_release(&p->matches);
	*p = (struct popup){ 0 };
}

void popup_line(const struct popup *p, int n, struct buf *out)
{
	const char *s;

	if (n < 0 || (size_t)n >= p->begins.len)
		return;
	s = p->text + p->begins.items[n];
	buf_add(out, s, strcspn(s, "\n"));
}

static int width_of(const struct popup *p)
{
	int width = (int)fmt_width(p->title) + 4;

	for (size_t i = 0; i < p->begins.len; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT;

		popup_line(p, (int)i, &line);
		width = MAX(width, (int)fmt_width(buf_str(&line)));
	}
	return width;
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

static void draw_lines(struct grid *g, struct popup *p)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	for (int i = 0; i < MIN(p->list.place.h, p->list.n - p->list.first); i++) {
		struct rect at = { p->list.place.x, p->list.place.y + i, p->list.place.w, 1 };

		buf_reset(&line);
		popup_line(p, (int)p->matches.items[p->list.first + i], &line);
		grid_text(g, at.x, at.y, at.w, buf_str(&line), ROLE_TEXT);
		if (p->choice && p->list.first + i == p->list.cursor)
			grid_paint(g, at, ROLE_CURSOR);
	}
}

/* The box keeps its size while lines are searched. */
void popup_draw(struct grid *g, struct popup *p)
{
	int lines = (int)p->begins.len + (p->typing ? 1 : 0);
	struct rect r, in;

	if (!p->open)
		return;
	r.w = MIN(width_of(p) + 4, g->width);
	r.h = MIN(lines + 2, g->height);
	r.x = (g->width - r.w) / 2;
	r.y = (g->height - r.h) / 2;
	grid_fill(g, r, ' ', ROLE_TEXT);
	grid_box(g, r, p->title, ROLE_FRAME);
	in = (struct rect){ r.x + 2, r.y + 1, r.w - 4, MAX(r.h - 2, 0) };
	if (p->typing && in.h > 0) {
		edit_draw(g, (struct rect){ in.x, in.y, in.w, 1 }, "Search:", &p->typed);
		in.y++;
		in.h--;
	}
	p->list.place = in;
	p->list.n = (int)p->matches.len;
	if (p->choice)
		list_fit(&p->list, p->list.n, in.h);
	p->list.first = MIN(p->list.first, MAX(p->list.n - in.h, 0));
	draw_lines(g, p);
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

static int chosen_line(const struct popup *p)
{
	return p->choice && p->list.cursor >= 0 && p->list.cursor < p->list.n
		       ? (int)p->matches.items[p->list.cursor]
		       : -1;
}

static bool type(struct popup *p, const struct input *in)
{
	if (!edit_key(&p->typed, in))
		return false;
	find_matches(p);
	p->list.cursor = p->list.first = 0;
	return true;
}

bool popup_key(struct popup *p, const struct input *in, int *ret_chosen)
{
	*ret_chosen = -1;
	if (!p->open || in->key == TUI_RESIZE)
		return false;
	if (in->key == TUI_ENTER || in->key == TUI_DOUBLE_CLICK) {
		*ret_chosen = chosen_line(p);
		p->open = false;
		return true;
	}
	if (p->typing && type(p, in))
		return true;
	if (in->key == TUI_ESC || in->key == TUI_F1 + 9 || (in->key == 'q' && !p->typing)) {
		p->open = false;
		return true;
	}
	if (p->choice)
		list_key(&p->list, in);
	else if (!scroll(p, in))
		p->open = false;
	return true;
}
