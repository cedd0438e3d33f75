/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"

#include <ctype.h>
#include <math.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 255;
}

bool scan_u64(const char **s, const char *end, unsigned int base, u64 *ret)
{
	const char *p = *s;
	u64 v = 0;

	for (; p < end && (unsigned int)digit_of(*p) < base; p++) {
		if (__builtin_mul_overflow(v, (u64)base, &v) ||
		    __builtin_add_overflow(v, (u64)digit_of(*p), &v))
			return false;
	}
	if (p == *s)
		return false;
	*s = p;
	*ret = v;
	return true;
}

enum scan { SCAN_OK, SCAN_NONE, SCAN_TOO_LARGE };

/* As scan_u64 for text that a person wrote: '_' between digits, 0x before them. */
static enum scan scan_human(const char **s, u64 *ret)
{
	const char *p = *s;
	unsigned int base = 10, digits = 0;
	u64 v = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	for (; (unsigned int)digit_of(*p) < base || (*p == '_' && digits); p++) {
		if (*p == '_')
			continue;
		if (__builtin_mul_overflow(v, (u64)base, &v) ||
		    __builtin_add_overflow(v, (u64)digit_of(*p), &v))
			return SCAN_TOO_LARGE;
		digits++;
	}
	if (!digits || p[-1] == '_')
		return SCAN_NONE;
	*s = p;
	*ret = v;
	return SCAN_OK;
}

int parse_u64(const char *s, u64 *ret, struct err *e)
{
	const char *p = s;
	u64 v;

	switch (scan_human(&p, &v)) {
	case SCAN_NONE: return err_set(e, EINVAL, "'%s' is not a number", s);
	case SCAN_TOO_LARGE: return err_set(e, ERANGE, "'%s' is too large", s);
	case SCAN_OK: break;
	}
	if (*p)
		return err_set(e, EINVAL, "'%s' is not a number: '%s' follows it", s, p);
	*ret = v;
	return 0;
}

int parse_s64(const char *s, s64 *ret, struct err *e)
{
	bool negative = *s == '-';
	u64 v = 0, most = (u64)INT64_MAX + negative;
	int r = parse_u64(s + negative, &v, e);

	if (r < 0)
		return r;
	if (v > most)
		return err_set(e, ERANGE, "'%s' is too large", s);
	*ret = negative ? (s64)(0 - v) : (s64)v;
	return 0;
}

int parse_u64_range(const char *s, u64 min, u64 max, u64 *ret, struct err *e)
{
	u64 v = 0;
	int r = parse_u64(s, &v, e);

	if (r < 0)
		return r;
	if (v < min || v > max)
		return err_set(e, ERANGE, "'%s' is not between %llu and %llu", s,
			       (unsigned long long)min, (unsigned long long)max);
	*ret = v;
	return 0;
}

int parse_hex(const char *s, u64 *ret, struct err *e)
{
	const char *p = s[0] == '0' && (s[1] | 0x20) == 'x' ? s + 2 : s;

	if (!scan_u64(&p, p + strlen(p), 16, ret) || *p)
		return err_set(e, EINVAL, "'%s' is not a hexadecimal number", s);
	return 0;
}

/* strtod would take "nan", "inf", hexadecimal floats and the locale's comma: none is wanted. */
static bool scan_decimal(const char **s, double *ret)
{
	const char *p = *s;
	double v = 0, scale = 1;
	bool digits = false;

	for (; isdigit((unsigned char)*p); p++, digits = true)
		v = v * 10 + (*p - '0');
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++, digits = true)
			v += (*p - '0') * (scale /= 10);
	}
	if (!digits || !isfinite(v))
		return false;
	*s = p;
	*ret = v;
	return true;
}

int parse_double(const char *s, double *ret, struct err *e)
{
	const char *p = *s == '-' ? s + 1 : s;
	double v;

	if (!scan_decimal(&p, &v) || *p)
		return err_set(e, EINVAL, "'%s' is not a number", s);
	*ret = *s == '-' ? -v : v;
	return 0;
}

struct unit {
	const char *name;
	u64 factor;
};

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcasecmp(units->name, name) == 0)
			return units;
	return NULL;
}

/* Number with a unit; whole numbers stay exact, fractions are rounded to the base unit. */
static int parse_with_unit(const char *s, const struct unit *units, const char *kind,
			   const char *example, u64 *ret, struct err *e)
{
	const char *p = s;
	const struct unit *unit;
	double v;
	u64 whole, result;

	if (!scan_decimal(&p, &v)) {
		err_set(e, EINVAL, "'%s' is not a %s", s, kind);
		err_hint(e, "write it like %s", example);
		return -EINVAL;
	}
	unit = unit_find(units, p);
	if (!unit) {
		err_set(e, EINVAL, "'%s' has the unknown unit '%s'", s, p);
		err_hint(e, "a %s is written like %s", kind, example);
		return -EINVAL;
	}
	if (v * (double)unit->factor >= 18446744073709551615.0)
		return err_set(e, ERANGE, "'%s' is too large", s);
	whole = (u64)v;
	if (__builtin_mul_overflow(whole, unit->factor, &result) ||
	    __builtin_add_overflow(result, (u64)llround((v - (double)whole) * (double)unit->factor),
				   &result))
		return err_set(e, ERANGE, "'%s' is too large", s);
	*ret = result;
	return 0;
}

int parse_duration(const char *s, u64 *ret_ns, struct err *e)
{
	static const struct unit units[] = {
		{ "", NSEC_PER_SEC },
		{ "s", NSEC_PER_SEC },
		{ "sec", NSEC_PER_SEC },
		{ "ms", NSEC_PER_MSEC },
		{ "us", NSEC_PER_USEC },
		{ "\xc2\xb5s", NSEC_PER_USEC },
		{ "ns", 1 },
		{ "m", 60 * NSEC_PER_SEC },
		{ "min", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC },
		{ "d", 86400 * NSEC_PER_SEC },
		{ NULL, 0 },
	};

	return parse_with_unit(s, units, "duration", "10s, 500ms or 2m", ret_ns, e);
}

int parse_size(const char *s, u64 *ret_bytes, struct err *e)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "b", 1 },
		{ "k", 1ull << 10 },
		{ "kb", 1ull << 10 },
		{ "kib", 1 << 10 },
		{ "m", 1ull << 20 },
		{ "mb", 1 << 20 },
		{ "mib", 1 << 20 },
		{ "g", 1ull << 30 },
		{ "gb", 1ull << 30 },
		{ "gib", 1ull << 30 },
		{ "t", 1ull << 40 },
		{ "tb", 1ull << 40 },
		{ "tib", 1ull << 40 },
		{ NULL, 0 },
	};

	return parse_with_unit(s, units, "size", "64M, 512K or 1G", ret_bytes, e);
}

int parse_frequency(const char *s, u64 *ret_hz, struct err *e)
{
	static const struct unit units[] = {
		{ "", 1 },     { "hz", 1 },        { "khz", 1000 },
		{ "k", 1000 }, { "mhz", 1000000 }, { NULL, 0 },
	};

	return parse_with_unit(s, units, "frequency", "99, 99hz or 1khz", ret_hz, e);
}

int parse_percent(const char *s, double *ret, struct err *e)
{
	const char *p = s;
	double v;

	if (!scan_decimal(&p, &v) || (*p && !streq(p, "%")))
		return err_set(e, EINVAL, "'%s' is not a percentage", s);
	*ret = v;
	return 0;
}

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static void ranges_merge(range_list *list)
{
	size_t n = 0;

	vec_sort(list, range_compare);
	for (size_t i = 1; i < list->len; i++) {
		struct range *last = &list->items[n], *r = &list->items[i];

		/* neighbours stay: "100,101" names two, each of which has to be there */
		if (r->first <= last->last)
			last->last = MAX(last->last, r->last);
		else
			list->items[++n] = *r;
	}
	if (list->len)
		list->len = n + 1;
}

static bool scan_range(const char **s, struct range *ret)
{
	const char *p = *s, *end = p + strlen(p);

	if (!scan_u64(&p, end, 10, &ret->first))
		return false;
	ret->last = ret->first;
	if (*p == '-') {
		p++;
		if (!scan_u64(&p, end, 10, &ret->last) || ret->last < ret->first)
			return false;
	}
	*s = p;
	return true;
}

int parse_ranges(const char *s, u64 max, range_list *ret, struct err *e)
{
	range_list list = { 0 };
	const char *p = s;
	struct range r;

	do {
		if (!scan_range(&p, &r) || (*p && *p != ',')) {
			vec_release(&list);
			err_set(e, EINVAL, "'%s' is not a list of numbers", s);
			err_hint(e, "write it like 0-3,7");
			return -EINVAL;
		}
		if (r.last > max) {
			vec_release(&list);
			return err_set(e, ERANGE, "'%s' goes past %llu", s,
				       (unsigned long long)max);
		}
		vec_push(&list, r);
	} while (*p++ == ',');
	ranges_merge(&list);
	*ret = list;
	return 0;
}

bool ranges_contain(const range_list *list, u64 value)
{
	vec_each(r, list)
		if (value >= r->first && value <= r->last)
			return true;
	return false;
}

u64 ranges_count(const range_list *list)
{
	u64 n = 0;

	vec_each(r, list)
		n += r->last - r->first + 1;
	return n;
}
