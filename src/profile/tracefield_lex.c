/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/tracefield_lex.h"

#include "base/parse.h"

#include <ctype.h>

bool lex_failed(struct parser *p, const char *why)
{
	if (!p->t->fault)
		p->t->fault = why;
	p->now.kind = TOKEN_BAD;
	return false;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

static char unescape(const char **s, const char *end)
{
	char c = *(*s)++;

	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	case '0':
		while (*s < end && **s >= '0' && **s <= '7')
			(*s)++;
		return '\0';
	default: return c;
	}
}

static bool lex_string(struct parser *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	while (p->at < p->end && *p->at == '"') {
		p->at++;
		while (p->at < p->end && *p->at != '"') {
			char c = *p->at++;

			if (c == '\\' && p->at < p->end)
				c = unescape(&p->at, p->end);
			buf_addch(&b, c);
		}
		if (p->at == p->end)
			return lex_failed(p, "a string without end");
		p->at++;
		skip_space(p);
	}
	p->now.kind = TOKEN_STRING;
	p->now.text = arena_strndup(&p->t->arena, buf_str(&b), b.len);
	p->now.n = b.len;
	return true;
}

static bool lex_number(struct parser *p)
{
	unsigned int base = 10;
	u64 v = 0;

	if (p->end - p->at > 2 && p->at[0] == '0' && (p->at[1] | 32) == 'x') {
		base = 16;
		p->at += 2;
	} else if (p->end - p->at > 1 && p->at[0] == '0' && isdigit((unsigned char)p->at[1])) {
		base = 8;
	}
	if (!scan_u64(&p->at, p->end, base, &v))
		return lex_failed(p, "a number that cannot be read");
	while (p->at < p->end && strchr("uUlL", *p->at))
		p->at++;
	p->now.kind = TOKEN_NUMBER;
	p->now.value = (s64)v;
	return true;
}

static bool lex_char(struct parser *p)
{
	char c;

	p->at++;
	if (p->end - p->at < 2)
		return lex_failed(p, "a character without end");
	c = *p->at++;
	if (c == '\\')
		c = unescape(&p->at, p->end);
	if (p->at == p->end || *p->at != '\'')
		return lex_failed(p, "a character without end");
	p->at++;
	p->now.kind = TOKEN_NUMBER;
	p->now.value = (unsigned char)c;
	return true;
}

static void lex_punct(struct parser *p)
{
	static const char *const doubles[] = {
		"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"
	};

	p->now = (struct token){ .kind = TOKEN_PUNCT, .s = p->at, .n = 1 };
	for (size_t i = 0; i < ARRAY_SIZE(doubles); i++)
		if (p->end - p->at >= 2 && memcmp(p->at, doubles[i], 2) == 0)
			p->now.n = 2;
	p->at += p->now.n;
}

bool lex_advance(struct parser *p)
{
	const char *s;

	if (p->now.kind == TOKEN_BAD)
		return false;
	skip_space(p);
	p->now = (struct token){ .kind = TOKEN_END, .s = p->at };
	if (p->at >= p->end)
		return true;
	if (*p->at == '"')
		return lex_string(p);
	if (*p->at == '\'')
		return lex_char(p);
	if (isdigit((unsigned char)*p->at))
		return lex_number(p);
	if (!isalpha((unsigned char)*p->at) && *p->at != '_') {
		lex_punct(p);
		return true;
	}
	for (s = p->at; p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_');)
		p->at++;
	p->now = (struct token){ .kind = TOKEN_WORD, .s = s, .n = (size_t)(p->at - s) };
	return true;
}

bool token_is(const struct token *t, enum token_kind kind, const char *text)
{
	return t->kind == kind && strlen(text) == t->n && memcmp(t->s, text, t->n) == 0;
}

bool lex_accept(struct parser *p, const char *punct)
{
	return is_punct(p, punct) && lex_advance(p);
}

bool lex_expect(struct parser *p, const char *punct)
{
	if (is_punct(p, punct))
		return lex_advance(p);
	return lex_failed(p, "the format does not follow C");
}
