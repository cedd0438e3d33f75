/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/fmt.h"
#include "base/parse.h"

TEST("numbers in every base")
{
	u64 v;
	s64 s;

	CHECK_EQ(parse_u64("0", &v, NULL), 0);
	CHECK_EQ(v, 0);
	CHECK_EQ(parse_u64("0x1F", &v, NULL), 0);
	CHECK_EQ(v, 31);
	CHECK_EQ(parse_u64("017", &v, NULL), 0);
	CHECK_EQ(v, 17);
	CHECK_EQ(parse_u64("1_000_000", &v, NULL), 0);
	CHECK_EQ(v, 1000000);
	CHECK_EQ(parse_u64("18446744073709551615", &v, NULL), 0);
	CHECK_EQ(v, UINT64_MAX);
	CHECK_EQ(parse_s64("-9223372036854775808", &s, NULL), 0);
	CHECK_EQ(s, INT64_MIN);
	CHECK_EQ(parse_hex("ffffffff81000000", &v, NULL), 0);
	CHECK_EQ(v, 0xffffffff81000000ull);
}

TEST("numbers that are not")
{
	static const char *const bad[] = {
		"", "x", "1x", "-1", "+1", " 1", "1 ", "0x", "1__", "_1"
	};
	_cleanup_err_ struct err e = ERR_INIT;
	u64 v = 42;
	s64 s;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(parse_u64(bad[i], &v, &e), -EINVAL);
		CHECK_EQ(v, 42);
		CHECK(e.what && strstr(e.what, bad[i]));
	}
	CHECK_EQ(parse_u64("18446744073709551616", &v, &e), -ERANGE);
	CHECK_EQ(parse_s64("9223372036854775808", &s, &e), -ERANGE);
	CHECK_EQ(parse_u64_range("5", 6, 7, &v, &e), -ERANGE);
	CHECK_STR(e.what, "'5' is not between 6 and 7");
	CHECK_EQ(parse_hex("", &v, &e), -EINVAL);
	CHECK_EQ(parse_hex("12g", &v, &e), -EINVAL);
}

static u64 duration(const char *s)
{
	u64 v;

	return parse_duration(s, &v, NULL) == 0 ? v : UINT64_MAX;
}

TEST("durations")
{
	CHECK_EQ(duration("10s"), 10000000000);
	CHECK_EQ(duration("10"), 10000000000);
	CHECK_EQ(duration("1.5ms"), 1500000);
	CHECK_EQ(duration("0.1"), 100000000);
	CHECK_EQ(duration("100us"), 100000);
	CHECK_EQ(duration("5ns"), 5);
	CHECK_EQ(duration("2m"), 120000000000);
	CHECK_EQ(duration("1h"), 3600000000000);
	CHECK_EQ(duration("2d"), 172800000000000);
	CHECK_EQ(duration("10 s"), UINT64_MAX);
	CHECK_EQ(duration("10x"), UINT64_MAX);
	CHECK_EQ(duration("s"), UINT64_MAX);
	CHECK_EQ(duration("-1s"), UINT64_MAX);
	CHECK_EQ(duration("1e3s"), UINT64_MAX);
	CHECK_EQ(duration("99999999999999999d"), UINT64_MAX);
	CHECK_EQ(duration("nan"), UINT64_MAX);
}

TEST("a wrong unit is named and the right ones shown")
{
	_cleanup_err_ struct err e = ERR_INIT;
	u64 v;

	CHECK_EQ(parse_duration("10parsec", &v, &e), -EINVAL);
	CHECK_STR(e.what, "'10parsec' has the unknown unit 'parsec'");
	CHECK_STR(e.hint, "a duration is written like 10s, 500ms or 2m");
}

TEST("sizes and frequencies")
{
	double d;
	u64 v;

	CHECK_EQ(parse_size("64M", &v, NULL), 0);
	CHECK_EQ(v, 64 << 20);
	CHECK_EQ(parse_size("1.5K", &v, NULL), 0);
	CHECK_EQ(v, 1536);
	CHECK_EQ(parse_size("2GiB", &v, NULL), 0);
	CHECK_EQ(v, 2ull << 30);
	CHECK_EQ(parse_size("10q", &v, NULL), -EINVAL);
	CHECK_EQ(parse_size("99999999T", &v, NULL), -ERANGE);
	CHECK_EQ(parse_frequency("99hz", &v, NULL), 0);
	CHECK_EQ(v, 99);
	CHECK_EQ(parse_frequency("2.5kHz", &v, NULL), 0);
	CHECK_EQ(v, 2500);
	CHECK_EQ(parse_percent("0.5%", &d, NULL), 0);
	CHECK_NEAR(d, 0.5, 1e-9);
	CHECK_EQ(parse_double("-12.25", &d, NULL), 0);
	CHECK_NEAR(d, -12.25, 1e-9);
	CHECK_EQ(parse_double("inf", &d, NULL), -EINVAL);
}

TEST("ranges are sorted and merged")
{
	range_list r = { 0 };

	CHECK_EQ(parse_ranges("7,0-3,4,9-10,10-12", 100, &r, NULL), 0);
	CHECK_EQ(r.len, 4);
	CHECK_EQ(r.items[0].last, 3);
	CHECK_EQ(r.items[1].first, 4);
	CHECK_EQ(r.items[2].first, 7);
	CHECK_EQ(r.items[3].last, 12);
	CHECK_EQ(ranges_count(&r), 10);
	CHECK(ranges_contain(&r, 11));
	CHECK(!ranges_contain(&r, 8));
	vec_release(&r);
	CHECK_EQ(parse_ranges("", 100, &r, NULL), -EINVAL);
	CHECK_EQ(parse_ranges("1,", 100, &r, NULL), -EINVAL);
	CHECK_EQ(parse_ranges("3-1", 100, &r, NULL), -EINVAL);
	CHECK_EQ(parse_ranges("1-101", 100, &r, NULL), -ERANGE);
	CHECK_EQ(parse_ranges("18446744073709551615", UINT64_MAX, &r, NULL), 0);
	vec_release(&r);
}

static const char *show(struct buf *b, void (*f)(struct buf *, u64), u64 v)
{
	buf_reset(b);
	f(b, v);
	return buf_str(b);
}

TEST("numbers for people")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	CHECK_STR(show(&b, fmt_duration, 0), "0ns");
	CHECK_STR(show(&b, fmt_duration, 999), "999ns");
	CHECK_STR(show(&b, fmt_duration, 1500), "1.50us");
	CHECK_STR(show(&b, fmt_duration, 999499), "999us");
	CHECK_STR(show(&b, fmt_duration, 999500), "1.00ms");
	CHECK_STR(show(&b, fmt_duration, 12345678), "12.3ms");
	CHECK_STR(show(&b, fmt_duration, 10 * NSEC_PER_SEC), "10.0s");
	CHECK_STR(show(&b, fmt_duration, 125 * NSEC_PER_SEC), "2m05s");
	CHECK_STR(show(&b, fmt_duration, 3600 * 27 * NSEC_PER_SEC), "1d03h");
	CHECK_STR(show(&b, fmt_size, 1023), "1023");
	CHECK_STR(show(&b, fmt_size, 1536), "1.5K");
	CHECK_STR(show(&b, fmt_size, (1 << 20) - 1), "1.0M");
	CHECK_STR(show(&b, fmt_size, 1012 << 10), "1012K");
	CHECK_STR(show(&b, fmt_size, (1023 << 20) + (400 << 10)), "1023M");
	CHECK_STR(show(&b, fmt_size, UINT64_MAX), "16.0E");
	CHECK_STR(show(&b, fmt_count, 0), "0");
	CHECK_STR(show(&b, fmt_count, 1234567), "1,234,567");
	CHECK_STR(show(&b, fmt_count, 123), "123");
	buf_reset(&b);
	fmt_iso_time(&b, 1714572239123456789ull);
	CHECK_STR(buf_str(&b), "2024-05-01T14:03:59.123Z");
}

TEST("width of text in columns")
{
	CHECK_EQ(fmt_width("abc"), 3);
	CHECK_EQ(fmt_width("na\xc3\xafve"), 5);
	CHECK_EQ(fmt_width("\xe6\xbc\xa2"), 2);
	CHECK_EQ(fmt_width("\xff\xfe"), 2);
	CHECK_EQ(fmt_cut("na\xc3\xafve", 3), 4);
	CHECK_EQ(fmt_cut("\xe6\xbc\xa2", 1), 0);
	CHECK_EQ(fmt_cut("ab", 9), 2);
}

TEST("text that could drive a terminal is made harmless")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	fmt_clean(&b, "a\x1b[2J\n\xff", 7);
	CHECK_STR(buf_str(&b), "a\\x1b[2J\\x0a\\xff");
	buf_reset(&b);
	fmt_clean(&b, "\xc2\x9b", 2);
	CHECK_STR(buf_str(&b), "\\x9b");
	buf_reset(&b);
	fmt_clean(&b, "\xe2\x82\xac\xed\xa0\x80", 6);
	CHECK_STR(buf_str(&b), "\xe2\x82\xac\\xed\\xa0\\x80");
}
