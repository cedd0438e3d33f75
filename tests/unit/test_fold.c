/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks and the text of perf script, in and out. */
#include "unit/harness.h"

#include "analysis/flame.h"
#include "base/folded.h"
#include "view/fold.h"
#include "profile/load.h"

static int collect(struct buf *text, void *ctx)
{
	buf_add(ctx, buf_str(text), text->len);
	buf_reset(text);
	return 0;
}

static char *folded(struct profile *p, struct fold_opts opts)
{
	struct buf b = BUF_INIT;
	struct flame_opts chosen;

	flame_choose_event(p, &chosen);
	opts.event = chosen.event;
	CHECK_EQ(fold_write(p, &opts, &(struct fold_sink){ collect, &b }), 0);
	return buf_detach(&b);
}

static void check_folded(const char *text, u64 bad, const char *wanted)
{
	_cleanup_free_ char *got = NULL;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_folded(&p, text, strlen(text), NULL), 0);
	CHECK_EQ(p.bad_records, bad);
	got = folded(&p, (struct fold_opts){ .raw = true, .kernel = true });
	CHECK_STR(got, wanted);
	profile_release(&p);
}

static void check_script(const char *text, struct fold_opts opts, const char *wanted)
{
	_cleanup_free_ char *got = NULL;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_script(&p, text, strlen(text), NULL, NULL), 0);
	CHECK_EQ(p.bad_records, 0);
	got = folded(&p, opts);
	CHECK_STR(got, wanted);
	profile_release(&p);
}

/* --- folded text --------------------------------------------------------------------------- */

TEST(merges_and_sorts)
{
	check_folded("b;a 1\na;b 2\nb;a 3\na 4\n", 0, "a 4\na;b 2\nb;a 4\n");
}

TEST(string_order)
{
	check_folded("read;c 1\nread 1\nread.part.0;y 1\nread;b 1\n", 0,
		     "read 1\nread.part.0;y 1\nread;b 1\nread;c 1\n");
}

TEST(line_ends)
{
	check_folded("a;b 1\r\n\r\n# comment\na;b\t2  \na;c 3", 0, "a;b 3\na;c 3\n");
}

TEST(broken_lines_are_counted)
{
	check_folded("a;b 1\nno count\na;b -5\na;b 1e9\nx\n7\na;b 2\n", 5, "a;b 3\n");
}

TEST(names_with_spaces_and_digits)
{
	check_folded("Web Content;operator new 5;x 2 1\nWeb Content;y 7\n", 0,
		     "Web Content;operator new 5;x 2 1\nWeb Content;y 7\n");
}

TEST(fractions)
{
	check_folded("a 1\nb 0.5\na 0.25\n", 0, "a 1.25\nb 0.5\n");
	check_folded("a 0.000001\nb 2.\n", 0, "a 0.000001\nb 2\n");
	check_folded("a 0.5\nb 1.0000004\n", 0, "a 0.5\nb 1\n");
}

TEST(numbers_too_large)
{
	check_folded("a 18446744073709551616\nb 1\n", 1, "b 1\n");
	check_folded("a 9223372036854775807\nb 1\n", 1, "b 1\n");
	check_folded("a 1000000000000000000\nb 0.5\n", 0, "a 1000000000000000000\nb 1\n");
}

TEST(empty_frames)
{
	check_folded("a;;b 1\na; 2\n 3\n", 0, " 3\na 2\na;;b 1\n");
}

TEST(marks_are_kinds)
{
	struct profile p;
	const char *text = "u;k_[k];j_[j];i_[i];w_[w];-- 1\n";
	static const u8 kinds[] = { FRAME_USER,    FRAME_KERNEL, FRAME_JIT,
				    FRAME_INLINED, FRAME_USER,   FRAME_MARKER };
	u32 frames[ARRAY_SIZE(kinds)];

	profile_init(&p);
	CHECK_EQ(profile_load_folded(&p, text, strlen(text), NULL), 0);
	CHECK_EQ(profile_frames(&p, p.samples.items[0].stack, frames, ARRAY_SIZE(kinds)), 6);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		CHECK_EQ(p.frames.items[frames[i]].kind, kinds[i]);
	CHECK_STR(profile_str(&p, p.frames.items[frames[1]].name), "k");
	CHECK_STR(profile_str(&p, p.frames.items[frames[4]].name), "w_[w]");
	profile_release(&p);
}

TEST(two_columns)
{
	struct profile p;
	const char *text = "a;b 1 2\na;c 0 5\nd 3.5 0\n";

	profile_init(&p);
	CHECK_EQ(profile_load_folded(&p, text, strlen(text), NULL), 0);
	CHECK_EQ(p.events.len, 2);
	CHECK_STR(profile_str(&p, p.events.items[0].name), "before");
	CHECK_STR(profile_str(&p, p.events.items[1].name), "after");
	CHECK_EQ(p.events.items[0].weight, 4500);
	CHECK_EQ(p.events.items[1].weight, 7000);
	CHECK_EQ(p.samples.len, 4);
	profile_release(&p);
}

TEST(nothing_folded)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_folded(&p, "hello\nworld\n", 12, &e), -EBADMSG);
	CHECK(e.what && e.hint);
	profile_release(&p);
}

/* --- perf script --------------------------------------------------------------------------- */

TEST(script_shapes)
{
	static const char *const headers[] = {
		"my prog  12/34  [001] 5678.901234:     7 cycles:u: ",
		"my prog    12 [001] 5678.901234:     7 cycles: ",
		"my prog    12 5678.901234:     7 cycles: ",
		"         my prog    12 5678.901234567:     7 cycles: ",
		"my prog    12/34 5678.901234:     7     cycles:ppp: ",
	};
	static const char stack[] = "\n\t  7f12 leaf+0x1f (/usr/lib/libfoo.so.1)\n"
				    "\t  55aa main (/usr/bin/prog)\n\n";

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		buf_addf(&text, "%s%s", headers[i], stack);
		check_script(buf_str(&text), (struct fold_opts){ 0 }, "my_prog;main;leaf 7\n");
	}
}

TEST(script_facts)
{
	static const char text[] = "# hostname : web1\n# os release : 6.1.0\n"
				   "p 1/2 [003] 4.500000: 9 cpu-clock: \n\t1 f (/a)\n\n";
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_script(&p, text, strlen(text), NULL, NULL), 0);
	CHECK_STR(profile_str(&p, p.hostname), "web1");
	CHECK_STR(profile_str(&p, p.kernel), "6.1.0");
	CHECK_EQ(p.samples.len, 1);
	CHECK_EQ(p.samples.items[0].time, 4500000000ull);
	CHECK_EQ(p.samples.items[0].cpu, 3);
	CHECK_EQ(p.threads.items[1].pid, 1);
	CHECK_EQ(p.threads.items[1].tid, 2);
	CHECK_STR(profile_str(&p, p.events.items[0].unit), "ns");
	profile_release(&p);
}

TEST(script_without_period_or_event)
{
	check_script("p 1 [000] 1.0: cycles: \n\t1 f (/a)\n\np 1 [000] 1.1: cycles: \n\t1 f (/a)\n",
		     (struct fold_opts){ 0 }, "p;f 2\n");
}

TEST(script_tracepoints)
{
	check_script("p 1 [000] 1.0: sched:sched_switch: prev_comm=p next=(x)\n"
		     "\tffffffff1 schedule+0x1 ([kernel.kallsyms])\n\t2 main (/a)\n\n",
		     (struct fold_opts){ .kernel = true }, "p;main;schedule_[k] 1\n");
}

TEST(script_without_call_chain)
{
	check_script("   p 1 1.0:  5 cycles:  ffffffff81 do_x+0x1 ([kernel.kallsyms])\n"
		     "   p 1 1.1:  6 cycles:  55aa main+0x3 (/usr/bin/p)\n",
		     (struct fold_opts){ .kernel = true }, "p;do_x_[k] 5\np;main 6\n");
}

TEST(script_names)
{
	check_script("java 1 1.0: 1 c: \n"
		     "\t1 std::sort(int*, char (*)(int)) const+0x1 (/a b (deleted))\n"
		     "\t2 (anonymous namespace)::f(int) (/a)\n"
		     "\t3 net/http.(*Client).Do (/go)\n"
		     "\t4 RegExp:[&<>\\\"'] (/tmp/perf-7.map)\n"
		     "\t5 a;b (/x)\n"
		     "\t6 [unknown] (/usr/lib/libz.so.1)\n"
		     "\t7 [unknown] ([unknown])\n"
		     "\t8 inl (inlined)\n\n",
		     (struct fold_opts){ .kernel = true, .jit = true, .inlined = true },
		     "java;inl_[i];[unknown];[libz.so.1];a:b;RegExp:[&<>\\]_[j];"
		     "net/http.(*Client).Do;(anonymous namespace)::f;std::sort 1\n");
}

/* Stacks that differ in their modules only are one line, and so is all that they call. */
TEST(script_equal_names)
{
	check_script("p 1 1.0: 1 c: \n\t1 g (/a)\n\t2 f (/a)\n\t3 main (/a)\n\n"
		     "p 1 1.0: 2 c: \n\t1 g (/a)\n\t2 f (/b)\n\t3 main (/a)\n\n"
		     "p 1 1.0: 4 c: \n\t1 g (/a)\n\t2 f (/a)\n\t3 main (/b)\n\n"
		     "p 1 1.0: 8 c: \n\t2 f (/b)\n\t3 main (/b)\n\n"
		     "p 1 1.0: 16 c: \n\t1 h (/a)\n\t3 main (/b)\n\n"
		     "p 1 1.0: 32 c: \n\t1 h (/a)\n\t3 main (/a)\n\n",
		     (struct fold_opts){ 0 }, "p;main;f 8\np;main;f;g 7\np;main;h 48\n");
}

TEST(script_ids_after_commands)
{
	static const char text[] =
		"a b 1/2 1.0: 1 c: \n\t1 f (/a)\n\na b 1/3 1.1: 1 c: \n\t1 f (/a)\n";

	check_script(text, (struct fold_opts){ .pid = true }, "a_b-1;f 2\n");
	check_script(text, (struct fold_opts){ .tid = true }, "a_b-1/2;f 1\na_b-1/3;f 1\n");
}

TEST(script_lines)
{
	check_script(
		"p 1 1.0: 1 c: \n\t1 f+0x1 (/a)\n  /src/dir/f.c:12\n\t2 main (/a)\n  m.c:3\n\n",
		(struct fold_opts){ .context = true }, "p;main:m.c:3;f:f.c:12 1\n");
}

TEST(script_first_event_only)
{
	check_script("p 1 1.0: 2 cycles: \n\t1 f (/a)\n\np 1 1.0: 9 instructions: \n\t1 g (/a)\n\n",
		     (struct fold_opts){ 0 }, "p;f 2\n");
}

TEST(script_garbage)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_script(&p, "what is this\n", 13, NULL, &e), -EBADMSG);
	CHECK_EQ(p.bad_records, 1);
	profile_release(&p);
}

TEST(separators_in_names)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	size_t line;

	buf_addstr(&out, "before 1\n");
	line = out.len;
	folded_name(&out, line, "a;b");
	folded_name(&out, line, "c\nd");
	folded_weight(&out, 12);
	CHECK_STR(buf_str(&out), "before 1\na:b;c d 12\n");
}
