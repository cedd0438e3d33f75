/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of every screen; those of single screens are listed for the help. */
#include "top/screens.h"

#include "counters/counter.h"

static void show_keys(struct top *t);
static void show_help(struct top *t);

static void quit(struct top *t)
{
	t->quit = true;
}

static void back(struct top *t)
{
	if (!top_widen(t))
		top_say(t, "this is the whole machine; q quits");
}

static void next_screen(struct top *t)
{
	top_step_tab(t, 1);
}

static void last_screen(struct top *t)
{
	top_step_tab(t, -1);
}

static void pause_time(struct top *t)
{
	t->paused = !t->paused;
	t->at = t->frame->at;
	machine_source_seek(t->machine, t->paused ? t->at : SIZE_MAX);
	top_ask(t);
}

static void move_time(struct top *t, int by)
{
	size_t last = t->frame->kept ? t->frame->kept - 1 : 0;

	if (!t->paused)
		pause_time(t);
	if (by < 0)
		t->at = t->at > (size_t)-by ? t->at - (size_t)-by : 1;
	else
		t->at = MIN(t->at + (size_t)by, last);
	machine_source_seek(t->machine, t->at);
}

static void earlier(struct top *t)
{
	move_time(t, -1);
}

static void later(struct top *t)
{
	move_time(t, 1);
}

static void far_earlier(struct top *t)
{
	move_time(t, -10);
}

static void much_later(struct top *t)
{
	move_time(t, 10);
}

static void write_screen(struct top *t)
{
	t->prompt = PROMPT_WRITE;
	edit_set(&t->edit, "fathom-top.svg");
}

static void next_theme(struct top *t)
{
	size_t n;
	const struct theme *list = theme_list(&n);

	for (size_t i = 0; i < n; i++) {
		if (!streq(list[i].name, t->grid.theme->name))
			continue;
		settings_theme(t, &list[(i + 1) % n]);
		break;
	}
	top_say(t, "theme %s: %s", t->grid.theme->name, t->grid.theme->text);
}

static void save(struct top *t)
{
	settings_write(t);
}

static void type_setting(struct top *t)
{
	t->prompt = PROMPT_SETTING;
	edit_set(&t->edit, "");
}

/* Help of at most 51 characters: the list fits 80 columns. */
static const struct top_key keys[] = {
	{ TUI_F1, 'h', NULL, "Keys", "this list: type to search it, Enter does it", show_keys },
	{ '?', 0, NULL, "+What?", "what the figure is, and where it comes from", show_help },
	{ TUI_ENTER, 0, NULL, "Down", "narrow every screen to this row, or to tagged ones", NULL },
	{ TUI_ESC, TUI_BACKSPACE, NULL, "Back", "back to where Enter was pressed", back },
	{ TUI_TAB, 0, NULL, NULL, "next screen; 1 to 9, 0 and = choose one", next_screen },
	{ TUI_BACKTAB, 0, NULL, NULL, "screen before", last_screen },
	{ 'p', 'Z', NULL, "+Pause", "pause and resume: the past is kept", pause_time },
	{ '[', 0, NULL, NULL, "back in time by a look; or click on the time line", earlier },
	{ ']', 0, NULL, NULL, "forward in time by a look", later },
	{ '{', 0, NULL, NULL, "back by ten looks", far_earlier },
	{ '}', 0, NULL, NULL, "forward by ten looks", much_later },
	{ 'w', 0, NULL, NULL, "write the screen: .svg, .ans, .txt; past: .data", write_screen },
	{ 'S', 0, NULL, NULL, "keep columns, tabs, meters, colours and keys", save },
	{ 'W', 0, NULL, NULL, "next theme of colours", next_theme },
	{ 'O', 0, NULL, NULL, "choose the tabs", tabs_choose },
	{ 'G', 0, NULL, NULL, "choose the meters", meters_choose },
	{ ':', 0, NULL, NULL, "type a setting: theme = safe, keys = F12 q", type_setting },
	{ 'q', TUI_F1 + 9, NULL, "Quit", "leave", quit },
	{ TUI_F1 + 1, 'C', "processes", "Cols", "which columns are shown", NULL },
	{ TUI_F1 + 2, '/', "processes", "Search", "search in commands; n and N: next, before",
	  NULL },
	{ TUI_F1 + 3, 'f', "processes", "Filter", "nginx|redis, or cpu > 5 and user = root", NULL },
	{ TUI_F1 + 4, 't', "processes", "Tree", "children below parents; + closes one, * all",
	  NULL },
	{ TUI_F1 + 5, 's', "processes", "Sort", "by any column", NULL },
	{ 'P', 0, "processes", NULL, "sort by CPU time", NULL },
	{ 'M', 0, "processes", NULL, "sort by memory", NULL },
	{ 'T', 0, "processes", NULL, "sort by CPU time of the whole life", NULL },
	{ 'I', 0, "processes", NULL, "turn the order around", NULL },
	{ TUI_F1 + 6, 0, "processes", "+Nice-", "lower nice", NULL },
	{ TUI_F1 + 7, 0, "processes", "+Nice+", "raise nice", NULL },
	{ TUI_F1 + 8, 'x', "processes", "Kill", "send a signal", NULL },
	{ 'a', 0, "processes", NULL, "choose the CPUs that it may run on", NULL },
	{ 'Y', 0, "processes", NULL, "choose its policy of the scheduler", NULL },
	{ 'i', 0, "processes", NULL, "choose its priority at disks", NULL },
	{ 'b', 0, "processes", NULL, "what it runs now: its flame graph", NULL },
	{ 'y', 0, "processes", NULL, "its system calls", NULL },
	{ 'e', 0, "processes", NULL, "its environment", NULL },
	{ 'l', 0, "processes", NULL, "its open files", NULL },
	{ 'L', 0, "processes", NULL, "its locks on files", NULL },
	{ ' ', 0, "processes", NULL, "tag", NULL },
	{ 'c', 0, "processes", NULL, "tag with children", NULL },
	{ 'U', 0, "processes", NULL, "untag all", NULL },
	{ 'u', 0, "processes", NULL, "only the processes of one user", NULL },
	{ 'H', 0, "processes", NULL, "rows are threads", NULL },
	{ 'K', 0, "processes", NULL, "hide kernel threads", NULL },
	{ 'F', 0, "processes", NULL, "the cursor follows its process", NULL },
	{ 'i', 0, "flame", NULL, "callers on top instead of callees", NULL },
	{ 'o', 0, "flame", NULL, "waits, then both, then CPU time again", NULL },
	{ 'z', 0, "flame", NULL, "a box as wide as the screen; z again: all", NULL },
	{ '/', 0, "flame", "Search", "mark boxes by name", NULL },
	{ 'a', 0, "functions", "Code", "the instructions of the function, with samples", NULL },
	{ 'd', 0, "functions", "Module", "only code of this module", NULL },
	{ 't', 0, "functions", "Thread", "only one thread", NULL },
	{ 'k', 0, "functions", "Kernel", "only code of the kernel", NULL },
	{ '/', 0, "functions", "Filter", "only functions and modules with this name", NULL },
	{ 'e', '+', "functions", "Paths", "open and close the paths to it; c closes", NULL },
	{ 'E', 0, "functions", NULL, "open the paths to all functions; C closes all", NULL },
	{ 'P', 0, "functions", NULL, "write the functions to fathom.hist.N", NULL },
	{ 'm', 0, "disks", "Form", "histograms, or a heat map over time", NULL },
	{ 'e', 0, "tools", "Edit", "run a tool with options", NULL },
	{ 'm', 0, "tools", "Form", "as table, histogram or heat map", NULL },
};

const struct top_key *top_keys(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(keys);
	return keys;
}

static void show_keys(struct top *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char room[16], more[16], names[40];
	int n;
	const struct screen *const *screens = top_screens(&n);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(names, sizeof(names), "%s %s", input_name(keys[i].key, room),
			 keys[i].also ? input_name(keys[i].also, more) : "");
		buf_addf(&text, "%-13s %-10s %s\n", names, keys[i].screen ? keys[i].screen : "",
			 keys[i].help);
	}
	for (int i = 0; i < n; i++)
		buf_addf(&text, "%13s %-10s the screen %s\n", "", "", screens[i]->title);
	popup_open_search(&t->popup, "Keys", buf_str(&text));
	t->popup_for = POPUP_KEYS;
}

/* What a line of the list says is done, on the screen that it is about. */
void keys_chosen(struct top *t, int line)
{
	const struct top_key *k;

	if ((size_t)line >= ARRAY_SIZE(keys)) {
		top_go(t, line - (int)ARRAY_SIZE(keys));
		return;
	}
	k = &keys[line];
	if (k->screen)
		top_go(t, top_screen_find(k->screen));
	top_press(t, &(struct input){ .key = k->key });
}

static void show_help(struct top *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT, wrapped = BUF_INIT;
	int n;
	const struct screen *s = top_screens(&n)[t->screen];

	if (s->explain)
		s->explain(t, &text);
	if (!text.len)
		buf_addstr(&text, "F1 lists the keys.\n");
	popup_wrap(buf_str(&text), t->grid.width, &wrapped);
	popup_open(&t->popup, s->title, buf_str(&wrapped), false);
	t->popup_for = POPUP_TEXT;
}
