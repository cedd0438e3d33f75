/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "capture/filter.h"
#include "capture/tracepoint.h"

static const char text[] = "name: block_rq_issue\nID: 1001\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"
			   "\tfield:char rwbs[8];\toffset:34;\tsize:8;\tsigned:0;\n"
			   "\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n"
			   "\tfield:const char * name;\toffset:64;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned long args[6];\toffset:72;\tsize:48;\tsigned:0;\n\n"
			   "print fmt: \"%s\", REC->rwbs\n";

static struct tracepoint_format format(void)
{
	struct tracepoint_format f;
	struct err e = ERR_INIT;

	if (tracepoint_format_parse(text, sizeof(text) - 1, &f, &e) < 0)
		FAIL("%s", e.what);
	return f;
}

TEST(a format file is read)
{
	struct tracepoint_format f = format();
	const struct tracepoint_field *field;

	CHECK_STR(f.name, "block_rq_issue");
	CHECK_EQ(f.id, 1001);
	CHECK_EQ(f.fields.len, 8);
	CHECK_STR(f.print_fmt, "\"%s\", REC->rwbs");
	field = tracepoint_field_find(&f, "rwbs", 4);
	CHECK(field && field->is_string && !field->is_dynamic);
	CHECK_EQ(field->array_len, 8);
	CHECK_EQ(field->offset, 34);
	CHECK_STR(field->type, "char");
	field = tracepoint_field_find(&f, "cmd", 3);
	CHECK(field && field->is_string && field->is_dynamic);
	field = tracepoint_field_find(&f, "name", 4);
	CHECK(field && field->is_string);
	field = tracepoint_field_find(&f, "args", 4);
	CHECK(field && !field->is_string);
	CHECK_EQ(field->array_len, 6);
	field = tracepoint_field_find(&f, "common_pid", 10);
	CHECK(field && field->is_common && field->is_signed);
	CHECK(tracepoint_field_find(&f, "rwb", 3) == NULL);
	tracepoint_format_release(&f);
}

TEST(broken format files are refused)
{
	static const char *const bad[] = {
		"",
		"ID: 5\n",
		"name: x\nID: no\n",
		"name: x\nfield:int a\n",
		"name: x\nfield:int a;\toffset:1;\n",
		"name: x\nfield:;\toffset:1;\tsize:1;\n",
		"name: x\nfield:int a];\toffset:1;\tsize:1;\n",
	};
	struct tracepoint_format f;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (tracepoint_format_parse(bad[i], strlen(bad[i]), &f, NULL) >= 0)
			FAIL("accepted: %s", bad[i]);
	}
}

TEST(good filters)
{
	static const char *const good[] = {
		"bytes > 4096",
		"bytes>4096&&rwbs==\"WS\"",
		"rwbs ~ \"*W*\"",
		"rwbs != 'R'",
		"!(bytes == 1 || sector & 0x7)",
		"(common_pid >= 10) && ((bytes < 5) || bytes <= -1)",
		"comm == \"bash\" && cpu == 1",
		"cmd ~ \"x*\"",
		"name.ustring == \"abc\"",
		"CPU & CPUS{0-3,7}",
	};
	struct tracepoint_format f = format();
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (filter_check(good[i], &f, &e) < 0)
			FAIL("'%s': %s", good[i], e.what);
	}
	tracepoint_format_release(&f);
}

TEST(bad filters say where)
{
	static const struct {
		const char *filter, *what, *hint;
	} bad[] = {
		{ "byts > 1", "no field 'byts' (column 1)", "did you mean 'bytes'?" },
		{ "bytes > 1 && zzzzzzzzz == 2", "(column 14)", "its fields are: sector, bytes" },
		{ "bytes >", "not a number at column 8", NULL },
		{ "bytes 5", "operator is missing at column 7", "operators are" },
		{ "bytes ~ 5", "compares texts", NULL },
		{ "rwbs == WS", "must be in quotes at column 9", "comm ==" },
		{ "rwbs < \"W\"", "only be compared", NULL },
		{ "rwbs == \"W", "quote without its end", NULL },
		{ "bytes == \"5\"", "a text for a field that is a number", "without quotes" },
		{ "(bytes > 1", "bracket without its end at column 1", NULL },
		{ "bytes > 1)", "does not belong", NULL },
		{ "bytes > 1 and bytes < 2", "does not belong there at column 11", "&&" },
		{ "", "missing", NULL },
		{ "bytes > 99999999999999999999", "not a number", NULL },
		{ "bytes > 12abc", "not a number", NULL },
	};
	struct tracepoint_format f = format();

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;

		CHECK(filter_check(bad[i].filter, &f, &e) < 0);
		if (!strstr(e.what, bad[i].what))
			FAIL("'%s' says: %s", bad[i].filter, e.what);
		if (bad[i].hint && (!e.hint || !strstr(e.hint, bad[i].hint)))
			FAIL("'%s' hints: %s", bad[i].filter, e.hint ? e.hint : "nothing");
		err_release(&e);
	}
	tracepoint_format_release(&f);
}

TEST(deep nesting is refused)
{
	struct tracepoint_format f = format();
	char deep[2000];

	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	CHECK(filter_check(deep, &f, NULL) < 0);
	memset(deep, '!', sizeof(deep) - 1);
	CHECK(filter_check(deep, &f, NULL) < 0);
	tracepoint_format_release(&f);
}
