/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a tracepoint's format file:
 *
 *	name: sched_switch
 *	ID: 289
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *	print fmt: "..."
 */
#include "capture/tracepoint.h"

#include <ctype.h>

#include "base/parse.h"

void tracepoint_format_release(struct tracepoint_format *f)
{
	arena_release(&f->arena);
	vec_release(&f->fields);
	*f = (struct tracepoint_format){ 0 };
}

struct span {
	const char *s;
	size_t n;
};

static struct span trim(const char *s, size_t n)
{
	while (n && isspace((unsigned char)*s)) {
		s++;
		n--;
	}
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return (struct span){ s, n };
}

/* The text after "key:" up to the next ';' in @line. */
static bool attribute(struct span line, const char *key, struct span *ret)
{
	const char *at = memmem(line.s, line.n, key, strlen(key)), *end;

	if (!at)
		return false;
	at += strlen(key);
	end = memchr(at, ';', (size_t)(line.s + line.n - at));
	if (!end)
		return false;
	*ret = trim(at, (size_t)(end - at));
	return true;
}

static bool attribute_u32(struct span line, const char *key, u32 *ret)
{
	struct span text;
	const char *s;
	u64 v;

	if (!attribute(line, key, &text))
		return false;
	s = text.s;
	if (!scan_u64(&s, text.s + text.n, 10, &v) || v > UINT32_MAX)
		return false;
	*ret = (u32)v;
	return true;
}

static bool contains(struct span text, const char *word)
{
	return memmem(text.s, text.n, word, strlen(word)) != NULL;
}

/* "char prev_comm[16]": splits off the array part and then the name, which comes last. */
static bool split_declaration(struct arena *a, struct span text, struct tracepoint_field *f)
{
	const char *bracket = NULL;
	size_t n;

	if (text.n && text.s[text.n - 1] == ']') {
		bracket = memrchr(text.s, '[', text.n);
		if (!bracket)
			return false;
		const char *s = bracket + 1;
		u64 count;

		if (scan_u64(&s, text.s + text.n, 10, &count) && count <= UINT32_MAX)
			f->array_len = (u32)count;
		text = trim(text.s, (size_t)(bracket - text.s));
	}
	for (n = text.n; n && (isalnum((unsigned char)text.s[n - 1]) || text.s[n - 1] == '_'); n--)
		;
	if (n == text.n)
		return false;
	f->name = arena_strndup(a, text.s + n, text.n - n);
	text = trim(text.s, n);
	f->is_dynamic = contains(text, "__data_loc") || contains(text, "__rel_loc");
	f->is_string = contains(text, "char") && (bracket || f->is_dynamic || contains(text, "*"));
	f->type = arena_strndup(a, text.s, text.n);
	return true;
}

static bool parse_field(struct tracepoint_format *f, struct span line)
{
	struct tracepoint_field field = { 0 };
	struct span text;
	u32 sign = 0;

	if (!attribute(line, "field:", &text) || !split_declaration(&f->arena, text, &field) ||
	    !attribute_u32(line, "offset:", &field.offset) ||
	    !attribute_u32(line, "size:", &field.size))
		return false;
	if (attribute_u32(line, "signed:", &sign))
		field.is_signed = sign != 0;
	field.is_common = starts_with(field.name, "common_") != NULL;
	vec_push(&f->fields, field);
	return true;
}

static int parse_line(struct tracepoint_format *f, struct span line, struct err *e)
{
	const char *s;

	if (line.n > 5 && memcmp(line.s, "name:", 5) == 0) {
		struct span name = trim(line.s + 5, line.n - 5);

		f->name = arena_strndup(&f->arena, name.s, name.n);
	} else if (line.n > 4 && memcmp(line.s, "ID: ", 4) == 0) {
		s = line.s + 4;
		if (!scan_u64(&s, line.s + line.n, 10, &f->id))
			return err_set(e, EBADMSG, "the ID is not a number");
	} else if (line.n > 6 && memcmp(line.s, "field:", 6) == 0) {
		if (f->fields.len >= TRACEPOINT_FIELDS_MOST)
			return err_set(e, EBADMSG, "more than %d fields", TRACEPOINT_FIELDS_MOST);
		if (!parse_field(f, line))
			return err_set(e, EBADMSG, "cannot read the field '%.*s'",
				       (int)MIN(line.n, 200), line.s);
	} else if (line.n > 10 && memcmp(line.s, "print fmt:", 10) == 0) {
		struct span fmt = trim(line.s + 10, line.n - 10);

		f->print_fmt = arena_strndup(&f->arena, fmt.s, fmt.n);
	}
	return 0;
}

int tracepoint_format_parse(const char *text, size_t n, struct tracepoint_format *ret,
			    struct err *e)
{
	const char *end = text + n, *s = text;
	struct tracepoint_format f = { 0 };
	int r = 0;

	while (r >= 0 && s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));

		if (!eol)
			eol = end;
		r = parse_line(&f, trim(s, (size_t)(eol - s)), e);
		s = eol < end ? eol + 1 : end;
	}
	if (r >= 0 && !f.name)
		r = err_set(e, EBADMSG, "not the format of a tracepoint: no name");
	if (r < 0) {
		tracepoint_format_release(&f);
		return r;
	}
	*ret = f;
	return 0;
}

const struct tracepoint_field *tracepoint_field_find(const struct tracepoint_format *f,
						     const char *name, size_t n)
{
	vec_each(field, &f->fields) {
		if (strlen(field->name) == n && memcmp(field->name, name, n) == 0)
			return field;
	}
	return NULL;
}
