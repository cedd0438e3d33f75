/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expr: and ('||' and)*    and: not ('&&' not)*    not: '!' not | '(' expr ')' | FIELD OP VALUE
 */
#include "capture/filter.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/suggest.h"

struct parser {
	const char *text;
	const char *s;
	u32 depth;
	const struct tracepoint_format *format;
	struct err *err;
};

static int parse_or(struct parser *p);

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->s))
		p->s++;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "filter 'bytes >> 3': WHAT at column 7" */
static int fault(struct parser *p, const char *at, const char *what)
{
	return err_set(p->err, EINVAL, "filter '%s': %s at column %zu", p->text, what,
		       (size_t)(at - p->text) + 1);
}

static int unknown_field(struct parser *p, const char *at, size_t n)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	struct suggestion near;

	err_set(p->err, EINVAL, "filter '%s': '%s' has no field '%.*s' (column %zu)", p->text,
		p->format->name, (int)MIN(n, 100), at, (size_t)(at - p->text) + 1);
	suggest_init_n(&near, at, n);
	vec_each(f, &p->format->fields) {
		suggest_try(&near, f->name);
		if (!f->is_common)
			buf_addf(&names, "%s%s", names.len ? ", " : "", f->name);
	}
	if (near.best[0])
		err_hint(p->err, "did you mean '%s'?", near.best);
	else
		err_hint(p->err, "its fields are: %s", buf_str(&names));
	return -EINVAL;
}

/* What the kernel offers on every event in addition to its own fields. */
static const struct tracepoint_field generic_fields[] = {
	{ .name = "cpu", .size = 4 },
	{ .name = "CPU", .size = 4 },
	{ .name = "comm", .size = 16, .is_string = true },
	{ .name = "COMM", .size = 16, .is_string = true },
};

static const struct tracepoint_field *find_field(const struct tracepoint_format *f, const char *s,
						 size_t n)
{
	const char *dot = memchr(s, '.', n); /* "ptr.ustring", "ip.function" */
	size_t len = dot ? (size_t)(dot - s) : n;
	const struct tracepoint_field *field = tracepoint_field_find(f, s, len);

	for (size_t i = 0; !field && i < ARRAY_SIZE(generic_fields); i++) {
		const char *name = generic_fields[i].name;

		if (strlen(name) == len && memcmp(name, s, len) == 0)
			field = &generic_fields[i];
	}
	return field;
}

enum op { OP_NONE, OP_EQ, OP_NE, OP_LE, OP_LT, OP_GE, OP_GT, OP_GLOB, OP_AND };

static enum op parse_op(struct parser *p)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {
		{ "==", OP_EQ }, { "!=", OP_NE }, { "<=", OP_LE },  { "<", OP_LT },
		{ ">=", OP_GE }, { ">", OP_GT },  { "~", OP_GLOB }, { "&", OP_AND },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		const char *rest = starts_with(p->s, ops[i].text);

		if (!rest || (ops[i].op == OP_AND && *rest == '&'))
			continue;
		p->s = rest;
		return ops[i].op;
	}
	return OP_NONE;
}

static int parse_string(struct parser *p, bool is_string, bool special, enum op op)
{
	const char *start = p->s, *end = strchr(start + 1, *start);

	if (!end)
		return fault(p, start, "a quote without its end");
	if (!is_string && !special) {
		fault(p, start, "a text for a field that is a number");
		err_hint(p->err, "write the number without quotes");
		return -EINVAL;
	}
	if (op != OP_EQ && op != OP_NE && op != OP_GLOB)
		return fault(p, start, "texts can only be compared with ==, != and ~");
	p->s = end + 1;
	return 0;
}

static int parse_number(struct parser *p, bool is_string)
{
	const char *start = p->s;
	char *end;

	if (is_string) {
		fault(p, start, "a text must be in quotes");
		err_hint(p->err, "for example: comm == \"bash\"");
		return -EINVAL;
	}
	errno = 0;
	if (*start == '-')
		(void)strtoll(start, &end, 0);
	else
		(void)strtoull(start, &end, 0);
	if (end == start || is_word(*end) || errno == ERANGE)
		return fault(p, start, "not a number");
	p->s = end;
	return 0;
}

/* "CPUS{0-3}" for CPU masks, since Linux 6.6. */
static bool parse_cpus(struct parser *p)
{
	const char *rest = starts_with(p->s, "CPUS{"), *end = rest ? strchr(rest, '}') : NULL;

	if (!end || rest[strspn(rest, "0123456789,-")] != '}')
		return false;
	p->s = end + 1;
	return true;
}

static int parse_predicate(struct parser *p)
{
	const char *start = p->s;

	while (is_word(*p->s))
		p->s++;
	size_t n = (size_t)(p->s - start);

	if (n == 0)
		return fault(p, start, *start ? "a field name is missing" : "something is missing");
	const struct tracepoint_field *field = find_field(p->format, start, n);

	if (!field)
		return unknown_field(p, start, n);
	bool special = memchr(start, '.', n) != NULL;

	skip_space(p);
	const char *at = p->s;
	enum op op = parse_op(p);

	if (op == OP_NONE) {
		fault(p, at, "an operator is missing");
		err_hint(p->err, "operators are: == != < <= > >= & ~");
		return -EINVAL;
	}
	if (op == OP_GLOB && !field->is_string && !special)
		return fault(p, at, "'~' compares texts, and the field is a number");
	skip_space(p);
	if (*p->s == '"' || *p->s == '\'')
		return parse_string(p, field->is_string, special, op);
	if (parse_cpus(p))
		return 0;
	return parse_number(p, field->is_string);
}

static int parse_not(struct parser *p)
{
	int r;

	if (++p->depth > FILTER_DEPTH_MOST)
		return fault(p, p->s, "nested too deeply");
	skip_space(p);
	if (*p->s == '!') {
		p->s++;
		r = parse_not(p);
	} else if (*p->s == '(') {
		const char *open = p->s++;

		r = parse_or(p);
		if (r >= 0) {
			if (*p->s != ')')
				return fault(p, open, "a bracket without its end");
			p->s++;
		}
	} else {
		r = parse_predicate(p);
	}
	p->depth--;
	skip_space(p);
	return r;
}

static int parse_and(struct parser *p)
{
	int r = parse_not(p);

	while (r >= 0 && p->s[0] == '&' && p->s[1] == '&') {
		p->s += 2;
		r = parse_not(p);
	}
	return r;
}

static int parse_or(struct parser *p)
{
	int r = parse_and(p);

	while (r >= 0 && p->s[0] == '|' && p->s[1] == '|') {
		p->s += 2;
		r = parse_and(p);
	}
	return r;
}

int filter_check(const char *text, const struct tracepoint_format *format, struct err *e)
{
	struct parser p = { .text = text, .s = text, .format = format, .err = e };

	if (strlen(text) > FILTER_TEXT_MOST)
		return err_set(e, EINVAL, "the filter is longer than %d bytes", FILTER_TEXT_MOST);
	int r = parse_or(&p);

	if (r >= 0 && *p.s) {
		r = fault(&p, p.s, "something that does not belong there");
		err_hint(e, "conditions are joined with && or ||");
	}
	return r;
}
