/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/fmt.h"
#include "result/hist.h"
#include "view/cell.h"
#include "view/term.h"
#include "view/view.h"

#include <math.h>

/* A result under test and what it renders to. */
struct page {
	struct result r;
	struct view_opts opts;
	struct buf out;
};

static void page_init(struct page *p)
{
	*p = (struct page){ .opts = VIEW_OPTS_INIT };
	result_init(&p->r, "demo");
}

static void page_release(struct page *p)
{
	result_release(&p->r);
	buf_release(&p->out);
}

#define PAGE(p)                                       \
	_cleanup_(page_release) struct page p##_page; \
	struct page *p = &p##_page;                   \
	page_init(p)

static const char *show(struct page *p, const char *view)
{
	_cleanup_err_ struct err e = ERR_INIT;

	buf_reset(&p->out);
	CHECK_EQ(view_find(view)->render(&p->r, &p->opts, &p->out, &e), 0);
	return buf_str(&p->out);
}

static size_t widest_line(const char *s)
{
	size_t widest = 0;

	while (*s) {
		size_t n = strcspn(s, "\n");
		_cleanup_free_ char *line = xstrndup(s, n);

		widest = MAX(widest, fmt_width(line));
		s += n + (s[n] == '\n');
	}
	return widest;
}

static size_t count_of(const char *s, const char *what)
{
	size_t n = 0;

	for (; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

static const struct column columns[] = {
	{ "pid", "PID", VALUE_PID, 0 },
	{ "comm", "COMM", VALUE_TEXT, 0 },
	{ "cpu", "CPU", VALUE_PERCENT, 0 },
	{ "wait", "WAIT", VALUE_DURATION, 0 },
	{ "at", "AT", VALUE_ADDRESS, COLUMN_HIDDEN },
	{ "cmd", "COMMAND", VALUE_TEXT, COLUMN_FILL },
};

static struct row *add_row(struct page *p, struct table *t, u64 pid, const char *comm, double cpu,
			   const char *cmd)
{
	struct row *row = table_row(&p->r, t);

	row->cells[0] = value_u(VALUE_PID, pid);
	row->cells[1] = value_text(&p->r, comm);
	row->cells[2] = value_d(VALUE_PERCENT, cpu);
	row->cells[4] = value_u(VALUE_ADDRESS, 0xff00);
	row->cells[5] = value_text(&p->r, cmd);
	return row;
}

static struct table *add_table(struct page *p, const char *name)
{
	return result_table(&p->r, name, NULL, columns, ARRAY_SIZE(columns));
}

static void add_long_table(struct page *p)
{
	struct table *t = add_table(p, "rows");

	add_row(p, t, 7, "worker", 12.345,
		"/usr/bin/program --with many --arguments that go on "
		"and on until nothing fits into eighty columns any more");
	add_row(p, t, 1234567, "sh", 0, "sh");
}

TEST("views are found by name")
{
	size_t n = 0;

	CHECK(view_find("text"));
	CHECK_STR(view_find("json")->name, "json");
	CHECK(!view_find("nothing"));
	CHECK(view_all(&n)[0]);
	CHECK(n >= 2);
}

TEST("an empty result is an empty page")
{
	PAGE(p);
	CHECK_STR(show(p, "text"), "");
	CHECK_STR(show(p, "csv"), "");
	p->opts.stream = true;
	CHECK_STR(show(p, "json"), "{\"schema\":1,\"command\":\"demo\",\"title\":null,\"facts\":{},"
				   "\"notes\":[],\"losses\":{}}\n");
}

TEST("text: numbers right, words left, empty cells marked")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");

	add_row(p, t, 7, "worker", 12.345, "a b");
	add_row(p, t, 123, "sh", 100, NULL)->cells[3] = value_u(VALUE_DURATION, 1500);
	CHECK_STR(show(p, "text"), "PID  COMM        CPU    WAIT  COMMAND\n"
				   "  7  worker   12.35%       -  a b\n"
				   "123  sh      100.00%  1.50us\n");
	p->opts.header = false;
	CHECK_STR(show(p, "text"), "  7  worker   12.35%       -  a b\n"
				   "123  sh      100.00%  1.50us\n");
}

TEST("text: the fill column gives way at 80 columns")
{
	PAGE(p);
	const char *s;

	add_long_table(p);
	s = show(p, "text");
	CHECK_EQ(widest_line(s), 80);
	CHECK_EQ(count_of(s, "...\n"), 1);
	CHECK_EQ(count_of(s, "\n"), 3);
	p->opts.unicode = true;
	s = show(p, "text");
	CHECK_EQ(widest_line(s), 80);
	CHECK_EQ(count_of(s, "\xe2\x80\xa6\n"), 1);
}

TEST("text: nothing is cut at 200 columns or without a width")
{
	PAGE(p);

	add_long_table(p);
	p->opts.width = 200;
	CHECK(strstr(show(p, "text"), "columns any more\n"));
	p->opts.width = 0;
	CHECK(strstr(show(p, "text"), "columns any more\n"));
}

TEST("text: 20 columns keep lines and mark what is cut")
{
	PAGE(p);
	const char *s;

	add_long_table(p);
	p->opts.width = 20;
	s = show(p, "text");
	CHECK_EQ(widest_line(s), 20);
	CHECK_EQ(count_of(s, "\n"), 3);
	CHECK_EQ(count_of(s, ">\n"), 3);
	CHECK(strstr(s, "      7  worker  12>\n"));
	for (int w = 1; w < 20; w++) {
		p->opts.width = w;
		CHECK_EQ(widest_line(show(p, "text")), (size_t)w);
	}
}

TEST("text: a long name gives way before the fill column can no longer be read")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");
	const char *s;

	add_row(p, t, 7,
		"a-name-of-far-more-than-eighty-columns-which-nobody-would-ever-give-to-a"
		"-thread-of-theirs",
		1, "the command line");
	s = show(p, "text");
	CHECK_EQ(widest_line(s), 80);
	CHECK(strstr(s, "the command line\n"));
	CHECK(strstr(s, "a-name-of-far"));
}

TEST("text: code without a name keeps its number when it is cut")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");

	add_row(p, t, 7, "worker", 1,
		"a-module-with-a-name-that-is-longer-than-any-line-of-this-page+0x1a2b0");
	add_row(p, t, 7, "worker", 1,
		"a-function-whose-name-is-longer-than-any-line-of-this-page+0xnumber-and-more");
	p->opts.width = 50;
	CHECK_EQ(widest_line(show(p, "text")), 50);
	CHECK(strstr(show(p, "text"), "a-module"));
	CHECK(strstr(show(p, "text"), "...+0x1a2b0\n"));
	CHECK(!strstr(show(p, "text"), "and-more"));
}

static void add_shares(struct page *p, u32 flags)
{
	const struct column shares[] = {
		{ "comm", "COMMAND", VALUE_TEXT, 0 },
		{ "user", "USER", VALUE_PERCENT, COLUMN_WHOLE },
		{ "disk", "DISK", VALUE_PERCENT, COLUMN_WHOLE | COLUMN_SPARE },
		{ "lock", "LOCK", VALUE_PERCENT, COLUMN_WHOLE | COLUMN_SPARE },
		{ "where", "WHERE", VALUE_TEXT, COLUMN_FILL | flags },
	};
	struct table *t = result_table(&p->r, "rows", NULL, shares, ARRAY_SIZE(shares));
	struct row *r = table_row(&p->r, t);

	r->cells[0] = value_text(&p->r, "worker");
	r->cells[1] = value_d(VALUE_PERCENT, 56.7);
	r->cells[2] = value_d(VALUE_PERCENT, 0.2);
	r->cells[3] = value_d(VALUE_PERCENT, 43.1);
	r->cells[4] = value_text(&p->r, "futex_wait_queue < pthread_mutex_lock < main");
}

TEST("text: shares without decimals, the least of the spare ones left out first, and named")
{
	PAGE(p);

	add_shares(p, 0);
	CHECK(strstr(show(p, "text"), "worker    57%   <1%   43%  futex_wait_queue < "));
	p->opts.width = 40;
	CHECK(strstr(show(p, "text"), "COMMAND  USER  DISK  LOCK  WHERE\n"));
	p->opts.width = 30;
	CHECK(strstr(show(p, "text"), "COMMAND  USER  LOCK  WHERE\n"));
	CHECK(strstr(show(p, "text"), "\na wider terminal also shows D"));
	CHECK(strstr(show(p, "json"), "\"disk\": 0.2"));
}

TEST("text: spare columns go before much is cut of what the table is about")
{
	PAGE(p);

	add_shares(p, COLUMN_MAIN);
	p->opts.width = 40;
	CHECK(strstr(show(p, "text"), "COMMAND  USER  LOCK  WHERE\n"));
	CHECK(strstr(show(p, "text"), "worker    57%   43%  futex_wait_queue"));
}

TEST("text: a huge cell does not blow up the other rows")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");
	_cleanup_free_ char *huge = xmalloc(100001);

	memset(huge, 'x', 100000);
	huge[100000] = '\0';
	add_row(p, t, 1, huge, 1, "a");
	for (int i = 0; i < 100; i++)
		add_row(p, t, 1, "b", 1, "a");
	p->opts.width = 0;
	show(p, "text");
	CHECK(p->out.len > 100000 && p->out.len < 200000);
	p->opts.width = 200;
	CHECK_EQ(widest_line(show(p, "text")), 200);
}

TEST("text: control characters and broken text are made visible")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");
	const char *s;

	result_title(&p->r, "t\033[2J");
	result_fact(&p->r, "a", "a", value_text(&p->r, "x\ny"));
	result_note(&p->r, NOTE_WARNING, "h\r", "n\033c");
	result_loss(&p->r, "k", "l\a", 1);
	result_text(&p->r, "one\x07\n\ttwo");
	tree_add(&p->r, result_tree(&p->r, "t", "T\v", 0), 0, "m\033]0;");
	add_row(p, t, 7, "a\tb\033[31m", 1, "\xff\xc3\x28");
	s = show(p, "text");
	for (const char *c = s; *c; c++)
		CHECK(*c == '\n' || (unsigned char)*c >= 0x20);
	CHECK(strstr(s, "a\\x09b\\x1b[31m"));
	CHECK(strstr(s, "\\xff\\xc3("));
	CHECK(strstr(s, "a: x\\x0ay\n"));
	CHECK(strstr(s, "one\\x07\n        two\n"));
}

TEST("text: long notes are filled to the width")
{
	PAGE(p);

	result_note(&p->r, NOTE_WARNING, "everything before the damage is shown",
		    "the file is damaged at offset 48360");
	p->opts.width = 30;
	CHECK_STR(show(p, "text"), "warning: the file is damaged\n"
				   "  at offset 48360\n"
				   "  hint: everything before the\n"
				   "    damage is shown\n");
}

TEST("text: wide characters keep columns straight")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");

	add_row(p, t, 1, "\xe6\x97\xa5\xe6\x9c\xac", 1, "x");
	add_row(p, t, 2, "ab", 1, "y");
	CHECK_STR(show(p, "text"), "PID  COMM    CPU  WAIT  COMMAND\n"
				   "  1  \xe6\x97\xa5\xe6\x9c\xac  1.00%     -  x\n"
				   "  2  ab    1.00%     -  y\n");
}

TEST("text: nothing is lost only where no loss is told")
{
	PAGE(p);

	result_fact(&p->r, "lost", "lost", value_u(VALUE_COUNT, 0));
	result_loss(&p->r, "stacks_full", "stacks not kept", 0);
	CHECK_STR(show(p, "text"), "lost: 0\n");
	result_loss(&p->r, "stacks_full", "stacks not kept", 13);
	CHECK_STR(show(p, "text"), "lost: 13 stacks not kept\n");
}

TEST("text: header, losses, notes")
{
	PAGE(p);

	result_title(&p->r, "title");
	result_fact(&p->r, "host", "host", value_text(&p->r, "box"));
	result_fact(&p->r, "secret", NULL, value_text(&p->r, "hidden"));
	result_fact(&p->r, "duration", "duration", value_u(VALUE_DURATION, 10 * NSEC_PER_SEC));
	result_fact(&p->r, "start", "start", value_u(VALUE_TIME, 0));
	result_loss(&p->r, "lost_samples", "samples lost because the buffer was full", 1234);
	result_loss(&p->r, "lost_none", "nothing", 0);
	add_table(p, "rows");
	result_note(&p->r, NOTE_WARNING, "run as root", "no kernel stacks");
	result_note(&p->r, NOTE_INFO, NULL, "done");
	CHECK_STR(show(p, "text"), "title\n"
				   "host: box  duration: 10.0s  start: 1970-01-01T00:00:00.000Z\n"
				   "lost: 1,234 samples lost because the buffer was full\n"
				   "\n"
				   "PID  COMM  CPU  WAIT  COMMAND\n"
				   "(nothing)\n"
				   "\n"
				   "warning: no kernel stacks\n"
				   "  hint: run as root\n"
				   "note: done\n");
	p->opts.width = 20;
	CHECK(strstr(show(p, "text"), "host: box\nduration: 10.0s\nstart: 1970"));
}

TEST("text: colour wraps whole lines and only when asked for")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");

	add_row(p, t, 1, "a", 1, "b")->style = STYLE_HOT;
	CHECK(!strchr(show(p, "text"), '\033'));
	p->opts.color = true;
	CHECK(strstr(show(p, "text"), "\n\033[31m  1  a     1.00%     -  b\033[0m\n"));
}

TEST("text: log2 histogram has bcc's layout")
{
	PAGE(p);
	struct histogram *h = result_hist_log2(&p->r, "latency", "disk = 'sda'", "usecs");

	hist_add(h, 0, 4);
	hist_add(h, 1, 8);
	hist_add(h, 2, 3);
	hist_add(h, 9, 24);
	CHECK_STR(
		show(p, "text"),
		"disk = 'sda'\n"
		"     usecs               : count     distribution\n"
		"         0 -> 1          : 12       |********************                    |\n"
		"         2 -> 3          : 3        |*****                                   |\n"
		"         4 -> 7          : 0        |                                        |\n"
		"         8 -> 15         : 24       |****************************************|\n");
	p->opts.average = true;
	CHECK(strstr(show(p, "text"), "\navg = 5 usecs, total: 230 usecs, count: 39\n"));
}

TEST("text: log2 histogram of large values is the wide one")
{
	PAGE(p);
	struct histogram *h = result_hist_log2(&p->r, "latency", NULL, "nsecs");
	const char *s;

	hist_add(h, UINT64_MAX, UINT64_MAX);
	s = show(p, "text");
	CHECK_EQ(count_of(s, "\n"), 65);
	CHECK(strstr(s, "               nsecs                         : count     distribution\n"));
	CHECK(strstr(s,
		     " 9223372036854775808 -> 18446744073709551615 : 18446744073709551615 |***"));
	for (int w = 1; w < 120; w++) {
		p->opts.width = w;
		CHECK(widest_line(show(p, "text")) <= (size_t)w);
	}
}

TEST("text: at 20 columns a histogram keeps its counts")
{
	PAGE(p);
	struct histogram *h = result_hist_log2(&p->r, "latency", NULL, "usecs");

	hist_add(h, 3, 15);
	hist_add(h, 1000, 1424);
	p->opts.width = 20;
	CHECK(strstr(show(p, "text"), "\n 512 -> 1023 : 1424\n"));
	hist_add(h, 1ull << 40, 77);
	CHECK(strstr(show(p, "text"), "\n1099511627776 : 77\n"));
}

TEST("text: linear histograms")
{
	PAGE(p);
	struct histogram *h = result_hist_linear(&p->r, "a", NULL, "len", 0, 10, 1);

	hist_add(h, 0, 1);
	hist_add(h, 2, 2);
	hist_add(h, 99, 4);
	CHECK_STR(show(p, "text"),
		  "     len           : count     distribution\n"
		  "        0          : 1        |**********                              |\n"
		  "        1          : 0        |                                        |\n"
		  "        2          : 2        |********************                    |\n"
		  "      > 9          : 4        |****************************************|\n");
	h = result_hist_linear(&p->r, "b", "b", "kbytes", 10, 30, 10);
	hist_add(h, 1, 1);
	hist_add(h, 29, 1);
	CHECK(strstr(
		show(p, "text"),
		"      < 10               : 1        |****************************************|\n"
		"        10 -> 19         : 0        |                                        |\n"
		"        20 -> 29         : 1        "
		"|****************************************|\n"));
}

TEST("linear histograms below zero, in every format")
{
	PAGE(p);
	struct histogram *h = result_hist_linear(&p->r, "a", NULL, "ns", -20, 20, 20);

	CHECK(h);
	h->buckets[0] = h->count = 3;
	h->under = h->over = 1;
	CHECK_STR(
		show(p, "text"),
		"     ns                  : count     distribution\n"
		"     < -20               : 1        |*************                           |\n"
		"       -20 -> -1         : 3        |****************************************|\n"
		"      > 19               : 1        |*************                           |\n");
	p->opts.stream = true;
	CHECK(strstr(show(p, "json"), "{\"min\":-20,\"max\":-1,\"count\":3}"));
	CHECK(strstr(show(p, "csv"), ",ns,,-21,1\n,ns,-20,-1,3\n,ns,20,,1\n"));
	for (int w = 1; w < 90; w++) {
		p->opts.width = w;
		CHECK(widest_line(show(p, "text")) <= (size_t)w);
	}
}

TEST("text: an empty histogram says so")
{
	PAGE(p);

	result_hist_log2(&p->r, "a", "x", "usecs");
	CHECK_STR(show(p, "text"), "x\n(no values)\n");
}

static void add_tree(struct page *p)
{
	static const struct {
		u32 depth;
		double percent;
		const char *label;
	} nodes[] = { { 0, 100, "main" }, { 1, 70, "parse" },    { 2, 70, "read" },
		      { 3, 40, "a" },     { 3, 30, "b" },        { 4, 30, "c" },
		      { 1, 30, "write" }, { 2, 30, "sys_write" } };
	struct tree *t = result_tree(&p->r, "tree", NULL, 0);

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		tree_add(&p->r, t, nodes[i].depth, nodes[i].label)->percent = nodes[i].percent;
	t->nodes.items[7].style = STYLE_KERNEL;
}

TEST("text: tree indents at forks only")
{
	PAGE(p);

	add_tree(p);
	CHECK_STR(show(p, "text"), "100.00%  main\n"
				   " 70.00%  |--parse\n"
				   " 70.00%  |  read\n"
				   " 40.00%  |  |--a\n"
				   " 30.00%  |  `--b\n"
				   " 30.00%  |     c\n"
				   " 30.00%  `--write\n"
				   " 30.00%     sys_write\n");
	p->opts.unicode = true;
	p->opts.color = true;
	/* shares are coloured by their weight, labels by their kind */
	CHECK(strstr(show(p, "text"),
		     "\033[31m 40.00%\033[0m  \xe2\x94\x82  \xe2\x94\x9c\xe2\x94\x80 a\n"
		     "\033[31m 30.00%\033[0m  \xe2\x94\x82  \xe2\x94\x94\xe2\x94\x80 b\n"));
	CHECK(strstr(show(p, "text"), "\033[31m 30.00%\033[0m     \033[35msys_write\033[0m\n"));
}

TEST("text: a deep chain stays at the left, a deep comb stays in the page")
{
	PAGE(p);
	struct tree *t = result_tree(&p->r, "tree", "deep", VALUE_COUNT);
	const char *s;

	for (u32 i = 0; i < 500; i++)
		tree_add(&p->r, t, i, "frame");
	s = show(p, "text");
	CHECK_EQ(count_of(s, "\n"), 501);
	CHECK(widest_line(s) < 20);
	for (u32 i = 500; i-- > 1;)
		tree_add(&p->r, t, i, "sibling");
	for (int w = 1; w < 100; w += 3) {
		p->opts.width = w;
		CHECK(widest_line(show(p, "text")) <= (size_t)w);
	}
	p->opts.width = 80;
	CHECK(strstr(show(p, "text"), "--sibling\n"));
	p->opts.width = 0;
	CHECK(strstr(show(p, "text"), "--sibling\n"));
}

TEST("text: depths that jump do no harm")
{
	PAGE(p);
	struct tree *t = result_tree(&p->r, "tree", NULL, VALUE_DURATION);

	tree_add(&p->r, t, UINT32_MAX, "a");
	tree_add(&p->r, t, 5, "b");
	tree_add(&p->r, t, 900, "c")->value = UINT64_MAX;
	tree_add(&p->r, t, 900, "d")->percent = NAN;
	tree_add(&p->r, t, 0, "e")->percent = 1e300;
	CHECK_EQ(count_of(show(p, "text"), "\n"), 5);
	CHECK(strstr(show(p, "text"), "|--c\n"));
	CHECK(strstr(show(p, "text"), "`--d\n"));
}

TEST("json: every type has its form")
{
	PAGE(p);
	static const struct column all[] = {
		{ "text", "T", VALUE_TEXT, 0 },       { "count", "C", VALUE_COUNT, 0 },
		{ "bytes", "B", VALUE_BYTES, 0 },     { "duration", "D", VALUE_DURATION, 0 },
		{ "percent", "P", VALUE_PERCENT, 0 }, { "time", "T", VALUE_TIME, 0 },
		{ "address", "A", VALUE_ADDRESS, 0 }, { "bool", "B", VALUE_BOOL, 0 },
		{ "none", "N", VALUE_NUMBER, 0 },
	};
	struct row *row = table_row(&p->r, result_table(&p->r, "rows", NULL, all, 9));

	row->cells[0] = value_text(&p->r, "a\"\\\n\001\xff");
	row->cells[1] = value_u(VALUE_COUNT, UINT64_MAX);
	row->cells[2] = value_u(VALUE_BYTES, 4096);
	row->cells[3] = value_u(VALUE_DURATION, 1500);
	row->cells[4] = value_d(VALUE_PERCENT, 12.25);
	row->cells[5] = value_u(VALUE_TIME, 1700000000000000001);
	row->cells[6] = value_u(VALUE_ADDRESS, 0xffffffff81000000);
	row->cells[7] = value_u(VALUE_BOOL, 1);
	p->opts.stream = true;
	CHECK(strstr(show(p, "json"),
		     "\"rows\":[{\"text\":\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\","
		     "\"count\":18446744073709551615,\"bytes\":4096,\"duration\":1500,"
		     "\"percent\":12.25,\"time\":1700000000000000001,"
		     "\"address\":\"0xffffffff81000000\",\"bool\":true,\"none\":null}]"));
	CHECK_EQ(count_of(show(p, "json"), "\n"), 1);
	row->cells[8] = value_d(VALUE_NUMBER, NAN);
	CHECK(strstr(show(p, "json"), "\"none\":null}"));
	p->opts.stream = false;
	CHECK(strstr(show(p, "json"), "\n      \"bytes\": 4096,\n"));
}

TEST("json: sections of one name share it, taken names get their kind")
{
	PAGE(p);
	static const struct column one[] = { { "a", "A", VALUE_COUNT, 0 } };

	table_row(&p->r, result_table(&p->r, "rows", NULL, one, 1))->cells[0] =
		value_u(VALUE_COUNT, 1);
	result_tree(&p->r, "rows", NULL, 0);
	table_row(&p->r, result_table(&p->r, "rows", NULL, one, 1))->cells[0] =
		value_u(VALUE_COUNT, 2);
	result_table(&p->r, "facts", NULL, one, 1);
	result_table(&p->r, "empty", NULL, one, 1);
	result_text(&p->r, "x");
	p->opts.stream = true;
	CHECK(strstr(show(p, "json"),
		     "\"facts\":{},\"rows\":[{\"a\":1},{\"a\":2}],\"rows_tree\":[],"
		     "\"facts_table\":[],\"empty\":[],\"text\":[\"x\"],"));
}

TEST("json: histograms, trees, notes, losses")
{
	PAGE(p);
	struct histogram *h = result_hist_log2(&p->r, "h", "sda", "usecs");
	struct tree_node *n;

	p->opts.stream = true;
	hist_add(h, 1, 2);
	hist_add(h, 5, 3);
	hist_add(result_hist_linear(&p->r, "l", NULL, "x", 5, 15, 5), 20, 1);
	n = tree_add(&p->r, result_tree(&p->r, "t", NULL, VALUE_COUNT), 3, "main");
	n->percent = 50;
	n->value = 10;
	n->self = 4;
	result_note(&p->r, NOTE_WARNING, NULL, "careful");
	result_loss(&p->r, "lost", "x", 0);
	CHECK(strstr(
		show(p, "json"),
		"\"h\":[{\"label\":\"sda\",\"unit\":\"usecs\",\"count\":5,\"total\":17,"
		"\"buckets\":[{\"min\":1,\"max\":1,\"count\":2},"
		"{\"min\":2,\"max\":3,\"count\":0},{\"min\":4,\"max\":7,\"count\":3}]}],"
		"\"l\":[{\"label\":null,\"unit\":\"x\",\"count\":1,\"total\":20,"
		"\"under\":0,\"over\":1,\"buckets\":[]}],"
		"\"t\":[{\"depth\":3,\"percent\":50,\"value\":10,\"self\":4,\"label\":\"main\"}],"
		"\"notes\":[{\"level\":\"warning\",\"text\":\"careful\",\"hint\":null}],"
		"\"losses\":{\"lost\":0}}\n"));
}

TEST("csv: without a table, the facts are one")
{
	PAGE(p);

	result_fact(&p->r, "took_ns", "took", value_u(VALUE_DURATION, 1500));
	result_fact(&p->r, "host", NULL, value_text(&p->r, "a,b"));
	CHECK_STR(show(p, "csv"), "fact,value\ntook_ns,1500\nhost,\"a,b\"\n");
	add_table(p, "rows");
	CHECK_STR(show(p, "csv"), "pid,comm,cpu,wait,at,cmd\n");
}

TEST("csv: one table is nothing but that table")
{
	PAGE(p);
	struct table *t = add_table(p, "rows");

	add_row(p, t, 7, "a,b", 12.5, "say \"hi\"");
	add_row(p, t, 8, " x", 1, "line\nend");
	add_row(p, t, 9, "#x", 1, "esc\033[0m")->cells[3] = value_u(VALUE_DURATION, 1500000);
	CHECK_STR(show(p, "csv"), "pid,comm,cpu,wait,at,cmd\n"
				  "7,\"a,b\",12.5,,0xff00,\"say \"\"hi\"\"\"\n"
				  "8,\" x\",1,,0xff00,\"line\nend\"\n"
				  "9,\"#x\",1,1500000,0xff00,esc\\x1b[0m\n");
	p->opts.header = false;
	CHECK(starts_with(show(p, "csv"), "7,"));
}

TEST("csv: several tables, histograms, trees, losses")
{
	PAGE(p);
	static const struct column one[] = { { "a", "A", VALUE_COUNT, 0 } };
	struct histogram *h;

	table_row(&p->r, result_table(&p->r, "first", NULL, one, 1))->cells[0] =
		value_u(VALUE_COUNT, 1);
	table_row(&p->r, result_table(&p->r, "first", NULL, one, 1));
	result_text(&p->r, "not for tables");
	h = result_hist_log2(&p->r, "h", "sda", "usecs");
	hist_add(h, 2, 5);
	h = result_hist_linear(&p->r, "l", NULL, NULL, 5, 10, 5);
	hist_add(h, 1, 1);
	hist_add(h, 90, 2);
	tree_add(&p->r, result_tree(&p->r, "t", NULL, 0), 2, "f(int, int)");
	result_loss(&p->r, "lost", "samples lost", 3);
	CHECK_STR(show(p, "csv"), "# first\na\n1\n\"\"\n"
				  "\n# h\nlabel,unit,min,max,count\n"
				  "sda,usecs,0,0,0\nsda,usecs,1,1,0\nsda,usecs,2,3,5\n"
				  "\n# l\nlabel,unit,min,max,count\n,,,4,1\n,,10,,2\n"
				  "\n# t\ndepth,percent,value,self,label\n2,0,0,0,\"f(int, int)\"\n"
				  "# lost: 3 samples lost\n");
	p->opts.table = "first";
	CHECK_STR(show(p, "csv"), "a\n1\n\"\"\n# lost: 3 samples lost\n");
}

static const char *cell_string(struct buf *b, struct value v)
{
	buf_reset(b);
	cell_text(b, &v);
	return buf_str(b);
}

TEST("cells for people")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	CHECK_STR(cell_string(&b, (struct value){ 0 }), "");
	CHECK_STR(cell_string(&b, value_u(VALUE_COUNT, UINT64_MAX)), "18,446,744,073,709,551,615");
	CHECK_STR(cell_string(&b, value_u(VALUE_PID, 1234567)), "1234567");
	CHECK_STR(cell_string(&b, value_u(VALUE_BYTES, 1536)), "1.5K");
	CHECK_STR(cell_string(&b, value_u(VALUE_BOOL, 1)), "yes");
	CHECK_STR(cell_string(&b, value_u(VALUE_ADDRESS, 255)), "0xff");
	CHECK_STR(cell_string(&b, value_d(VALUE_PERCENT, -0.001)), "0.00%");
	CHECK_STR(cell_string(&b, value_d(VALUE_PERCENT, -12.345)), "-12.35%");
	CHECK_STR(cell_string(&b, value_d(VALUE_PERCENT, 1e300)), "1e+300%");
	CHECK_STR(cell_string(&b, value_d(VALUE_NUMBER, 3)), "3.00");
	CHECK_STR(cell_string(&b, value_d(VALUE_NUMBER, 0.00012)), "0.00012");
	CHECK_STR(cell_string(&b, value_d(VALUE_NUMBER, INFINITY)), "-");
	CHECK_EQ(cell_of_real(VALUE_COUNT, -5).u, 0);
	CHECK_EQ(cell_of_real(VALUE_COUNT, 1e300).u, UINT64_MAX);
	CHECK_EQ(cell_of_real(VALUE_COUNT, NAN).u, 0);
	CHECK_EQ(cell_of_real(VALUE_TEXT, 1).type, VALUE_NUMBER);
	CHECK_EQ(cell_of_count(VALUE_TEXT, 1).type, VALUE_COUNT);
	CHECK_NEAR(cell_of_count(VALUE_PERCENT, 7).d, 7, 0);
}

TEST("terminal: width without a terminal")
{
	unsetenv("COLUMNS");
	CHECK_EQ(term_width(-1), 80);
	setenv("COLUMNS", "132", 1);
	CHECK_EQ(term_width(-1), 132);
	setenv("COLUMNS", "0", 1);
	CHECK_EQ(term_width(-1), 80);
	setenv("COLUMNS", "99999999999999999999", 1);
	CHECK_EQ(term_width(-1), 80);
	setenv("COLUMNS", "wide", 1);
	CHECK_EQ(term_width(-1), 80);
}

TEST("terminal: colour only where it is wanted")
{
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	CHECK(term_color(TERM_COLOR_ALWAYS, -1));
	CHECK(!term_color(TERM_COLOR_NEVER, -1));
	CHECK(!term_color(TERM_COLOR_AUTO, -1));
	CHECK_STR(term_style(STYLE_NONE), "");
	CHECK_STR(term_style(STYLE_GOOD), "\033[32m");
	CHECK_STR(term_style((enum style)999), "");
}

/* A pseudo terminal, so that the other half of the decision is seen too; -1 where there is none. */
static int open_terminal(void)
{
	int fd = posix_openpt(02 /* O_RDWR */);

	return fd >= 0 && isatty(fd) ? fd : -1;
}

TEST("terminal: a real one has colour unless it says no")
{
	_cleanup_close_ int fd = open_terminal();

	if (fd < 0)
		SKIP("no pseudo terminals here");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	CHECK(term_color(TERM_COLOR_AUTO, fd));
	setenv("TERM", "dumb", 1);
	CHECK(!term_color(TERM_COLOR_AUTO, fd));
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	CHECK(!term_color(TERM_COLOR_AUTO, fd));
	setenv("NO_COLOR", "", 1);
	CHECK(term_color(TERM_COLOR_AUTO, fd));
}

TEST("terminal: unicode follows the first locale that is set")
{
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	setenv("LANG", "de_DE.UTF-8", 1);
	CHECK(term_unicode());
	setenv("LC_CTYPE", "C.utf8", 1);
	CHECK(term_unicode());
	setenv("LC_ALL", "C", 1);
	CHECK(!term_unicode());
	setenv("LC_ALL", "", 1);
	CHECK(term_unicode());
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	CHECK(!term_unicode());
}
