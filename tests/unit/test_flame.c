/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text -> profile -> boxes -> SVG and terminal. */
#include "unit/harness.h"

#include "analysis/flame.h"
#include "base/fmt.h"
#include "base/io.h"
#include "profile/load.h"
#include "view/svg.h"
#include "view/term_flame.h"

#include <math.h>

static void load(struct profile *p, const char *text)
{
	profile_init(p);
	CHECK_EQ(profile_load_folded(p, text, strlen(text), NULL), 0);
}

static void lay_out(struct flame *f, struct profile *p, struct flame_opts opts)
{
	flame_choose_event(p, &opts);
	CHECK_EQ(flame_init(f, p, &opts, NULL), 0);
}

/* "0 all 10/0@0" for each box: depth, name, total/self@start */
static char *describe(const struct flame *f)
{
	struct buf b = BUF_INIT;

	vec_each(box, &f->boxes) {
		size_t len;
		const char *name = flame_name(f, box, &len);
		const struct calltree_node *n = flame_node(f, box);

		buf_addf(&b, "%u %.*s %llu/%llu@%llu\n", box->depth, (int)len, name,
			 (unsigned long long)n->total, (unsigned long long)n->self,
			 (unsigned long long)box->start);
	}
	return buf_detach(&b);
}

static void check_boxes(const char *text, struct flame_opts opts, const char *wanted)
{
	_cleanup_free_ char *got = NULL;
	struct profile p;
	struct flame f;

	load(&p, text);
	lay_out(&f, &p, opts);
	got = describe(&f);
	CHECK_STR(got, wanted);
	flame_release(&f);
	profile_release(&p);
}

/* --- layout -------------------------------------------------------------------------------- */

TEST(boxes_by_name)
{
	check_boxes("m;b 1\nm;a;c 2\nm;a 3\nm;b 4\n", (struct flame_opts){ .order = ORDER_NAME },
		    "0 all 10/0@0\n1 m 10/0@0\n2 a 5/3@0\n3 c 2/2@0\n2 b 5/5@5\n");
}

TEST(boxes_by_weight)
{
	check_boxes("a 1\nc 5\nb 3\n", (struct flame_opts){ .order = ORDER_WEIGHT },
		    "0 all 9/0@0\n1 c 5/5@0\n1 b 3/3@5\n1 a 1/1@8\n");
}

/* As strings "read.part.0" sorts between "read" and "read;c". */
TEST(nodes_are_not_split_by_order)
{
	check_boxes("read 1\nread.part.0;y 1\nread;c 1\n",
		    (struct flame_opts){ .order = ORDER_NAME },
		    "0 all 3/0@0\n1 read 2/1@0\n2 c 1/1@0\n1 read.part.0 1/0@2\n2 y 1/1@2\n");
}

TEST(reversed)
{
	check_boxes("m;a;x 1\nm;b;x 2\n", (struct flame_opts){ .reverse = true },
		    "0 all 3/0@0\n1 x 3/0@0\n2 b 2/0@0\n3 m 2/2@0\n2 a 1/0@2\n3 m 1/1@2\n");
}

TEST(plumbing_is_one_box)
{
	check_boxes("_start;__libc_start_main;main;read;do_syscall_64;ksys_read;f 2\n"
		    "clone3;start_thread;main;PyEval_EvalFrame;g;PyEval_EvalFrame 3\n",
		    (struct flame_opts){ .fold = true, .order = ORDER_NAME },
		    "0 all 5/0@0\n1 [start] 5/0@0\n2 main 5/0@0\n3 [CPython] 3/0@0\n"
		    "4 g 3/0@0\n5 [CPython] 3/3@0\n3 read 2/0@3\n4 [system call] 2/0@3\n"
		    "5 f 2/2@3\n");
}

TEST(chart_merges_only_neighbours)
{
	check_boxes("m;b 1\nm;a 2\nm;a 3\nm;b 4\nn 1\n", (struct flame_opts){ .chart = true },
		    "0 all 11/0@0\n1 m 10/0@0\n2 b 1/1@0\n2 a 5/5@1\n2 b 4/4@6\n1 n 1/1@10\n");
}

TEST(narrow_boxes_are_counted)
{
	struct profile p;
	struct flame f;

	load(&p, "a;x 95\nb;y 3\nc 2\n");
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME, .min_share = 0.03 });
	CHECK_EQ(f.boxes.len, 5);
	CHECK_EQ(f.narrow, 1);
	CHECK_EQ(f.rows, 3);
	flame_release(&f);
	profile_release(&p);
}

TEST(depth_is_cut_and_said)
{
	struct profile p;
	struct flame f;

	load(&p, "a;b;c;d 5\na 5\n");
	lay_out(&f, &p, (struct flame_opts){ .max_depth = 3 });
	CHECK_EQ(f.boxes.len, 3);
	CHECK_EQ(f.deep_weight, 5);
	flame_release(&f);
	profile_release(&p);
}

TEST(a_larger_total)
{
	struct profile p;
	struct flame f;

	load(&p, "a 10\n");
	lay_out(&f, &p, (struct flame_opts){ .total = 40 });
	CHECK_NEAR(f.total, 40, 1e-9);
	CHECK(!f.total_too_small);
	flame_release(&f);
	lay_out(&f, &p, (struct flame_opts){ .total = 4 });
	CHECK_NEAR(f.total, 10, 1e-9);
	CHECK(f.total_too_small);
	flame_release(&f);
	profile_release(&p);
}

TEST(nothing_to_draw)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;
	struct flame f;

	load(&p, "a 0\n");
	CHECK_EQ(flame_init(&f, &p, &(struct flame_opts){ 0 }, &e), -ENODATA);
	CHECK(e.what);
	profile_release(&p);
}

TEST(growth_is_inclusive)
{
	struct profile p;
	struct flame f;

	load(&p, "p;first 10 30\np;second 10 30\ngone;x 25 0\n");
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME });
	CHECK_EQ(f.boxes.len, 4);
	CHECK_EQ(flame_growth(&f, &f.boxes.items[1]), 40);
	CHECK_EQ(flame_growth(&f, &f.boxes.items[2]), 20);
	CHECK_EQ(f.vanished, 25);
	flame_release(&f);
	profile_release(&p);
}

TEST(wakers_begin_at_the_mark)
{
	struct profile p;
	struct flame f;

	load(&p, "cat;read;--;write;gzip 3\n");
	lay_out(&f, &p, (struct flame_opts){ 0 });
	CHECK(!f.boxes.items[2].waker);
	CHECK(f.boxes.items[3].waker);
	CHECK(f.boxes.items[5].waker);
	flame_release(&f);
	profile_release(&p);
}

TEST_TIMEOUT(deep_stacks, 60)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct profile p;
	struct flame f;

	for (int i = 0; i < 10000; i++)
		buf_addf(&text, "%sf%d", i ? ";" : "", i % 7);
	buf_addstr(&text, " 1\n");
	load(&p, buf_str(&text));
	lay_out(&f, &p, (struct flame_opts){ 0 });
	CHECK_EQ(f.rows, 10001);
	flame_release(&f);
	lay_out(&f, &p, (struct flame_opts){ .reverse = true });
	CHECK_EQ(f.rows, 10001);
	flame_release(&f);
	profile_release(&p);
}

/* --- the same function in several modules ----------------------------------------------------- */

TEST(one_box_for_one_name)
{
	static const char text[] = "prog 1 1.0: 5 cycles:\n\t10 memcpy+0x1 (/lib/a.so)\n\n"
				   "prog 1 1.1: 5 cycles:\n\t20 memcpy+0x2 (/lib/b.so)\n\n"
				   "prog 1 1.2: 5 cycles:\n\t30 [unknown] (/lib/b.so)\n";
	_cleanup_free_ char *got = NULL;
	struct profile p;
	struct flame f;

	profile_init(&p);
	CHECK_EQ(profile_load_script(&p, text, strlen(text), NULL, NULL), 0);
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME, .group = GROUP_COMM });
	got = describe(&f);
	CHECK_STR(got, "0 all 15/0@0\n1 prog 15/0@0\n2 [b.so] 5/5@0\n2 memcpy 10/10@5\n");
	flame_release(&f);
	profile_release(&p);
}

/* --- words --------------------------------------------------------------------------------- */

TEST(amounts)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile p;
	struct flame f;

	load(&p, "a 1200.25\nb 1\n");
	lay_out(&f, &p, (struct flame_opts){ 0 });
	flame_amount(&f, f.tree.nodes.items[0].total, 0, &b);
	CHECK_STR(buf_str(&b), "1,201.25 samples");
	flame_release(&f);
	profile_release(&p);
}

/* --- SVG ----------------------------------------------------------------------------------- */

static const struct svg_opts plain = {
	.title = "T",
	.height = 16,
	.fonttype = "Verdana",
	.fontsize = 12,
	.fontwidth = 0.59,
	.nametype = "Function:",
	.factor = 1,
};

static void draw(const char *text, struct svg_opts opts, struct buf *out)
{
	struct profile p;
	struct flame f;

	load(&p, text);
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME });
	svg_flame(&f, &opts, out);
	flame_release(&f);
	profile_release(&p);
}

TEST(names_cannot_break_out)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	draw("</title><script>alert(1)</script>;\"' onload=x;]]>;a\x01\x1b\xff\xc3\xa9 5\n", plain,
	     &b);
	CHECK(!strstr(buf_str(&b), "<script>alert"));
	CHECK(strstr(buf_str(&b), "&lt;/title&gt;&lt;script&gt;alert(1)"));
	CHECK(strstr(buf_str(&b), "<title>&quot;&#39; onload=x (5 samples, 100.00%)</title>"));
	CHECK(strstr(buf_str(&b), "<title>]]&gt; (5"));
	/* control characters and broken bytes are replaced, good UTF-8 stays */
	CHECK(strstr(buf_str(&b), "<title>a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9 ("));
	/* one end of the script, and it is the last thing */
	CHECK(strstr(buf_str(&b), "]]></script>\n</svg>\n"));
}

TEST(escapes)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* a surrogate */
		{ "\xc0\x80x", "\xef\xbf\xbd\xef\xbf\xbdx" },               /* overlong */
		{ "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5" },
		{ "\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* no character */
		{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },                 /* cut short */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT;

		svg_escape(&b, cases[i].in, strlen(cases[i].in), true);
		CHECK_STR(buf_str(&b), cases[i].out);
	}
}

TEST(links_that_run_code_are_dropped)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct svg_nameattr attrs = { 0 };
	struct svg_opts opts = plain;
	char path[4096];
	static const char text[] =
		"a\thref=javascript:alert(1)\nb\thref=http://x/?a&b\ttitle=hi\"\n";

	snprintf(path, sizeof(path), "%s/attrs", test_tmpdir());
	CHECK_EQ(io_write_file_atomic(path, text, strlen(text), NULL), 0);
	CHECK_EQ(svg_nameattr_read(&attrs, path, NULL), 0);
	opts.nameattr = &attrs;
	draw("a 1\nb 1\n", opts, &b);
	CHECK(!strstr(buf_str(&b), "javascript:"));
	CHECK(strstr(buf_str(&b), "<a xlink:href=\"http://x/?a&amp;b\" target=\"_top\">"));
	CHECK(strstr(buf_str(&b), "<title>hi&quot;</title>"));
	svg_nameattr_release(&attrs);
}

TEST(inverted_puts_the_root_on_top)
{
	_cleanup_buf_ struct buf up = BUF_INIT, down = BUF_INIT;
	struct svg_opts opts = plain;
	double y[2] = { 0 };

	draw("a;b 1\n", opts, &up);
	opts.inverted = true;
	draw("a;b 1\n", opts, &down);
	for (int i = 0; i < 2; i++) {
		const char *box = strstr(buf_str(i ? &down : &up), "<title>b (");

		CHECK(box && sscanf(box, "%*[^/]/title><rect x=\"%*[^\"]\" y=\"%lf", &y[i]) == 1);
	}
	CHECK_NEAR(y[1] - y[0], 32, 0.01);
}

TEST(options_are_checked)
{
	struct svg_opts opts = plain;
	double share;

	CHECK_EQ(svg_opts_check(&opts, NULL), 0);
	opts.bgcolors = "#12345";
	CHECK(svg_opts_check(&opts, NULL) < 0);
	opts.bgcolors = "#a1b2c3";
	CHECK_EQ(svg_opts_check(&opts, NULL), 0);
	opts.encoding = "x\"><script>";
	CHECK(svg_opts_check(&opts, NULL) < 0);
	opts = plain;
	opts.height = 1e9;
	CHECK(svg_opts_check(&opts, NULL) < 0);
	CHECK_EQ(svg_min_share("0.5%", 0, &share, NULL), 0);
	CHECK_NEAR(share, 0.005, 1e-9);
	CHECK_EQ(svg_min_share("1.18", 1200, &share, NULL), 0);
	CHECK_NEAR(share, 0.001, 1e-9);
	CHECK(svg_min_share("-1", 1200, &share, NULL) < 0);
}

/* --- colours ------------------------------------------------------------------------------- */

static struct rgb color_of(const char *line, size_t box, struct svg_colors_opts opts)
{
	struct svg_colors c;
	struct profile p;
	struct flame f;
	struct rgb color;

	load(&p, line);
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME });
	svg_colors_init(&c, &f, &opts);
	color = svg_color(&c, &f.boxes.items[box]);
	flame_release(&f);
	profile_release(&p);
	return color;
}

#define CHECK_RGB(c, x, y, z)          \
	do {                           \
		struct rgb got_ = (c); \
		CHECK_EQ(got_.r, x);   \
		CHECK_EQ(got_.g, y);   \
		CHECK_EQ(got_.b, z);   \
	} while (0)

TEST(palettes)
{
	struct svg_colors_opts hot = { .by = COLOR_BY_NAME };
	struct svg_colors_opts chain = { .by = COLOR_BY_NAME, .palette = PALETTE_CHAIN };
	struct svg_colors_opts java = { .by = COLOR_BY_NAME, .palette = PALETTE_JAVA };
	struct rgb a = color_of("x;main 1\n", 2, hot), b = color_of("main;y 1\n", 1, hot);

	/* a name has one colour everywhere */
	CHECK_EQ(memcmp(&a, &b, sizeof(a)), 0);
	CHECK(a.r >= 205 && a.b < 55);
	CHECK_RGB(color_of("a;--;b 1\n", 2, chain), 160, 160, 160);
	CHECK(color_of("a;--;b 1\n", 1, chain).b > 200);
	CHECK(color_of("a;--;b 1\n", 3, chain).r < 111);
	CHECK(color_of("org/x/Y 1\n", 1, java).g >= 200);
	CHECK(color_of("f_[k] 1\n", 1, java).b == 0);
}

TEST(growth_colors)
{
	static const char text[] = "a 0 10\nb 5 5\nc 11 1\n";
	struct svg_colors_opts opts = { .by = COLOR_BY_NAME }, own = { 0 };
	struct rgb more = color_of(text, 1, own), same = color_of(text, 2, own),
		   less = color_of(text, 3, own);

	CHECK_RGB(color_of(text, 1, opts), 255, 0, 0);
	CHECK_RGB(color_of(text, 2, opts), 255, 255, 255);
	CHECK_RGB(color_of(text, 3, opts), 0, 0, 255);
	opts.negate = own.negate = true;
	CHECK_RGB(color_of(text, 1, opts), 0, 0, 255);
	/* ours: orange and blue, as the viewer has them */
	CHECK(more.r > 220 && more.b < 120);
	CHECK(less.b > 220 && less.r < 120);
	CHECK(same.r > 220 && same.b > 220);
	CHECK_RGB(color_of(text, 1, own), less.r, less.g, less.b);
}

TEST(palette_map)
{
	struct svg_palette_map m = { 0 }, again = { 0 };
	struct svg_colors_opts opts = { .by = COLOR_BY_NAME, .map = &m };
	char path[4096];

	snprintf(path, sizeof(path), "%s/palette.map", test_tmpdir());
	CHECK_EQ(io_write_file_atomic(path, "a->b->rgb(1,2,3)\n", 17, NULL), 0);
	CHECK_EQ(svg_palette_map_read(&m, path, NULL), 0);
	CHECK_RGB(color_of("a->b 1\n", 1, opts), 1, 2, 3);
	CHECK(!m.changed);
	color_of("new 1\n", 1, opts);
	CHECK(m.changed);
	CHECK_EQ(svg_palette_map_write(&m, path, NULL), 0);
	CHECK_EQ(svg_palette_map_read(&again, path, NULL), 0);
	CHECK_EQ(again.names.len, 2);
	CHECK_EQ(io_write_file_atomic(path, "nonsense\n", 9, NULL), 0);
	CHECK(svg_palette_map_read(&again, path, NULL) < 0);
	svg_palette_map_release(&m);
	svg_palette_map_release(&again);
}

/* --- terminal ------------------------------------------------------------------------------ */

TEST(in_characters)
{
	struct term_flame_opts opts = { .width = 41, .inverted = true };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile p;
	struct flame f;

	load(&p, "main;left 20\nmain;right\x1b[31m 20\n");
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME });
	term_flame(&f, &opts, &b);
	CHECK_STR(buf_str(&b), "|all 100.0%                             |\n"
			       "|main 100.0%                            |\n"
			       "|left 50.0%         |right\\x1b[31m      |\n"
			       "40 samples\n");
	flame_release(&f);
	profile_release(&p);
}

/* Columns of a line, without what sets colours. */
static size_t columns_of(const char *line, size_t n)
{
	size_t columns = 0;
	bool escape = false;

	for (size_t i = 0; i < n; i++) {
		escape |= line[i] == '\033';
		columns += !escape && (line[i] & 0xc0) != 0x80;
		if (escape && line[i] == 'm')
			escape = false;
	}
	return columns;
}

TEST(the_legend_of_a_narrow_terminal_takes_several_lines)
{
	struct term_flame_opts opts = { .width = 30, .color = true };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile p;
	struct flame f;
	size_t widest = 0;

	load(&p, "main;jit_[j] 20\nmain;inner_[i] 20\nmain;sys_[k] 20\n");
	lay_out(&f, &p, (struct flame_opts){ .order = ORDER_NAME });
	term_flame(&f, &opts, &b);
	for (const char *at = buf_str(&b); *at; at += strcspn(at, "\n") + 1)
		widest = MAX(widest, columns_of(at, strcspn(at, "\n")));
	CHECK_EQ(widest, 30);
	CHECK(strstr(buf_str(&b), "kernel 33.3%"));
	CHECK(strstr(buf_str(&b), "inlined 33.3%"));
	flame_release(&f);
	profile_release(&p);
}
