/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line of tabs above, the lines of keys and of time below; and clicks on them. */
#include "top/screens.h"

#include "base/fmt.h"

/* --- tabs ------------------------------------------------------------------------------------- */

/* As they are on the keyboard, one for each screen. */
static const char tab_keys[] = "1234567890=";

enum tab_form { TAB_FULL, TAB_BRIEF, TAB_NUMBER };

int top_tab_of_key(const struct top *t, u32 key)
{
	for (int i = 0; i < MIN(t->n_tabs, (int)sizeof(tab_keys) - 1); i++)
		if (key == (u32)tab_keys[i])
			return t->tabs[i];
	return -1;
}

/* The tab that is shown has its whole name, whatever the others have. */
static void tab_text(const struct top *t, int n, enum tab_form form, struct buf *out)
{
	int number, i = t->tabs[n];
	const struct screen *s = top_screens(&number)[i];

	if (form == TAB_FULL || i == t->screen)
		buf_addf(out, " %c %s ", tab_keys[n], s->title);
	else if (form == TAB_BRIEF)
		buf_addf(out, "%c%s ", tab_keys[n], s->brief);
	else
		buf_addf(out, " %c ", tab_keys[n]);
}

static int tabs_width(const struct top *t, enum tab_form form)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (int n = 0; n < t->n_tabs; n++)
		tab_text(t, n, form, &text);
	return (int)text.len;
}

static enum tab_form choose_form(const struct top *t, int room)
{
	for (enum tab_form f = TAB_FULL; f < TAB_NUMBER; f++)
		if (tabs_width(t, f) <= room)
			return f;
	return TAB_NUMBER;
}

/* The time of the day is on the right, unless names of tabs need its place. */
static int tabs_room(const struct top *t, int time_width)
{
	int width = t->grid.width, room = width - time_width - 2;

	if (width <= 40 || (tabs_width(t, TAB_BRIEF) > room && tabs_width(t, TAB_BRIEF) <= width))
		return width;
	return room;
}

enum { TIME_WIDTH = 8 };

void tabs_draw(struct top *t, int y)
{
	_cleanup_buf_ struct buf right = BUF_INIT;
	int x = 0, room = tabs_room(t, TIME_WIDTH);
	enum tab_form form = choose_form(t, room);

	grid_fill(&t->grid, (struct rect){ 0, y, t->grid.width, 1 }, ' ', ROLE_TAB);
	fmt_clock(&right, t->frame->wall, 0);
	for (int n = 0; n < t->n_tabs && x < room; n++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		tab_text(t, n, form, &text);
		x += grid_text(&t->grid, x, y, room - x, buf_str(&text),
			       t->tabs[n] == t->screen ? ROLE_TAB_ON : ROLE_TAB);
	}
	if (room < t->grid.width)
		grid_text_right(&t->grid, room, y, t->grid.width - room - 1, buf_str(&right),
				ROLE_TAB);
}

static bool click_tab(struct top *t, const struct input *in)
{
	enum tab_form form = choose_form(t, tabs_room(t, TIME_WIDTH));
	int x = 0;

	if (in->key != TUI_CLICK || in->y != 0 || t->grid.height < 4)
		return false;
	for (int n = 0; n < t->n_tabs; n++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		tab_text(t, n, form, &text);
		x += (int)text.len;
		if (in->x < x) {
			top_go(t, t->tabs[n]);
			return true;
		}
	}
	return false;
}

/* --- keys ------------------------------------------------------------------------------------- */

/*
 * Draws the line of keys, or (@click >= 0) finds the key there; 0: none. Those that say how the
 * screen is used come first, what does not fit is left out.
 */
static u32 walk_keys(struct top *t, int y, int click)
{
	size_t n;
	const struct top_key *k = top_keys(&n);
	int x = 0, number;
	const char *screen = top_screens(&number)[t->screen]->key;
	char room[16];

	for (size_t i = 0; i < 2 * n; i++) {
		const struct top_key *key = &k[i < n ? i : i - n];
		const char *name = input_name(key->key, room), *word = key->bar;
		int width;

		if (!word || (*word == '+') != (i >= n) ||
		    (key->screen && !streq(key->screen, screen)))
			continue;
		word += *word == '+';
		width = (int)(strlen(name) + fmt_width(word));
		if (x + width > t->grid.width)
			continue;
		if (click >= x && click < x + width)
			return key->key;
		if (click < 0) {
			grid_text(&t->grid, x, y, width, name, ROLE_KEY);
			grid_text(&t->grid, x + (int)strlen(name), y, width, word, ROLE_KEY_TEXT);
		}
		x += width + 1;
	}
	return 0;
}

void keys_draw(struct top *t, int y)
{
	(void)walk_keys(t, y, -1);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Where the line of the past begins, and how long it is; 0: there is none. */
static int timeline_text(const struct top *t, struct buf *out)
{
	const struct machine_frame *f = t->frame;

	buf_addstr(out, "PAUSED ");
	fmt_clock(out, f->wall, 0);
	buf_addf(out, "  look %zu of %zu  [ ] move, p resumes; idle processes are not kept  ",
		 f->at + 1, f->kept);
	return t->grid.width - (int)out->len < 10 || f->kept < 2 ? 0
								 : t->grid.width - (int)out->len;
}

/* The past from left to right, and the current position in it. */
void timeline_draw(struct top *t, int y)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct machine_frame *f = t->frame;
	int room = timeline_text(t, &text), at, left;

	left = grid_text(&t->grid, 0, y, t->grid.width, buf_str(&text), ROLE_WARN);
	if (!room)
		return;
	at = (int)((double)f->at / (double)(f->kept - 1) * (room - 1));
	for (int i = 0; i < room; i++)
		grid_put(&t->grid, left + i, y, i == at ? 0x25cf : 0x2500,
			 i == at ? ROLE_WARN : ROLE_FRAME);
}

/* A click on the line of the past goes there, and so does dragging. */
static bool click_timeline(struct top *t, const struct input *in)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int room = timeline_text(t, &text), at = in->x - (int)text.len;

	if (!room || at < 0)
		return false;
	t->at = (size_t)((double)at / (room - 1) * (double)(t->frame->kept - 1) + 0.5);
	t->at = MAX(t->at, (size_t)1);
	machine_source_seek(t->machine, t->at);
	return true;
}

bool bars_click(struct top *t, const struct input *in, struct input *ret_key)
{
	u32 key;

	ret_key->key = 0;
	if (in->key != TUI_CLICK && in->key != TUI_DRAG)
		return false;
	if (in->y != t->grid.height - 1 || !t->has_bottom)
		return click_tab(t, in);
	if (t->paused && !*t->message)
		return click_timeline(t, in);
	key = in->key == TUI_CLICK && !*t->message ? walk_keys(t, in->y, in->x) : 0;
	ret_key->key = key;
	return key != 0;
}
