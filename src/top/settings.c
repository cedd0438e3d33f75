/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings file: lines "name = value", # begins a comment. It is written by the key S, and may
 * be written by hand: what it does not name stays as it is, what is not known is left out.
 */
#include "top/settings_look.h"

#include "base/io.h"
#include "base/safedir.h"
#include "top/own_columns.h"

enum { SETTINGS_MOST = 1 << 16 };

static bool path_of(const struct top *t, struct buf *out)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (t->o.settings)
		buf_addstr(out, t->o.settings);
	else if (config && *config)
		buf_addf(out, "%s/fathom/top.conf", config);
	else if (home && *home)
		buf_addf(out, "%s/.config/fathom/top.conf", home);
	return out->len != 0;
}

/* --- one row for each setting ----------------------------------------------------------------- */

static void get_columns(const struct top *t, struct buf *out)
{
	size_t n;
	const struct top_column *c = top_columns(&n);

	for (int i = 0; i < t->tasks.n_columns; i++)
		buf_addf(out, "%s%s", i ? "," : "", c[t->tasks.columns[i]].key);
}

static bool set_columns(struct top *t, const char *value)
{
	_cleanup_err_ struct err e = ERR_INIT;

	return tasks_set_columns(&t->tasks, value, &e) == 0;
}

static void get_own(const struct top *t UNUSED, struct buf *out)
{
	const char *text;

	for (size_t i = 0; (text = own_column_text(i)); i++)
		buf_addf(out, "%s%s", i ? "; " : "", text);
}

/* A new one is shown before the last column, which takes what is left of the line. */
static void show_own(struct tasks_state *s, int column)
{
	for (int i = 0; i < s->n_columns; i++)
		if (s->columns[i] == column)
			return;
	if (!s->n_columns || s->n_columns >= COLUMNS_MOST - 8)
		return;
	s->columns[s->n_columns] = s->columns[s->n_columns - 1];
	s->columns[s->n_columns++ - 1] = column;
}

bool settings_own_columns(struct top *t, const char *value, struct err *e)
{
	_cleanup_free_ char *copy = xstrdup(value);

	for (char *text = copy, *end; *text; text = end) {
		end = text + strcspn(text, ";");
		if (*end)
			*end++ = '\0';
		text += strspn(text, " \t");
		if (!*text)
			continue;
		if (own_column_define(text, e) < 0)
			return false;
		show_own(&t->tasks, top_column_find(text, strcspn(text, ": \t")));
	}
	if (t->machine)
		machine_source_formulas(t->machine, own_column_formula);
	return true;
}

static bool set_own(struct top *t, const char *value)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (settings_own_columns(t, value, &e))
		return true;
	top_complain(t, "%s", e.what);
	return false;
}

static void get_sort(const struct top *t, struct buf *out)
{
	size_t n;

	buf_addf(out, "%s%s", t->tasks.ascending ? "+" : "-", top_columns(&n)[t->tasks.sort].key);
}

static bool set_sort(struct top *t, const char *value)
{
	bool sign = *value == '+' || *value == '-';
	int column = top_column_find(value + sign, strlen(value + sign));

	if (column < 0)
		return false;
	t->tasks.sort = column;
	t->tasks.ascending = *value == '+';
	return true;
}

static void get_theme(const struct top *t, struct buf *out)
{
	buf_addstr(out, t->grid.theme->name);
}

static bool set_theme(struct top *t, const char *value)
{
	const struct theme *theme = theme_find(value);

	if (theme)
		settings_theme(t, theme);
	return theme != NULL;
}

static bool set_bool(bool *to, const char *value)
{
	if (!streq(value, "yes") && !streq(value, "no"))
		return false;
	*to = streq(value, "yes");
	return true;
}

#define BOOLEAN(name, field)                                         \
	static void get_##name(const struct top *t, struct buf *out) \
	{                                                            \
		buf_addstr(out, t->field ? "yes" : "no");            \
	}                                                            \
	static bool set_##name(struct top *t, const char *value)     \
	{                                                            \
		return set_bool(&t->field, value);                   \
	}

BOOLEAN(tree, tasks.tree)
BOOLEAN(threads, tasks.threads)
BOOLEAN(hide_kernel, tasks.no_kernel)
BOOLEAN(follow, tasks.follow)
BOOLEAN(ascii, grid.ascii)

static const struct setting {
	const char *name;
	const char *text;
	void (*get)(const struct top *t, struct buf *out);
	bool (*set)(struct top *t, const char *value);
} settings[] = {
	{ "column", "your own, NAME: FORMULA[, percent, bytes or rate]; more after a semicolon",
	  get_own, set_own },
	{ "columns", "of processes, separated by commas", get_columns, set_columns },
	{ "sort", "column; - largest first, + smallest first", get_sort, set_sort },
	{ "theme", "default, safe or mono", get_theme, set_theme },
	{ "tree", "children below parents", get_tree, set_tree },
	{ "threads", "rows are threads", get_threads, set_threads },
	{ "hide_kernel_threads", "only programs", get_hide_kernel, set_hide_kernel },
	{ "follow", "the cursor follows its process", get_follow, set_follow },
	{ "tabs", "screens, in the order of their keys 1 to 9, 0 and =", get_tabs, set_tabs },
	{ "meters", "above the processes: cpu, memory, pressure, disk, network, kernel", get_meters,
	  set_meters },
	{ "overview", "meters of the overview, of the same groups", get_overview, set_overview },
	{ "colors", "of the 256, by role: bad:196 user:35; -1: the terminal's own", get_colors,
	  set_colors },
	{ "keys", "pairs: the first key acts as the second, as in F12 q", get_keys, set_keys },
	{ "ascii", "nothing but ASCII is drawn", get_ascii, set_ascii },
};

/* --- the file --------------------------------------------------------------------------------- */

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && strchr(" \t\r", s[n - 1]))
		s[--n] = '\0';
	return s;
}

/* False: not understood; the setting may have said why. */
static bool take_line(struct top *t, char *line)
{
	char *equals;

	line[strcspn(line, "#")] = '\0';
	line = trim(line);
	if (!*line)
		return true;
	equals = strchr(line, '=');
	if (!equals)
		return false;
	*equals = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (streq(settings[i].name, trim(line)))
			return settings[i].set(t, trim(equals + 1));
	return false;
}

void settings_take(struct top *t, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);

	t->message[0] = '\0';
	if (take_line(t, copy))
		top_say(t, "set: %.100s; S keeps it", line);
	else if (!*t->message)
		top_complain(t, "not understood: %.100s", line);
}

void settings_read(struct top *t)
{
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	unsigned int number = 0;

	if (t->o.no_settings || !path_of(t, &path))
		return;
	if (io_read_file(buf_str(&path), SETTINGS_MOST, &text, &e) < 0) {
		if (t->o.settings && e.code != ENOENT)
			top_complain(t, "settings: %s", e.what);
		return;
	}
	for (char *line = text.data, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		number++;
		if (!take_line(t, line))
			top_complain(t, "settings: line %u is left out", number);
	}
}

/* Its directory is made if need be. */
static int write_to(const char *path, const struct buf *text, struct err *e)
{
	const char *slash = strrchr(path, '/');

	if (slash && slash > path && *path == '/') {
		_cleanup_free_ char *dir = xstrndup(path, (size_t)(slash - path));
		int fd = safedir_open(dir, e);

		if (fd < 0)
			return fd;
		close(fd);
	}
	return io_write_file_atomic(path, buf_str(text), text->len, e);
}

void settings_write(struct top *t)
{
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	if (t->o.no_settings) {
		top_complain(t, "settings are neither read nor written here");
		return;
	}
	if (!path_of(t, &path)) {
		top_complain(t, "settings: neither XDG_CONFIG_HOME nor HOME is set");
		return;
	}
	buf_addstr(&text, "# fathom top; the key S writes this file\n");
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		buf_addf(&text, "\n# %s\n%s = ", settings[i].text, settings[i].name);
		settings[i].get(t, &text);
		buf_addch(&text, '\n');
	}
	if (write_to(buf_str(&path), &text, &e) < 0)
		top_complain(t, "%s", e.what);
	else
		top_say(t, "written: %s", buf_str(&path));
}
