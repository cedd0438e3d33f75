/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that are lists: tabs, meters, colours, keys; and choosing them with the keyboard. */
#include "top/settings_look.h"

static const char *const groups[] = { "cpu", "memory", "pressure", "disk", "network", "kernel" };

/* The next word up to one of @ends; false: no more. */
static bool next_word(const char **at, const char *ends, const char **ret, size_t *ret_len)
{
	*at += strspn(*at, ends);
	*ret = *at;
	*ret_len = strcspn(*at, ends);
	*at += *ret_len;
	return *ret_len != 0;
}

/* --- tabs ------------------------------------------------------------------------------------- */

void get_tabs(const struct top *t, struct buf *out)
{
	int n;
	const struct screen *const *all = top_screens(&n);

	for (int i = 0; i < t->n_tabs; i++)
		buf_addf(out, "%s%s", i ? "," : "", all[t->tabs[i]]->key);
}

static int screen_find(const char *name, size_t len)
{
	_cleanup_free_ char *key = xstrndup(name, len);

	return top_screen_find(key);
}

bool set_tabs(struct top *t, const char *value)
{
	int tabs[TABS_MOST], n = 0, screen;
	const char *word;
	size_t len;

	while (next_word(&value, ", ", &word, &len)) {
		screen = screen_find(word, len);
		if (screen < 0 || n == TABS_MOST)
			return false;
		tabs[n++] = screen;
	}
	if (!n)
		return false;
	memcpy(t->tabs, tabs, sizeof(tabs));
	t->n_tabs = n;
	return true;
}

static int tab_of(const struct top *t, int screen)
{
	for (int i = 0; i < t->n_tabs; i++)
		if (t->tabs[i] == screen)
			return i;
	return -1;
}

void tabs_choose(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	int n;
	const struct screen *const *all = top_screens(&n);

	for (int i = 0; i < n; i++)
		buf_addf(&lines, "[%c] %s\n", tab_of(t, i) >= 0 ? 'x' : ' ', all[i]->title);
	popup_open(&t->popup, "Tabs (Enter: on, off)", buf_str(&lines), true);
	t->popup_for = POPUP_TABS;
}

void tabs_chosen(struct top *t, int line)
{
	int at = tab_of(t, line);

	if (at < 0 && t->n_tabs < TABS_MOST) {
		t->tabs[t->n_tabs++] = line;
	} else if (at >= 0 && t->n_tabs > 1) {
		memmove(&t->tabs[at], &t->tabs[at + 1],
			(size_t)(t->n_tabs - at - 1) * sizeof(*t->tabs));
		t->n_tabs--;
	}
	tabs_choose(t);
	t->popup.list.cursor = line;
}

/* --- meters ----------------------------------------------------------------------------------- */

bool meters_have(const char *list, const char *group)
{
	const char *word;
	size_t len;

	while (next_word(&list, ", ", &word, &len))
		if (strlen(group) == len && !strncmp(word, group, len))
			return true;
	return false;
}

static bool set_groups(char *to, size_t room, const char *value)
{
	const char *at = value, *word;
	size_t len;

	while (next_word(&at, ", ", &word, &len)) {
		_cleanup_free_ char *name = xstrndup(word, len);
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
			known |= streq(groups[i], name);
		if (!known)
			return false;
	}
	snprintf(to, room, "%s", value);
	return true;
}

void get_overview(const struct top *t, struct buf *out)
{
	buf_addstr(out, t->overview_meters);
}

bool set_overview(struct top *t, const char *value)
{
	return set_groups(t->overview_meters, sizeof(t->overview_meters), value);
}

void get_meters(const struct top *t, struct buf *out)
{
	buf_addstr(out, t->short_meters);
}

bool set_meters(struct top *t, const char *value)
{
	return set_groups(t->short_meters, sizeof(t->short_meters), value);
}

void meters_choose(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(groups); i++) {
		const char *group = groups[i % ARRAY_SIZE(groups)];
		bool overview = i < ARRAY_SIZE(groups);

		buf_addf(&lines, "[%c] %s: %s\n",
			 meters_have(overview ? t->overview_meters : t->short_meters, group) ? 'x'
											     : ' ',
			 overview ? "overview" : "above the processes", group);
	}
	popup_open(&t->popup, "Meters (Enter: on, off)", buf_str(&lines), true);
	t->popup_for = POPUP_METERS;
}

void meters_chosen(struct top *t, int line)
{
	bool overview = line < (int)ARRAY_SIZE(groups);
	const char *chosen = groups[(size_t)line % ARRAY_SIZE(groups)];
	char *list = overview ? t->overview_meters : t->short_meters;
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (meters_have(list, groups[i]) != streq(groups[i], chosen))
			buf_addf(&text, "%s%s", text.len ? "," : "", groups[i]);
	snprintf(list, sizeof(t->overview_meters), "%s", buf_str(&text));
	meters_choose(t);
	t->popup.list.cursor = line;
}

/* --- colours ---------------------------------------------------------------------------------- */

void settings_theme(struct top *t, const struct theme *theme)
{
	const char *at = t->colors, *word;
	size_t len;

	t->own_theme = *theme;
	while (theme->colored && next_word(&at, ", ", &word, &len)) {
		const char *colon = memchr(word, ':', len);
		int role = colon ? role_find(word, (size_t)(colon - word)) : -1;

		if (role >= 0)
			t->own_theme.roles[role].fg = (s16)strtol(colon + 1, NULL, 10);
	}
	t->grid.theme = &t->own_theme;
}

void get_colors(const struct top *t, struct buf *out)
{
	buf_addstr(out, t->colors);
}

bool set_colors(struct top *t, const char *value)
{
	const char *at = value, *word;
	size_t len;

	while (next_word(&at, ", ", &word, &len)) {
		const char *colon = memchr(word, ':', len);
		char *end;
		long color = colon ? strtol(colon + 1, &end, 10) : -1;

		if (!colon || role_find(word, (size_t)(colon - word)) < 0 || color < -1 ||
		    color > 255 || end != word + len)
			return false;
	}
	if (strlen(value) >= sizeof(t->colors))
		return false;
	snprintf(t->colors, sizeof(t->colors), "%s", value);
	if (t->grid.theme)
		settings_theme(t, theme_find(t->grid.theme->name));
	return true;
}

/* --- keys ------------------------------------------------------------------------------------- */

void get_keys(const struct top *t, struct buf *out)
{
	char room[16];

	for (int i = 0; i < t->n_remapped; i++) {
		buf_addf(out, "%s%s", i ? " " : "", input_name(t->remapped[i].from, room));
		buf_addf(out, " %s", input_name(t->remapped[i].to, room));
	}
}

/* Pairs of keys: the first acts as the second. */
bool set_keys(struct top *t, const char *value)
{
	struct input from, to;
	int n = 0;

	while (n < KEYS_MOST && input_parse(&value, &from)) {
		if (!input_parse(&value, &to))
			return false;
		t->remapped[n].from = from.key;
		t->remapped[n++].to = to.key;
	}
	t->n_remapped = n;
	return !*value;
}
