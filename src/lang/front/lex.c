/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/lex.h"

static int at(const struct lexer *lx, u32 pos)
{
	return pos < lx->src->len ? (u8)lx->src->text[pos] : -1;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_alpha(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(int c)
{
	return is_alpha(c) || is_digit(c);
}

static int hex_digit(int c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

void lex_init(struct lexer *lx, const struct source *src, struct diags *diags)
{
	*lx = (struct lexer){ .src = src, .diags = diags };
}

u32 lex_skip_blank(const struct lexer *lx, u32 pos)
{
	for (;;) {
		if (is_space(at(lx, pos))) {
			pos++;
		} else if (at(lx, pos) == '/' && at(lx, pos + 1) == '/') {
			while (at(lx, pos) >= 0 && at(lx, pos) != '\n')
				pos++;
		} else if (at(lx, pos) == '/' && at(lx, pos + 1) == '*') {
			u32 start = pos;

			for (pos += 2; at(lx, pos) >= 0; pos++) {
				if (at(lx, pos) == '*' && at(lx, pos + 1) == '/')
					break;
			}
			if (at(lx, pos) < 0)
				return (u32)lx->src->len > start ? (u32)lx->src->len : start;
			pos += 2;
		} else {
			return pos;
		}
	}
}

static void lex_word(struct lexer *lx, u32 start)
{
	u32 p = start;

	while (is_word(at(lx, p)))
		p++;
	lx->tok.kind = TOK_IDENT;
	lx->pos = p;
}

static bool scan_digits(const struct lexer *lx, u32 *pos, unsigned int base, u64 *value)
{
	bool fits = true;

	for (;; (*pos)++) {
		int c = at(lx, *pos), d = hex_digit(c);

		if (c == '_' && hex_digit(at(lx, *pos + 1)) >= 0)
			continue;
		if (d < 0 || d >= (int)base)
			return fits;
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (u64)d, value))
			fits = false;
	}
}

struct suffix {
	const char *text;
	u64 factor;
	bool is_unsigned;
	bool duration;
	bool upper; /* C has it, bpftrace does not */
};

static const struct suffix suffixes[] = {
	{ "", 1, false, false, false },
	{ "u", 1, true, false, false },
	{ "U", 1, true, false, true },
	{ "l", 1, false, false, false },
	{ "L", 1, false, false, true },
	{ "ll", 1, false, false, false },
	{ "LL", 1, false, false, true },
	{ "ul", 1, true, false, false },
	{ "UL", 1, true, false, true },
	{ "ull", 1, true, false, false },
	{ "ULL", 1, true, false, true },
	{ "ns", 1, false, true, false },
	{ "us", NSEC_PER_USEC, false, true, false },
	{ "ms", NSEC_PER_MSEC, false, true, false },
	{ "s", NSEC_PER_SEC, false, true, false },
	{ "m", 60 * NSEC_PER_SEC, false, true, false },
	{ "h", 3600 * NSEC_PER_SEC, false, true, false },
	{ "d", 86400 * NSEC_PER_SEC, false, true, false },
};

/* What follows the digits; false with a diagnostic. */
static bool scan_suffix(struct lexer *lx, u32 start, u32 *pos, bool is_hex, u64 *value)
{
	u32 begin = *pos, end = begin;
	const char *text = lx->src->text + begin;

	while (is_word(at(lx, end)))
		end++;
	*pos = end;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		const struct suffix *s = &suffixes[i];

		if (strlen(s->text) != end - begin || memcmp(s->text, text, end - begin) != 0)
			continue;
		if (lx->strict && s->upper) {
			diag_error(lx->diags, (struct span_at){ start, end },
				   "syntax: invalid trailing bytes: suffixes of numbers are in "
				   "lower case");
			lx->tok.kind = TOK_ERROR;
			return false;
		}
		if (lx->strict && is_hex && *s->text)
			break;
		lx->tok.is_unsigned = s->is_unsigned;
		lx->tok.duration = s->duration;
		if (!__builtin_mul_overflow(*value, s->factor, value))
			return true;
		begin = start;
	}
	if (begin == start)
		diag_error(lx->diags, (struct span_at){ start, end },
			   "%.*s is not a number that fits into 64 bits",
			   (int)MIN(end - start, 64u), lx->src->text + start);
	else
		diag_error(lx->diags,
			   (struct span_at){ *text == 'e' || is_digit(*text) ? start : begin, end },
			   "syntax: invalid integer suffix '%.*s'", (int)MIN(end - begin, 64u),
			   text);
	lx->tok.kind = TOK_ERROR;
	return false;
}

/* bpftrace has one digit before the 'e', and a power above 0. */
static bool strict_exponent(struct lexer *lx, u32 start, u32 pos)
{
	bool one_digit = pos == start + 1 && at(lx, start) != '0';
	u32 end = pos + 1;

	if (!lx->strict || (one_digit && at(lx, pos + 1) != '0'))
		return true;
	while (is_word(at(lx, end)))
		end++;
	diag_error(lx->diags, (struct span_at){ start, end },
		   one_digit ? "syntax: the exponent of a scientific literal begins with 1-9: %.*s"
			     : "syntax: coefficient part of scientific literal must be 1-9: %.*s",
		   (int)MIN(end - start, 64u), lx->src->text + start);
	lx->tok.kind = TOK_ERROR;
	return false;
}

static bool scan_exponent(struct lexer *lx, u32 start, u32 *pos, u64 *value)
{
	u64 power = 0;
	bool ok;

	if (at(lx, *pos) != 'e' || !is_digit(at(lx, *pos + 1)))
		return true;
	if (!strict_exponent(lx, start, *pos))
		return false;
	(*pos)++;
	ok = scan_digits(lx, pos, 10, &power) && power <= 19;
	for (u64 i = 0; ok && i < power; i++)
		ok = !__builtin_mul_overflow(*value, 10ull, value);
	return ok;
}

static void lex_number(struct lexer *lx, u32 start)
{
	u32 p = start;
	u64 value = 0;
	bool ok, is_hex = false;

	if (at(lx, p) == '0' && (at(lx, p + 1) | 32) == 'x' && hex_digit(at(lx, p + 2)) >= 0) {
		p += 2;
		is_hex = true;
		ok = scan_digits(lx, &p, 16, &value);
	} else if (at(lx, p) == '0' && is_digit(at(lx, p + 1))) {
		ok = scan_digits(lx, &p, 8, &value);
	} else {
		ok = scan_digits(lx, &p, 10, &value);
		ok = scan_exponent(lx, start, &p, &value) && ok;
	}
	if (lx->tok.kind != TOK_ERROR)
		ok = scan_suffix(lx, start, &p, is_hex, &value) && ok;
	lx->tok.value = value;
	if (value > INT64_MAX)
		lx->tok.is_unsigned = true;
	lx->pos = p;
	if (!ok && lx->tok.kind != TOK_ERROR)
		diag_error(lx->diags, (struct span_at){ start, p },
			   "%.*s is not a number that fits into 64 bits", (int)MIN(p - start, 64u),
			   lx->src->text + start);
	lx->tok.kind = ok ? TOK_INT : TOK_ERROR;
}

static void lex_string(struct lexer *lx, u32 start)
{
	u32 p = start + 1;

	for (;; p++) {
		int c = at(lx, p);

		if (c == '\\' && at(lx, p + 1) >= 0) {
			p++;
		} else if (c == '"') {
			lx->tok.kind = TOK_STRING;
			lx->pos = p + 1;
			return;
		} else if (c < 0 || c == '\n') {
			struct span_at where = { start, p };

			if (lx->strict) /* after the end of the line */
				where.start = where.end = c == '\n' ? p + 1 : p;
			if (lx->strict && c == '\n')
				where.end++;
			diag_error(lx->diags, where, "syntax: unterminated string");
			lx->tok.kind = TOK_ERROR;
			lx->pos = p;
			return;
		}
	}
}

static void lex_dollar(struct lexer *lx, u32 start)
{
	u32 p = start + 1;
	u64 value = 0;

	if (at(lx, p) == '#') {
		lx->tok.kind = TOK_PARAM_COUNT;
		lx->pos = p + 1;
	} else if (is_digit(at(lx, p))) {
		bool ok = scan_digits(lx, &p, 10, &value);

		lx->tok.kind = TOK_PARAM;
		lx->tok.value = value;
		lx->pos = p;
		if (!ok || !value || value > UINT16_MAX) {
			diag_error(lx->diags, (struct span_at){ start, p },
				   "param %.*s is out of integer range [1, 65535]",
				   (int)MIN(p - start, 32u), lx->src->text + start);
			lx->tok.kind = TOK_ERROR;
		}
	} else if (is_alpha(at(lx, p))) {
		lex_word(lx, p);
		lx->tok.kind = TOK_VAR;
	} else {
		diag_error(lx->diags, (struct span_at){ start, p }, "invalid character '$'");
		lx->tok.kind = TOK_ERROR;
		lx->pos = p;
	}
}

/* '/' ends a predicate when a block follows it. */
static bool ends_predicate(const struct lexer *lx, u32 start)
{
	return at(lx, lex_skip_blank(lx, start + 1)) == '{';
}

static void lex_operator(struct lexer *lx, u32 start)
{
	static const char ops[][4] = {
		"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
		"&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "..", "::",
	};
	int c = at(lx, start);

	lx->tok.kind = TOK_OP;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t n = strlen(ops[i]);

		if (start + n > lx->src->len || memcmp(lx->src->text + start, ops[i], n) != 0)
			continue;
		lx->tok.op =
			n == 3 ? OP3(ops[i][0], ops[i][1], ops[i][2]) : OP2(ops[i][0], ops[i][1]);
		lx->pos = start + (u32)n;
		return;
	}
	lx->pos = start + 1;
	lx->tok.op = OP1(c);
	if (c == '/' && ends_predicate(lx, start)) {
		lx->tok.kind = TOK_END_PREDICATE;
	} else if (c == 0 || !strchr("+-*/%&|^~!<>=(){}[];,.:?#", c)) {
		diag_error(lx->diags, (struct span_at){ start, start + 1 },
			   c > 32 && c < 127 ? "invalid character '%c'"
					     : "invalid character with code %d",
			   c);
		lx->tok.kind = TOK_ERROR;
	}
}

void lex_next(struct lexer *lx)
{
	u32 start;
	int c;

	lx->prev_end = lx->tok.at.end;
	start = lex_skip_blank(lx, lx->pos);
	lx->tok = (struct token){ .at = { start, start } };
	c = at(lx, start);
	if (c < 0) {
		lx->tok.kind = TOK_END;
		lx->pos = start;
	} else if (is_alpha(c)) {
		lex_word(lx, start);
	} else if (is_digit(c)) {
		lex_number(lx, start);
	} else if (c == '"') {
		lex_string(lx, start);
	} else if (c == '$') {
		lex_dollar(lx, start);
	} else if (c == '@') {
		lx->pos = start + 1;
		if (!lx->strict || is_alpha(at(lx, start + 1)))
			lex_word(lx, start + 1);
		lx->tok.kind = TOK_MAP;
	} else {
		lex_operator(lx, start);
	}
	lx->tok.at.end = lx->pos;
}

void lex_seek(struct lexer *lx, u32 pos)
{
	lx->pos = pos;
	lex_next(lx);
}

bool lex_literal(const char *text, u64 *ret)
{
	struct source src = { .name = "", .text = text + (*text == '-'), .len = 0 };
	struct diags diags = { .mute = true };
	struct lexer lx;

	src.len = strlen(src.text);
	lex_init(&lx, &src, &diags);
	lx.strict = true;
	lex_next(&lx);
	if (lx.tok.kind != TOK_INT || lx.pos != src.len || diags.errors)
		return false;
	*ret = *text == '-' ? 0 - lx.tok.value : lx.tok.value;
	return true;
}

static u32 bad_escape(struct lexer *lx, u32 p, int c)
{
	u32 end = p + 1;

	while (is_alpha(c) && (is_alpha(at(lx, end)) || is_digit(at(lx, end))))
		end++;
	diag_error(lx->diags, (struct span_at){ p, end }, "syntax: invalid escape character '\\%c'",
		   c > 32 && c < 127 ? c : '?');
	return p + 1;
}

/* One escape sequence; @p is after the backslash. Returns where the text continues. */
static u32 unescape(struct lexer *lx, u32 p, struct buf *out)
{
	static const char from[] = "nrtabfv\\\"", to[] = "\n\r\t\a\b\f\v\\\"";
	int c = at(lx, p);
	const char *simple = c > 0 ? strchr(from, c) : NULL;
	unsigned int value = 0, n = 0;

	if (lx->strict && c > 0 && strchr("abfv", c))
		return bad_escape(lx, p, c);
	if (simple) {
		buf_addch(out, to[simple - from]);
		return p + 1;
	}
	if (c == 'x' && hex_digit(at(lx, p + 1)) >= 0) {
		for (p++; n < 2 && hex_digit(at(lx, p)) >= 0; n++, p++)
			value = value * 16 + (unsigned int)hex_digit(at(lx, p));
		buf_addch(out, (char)value);
		return p;
	}
	if (c >= '0' && c <= '7') {
		for (; n < 3 && at(lx, p) >= '0' && at(lx, p) <= '7'; n++, p++)
			value = value * 8 + (unsigned int)(at(lx, p) - '0');
		if (value > UINT8_MAX && lx->strict)
			diag_error(lx->diags, (struct span_at){ p - n - 1, p },
				   "syntax: octal escape sequence out of range");
		buf_addch(out, (char)value);
		return p;
	}
	if (c == 'x') {
		diag_error(lx->diags, (struct span_at){ p + 1, MIN(p + 3, (u32)lx->src->len) },
			   "syntax: invalid hex escape sequence");
		return p + 1;
	}
	return bad_escape(lx, p, c);
}

void lex_unquote(struct lexer *lx, const struct token *t, struct buf *out)
{
	for (u32 p = t->at.start + 1; p + 1 < t->at.end;) {
		int c = at(lx, p);

		if (c == '\\') {
			p = unescape(lx, p + 1, out);
		} else {
			buf_addch(out, (char)c);
			p++;
		}
	}
}
