/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fmt.h"

#include <time.h>
#include <wchar.h>

/* Three significant digits, the way a person rounds. */
static void three_digits(struct buf *b, double v, const char *unit)
{
	int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	buf_addf(b, "%.*f%s", decimals, v, unit);
}

static void two_units(struct buf *b, u64 seconds, u64 large, u64 small, const char *names)
{
	buf_addf(b, "%llu%c%02llu%c", (unsigned long long)(seconds / large), names[0],
		 (unsigned long long)(seconds % large / small), names[1]);
}

void fmt_duration(struct buf *b, u64 ns)
{
	u64 s = ns / NSEC_PER_SEC;

	if (ns < 1000)
		buf_addf(b, "%lluns", (unsigned long long)ns);
	else if (ns < 999500)
		three_digits(b, (double)ns / 1e3, "us");
	else if (ns < 999500000)
		three_digits(b, (double)ns / 1e6, "ms");
	else if (s < 60)
		three_digits(b, (double)ns / 1e9, "s");
	else if (s < 3600)
		two_units(b, s, 60, 1, "ms");
	else if (s < 86400)
		two_units(b, s, 3600, 60, "hm");
	else
		two_units(b, s, 86400, 3600, "dh");
}

void fmt_size(struct buf *b, u64 bytes)
{
	static const char units[] = "KMGTPE";
	double v = (double)bytes / 1024;
	int i = 0;

	if (bytes < 1024) {
		buf_addu(b, bytes);
		return;
	}
	while (v >= 1023.5 && i < 5) {
		v /= 1024;
		i++;
	}
	/* never wider than six */
	buf_addf(b, v < 999.95 ? "%.1f%c" : "%.0f%c", v, units[i]);
}

void fmt_count(struct buf *b, u64 n)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_addch(b, ',');
		buf_addch(b, text[i]);
	}
}

static void fraction(struct buf *b, u64 ns, int digits)
{
	u64 v = ns % NSEC_PER_SEC;

	if (digits <= 0)
		return;
	for (int i = digits; i < 9; i++)
		v /= 10;
	buf_addf(b, ".%0*llu", digits, (unsigned long long)v);
}

void fmt_clock(struct buf *b, u64 wall_ns, int digits)
{
	time_t t = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&t, &tm)) {
		buf_addstr(b, "??:??:??");
		return;
	}
	buf_addf(b, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	fraction(b, wall_ns, digits);
}

void fmt_iso_time(struct buf *b, u64 wall_ns)
{
	time_t t = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!gmtime_r(&t, &tm)) {
		buf_addstr(b, "?");
		return;
	}
	buf_addf(b, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec);
	fraction(b, wall_ns, 3);
	buf_addch(b, 'Z');
}

void fmt_hex(struct buf *b, const void *p, size_t n)
{
	const u8 *bytes = p;

	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%02x", bytes[i]);
}

size_t fmt_rune(const char *s, size_t n, u32 *ret_code)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	u8 c = (u8)s[0];
	size_t len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	u32 code = len == 1 ? c : c & (0x7fu >> len);

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (((u8)s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | ((u8)s[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return len;
}

size_t fmt_rune_width(u32 code)
{
	if (likely(code < 0x300))
		return 1;
	bool wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
		    (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
		    (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
		    (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
	bool zero = (code >= 0x300 && code <= 0x36f) || code == 0x200b || code == 0x200d ||
		    (code >= 0xfe00 && code <= 0xfe0f);

	return wide ? 2 : zero ? 0 : 1;
}

size_t fmt_cut(const char *s, size_t columns)
{
	size_t n = strlen(s), at = 0, used = 0;

	while (at < n) {
		u32 code = '?';
		size_t len = fmt_rune(s + at, n - at, &code), w = fmt_rune_width(code);

		if (used + w > columns)
			break;
		used += w;
		at += len ? len : 1;
	}
	return at;
}

size_t fmt_width(const char *s)
{
	size_t n = strlen(s), used = 0;

	for (size_t at = 0; at < n;) {
		u32 code = '?';
		size_t len = fmt_rune(s + at, n - at, &code);

		used += fmt_rune_width(code);
		at += len ? len : 1;
	}
	return used;
}

void fmt_clean(struct buf *b, const char *s, size_t n)
{
	for (size_t at = 0; at < n;) {
		u32 code = 0;
		size_t len = fmt_rune(s + at, n - at, &code);

		if (!len)
			buf_addf(b, "\\x%02x", (u8)s[at]);
		else if (code < 0x20 || code == 0x7f || (code >= 0x80 && code < 0xa0))
			buf_addf(b, "\\x%02x", code);
		else
			buf_add(b, s + at, len);
		at += len ? len : 1;
	}
}

void fmt_clean_lines(struct buf *b, const char *s, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t len = 0;

		while (at + len < n && s[at + len] != '\n' && s[at + len] != '\t')
			len++;
		fmt_clean(b, s + at, len);
		at += len;
		if (at < n)
			buf_addch(b, s[at++]);
	}
}
