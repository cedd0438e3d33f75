/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "result/hist.h"

#include <errno.h>
#include <math.h>

static const struct column columns[] = {
	{ "name", "NAME", VALUE_TEXT, 0 },
	{ "n", "N", VALUE_COUNT, 0 },
	{ "share", "SHARE", VALUE_PERCENT, 0 },
};

/* Rows as a string of their names, in order. */
static const char *order(const struct table *t, char *text, size_t size)
{
	size_t n = 0;

	vec_each(row, &t->rows)
		if (n + 1 < size)
			text[n++] = row->cells[0].s[0];
	text[n] = '\0';
	return text;
}

static struct table *sample(struct result *r)
{
	static const struct {
		const char *name;
		u64 n;
		double share;
	} rows[] = { { "b", 5, 1.5 }, { "d", 7, -2 }, { "a", 5, NAN }, { "c", UINT64_MAX, 9 } };
	struct table *t = result_table(r, "rows", NULL, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct row *row = table_row(r, t);

		row->cells[0] = value_text(r, rows[i].name);
		row->cells[1] = value_u(VALUE_COUNT, rows[i].n);
		row->cells[2] = value_d(VALUE_PERCENT, rows[i].share);
	}
	return t;
}

TEST("strings are copied")
{
	_cleanup_result_ struct result r;
	char text[] = "abc", key[] = "key";
	struct column c = { key, text, VALUE_TEXT, 0 };
	struct table *t;

	result_init(&r, text);
	t = result_table(&r, text, text, &c, 1);
	table_row(&r, t)->cells[0] = value_text(&r, text);
	result_fact(&r, key, text, value_text(&r, text));
	result_note(&r, NOTE_INFO, text, "%s %d", text, 7);
	result_title(&r, "%s!", text);
	text[0] = key[0] = 'X';
	CHECK_STR(r.command, "abc");
	CHECK_STR(r.title, "abc!");
	CHECK_STR(t->name, "abc");
	CHECK_STR(t->columns[0].key, "key");
	CHECK_STR(t->columns[0].title, "abc");
	CHECK_STR(t->rows.items[0].cells[0].s, "abc");
	CHECK_STR(r.facts.items[0].key, "key");
	CHECK_STR(r.notes.items[0].text, "abc 7");
	CHECK_STR(r.notes.items[0].hint, "abc");
}

TEST("release can be called twice")
{
	struct result r;

	result_init(&r, "x");
	sample(&r);
	result_release(&r);
	CHECK_EQ(r.sections.len, 0);
	result_release(&r);
	CHECK(!r.command);
}

TEST("a new row is empty")
{
	_cleanup_result_ struct result r;
	struct row *row;

	result_init(&r, "x");
	row = table_row(&r, result_table(&r, "t", NULL, columns, 3));
	CHECK_EQ(row->cells[0].type, 0);
	CHECK_EQ(row->cells[2].type, 0);
	CHECK_EQ(value_text(&r, NULL).type, 0);
}

TEST("losses of one key add up, facts of one key replace")
{
	_cleanup_result_ struct result r;

	result_init(&r, "x");
	result_loss(&r, "lost", "things", 2);
	result_loss(&r, "other", "more", 0);
	result_loss(&r, "lost", "things", 40);
	CHECK_EQ(r.losses.len, 2);
	CHECK_EQ(r.losses.items[0].count, 42);
	result_loss(&r, "lost", "things", UINT64_MAX);
	CHECK_EQ(r.losses.items[0].count, UINT64_MAX);
	result_fact(&r, "a", NULL, value_u(VALUE_COUNT, 1));
	result_fact(&r, "a", "A", value_u(VALUE_COUNT, 2));
	CHECK_EQ(r.facts.len, 1);
	CHECK_EQ(r.facts.items[0].value.u, 2);
	CHECK_STR(r.facts.items[0].title, "A");
}

TEST("sort: numbers fall, text rises, equals keep their order")
{
	_cleanup_result_ struct result r;
	struct table *t;
	char text[16];

	result_init(&r, "x");
	t = sample(&r);
	CHECK(table_sort(t, "n", false));
	CHECK_STR(order(t, text, sizeof(text)), "cdba");
	CHECK(table_sort(t, "name", false));
	CHECK_STR(order(t, text, sizeof(text)), "abcd");
	CHECK(table_sort(t, "name", true));
	CHECK_STR(order(t, text, sizeof(text)), "dcba");
	CHECK(table_sort(t, "n", true));
	CHECK_STR(order(t, text, sizeof(text)), "badc");
}

TEST("sort: what is empty or not a number comes last both ways")
{
	_cleanup_result_ struct result r;
	struct table *t;
	char text[16];

	result_init(&r, "x");
	t = sample(&r);
	table_row(&r, t)->cells[0] = value_text(&r, "e");
	CHECK(table_sort(t, "share", false));
	CHECK_STR(order(t, text, sizeof(text)), "cbdae");
	CHECK(table_sort(t, "share", true));
	CHECK_STR(order(t, text, sizeof(text)), "dbcae");
	CHECK(!table_sort(t, "nothing", false));
	CHECK_STR(order(t, text, sizeof(text)), "dbcae");
}

TEST("log2 buckets at their edges")
{
	_cleanup_result_ struct result r;
	struct histogram *h;
	u64 first, last;

	result_init(&r, "x");
	h = result_hist_log2(&r, "h", NULL, "usecs");
	hist_add(h, 0, 1);
	hist_add(h, 1, 2);
	hist_add(h, 2, 3);
	hist_add(h, 3, 4);
	hist_add(h, 4, 5);
	hist_add(h, UINT64_MAX, 6);
	CHECK_EQ(h->buckets[0], 1);
	CHECK_EQ(h->buckets[1], 2);
	CHECK_EQ(h->buckets[2], 7);
	CHECK_EQ(h->buckets[3], 5);
	CHECK_EQ(h->buckets[64], 6);
	CHECK_EQ(h->count, 21);
	CHECK_EQ(h->total, UINT64_MAX);
	hist_range(h, 3, &first, &last);
	CHECK_EQ(first, 4);
	CHECK_EQ(last, 7);
	hist_range(h, 64, &first, &last);
	CHECK_EQ(first, 1ull << 63);
	CHECK_EQ(last, UINT64_MAX);
}

TEST("linear buckets, below and above")
{
	_cleanup_result_ struct result r;
	struct histogram *h;

	result_init(&r, "x");
	h = result_hist_linear(&r, "h", NULL, "len", 10, 35, 10);
	CHECK(h);
	CHECK_EQ(h->n_buckets, 3);
	for (u64 v = 0; v < 50; v++)
		hist_add(h, v, 1);
	CHECK_EQ(h->under, 10);
	CHECK_EQ(h->buckets[0], 10);
	CHECK_EQ(h->buckets[2], 10);
	CHECK_EQ(h->over, 10);
	CHECK_EQ(h->total, 49 * 50 / 2);
}

TEST("linear shapes that make no sense are refused")
{
	_cleanup_result_ struct result r;

	result_init(&r, "x");
	CHECK(!result_hist_linear(&r, "h", NULL, "", 0, 10, 0));
	CHECK(!result_hist_linear(&r, "h", NULL, "", 10, 10, 1));
	CHECK(!result_hist_linear(&r, "h", NULL, "", 11, 10, 1));
	CHECK(!result_hist_linear(&r, "h", NULL, "", 0, HIST_LINEAR_MOST + 1, 1));
	CHECK(!result_hist_linear(&r, "h", NULL, "", 0, INT64_MAX, 1));
	CHECK_EQ(r.sections.len, 0);
	CHECK(result_hist_linear(&r, "h", NULL, "", 0, HIST_LINEAR_MOST, 1));
	CHECK(result_hist_linear(&r, "h", NULL, "", INT64_MIN, INT64_MAX, UINT64_MAX));
}

TEST("trees keep what is added")
{
	_cleanup_result_ struct result r;
	struct tree *t;
	char label[] = "main";

	result_init(&r, "x");
	t = result_tree(&r, "t", "T", VALUE_COUNT);
	tree_add(&r, t, 2, label)->self = 9;
	label[0] = 'X';
	tree_add(&r, t, 0, NULL);
	CHECK_STR(t->nodes.items[0].label, "main");
	CHECK_EQ(t->nodes.items[0].self, 9);
	CHECK_STR(t->nodes.items[1].label, "");
	CHECK_EQ(r.sections.items[0].type, SECTION_TREE);
}
