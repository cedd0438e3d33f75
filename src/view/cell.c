/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/cell.h"

#include <math.h>

#include "base/fmt.h"

enum { CLOCK_DIGITS = 6 };

static bool is_real(enum value_type type)
{
	return type == VALUE_PERCENT || type == VALUE_NUMBER;
}

bool cell_is_number(enum value_type type)
{
	return type != VALUE_TEXT && type != VALUE_BOOL;
}

struct value cell_of_real(enum value_type type, double d)
{
	if (is_real(type) || !cell_is_number(type) || !type)
		return value_d(is_real(type) ? type : VALUE_NUMBER, d);
	if (!(d > 0))
		return value_u(type, 0);
	return value_u(type, d >= 0x1p64 ? UINT64_MAX : (u64)d);
}

struct value cell_of_count(enum value_type type, u64 u)
{
	if (!type || type == VALUE_TEXT)
		type = VALUE_COUNT;
	return is_real(type) ? value_d(type, (double)u) : value_u(type, u);
}

/* Two decimals, unless that would show nothing or far too much. */
static void number_text(struct buf *out, double d)
{
	double size = fabs(d);

	if (size >= 1e15 || (size > 0 && size < 0.01))
		buf_addf(out, "%.3g", d);
	else
		buf_addf(out, "%.2f", d);
}

static void real_text(struct buf *out, const struct value *v)
{
	if (!isfinite(v->d)) {
		buf_addch(out, '-');
	} else if (v->type == VALUE_PERCENT) {
		/* never "-0.00%" */
		buf_addf(out, fabs(v->d) < 1e15 ? "%.2f%%" : "%.3g%%",
			 fabs(v->d) < 0.005 ? 0 : v->d);
	} else {
		number_text(out, v->d);
	}
}

void cell_text(struct buf *out, const struct value *v)
{
	if (!v->type)
		return;
	switch (v->type) {
	case VALUE_TEXT: fmt_clean(out, v->s, strlen(v->s)); break;
	case VALUE_COUNT: fmt_count(out, v->u); break;
	case VALUE_BYTES: fmt_size(out, v->u); break;
	case VALUE_DURATION: fmt_duration(out, v->u); break;
	case VALUE_PERCENT:
	case VALUE_NUMBER: real_text(out, v); break;
	case VALUE_TIME: fmt_clock(out, v->u, CLOCK_DIGITS); break;
	case VALUE_PID: buf_addu(out, v->u); break;
	case VALUE_ADDRESS: buf_addf(out, "0x%llx", (unsigned long long)v->u); break;
	case VALUE_BOOL: buf_addstr(out, v->u ? "yes" : "no"); break;
	case VALUE_INT: buf_addf(out, "%lld", (long long)v->u); break;
	}
}

void cell_json(struct json *j, const struct value *v)
{
	char address[32];

	if (!v->type)
		json_null(j);
	else if (v->type == VALUE_TEXT)
		json_str(j, v->s);
	else if (is_real(v->type))
		json_double(j, v->d);
	else if (v->type == VALUE_BOOL)
		json_bool(j, v->u);
	else if (v->type == VALUE_INT)
		json_s64(j, (s64)v->u);
	else if (v->type == VALUE_ADDRESS)
		json_strn(j, address,
			  (size_t)snprintf(address, sizeof(address), "0x%llx",
					   (unsigned long long)v->u));
	else
		json_u64(j, v->u);
}

/* Line ends and tabs stay as they are, other control characters become visible. */
static void csv_clean(struct buf *out, const char *s)
{
	while (*s) {
		size_t n = strcspn(s, "\r\n\t");

		fmt_clean(out, s, n);
		s += n;
		if (*s)
			buf_addch(out, *s++);
	}
}

/* A '#' in front would look like the comment that names a table. */
static bool needs_quotes(const char *s)
{
	size_t n = strlen(s);

	return strpbrk(s, ",\"\r\n") || s[0] == '#' ||
	       (n && (s[0] == ' ' || s[0] == '\t' || s[n - 1] == ' ' || s[n - 1] == '\t'));
}

void cell_csv_text(struct buf *out, const char *s)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;

	if (!needs_quotes(s)) {
		csv_clean(out, s);
		return;
	}
	csv_clean(&clean, s);
	buf_addch(out, '"');
	for (const char *p = buf_str(&clean); *p; p++) {
		if (*p == '"')
			buf_addch(out, '"');
		buf_addch(out, *p);
	}
	buf_addch(out, '"');
}

void cell_csv(struct buf *out, const struct value *v)
{
	if (!v->type)
		return;
	if (v->type == VALUE_TEXT)
		cell_csv_text(out, v->s);
	else if (v->type == VALUE_BOOL)
		buf_addstr(out, v->u ? "true" : "false");
	else if (v->type == VALUE_INT)
		buf_addf(out, "%lld", (long long)v->u);
	else if (v->type == VALUE_ADDRESS)
		buf_addf(out, "0x%llx", (unsigned long long)v->u);
	else if (!is_real(v->type))
		buf_addu(out, v->u);
	else if (isfinite(v->d))
		buf_addf(out, v->d == floor(v->d) && fabs(v->d) < 0x1p53 ? "%.0f" : "%.10g", v->d);
}
