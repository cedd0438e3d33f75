/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/jsonread.h"

#include <ctype.h>

enum { NUMBER_MOST = 64 }; /* characters: more digits than a double holds */

void json_reader_init(struct json_reader *r, const char *text, size_t len)
{
	*r = (struct json_reader){ .start = text, .p = text, .end = text + len };
}

void json_reader_release(struct json_reader *r)
{
	buf_release(&r->text);
}

static enum json_piece fail(struct json_reader *r, const char *why)
{
	if (!r->fault)
		r->fault = why;
	return READ_ERROR;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct json_reader *r)
{
	while (r->p < r->end && is_space(*r->p))
		r->p++;
}

/* --- strings -------------------------------------------------------------------------------- */

static bool read_hex4(struct json_reader *r, u32 *ret)
{
	u32 v = 0;

	if (r->end - r->p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = r->p[i];

		if (!isxdigit((unsigned char)c))
			return false;
		v = v << 4 | (u32)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	r->p += 4;
	*ret = v;
	return true;
}

/* A half of a pair without the other becomes U+FFFD. */
static bool read_unicode(struct json_reader *r)
{
	u32 c, low;

	if (!read_hex4(r, &c))
		return false;
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
		const char *before = r->p;

		r->p += 2;
		if (!read_hex4(r, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		else
			r->p = before;
	}
	buf_addutf8(&r->text, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	return true;
}

static bool read_escape(struct json_reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;

	if (r->p >= r->end)
		return false;
	if (*r->p == 'u') {
		r->p++;
		return read_unicode(r);
	}
	known = *r->p ? strchr(from, *r->p) : NULL;
	if (!known)
		return false;
	buf_addch(&r->text, to[known - from]);
	r->p++;
	return true;
}

static bool read_string(struct json_reader *r)
{
	buf_reset(&r->text);
	r->p++;
	while (r->p < r->end) {
		const char *start = r->p;

		while (r->p < r->end && *r->p != '"' && *r->p != '\\')
			r->p++;
		buf_add(&r->text, start, (size_t)(r->p - start));
		if (r->p >= r->end)
			break;
		if (*r->p++ == '"')
			return true;
		if (!read_escape(r))
			break;
	}
	fail(r, "a string is not closed or has an unknown escape");
	return false;
}

/* --- other values --------------------------------------------------------------------------- */

static enum json_piece read_number(struct json_reader *r)
{
	char text[NUMBER_MOST], *end;
	size_t n = 0;

	while (r->p + n < r->end && n < sizeof(text) - 1 && r->p[n] &&
	       strchr("+-.0123456789eE", r->p[n]))
		n++;
	memcpy(text, r->p, n);
	text[n] = '\0';
	/* the locale is always C: it is never set */
	r->number = strtod(text, &end);
	if (!n || *end)
		return fail(r, "not a number");
	r->p += n;
	return READ_NUMBER;
}

static enum json_piece read_word(struct json_reader *r, const char *word, enum json_piece piece)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return fail(r, "not a value");
	r->p += n;
	return piece;
}

static enum json_piece open_piece(struct json_reader *r, bool object)
{
	if (r->depth + 1 >= JSON_READ_DEPTH)
		return fail(r, "it is nested too deep");
	r->p++;
	r->depth++;
	r->has_items[r->depth] = false;
	r->is_object[r->depth] = object;
	return object ? READ_OBJECT : READ_ARRAY;
}

static enum json_piece read_value(struct json_reader *r)
{
	r->need_value = false;
	switch (*r->p) {
	case '{': return open_piece(r, true);
	case '[': return open_piece(r, false);
	case '"': return read_string(r) ? READ_STRING : READ_ERROR;
	case 't': return read_word(r, "true", READ_TRUE);
	case 'f': return read_word(r, "false", READ_FALSE);
	case 'n': return read_word(r, "null", READ_NULL);
	default: return read_number(r);
	}
}

static enum json_piece read_key(struct json_reader *r)
{
	if (*r->p != '"')
		return fail(r, "a key is missing");
	if (!read_string(r))
		return READ_ERROR;
	skip_space(r);
	if (r->p >= r->end || *r->p != ':')
		return fail(r, "a colon is missing");
	r->p++;
	r->need_value = true;
	return READ_KEY;
}

static enum json_piece close_piece(struct json_reader *r)
{
	bool object = r->is_object[r->depth];

	if (*r->p != (object ? '}' : ']'))
		return fail(r, "a bracket does not match");
	r->p++;
	r->depth--;
	return object ? READ_OBJECT_END : READ_ARRAY_END;
}

static enum json_piece read_piece(struct json_reader *r)
{
	skip_space(r);
	if (r->p >= r->end)
		return r->depth || r->need_value ? fail(r, "it ends too early") : READ_END;
	if (r->need_value || !r->depth)
		return read_value(r);
	if (*r->p == '}' || *r->p == ']')
		return close_piece(r);
	if (r->has_items[r->depth]) {
		if (*r->p != ',')
			return fail(r, "a comma is missing");
		r->p++;
		skip_space(r);
		if (r->p >= r->end)
			return fail(r, "it ends too early");
	}
	r->has_items[r->depth] = true;
	return r->is_object[r->depth] ? read_key(r) : read_value(r);
}

enum json_piece json_read(struct json_reader *r)
{
	r->last = r->fault ? READ_ERROR : read_piece(r);
	return r->last;
}

void json_read_skip(struct json_reader *r)
{
	int depth = r->depth;

	if (r->last == READ_OBJECT || r->last == READ_ARRAY)
		depth--;
	else
		json_read(r);
	while (r->depth > depth && r->last != READ_ERROR)
		json_read(r);
}
