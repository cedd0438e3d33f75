/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "profile/tracefield.h"

/* The data that FIELDS describe. */
struct PACKED data {
	u64 common;
	u32 pid; /* -2 when signed */
	u32 flags;
	u64 address;
	char comm[16];
	u32 loc; /* of text: "hello" */
	u8 ip4[4];
	u8 ip6[16];
	u8 mac[6];
	u16 small; /* 0xfffe */
	u32 numbers[3];
	char text[8];
};

#define FIELDS                                                                  \
	"name: test\nID: 7\nformat:\n"                                          \
	"\tfield:unsigned long common_type;\toffset:0;\tsize:8;\tsigned:0;\n\n" \
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"                   \
	"\tfield:unsigned int flags;\toffset:12;\tsize:4;\tsigned:0;\n"         \
	"\tfield:unsigned long address;\toffset:16;\tsize:8;\tsigned:0;\n"      \
	"\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"             \
	"\tfield:__data_loc char[] text;\toffset:40;\tsize:4;\tsigned:0;\n"     \
	"\tfield:__u8 ip4[4];\toffset:44;\tsize:4;\tsigned:0;\n"                \
	"\tfield:__u8 ip6[16];\toffset:48;\tsize:16;\tsigned:0;\n"              \
	"\tfield:unsigned char mac[6];\toffset:64;\tsize:6;\tsigned:0;\n"       \
	"\tfield:short small;\toffset:70;\tsize:2;\tsigned:1;\n"                \
	"\tfield:u32 numbers[3];\toffset:72;\tsize:12;\tsigned:0;\n\n"          \
	"print fmt: "

static const struct data sample = {
	.pid = (u32)-2,
	.flags = 5,
	.address = 0xffffffff81000010,
	.comm = "sh",
	.loc = 6 << 16 | 84,
	.ip4 = { 127, 0, 0, 1 },
	.ip6 = { [10] = 0xff, 0xff, 10, 0, 0, 7 },
	.mac = { 1, 2, 3, 4, 5, 0xff },
	.small = 0xfffe,
	.numbers = { 1, 20, 300 },
	.text = "hello",
};

static const char *symbol(void *ctx, u64 address, u64 *ret_start)
{
	(void)ctx;
	if (address < 0xffffffff81000000)
		return NULL;
	*ret_start = 0xffffffff81000000;
	return "start_kernel";
}

static const char *constant(void *ctx, u64 address)
{
	(void)ctx;
	return address == 0xffffffff81000010 ? "a constant" : NULL;
}

static const struct tracefield_env env = { .symbol = symbol, .string = constant };

/* The sample through a format; @size of it. */
static void print(const char *fmt, u32 size, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct tracefield *t;

	buf_addf(&text, "%s%s\n", FIELDS, fmt);
	CHECK_EQ(tracefield_new(text.data, text.len, &t, NULL), 0);
	tracefield_print(t, &env, &sample, size, out);
	tracefield_free(t);
}

#define CHECK_PRINT(fmt, wanted)                          \
	do {                                              \
		_cleanup_buf_ struct buf out_ = BUF_INIT; \
		print(fmt, sizeof(sample), &out_);        \
		CHECK_STR(buf_str(&out_), wanted);        \
	} while (0)

_Static_assert(offsetof(struct data, text) == 84, "as in FIELDS");

TEST(numbers_and_strings)
{
	CHECK_PRINT("\"pid=%d comm=%s\", REC->pid, REC->comm", "pid=-2 comm=sh");
	CHECK_PRINT("\"%u %x %lu\", REC->pid, REC->flags, REC->address",
		    "4294967294 5 18446744071578845200");
	CHECK_PRINT("\"%s|%-8s|%8s|%.3s\", __get_str(text), REC->comm, REC->comm, __get_str(text)",
		    "hello|sh      |      sh|hel");
	CHECK_PRINT("\"%03d %#x %5d %-5d|\", REC->flags, REC->flags, REC->flags, REC->flags",
		    "005 0x5     5 5    |");
	CHECK_PRINT("\"%d %hd %hhu\", REC->small, REC->small, REC->small", "-2 -2 254");
	CHECK_PRINT("\"100%% \" \"joined\\n\"", "100% joined\n");
	CHECK_PRINT("\"%c%o\", 'x', 8", "x10");
}

TEST(expressions)
{
	CHECK_PRINT("\"%d\", 1 + 2 * 3 - 4 / 2", "5");
	CHECK_PRINT("\"%d %d\", REC->flags & 1 ? 10 : 20, (REC->flags & 2) ? 10 : 20", "10 20");
	CHECK_PRINT("\"%s\", REC->pid < 0 ? \"negative\" : \"positive\"", "negative");
	CHECK_PRINT("\"%d %d\", 1 << 4 | 1, ~0 & 7", "17 7");
	CHECK_PRINT("\"%d\", !REC->flags || REC->flags == 5 && REC->small != 0", "1");
	CHECK_PRINT("\"%d\", ((unsigned int) ((REC->address) >> 20)) & 0xff", "16");
	CHECK_PRINT("\"%d\", (u8)0x1ff", "255");
	CHECK_PRINT("\"%ld\", (long)REC->pid - 1", "-3");
	CHECK_PRINT("\"%d %d\", sizeof(u64), sizeof(REC->comm)", "8 16");
	CHECK_PRINT("\"%u\", REC->numbers[2]", "300");
	CHECK_PRINT("\"%u\", REC->numbers[7]", "0");
	CHECK_PRINT("\"%d\", 5 / 0", "0");
	CHECK_PRINT("\"%lu\", (jiffies - REC->address) / 2", "1065353208");
	CHECK_PRINT("\"%d\", __builtin_expect(!!(REC->flags), 0)", "1");
}

TEST(flags_and_names)
{
	const char *flags = "\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { 2, \"B\" }, "
			    "{ (1 << 2), \"C\" })";

	CHECK_PRINT(flags, "A|C");
	CHECK_PRINT("\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" })", "A|0x4");
	CHECK_PRINT("\"%s\", __print_flags(0, \"|\", { 1, \"A\" })", "");
	CHECK_PRINT("\"%s\", __print_flags(4, \"\", { 4UL, \"Z\" }, { 0, ((void *)0) } )", "Z");
	CHECK_PRINT("\"%s\", __print_symbolic(REC->flags, { 4, \"four\" }, { 5, \"five\" })",
		    "five");
	CHECK_PRINT("\"%s\", __print_symbolic(REC->flags, { 4, \"four\" })", "0x5");
	CHECK_PRINT("\"%s\", __print_symbolic(REC->pid, { -2, \"minus\" })", "minus");
	CHECK_PRINT("\"%s\", __print_hex(REC->mac, 3)", "01 02 03");
	CHECK_PRINT("\"%s\", __print_hex_str(REC->mac, 6)", "0102030405ff");
	CHECK_PRINT("\"%s\", __print_array(REC->numbers, 3, 4)", "{0x1,0x14,0x12c}");
}

TEST(pointers)
{
	CHECK_PRINT("\"%p %p\", REC->address, 0", "0xffffffff81000010 (nil)");
	CHECK_PRINT("\"%pS %ps\", (void *)REC->address, (void *)REC->address",
		    "start_kernel+0x10 start_kernel");
	CHECK_PRINT("\"%pS\", (void *)0", "0x0");
	CHECK_PRINT("\"%s\", REC->address", "a constant");
	CHECK_PRINT("\"%pI4 %pi4\", REC->ip4, REC->ip4", "127.0.0.1 127.000.000.001");
	CHECK_PRINT("\"%pI6c\", REC->ip6", "::ffff:10.0.0.7");
	CHECK_PRINT("\"%pI6\", REC->ip6", "0000:0000:0000:0000:0000:ffff:0a00:0007");
	CHECK_PRINT("\"%pM\", REC->mac", "01:02:03:04:05:ff");
	CHECK_PRINT("\"%pI6c\", REC->mac", "(no data)");
}

TEST(unknown_formats_fall_back_to_pairs)
{
	const char *pairs = "[FAILED TO PARSE] pid=-2 flags=5 address=0xffffffff81000010 comm=sh "
			    "text=hello ip4=ARRAY[7f, 00, 00, 01] "
			    "ip6=ARRAY[00, 00, 00, 00, 00, 00, 00, 00, 00, 00, ff, ff, 0a, 00, 00, "
			    "07] mac=ARRAY[01, 02, 03, 04, 05, ff] small=-2 "
			    "numbers=ARRAY[01, 00, 00, 00, 14, 00, 00, 00, 2c, 01, 00, 00]";

	CHECK_PRINT("\"%d\", jiffies_to_msecs(REC->pid)", pairs);
	CHECK_PRINT("\"%d\", REC->nothing", pairs);
	CHECK_PRINT("\"%d\"", pairs);
	CHECK_PRINT("\"%d", pairs);
	CHECK_PRINT("\"%d\", (1", pairs);
	CHECK_PRINT("\"%d\", REC->pid->next", pairs);
	CHECK_PRINT("\"%2000d\", 1", pairs);
	CHECK_PRINT("", pairs);
}

/* Data that is shorter than its fields say reads as nothing. */
TEST(cut_data)
{
	for (u32 size = 0; size < sizeof(sample); size++) {
		_cleanup_buf_ struct buf out = BUF_INIT;

		print("\"%d %s %s %pI6c %u\", REC->pid, REC->comm, __get_str(text), REC->ip6, "
		      "REC->numbers[2]",
		      size, &out);
		print("\"%d\", no_such()", size, &out);
		CHECK(out.len > 0);
	}
}

TEST(long_chains_do_not_exhaust_the_stack)
{
	_cleanup_buf_ struct buf fmt = BUF_INIT, out = BUF_INIT;

	buf_addstr(&fmt, "\"%d\", 1");
	for (int i = 0; i < 60000; i++)
		buf_addstr(&fmt, "+1");
	print(fmt.data, sizeof(sample), &out);
	CHECK(starts_with(out.data, "[FAILED"));
	buf_reset(&fmt);
	buf_reset(&out);
	buf_addstr(&fmt, "\"%d\", ");
	for (int i = 0; i < 60000; i++)
		buf_addstr(&fmt, "(-");
	print(fmt.data, sizeof(sample), &out);
	CHECK(starts_with(out.data, "[FAILED"));
}

TEST(not_a_format)
{
	struct tracefield *t = NULL;

	CHECK(tracefield_new("nothing", 7, &t, NULL) < 0);
	CHECK(tracefield_new("", 0, &t, NULL) < 0);
	CHECK(t == NULL);
	tracefield_free(NULL);
}
