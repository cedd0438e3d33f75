/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library of tools: a list of them, and any of them in a pane. */
#include "top/screens.h"

static const struct pane_table *tools(const struct top *t)
{
	return pane_table(&t->toolbox, "tools");
}

static const char *text_at(const struct pane_table *table, int row, const char *key)
{
	int column = pane_column(table, key);
	const char *s = table && column >= 0 && row >= 0 && (size_t)row < table->rows.len
				? table->rows.items[row]->cells[column].text
				: NULL;

	return s ? s : "";
}

/* Of the first word of a command; -1: it is not a tool. */
static int tool_find(const struct pane_table *table, const char *command)
{
	size_t n = strcspn(command, " ");

	for (int i = 0; table && i < (int)table->rows.len; i++) {
		const char *name = text_at(table, i, "name");

		if (strlen(name) == n && !strncmp(name, command, n))
			return i;
	}
	return -1;
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ "TOOL", 16, false },
	{ "GROUP", 9, false },
	{ "FORM", 9, false },
	{ "SHOWS", 0, false },
};

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	static const char *const keys[] = { "name", "group", "form", "summary" };
	const struct pane_table *table = ctx;

	buf_addstr(out, text_at(table, row, keys[column]));
	return streq(text_at(table, row, "works"), "yes") ? ROLE_TEXT : ROLE_DIM;
}

static void draw_list(struct top *t, struct rect r)
{
	const struct pane_table *table = tools(t);
	const struct table_view view = { .columns = columns,
					 .n_columns = ARRAY_SIZE(columns),
					 .sorted = -1,
					 .cell = cell,
					 .ctx = (void *)(uintptr_t)table };

	if (table)
		table_draw(&t->grid, r, &view, &t->list, (int)table->rows.len);
	else
		grid_text(&t->grid, r.x, r.y, r.w,
			  *t->toolbox.why ? t->toolbox.why : "the tools are checked...",
			  *t->toolbox.why ? ROLE_BAD : ROLE_DIM);
}

/* --- one of them ------------------------------------------------------------------------------ */

static void draw(struct top *t, struct rect r)
{
	const struct pane_table *table = tools(t);
	int tool = tool_find(table, t->tool);

	if (t->o.input) {
		grid_text(&t->grid, r.x, r.y, r.w, "tools watch the machine as it is now",
			  ROLE_DIM);
		return;
	}
	if (!*t->tool) {
		draw_list(t, r);
		return;
	}
	grid_textf(&t->grid, r.x, r.y, r.w, ROLE_BOLD, "fathom %s  (%s; m changes that, e edits)",
		   t->tool, pane_form_name((enum pane_form)t->form));
	pane_draw(&t->grid, (struct rect){ r.x, r.y + 1, r.w, r.h - 1 }, &t->pane,
		  (enum pane_form)t->form, text_at(table, tool, "kinds"), &t->list);
}

/* What runs: a table or a histogram each second, or rows as they come. */
static void command(const struct top *t, struct buf *out)
{
	int tool = tool_find(tools(t), t->tool);

	if (!*t->tool || tool < 0)
		return;
	buf_addstr(out, t->tool);
	if (!strchr(t->tool, ' ') && !streq(text_at(tools(t), tool, "form"), "rows"))
		buf_addf(out, " %u", MAX(t->tool_pace, 1u));
}

static void run(struct top *t, const char *words)
{
	if (tool_find(tools(t), words) < 0) {
		top_complain(t, "'%.40s' is not one of the tools", words);
		return;
	}
	snprintf(t->tool, sizeof(t->tool), "%s", words);
	t->form = PANE_AUTO;
	t->list = (struct list){ 0 };
	top_ask(t);
}

void tools_run(struct top *t, const char *words)
{
	snprintf(t->tool, sizeof(t->tool), "%s", words);
	t->form = PANE_AUTO;
	top_go(t, top_screen_find("tools"));
}

void tools_prompt_done(struct top *t)
{
	run(t, t->edit.text);
}

/* Enter on a row of a process narrows to it. */
static void narrow_to_row(struct top *t)
{
	const struct pane_table *table = pane_table(&t->pane, NULL);
	int n = table ? (int)table->rows.len : 0;
	int row = t->pane.rows ? n - 1 - t->list.cursor : t->list.cursor;
	const char *pid = text_at(table, row, "pid"), *comm = text_at(table, row, "comm");

	if (*pid)
		narrow_to_process(t, (u32)strtoul(pid, NULL, 10), comm);
	else
		top_say(t, "this row is of no process");
}

static void ask_command(struct top *t)
{
	const struct pane_table *table = tools(t);

	t->prompt = PROMPT_TOOL;
	edit_set(&t->edit, *t->tool ? t->tool : text_at(table, t->list.cursor, "name"));
}

static bool key_pressed(struct top *t, const struct input *in)
{
	bool enter = in->key == TUI_ENTER || in->key == TUI_DOUBLE_CLICK;

	if (in->key == 'e') {
		ask_command(t);
	} else if (in->key == 'm' && *t->tool) {
		t->form = (t->form + 1) % PANE_FORMS;
	} else if (*t->tool && (in->key == TUI_ESC || in->key == TUI_BACKSPACE)) {
		t->tool[0] = '\0';
		t->list = (struct list){ .cursor = t->tool_cursor };
		top_ask(t);
	} else if (enter && *t->tool) {
		narrow_to_row(t);
	} else if (enter && tools(t)) {
		_cleanup_free_ char *name = xstrdup(text_at(tools(t), t->list.cursor, "name"));

		t->tool_cursor = t->list.cursor;
		run(t, name);
	} else {
		return list_key(&t->list, in);
	}
	return true;
}

static void explain(struct top *t, struct buf *out)
{
	const struct pane_table *table = tools(t);
	int tool = *t->tool ? tool_find(table, t->tool) : t->list.cursor;
	const char *why = text_at(table, tool, "why_not");

	buf_addf(out, "%s: %s\n\ncolumns: %s\n", text_at(table, tool, "name"),
		 text_at(table, tool, "summary"), text_at(table, tool, "columns"));
	if (*why)
		buf_addf(out, "it does not work here: %s\n", why);
	buf_addf(out,
		 "\nEnter runs it, e with options; fathom %s --help lists them.\n"
		 "m: table, histogram, heat map. Enter on a row narrows to its process.\n"
		 "It runs only while it is shown.\n",
		 text_at(table, tool, "name"));
}

static void result(struct top *t, struct result *r)
{
	pane_result(*t->tool ? &t->pane : &t->toolbox, r);
}

const struct screen screen_tools = {
	.key = "tools",
	.title = "Tools",
	.brief = "Tool",
	.needs = NEEDS_TOOLS,
	.draw = draw,
	.key_pressed = key_pressed,
	.command = command,
	.explain = explain,
	.result = result,
};
