/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lexer, parser, printer, diagnostics: no kernel needed. */
#include "base/buf.h"
#include "base/err.h"
#include "lang/front/fmt.h"
#include "lang/lang.h"
#include "lang/front/parse.h"
#include "unit/harness.h"

/* The program in its one form, or the diagnostics. */
static char *formatted(const char *text)
{
	struct buf out = BUF_INIT, diagnostics = BUF_INIT;
	struct err e = ERR_INIT;
	int rc = lang_format_source("stdin", text, strlen(text), &out, &diagnostics, &e);

	err_release(&e);
	if (rc < 0) {
		buf_release(&out);
		return buf_detach(&diagnostics);
	}
	buf_release(&diagnostics);
	return buf_detach(&out);
}

static void check_form(const char *text, const char *wanted)
{
	char *got = formatted(text), *again;

	CHECK_STR(got, wanted);
	/* The form is its own form. */
	again = formatted(got);
	CHECK_STR(again, wanted);
	free(got);
	free(again);
}

static void check_says(const char *text, const char *part)
{
	char *got = formatted(text);

	if (!strstr(got, part))
		FAIL("'%s' does not say '%s' but: %s", text, part, got);
	free(got);
}

TEST(one_line_becomes_many)
{
	check_form("BEGIN{printf(\"%d\\n\",1+2*3);exit()}",
		   "BEGIN\n{\n\tprintf(\"%d\\n\", 1 + (2 * 3));\n\texit();\n}\n");
}

TEST(predicates_lists_and_maps)
{
	check_form(
		"t:a:b,t:c:d /pid==1 && @x[1,\"a\"]/ { @y[comm]=count(); @z++; --$q }",
		"t:a:b,\nt:c:d\n/(pid == 1) && @x[1, \"a\"]/\n{\n\t@y[comm] = count();\n\t@z++;\n"
		"\t--$q;\n}\n");
}

TEST(statements)
{
	check_form("BEGIN { if (1) { $x=1 } else if (2) { $x=2 } else { $x=3 } while ($x<9) "
		   "{ $x++; continue } unroll(3) { break } for ($i : 0..3) { return } "
		   "for ($kv : @m) { let $y: uint8 = 3 } }",
		   "BEGIN\n{\n\tif (1) {\n\t\t$x = 1;\n\t} else if (2) {\n\t\t$x = 2;\n\t} else "
		   "{\n\t\t$x = 3;\n\t}\n\twhile ($x < 9) {\n\t\t$x++;\n\t\tcontinue;\n\t}\n"
		   "\tunroll (3) {\n\t\tbreak;\n\t}\n\tfor ($i : 0..3) {\n\t\treturn;\n\t}\n"
		   "\tfor ($kv : @m) {\n\t\tlet $y: uint8 = 3;\n\t}\n}\n");
}

TEST(expressions)
{
	check_form(
		"BEGIN { $x = (struct a *)$y->b.c[3]; $z = -(uint32)$x ? *$y : &$q->f; "
		"$t=(1,\"a\",); $u = $t.0; $v = sizeof(struct a *) + offsetof(struct a, b); }",
		"BEGIN\n{\n\t$x = (struct a *)$y->b.c[3];\n\t$z = -(uint32)$x ? *$y : &$q->f;\n"
		"\t$t = (1, \"a\");\n\t$u = $t.0;\n\t$v = sizeof(struct a *) + offsetof(struct a, "
		"b);\n}\n");
}

TEST(precedence_is_that_of_c)
{
	check_form("BEGIN { $x = 1|2^3&4==5<6<<7+8*9; $y = a&&b||c&&d; }",
		   "BEGIN\n{\n\t$x = 1 | (2 ^ (3 & (4 == (5 < (6 << (7 + (8 * 9)))))));\n"
		   "\t$y = (a && b) || (c && d);\n}\n");
}

TEST(paths_hold_slashes_predicates_do_not)
{
	check_form("uprobe:/bin/a-b:f /arg0/ { }", "uprobe:/bin/a-b:f\n/arg0/\n{\n}\n");
	check_form("interval:s:1 /10 / 2/ { }", "interval:s:1\n/10 / 2/\n{\n}\n");
	check_form("uprobe:\"/a b/c\":f { }", "uprobe:\"/a b/c:f\"\n{\n}\n");
}

TEST(directives_keep_every_place)
{
	check_form("#define N 3\n#ifdef N\nBEGIN { $x = N; }\n#else\nEND { broken(((\n#endif\n",
		   "#define N 3\nBEGIN\n{\n\t$x = 3;\n}\n");
	check_says("#ifdef X\nBEGIN { }\n#endif\nBEGIN { ! }", "stdin:4:11-12: ERROR");
	check_says("#if 1\nBEGIN { }", "#if without #endif");
	check_says("#endif\nBEGIN { }", "#endif without #if");
}

TEST(several_errors_at_once)
{
	char *got = formatted("BEGIN { $x = ; $y = 1; $z = ) }\nEND { 5 5 }");
	size_t errors = 0;

	for (const char *p = got; (p = strstr(p, "ERROR")); p++)
		errors++;
	CHECK_EQ(errors, 3);
	free(got);
}

TEST(errors_show_the_line_and_the_place)
{
	check_says("BEGIN { printf(\"x", "stdin:1:16-18: ERROR: syntax: unterminated string\n"
					 "BEGIN { printf(\"x\n               ~~\n");
	check_says("BEGIN { if (1) { }", "syntax: expected '}', found the end");
	check_says("BEGIN { $x = 99999999999999999999; }", "is not a number");
	check_says("BEGIN { `", "invalid character '`'");
	check_says("BEGIN { $0 }", "out of integer range");
	check_says("", "expected a probe");
}

TEST(deep_nesting_is_an_error_not_a_crash)
{
	struct buf b = BUF_INIT;
	char *got;

	buf_addstr(&b, "BEGIN { $x = ");
	buf_fill(&b, '(', 100000);
	got = formatted(b.data);
	CHECK(strstr(got, "nested more than"));
	free(got);
	buf_reset(&b);
	buf_addstr(&b, "BEGIN ");
	buf_fill(&b, '{', 100000);
	got = formatted(b.data);
	CHECK(strstr(got, "nested more than"));
	free(got);
	buf_reset(&b);
	buf_addstr(&b, "BEGIN { $x = ");
	buf_fill(&b, '-', 100001);
	got = formatted(b.data);
	CHECK(strstr(got, "nested") || strstr(got, "expected"));
	free(got);
	buf_release(&b);
}

TEST(nul_bytes_are_refused)
{
	struct buf out = BUF_INIT, diagnostics = BUF_INIT;

	CHECK(lang_format_source("stdin", "BEGIN { \0 }", 11, &out, &diagnostics, NULL) < 0);
	CHECK(strstr(buf_str(&diagnostics), "code 0"));
	buf_release(&out);
	buf_release(&diagnostics);
}

TEST(numbers)
{
	check_form("BEGIN { $x = 0x1F; $y = 1_000; $z = 5ms; $w = 1e3; $v = 7ull; }",
		   "BEGIN\n{\n\t$x = 0x1F;\n\t$y = 1_000;\n\t$z = 5ms;\n\t$w = 1e3;\n\t$v = "
		   "7ull;\n}\n");
	check_says("BEGIN { $x = 12abc; }", "invalid integer suffix");
	check_says("BEGIN { $x = 1e99; }", "is not a number");
}

TEST(structs_and_enums)
{
	check_form("struct a { int x; unsigned long *y; char z[4]; int b : 3; };\nBEGIN { }",
		   "struct a\n{\n\tint32 x;\n\tuint64 *y;\n\tint8 z[4];\n\tint32 b : 3;\n};\n\n"
		   "BEGIN\n{\n}\n");
	check_form("enum e { A, B = 7, C };\nBEGIN { $x = C; }", "BEGIN\n{\n\t$x = 8;\n}\n");
}

TEST(formats_are_taken_apart)
{
	const char *p = "a%-5.3lldb%%%rx";
	struct conversion v;

	CHECK(!fmt_next(&p, &v));
	CHECK_EQ(v.letter, 'd');
	CHECK_EQ(v.width, 5);
	CHECK_EQ(v.precision, 3);
	CHECK_EQ(v.bytes, 8);
	CHECK_STR(v.flags, "-");
	CHECK(!fmt_next(&p, &v));
	CHECK_EQ(v.letter, '%');
	CHECK(!fmt_next(&p, &v));
	CHECK_EQ(v.letter, 'r');
	CHECK(v.hex_escaped && !v.hex_plain);
	CHECK(!fmt_next(&p, &v));
	CHECK_EQ(v.letter, 0);
	p = "%q";
	CHECK(fmt_next(&p, &v));
	p = "%99999d";
	CHECK(fmt_next(&p, &v));
}
