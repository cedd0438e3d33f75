/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "harness.h"

#include "tui/edit.h"
#include "tui/export.h"
#include "tui/list.h"
#include "tui/meter.h"
#include "tui/popup.h"
#include "tui/table.h"

static void check_text(const struct grid *g, const char *wanted)
{
	struct buf out = BUF_INIT;

	grid_export_text(g, &out);
	CHECK_STR(buf_str(&out), wanted);
	buf_release(&out);
}

TEST("text is cut with a mark")
{
	struct grid g;

	grid_init(&g, 8, 2, theme_plain());
	CHECK_EQ(grid_text(&g, 0, 0, 8, "abcdefgh", ROLE_TEXT), 8);
	CHECK_EQ(grid_text(&g, 0, 1, 5, "abcdefgh", ROLE_TEXT), 5);
	check_text(&g, "abcdefgh\nabcd\xe2\x80\xa6\n");
	grid_release(&g);
}

TEST("hostile text is made visible")
{
	struct grid g;

	grid_init(&g, 30, 1, theme_plain());
	grid_text(&g, 0, 0, 30,
		  "\033[2Ja\xff\xe2\x80\xae"
		  "b\rc",
		  ROLE_TEXT);
	check_text(&g, "\\x1b[2Ja\\xff?b\\x0dc\n");
	for (int x = 0; x < g.width; x++)
		CHECK(grid_at(&g, x, 0)->rune >= 0x20);
	grid_release(&g);
}

TEST("wide characters keep the grid")
{
	struct grid g;

	grid_init(&g, 5, 1, theme_plain());
	CHECK_EQ(grid_text(&g, 0, 0, 5, "\xe6\xbc\xa2\xe5\xad\x97", ROLE_TEXT), 4);
	CHECK_EQ(grid_at(&g, 0, 0)->width, 2);
	CHECK_EQ(grid_at(&g, 1, 0)->width, 0);
	/* over its right half: the left one goes, too */
	grid_put(&g, 1, 0, 'x', ROLE_TEXT);
	check_text(&g, " x\xe5\xad\x97\n");
	/* no room for half a character */
	grid_put(&g, 4, 0, 0x6f22, ROLE_TEXT);
	check_text(&g, " x\xe5\xad\x97\n");
	grid_release(&g);
}

TEST("ASCII alone")
{
	struct grid g;

	grid_init(&g, 6, 3, theme_plain());
	g.ascii = true;
	grid_box(&g, grid_all(&g), NULL, ROLE_FRAME);
	grid_text(&g, 1, 1, 4,
		  "\xc3\xa4"
		  "bcdefg",
		  ROLE_TEXT);
	check_text(&g, "+----+\n|?bc~|\n+----+\n");
	grid_release(&g);
}

TEST("drawing outside does nothing")
{
	struct grid g;

	grid_init(&g, 3, 1, theme_plain());
	grid_text(&g, -2, 0, 9, "abcdef", ROLE_TEXT);
	grid_text(&g, 0, 7, 9, "abcdef", ROLE_TEXT);
	grid_fill(&g, (struct rect){ -5, -5, 6, 6 }, '#', ROLE_TEXT);
	grid_paint(&g, (struct rect){ 2, 0, 100, 100 }, ROLE_CURSOR);
	check_text(&g, "#de\n");
	grid_resize(&g, 0, -4);
	CHECK_EQ(g.width, 1);
	grid_release(&g);
}

TEST("ANSI and SVG")
{
	struct grid g;
	struct buf out = BUF_INIT;

	grid_init(&g, 3, 1, theme_find("default"));
	grid_text(&g, 0, 0, 3, "a<b", ROLE_WARN);
	grid_export_ansi(&g, &out);
	CHECK_STR(buf_str(&out), "\033[0;38;5;178ma<b\033[0m\n");
	buf_reset(&out);
	grid_export_svg(&g, "x & y", &out);
	CHECK(strstr(buf_str(&out), "a&lt;b</text>"));
	CHECK(strstr(buf_str(&out), "<title>x &amp; y</title>"));
	buf_release(&out);
	grid_release(&g);
}

TEST("all themes have all roles")
{
	size_t n;
	const struct theme *t = theme_list(&n);

	CHECK(n >= 3);
	for (size_t i = 0; i < n; i++) {
		CHECK(theme_find(t[i].name) == &t[i]);
		for (int r = 0; r < ROLE_COUNT; r++)
			CHECK(t[i].roles[r].fg || t[i].roles[r].bg);
	}
	CHECK(!theme_find("nope"));
}

TEST("keys by name")
{
	static const u32 wanted[] = { TUI_DOWN, TUI_ENTER, '3', TUI_F1 + 2, 3, 0x6f22, ' ', 'F' };
	const char *text = " Down Enter 3 F3 Ctrl-C \xe6\xbc\xa2 Space F click:10,4 nokey";
	struct input in;
	char room[16];

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		CHECK(input_parse(&text, &in));
		CHECK_EQ(in.key, wanted[i]);
	}
	CHECK(input_parse(&text, &in));
	CHECK_EQ(in.key, TUI_CLICK);
	CHECK_EQ(in.x, 10);
	CHECK_EQ(in.y, 4);
	CHECK(!input_parse(&text, &in));
	CHECK_STR(text, "nokey");
	CHECK_STR(input_name(TUI_F1 + 11, room), "F12");
	CHECK_STR(input_name(3, room), "Ctrl-C");
}

TEST("a list scrolls with its cursor")
{
	struct list l = { 0 };
	struct input end = { TUI_END, 0, 0 }, up = { TUI_UP, 0, 0 }, click = { TUI_CLICK, 1, 3 };

	l.place = (struct rect){ 0, 2, 10, 3 };
	list_fit(&l, 10, 3);
	CHECK(list_key(&l, &end));
	list_fit(&l, 10, 3);
	CHECK_EQ(l.cursor, 9);
	CHECK_EQ(l.first, 7);
	CHECK(list_key(&l, &click));
	CHECK_EQ(l.cursor, 8);
	list_fit(&l, 2, 3);
	CHECK_EQ(l.cursor, 1);
	CHECK_EQ(l.first, 0);
	list_fit(&l, 0, 3);
	CHECK(list_key(&l, &up));
	CHECK_EQ(l.cursor, 0);
}

TEST("a meter shows its parts")
{
	struct grid g;
	const struct meter m = { .label = "CPU",
				 .text = "50%",
				 .parts = { { 0.25, ROLE_USER }, { 0.25, ROLE_SYSTEM } },
				 .n_parts = 2 };

	grid_init(&g, 21, 1, theme_plain());
	meter_draw(&g, grid_all(&g), &m, 3);
	check_text(&g, "CPU[||||####     50%]\n");
	grid_release(&g);
}

static enum role cell(void *ctx UNUSED, int row, size_t column, struct buf *out)
{
	buf_addf(out, column ? "row %d" : "%d", row);
	return ROLE_TEXT;
}

TEST("a table gives the last column what is left")
{
	static const struct table_column columns[] = { { "N", 4, true }, { "NAME", 0, false } };
	const struct table_view t = {
		.columns = columns, .n_columns = 2, .sorted = 0, .cell = cell
	};
	struct list l = { 0 };
	struct grid g;

	grid_init(&g, 12, 3, theme_plain());
	l.cursor = 7;
	table_draw(&g, grid_all(&g), &t, &l, 9);
	check_text(&g, "  N\xe2\x96\xbd NAME\n   6 row 6\n   7 row 7\n");
	CHECK_EQ(grid_at(&g, 0, 2)->attr, ATTR_REVERSE);
	CHECK_EQ(table_column_at(&t, grid_all(&g), 2), 0);
	CHECK_EQ(table_column_at(&t, grid_all(&g), 8), 1);
	grid_release(&g);
}

TEST("a line is typed and taken back")
{
	struct edit e = { 0 };
	struct input in = { 0xe4, 0, 0 }, back = { TUI_BACKSPACE, 0, 0 },
		     enter = { TUI_ENTER, 0, 0 };

	CHECK(edit_key(&e, &in));
	CHECK_EQ(e.len, 2);
	CHECK(!edit_key(&e, &enter));
	CHECK(edit_key(&e, &back));
	CHECK_STR(e.text, "");
	for (int i = 0; i < 2 * EDIT_MOST; i++)
		edit_key(&e, &in);
	CHECK(e.len < EDIT_MOST);
}

TEST("lines are broken at blanks")
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	popup_wrap("one\n\n", 24, &out);
	CHECK_STR(buf_str(&out), "one\n\n");
	buf_reset(&out);
	popup_wrap("  from: a word or two, and more of it\nshort", 24, &out);
	CHECK_STR(buf_str(&out), "  from: a word or\n    two, and more of\n    it\nshort\n");
	buf_reset(&out);
	popup_wrap("a-word-without-any-blank-in-it-is-left-whole", 10, &out);
	CHECK_STR(buf_str(&out), "a-word-without-any-blank-in-it-is-left-whole\n");
	buf_reset(&out);
	popup_wrap("                              deep and deeper", 20, &out);
	CHECK(out.len > 0);
}

TEST("a choice is made")
{
	struct popup p = { 0 };
	struct buf line = BUF_INIT;
	struct grid g;
	struct input down = { TUI_DOWN, 0, 0 }, enter = { TUI_ENTER, 0, 0 };
	int chosen;

	grid_init(&g, 12, 5, theme_plain());
	popup_open(&p, "kill", "TERM\nKILL\n", true);
	popup_draw(&g, &p);
	CHECK(popup_key(&p, &down, &chosen));
	CHECK(popup_key(&p, &enter, &chosen));
	CHECK_EQ(chosen, 1);
	popup_line(&p, chosen, &line);
	CHECK_STR(buf_str(&line), "KILL");
	CHECK(!popup_key(&p, &enter, &chosen));
	popup_close(&p);
	buf_release(&line);
	grid_release(&g);
}

TEST("a choice among many is searched by typing")
{
	struct popup p = { 0 };
	struct grid g;
	const char *keys = "s o r t Space q Backspace m";
	struct input in, enter = { TUI_ENTER, 0, 0 };
	int chosen;

	grid_init(&g, 30, 8, theme_plain());
	popup_open_search(&p, "Keys", "q leave\nP sort by CPU\nM sort by memory\nW theme\n");
	while (input_parse(&keys, &in)) {
		CHECK(popup_key(&p, &in, &chosen));
		CHECK_EQ(chosen, -1);
		popup_draw(&g, &p);
	}
	CHECK_STR(p.typed.text, "sort m");
	CHECK_EQ(p.list.n, 1);
	CHECK(popup_key(&p, &enter, &chosen));
	CHECK_EQ(chosen, 2);
	/* nothing is found: nothing is chosen */
	popup_open_search(&p, "Keys", "q leave\n");
	keys = "z";
	CHECK(input_parse(&keys, &in));
	CHECK(popup_key(&p, &in, &chosen));
	popup_draw(&g, &p);
	CHECK(popup_key(&p, &enter, &chosen));
	CHECK_EQ(chosen, -1);
	popup_close(&p);
	grid_release(&g);
}
