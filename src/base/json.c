/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <math.h>

void json_init(struct json *j, struct buf *out, bool pretty)
{
	*j = (struct json){ .out = out, .pretty = pretty };
}

static void newline(struct json *j)
{
	if (!j->pretty)
		return;
	buf_addch(j->out, '\n');
	buf_fill(j->out, ' ', (size_t)j->depth * 2);
}

/* What is before a value: nothing after a key, otherwise a comma where one is due. */
static void before_value(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->depth)
		return;
	if (j->has_items[j->depth - 1])
		buf_addch(j->out, ',');
	j->has_items[j->depth - 1] = true;
	newline(j);
}

static void open_with(struct json *j, char c)
{
	before_value(j);
	buf_addch(j->out, c);
	if (j->depth == JSON_MAX_DEPTH)
		abort(); /* our own code nests too deep: a bug, not data */
	j->has_items[j->depth++] = false;
}

static void close_with(struct json *j, char c)
{
	bool had = j->has_items[--j->depth];

	if (had)
		newline(j);
	buf_addch(j->out, c);
}

void json_open(struct json *j)
{
	open_with(j, '{');
}

void json_close(struct json *j)
{
	close_with(j, '}');
}

void json_array(struct json *j)
{
	open_with(j, '[');
}

void json_end(struct json *j)
{
	close_with(j, ']');
}

void json_key(struct json *j, const char *key)
{
	before_value(j);
	json_quote(j->out, key, strlen(key));
	buf_addstr(j->out, j->pretty ? ": " : ":");
	j->after_key = true;
}

/* Length of a valid UTF-8 sequence of two bytes or more at @s, else 0. */
static size_t multibyte_len(const u8 *s, size_t n)
{
	size_t len = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
		     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void quote_ascii(struct buf *out, u8 c)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *e = escapes; *e; e += 2) {
		if ((u8)*e == c) {
			buf_addch(out, '\\');
			buf_addch(out, e[1]);
			return;
		}
	}
	if (c < 0x20 || c == 0x7f)
		buf_addf(out, "\\u%04x", c);
	else
		buf_addch(out, (char)c);
}

void json_quote(struct buf *out, const char *s, size_t n)
{
	const u8 *p = (const u8 *)s, *end = p + n;

	buf_addch(out, '"');
	while (p < end) {
		size_t len;

		if (*p < 0x80) {
			quote_ascii(out, *p++);
			continue;
		}
		len = multibyte_len(p, (size_t)(end - p));
		if (len)
			buf_add(out, p, len);
		else
			buf_addstr(out, "\xef\xbf\xbd");
		p += len ? len : 1;
	}
	buf_addch(out, '"');
}

void json_strn(struct json *j, const char *s, size_t n)
{
	before_value(j);
	json_quote(j->out, s, n);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, s, strlen(s));
	else
		json_null(j);
}

void json_raw(struct json *j, const char *text, size_t n)
{
	before_value(j);
	buf_add(j->out, text, n);
}

void json_u64(struct json *j, u64 v)
{
	before_value(j);
	buf_addu(j->out, v);
}

void json_s64(struct json *j, s64 v)
{
	before_value(j);
	buf_addf(j->out, "%lld", (long long)v);
}

void json_double(struct json *j, double v)
{
	before_value(j);
	if (isfinite(v))
		/* whole numbers keep all their digits: counters of bytes have many */
		buf_addf(j->out, v == floor(v) && fabs(v) < 0x1p53 ? "%.0f" : "%.10g", v);
	else
		buf_addstr(j->out, "null");
}

void json_bool(struct json *j, bool v)
{
	before_value(j);
	buf_addstr(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
	before_value(j);
	buf_addstr(j->out, "null");
}

void json_kv_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_kv_u64(struct json *j, const char *key, u64 v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_kv_s64(struct json *j, const char *key, s64 v)
{
	json_key(j, key);
	json_s64(j, v);
}

void json_kv_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_kv_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}
