/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Header blocks of tools, and expressions over the cells of their rows. */
#include "unit/harness.h"

#include "base/asset.h"
#include "lang/front/header.h"
#include "profile/gzip.h"
#include "result/hist.h"
#include "tool/expr.h"
#include "tool/tool.h"

#include <math.h>

#define BLOCK(entries) "/* tool\nsummary: x\ncolumn: pid pid\n" entries "*/\n"

static int parse(const char *text, struct tool_header *h, struct buf *diagnostics)
{
	return header_parse("x.bt", text, strlen(text), h, diagnostics, NULL);
}

TEST(header_entries)
{
	static const char text[] = "// a remark\n"
				   "/* tool\n"
				   "summary: files that are opened,\n"
				   " and by whom\n"
				   "group: files\n"
				   "option: -x --failed,fails flag | only those that failed\n"
				   "option: --max int=20 N | this many\n"
				   "option: --how choice(a|b)=b | one way or the other\n"
				   "column: pid pid\n"
				   "column: lat duration 9 spare if failed as LATENCY\n"
				   "column: ratio percent = 100 * pid / 3\n"
				   "alias: extslower --fs=ext4 -x\n"
				   "example: fathom x | head | what it does\n"
				   "show: @a @b\n"
				   "min: 10ms\n"
				   "operand: min\n"
				   "*/\nbegin { }\n";
	struct tool_header h;
	struct buf d = BUF_INIT;

	CHECK_EQ(parse(text, &h, &d), 0);
	CHECK_STR(buf_str(&d), "");
	CHECK_STR(h.summary, "files that are opened, and by whom");
	CHECK_EQ(h.options.len, 3);
	CHECK_EQ(h.options.items[0].letter, 'x');
	CHECK_STR(h.options.items[0].alias, "fails");
	CHECK_STR(h.options.items[1].def, "20");
	CHECK_STR(h.options.items[2].choices, "a|b");
	CHECK_EQ(h.columns.len, 3);
	CHECK_STR(h.columns.items[0].title, "PID");
	CHECK_STR(h.columns.items[1].title, "LATENCY");
	CHECK_STR(h.columns.items[1].only, "failed");
	CHECK(h.columns.items[1].spare);
	CHECK_EQ(column_width(&h.columns.items[1]), 9);
	CHECK_STR(h.columns.items[2].expr, "100 * pid / 3");
	CHECK_STR(h.aliases.items[0].words, "--fs=ext4 -x");
	CHECK_STR(h.examples.items[0].line, "fathom x | head");
	CHECK_EQ(h.shows.len, 2);
	header_release(&h);
	buf_release(&d);
}

TEST(header_faults_name_their_place)
{
	static const struct {
		const char *text;
		const char *wanted;
	} cases[] = {
		{ BLOCK("colum: x pid\n"), "x.bt:4:1-6" },
		{ BLOCK("column: x pixels\n"), "x.bt:4:11-17" },
		{ BLOCK("column: pid pid\n"), "already" },
		{ BLOCK("option: -x flag | y\n"), "long name" },
		{ BLOCK("option: --x flag\n"), "expected '|'" },
		{ BLOCK("option: --x number | y\n"), "expected flag" },
		{ BLOCK("group: nothing\n"), "unknown group" },
		{ BLOCK("sort: bytes\n"), "names no column" },
		{ BLOCK("min: soon\n"), "not a time" },
		{ BLOCK("show: a\n"), "expected a map" },
		{ BLOCK("summary:\n"), "nothing follows" },
		{ "/* tool\ncolumn: a pid\n*/\n", "no 'summary:'" },
		{ "/* tool\nsummary: x\n*/\n", "no 'column:'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tool_header h;
		struct buf d = BUF_INIT;

		CHECK_EQ(parse(cases[i].text, &h, &d), -EINVAL);
		if (!strstr(buf_str(&d), cases[i].wanted))
			FAIL("'%s' is not in: %s", cases[i].wanted, buf_str(&d));
		header_release(&h);
		buf_release(&d);
	}
}

TEST(header_must_be_there_and_end)
{
	struct tool_header h;
	struct buf d = BUF_INIT;

	CHECK(!header_present("begin { }", 9));
	CHECK_EQ(parse("begin { }", &h, &d), -EINVAL);
	header_release(&h);
	CHECK_EQ(parse("/* tool\nsummary: x\n", &h, &d), -EINVAL);
	header_release(&h);
	buf_release(&d);
}

TEST(expressions)
{
	struct tool_header h;
	struct buf d = BUF_INIT;
	struct value cells[] = { value_u(VALUE_PID, 7),
				 value_u(VALUE_DURATION, 12000000),
				 { .type = VALUE_TEXT, .s = "sda" } };

	CHECK_EQ(parse("/* tool\nsummary: x\ncolumn: pid pid\ncolumn: lat duration\n"
		       "column: disk string\n*/\n",
		       &h, &d),
		 0);
	CHECK_NEAR(expr_number("pid * 2 + 1", &h, cells), 15, 0);
	CHECK_NEAR(expr_number("-(pid - 9) / 4", &h, cells), 0.5, 0);
	CHECK_NEAR(expr_number("lat > 10ms && disk == \"sda\"", &h, cells), 1, 0);
	CHECK_NEAR(expr_number("lat >= 13ms || !(pid != 7)", &h, cells), 1, 0);
	CHECK_NEAR(expr_number("disk != 'sda'", &h, cells), 0, 0);
	CHECK_NEAR(expr_number("disk > 3", &h, cells), 0, 0);
	CHECK(isnan(expr_number("pid / 0", &h, cells)));
	CHECK_EQ(expr_check("pid == 1", &h, NULL), 0);
	CHECK_EQ(expr_check("pidd == 1", &h, NULL), -EINVAL);
	CHECK_EQ(expr_check("pid ==", &h, NULL), -EINVAL);
	CHECK_EQ(expr_check("(pid", &h, NULL), -EINVAL);
	CHECK_EQ(expr_check("pid 1", &h, NULL), -EINVAL);
	CHECK_EQ(expr_check("disk == \"sd", &h, NULL), -EINVAL);
	header_release(&h);
	buf_release(&d);
}

/* Each tool of the library has a header without faults, whose computed columns can be computed. */
TEST(library_headers)
{
	size_t n = 0;

	for (const struct asset *a = asset_all(); a->name; a++) {
		struct buf text = BUF_INIT, d = BUF_INIT;
		struct tool *t = NULL;

		if (!starts_with(a->name, "tools/") || !ends_with(a->name, ".bt"))
			continue;
		CHECK_EQ(gzip_unpack(a->gzip, a->size, 1 << 20, &text, NULL), 0);
		if (tool_read(a->name, NULL, &text, &t, &d, NULL) < 0) {
			FAIL("%s: %s", a->name, buf_str(&d));
		} else {
			vec_each(it, &t->header.columns)
				if (it->expr)
					CHECK_EQ(expr_check(it->expr, &t->header, NULL), 0);
			CHECK(t->header.examples.len > 0);
		}
		tool_free(t);
		buf_release(&text);
		buf_release(&d);
		n++;
	}
	CHECK(n > 0);
}

TEST(fine_histograms)
{
	struct result r;
	struct histogram *h;
	u64 first, last, value;

	result_init(&r, "x");
	h = result_hist_fine(&r, "latency", NULL, "ns", 2);
	for (u64 v = 0; v < 1000; v++)
		hist_add(h, v, 1);
	hist_range(h, 3, &first, &last);
	CHECK_EQ(first, 3);
	CHECK_EQ(last, 3);
	hist_range(h, 8, &first, &last);
	CHECK_EQ(first, 8);
	CHECK_EQ(last, 9);
	CHECK_EQ(h->buckets[8], 2);
	CHECK_EQ(hist_percentile(h, 0.5, &value), HIST_INSIDE);
	CHECK_NEAR((double)value, 500, 10);
	CHECK_EQ(hist_percentile(h, 0.99, &value), HIST_INSIDE);
	CHECK_NEAR((double)value, 990, 30);
	hist_add(h, UINT64_MAX, 1);
	hist_range(h, h->n_buckets - 5, &first, &last);
	CHECK_EQ(last, UINT64_MAX);
	result_release(&r);
}
