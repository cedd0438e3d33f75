/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text to numbers, checked: the whole string must be used, overflow is an error, units are known.
 * On failure the err names the text, what is wrong with it and what would be right.
 */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include "base/err.h"
#include "base/vec.h"

/* Decimal or 0x hexadecimal (never octal: 010 is ten); digits may be grouped by '_'. */
int parse_u64(const char *s, u64 *ret, struct err *e);
int parse_s64(const char *s, s64 *ret, struct err *e);
/* Between @min and @max, both allowed. */
int parse_u64_range(const char *s, u64 min, u64 max, u64 *ret, struct err *e);
/* Hexadecimal with or without 0x: addresses in /proc files. */
int parse_hex(const char *s, u64 *ret, struct err *e);
int parse_double(const char *s, double *ret, struct err *e);
/* "10s" "1.5ms" "2m" "1h" "3d" "100us" "5ns" -> nanoseconds; a bare number is seconds. */
int parse_duration(const char *s, u64 *ret_ns, struct err *e);
/* "64M" "1.5G" "512K" "100" "2MiB" "10kB" -> bytes, always powers of 1024. */
int parse_size(const char *s, u64 *ret_bytes, struct err *e);
/* "99" "99hz" "1khz" "2.5kHz" -> hertz. */
int parse_frequency(const char *s, u64 *ret_hz, struct err *e);
/* "5%" or "5" or "0.5" -> 5, 5, 0.5. */
int parse_percent(const char *s, double *ret, struct err *e);

struct range {
	u64 first;
	u64 last;
};
typedef VEC(struct range) range_list;

/* "0-3,7" -> ranges, sorted, merged where they overlap. Values above @max are refused. */
int parse_ranges(const char *s, u64 max, range_list *ret, struct err *e);
bool ranges_contain(const range_list *list, u64 value);
u64 ranges_count(const range_list *list);

/*
 * For readers of machine-written text: the number at *s in the given base; moves *s past it.
 * False when there is no digit or it does not fit.
 */
bool scan_u64(const char **s, const char *end, unsigned int base, u64 *ret);

#endif
