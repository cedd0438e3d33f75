/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/filter.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

enum op {
	OP_LESS = 1,
	OP_LESS_EQUAL,
	OP_MORE,
	OP_MORE_EQUAL,
	OP_EQUAL,
	OP_UNEQUAL,
	OP_CONTAINS,
	OP_AND,
	OP_OR,
	OP_NOT
};

enum { DEPTH_MOST = 16 };

struct parser {
	struct filter *f;
	const char *s;
	int depth;
	struct err *e;
};

/* --- words ------------------------------------------------------------------------------------ */

static bool contains(const char *text, const char *word, size_t n)
{
	for (; *text; text++)
		if (!strncasecmp(text, word, n))
			return true;
	return false;
}

static bool match_words(const char *words, const struct top_task *t)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", t->row.tid);
	for (;;) {
		size_t n = strcspn(words, "|");

		if (!n || contains(t->command, words, n) || contains(t->row.comm, words, n) ||
		    contains(t->user, words, n) ||
		    (strlen(number) == n && !strncmp(number, words, n)))
			return true;
		if (!words[n])
			return false;
		words += n + 1;
	}
}

/* --- conditions ------------------------------------------------------------------------------- */

static void skip(struct parser *p)
{
	p->s += strspn(p->s, " \t");
}

static bool take(struct parser *p, const char *word)
{
	size_t n = strlen(word);

	skip(p);
	if (strncasecmp(p->s, word, n) != 0 || (isalpha((u8)*word) && isalnum((u8)p->s[n])))
		return false;
	p->s += n;
	return true;
}

static int fault(struct parser *p, const char *what)
{
	skip(p);
	return err_set(p->e, EINVAL, "filter: %s at '%.20s'", what, p->s);
}

static int add_step(struct parser *p, struct filter_step step)
{
	if (p->f->n >= FILTER_STEPS)
		return err_set(p->e, E2BIG, "filter: more than %d conditions", FILTER_STEPS / 2);
	p->f->steps[p->f->n++] = step;
	return 0;
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((u8)s[n]) || s[n] == '_' || s[n] == '%' || s[n] == '+' || (s[n] == '/' && n))
		n++;
	return n;
}

static int take_operator(struct parser *p)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = { { "<=", OP_LESS_EQUAL }, { ">=", OP_MORE_EQUAL }, { "==", OP_EQUAL },
		    { "!=", OP_UNEQUAL },    { "<", OP_LESS },        { ">", OP_MORE },
		    { "=", OP_EQUAL },       { "~", OP_CONTAINS } };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (take(p, ops[i].text))
			return (int)ops[i].op;
	return 0;
}

static double factor_of(char c)
{
	switch (toupper((u8)c)) {
	case 'K': return 1024;
	case 'M': return 1024.0 * 1024;
	case 'G': return 1024.0 * 1024 * 1024;
	default: return 0;
	}
}

static int take_number(struct parser *p, double *ret)
{
	char *end;
	double factor;

	skip(p);
	if (!isdigit((u8)*p->s) && *p->s != '-' && *p->s != '.')
		return fault(p, "a number is expected");
	*ret = strtod(p->s, &end);
	if (end == p->s || !isfinite(*ret))
		return fault(p, "a number is expected");
	factor = factor_of(*end);
	if (factor > 0) {
		*ret *= factor;
		end++;
	}
	end += *end == '%';
	p->s = end;
	return 0;
}

static int take_text(struct parser *p, u16 *ret)
{
	char quote = 0;
	size_t n;

	skip(p);
	if (*p->s == '"' || *p->s == '\'')
		quote = *p->s++;
	n = quote ? strcspn(p->s, quote == '"' ? "\"" : "'") : strcspn(p->s, " \t)|&");
	if (quote && !p->s[n])
		return fault(p, "the quote does not end");
	if (!n && !quote)
		return fault(p, "a text is expected");
	if (p->f->n_texts + n + 1 > sizeof(p->f->texts))
		return err_set(p->e, E2BIG, "filter: too long");
	*ret = (u16)p->f->n_texts;
	memcpy(p->f->texts + p->f->n_texts, p->s, n);
	p->f->texts[p->f->n_texts + n] = '\0';
	p->f->n_texts += (u32)n + 1;
	p->s += n + (quote != 0);
	return 0;
}

static int parse_condition(struct parser *p)
{
	struct filter_step step = { 0 };
	size_t n, unused, word;
	int column, op, r;

	skip(p);
	word = word_length(p->s);
	column = top_column_find(p->s, word);
	if (!word || column < 0)
		return fault(p, "a column is expected");
	p->s += word;
	op = take_operator(p);
	if (!op)
		return fault(p, "one of < <= > >= = != ~ is expected");
	step.op = (u8)op;
	step.column = (u16)column;
	n = top_columns(&unused)[column].kind == KIND_TEXT;
	if (n && op < OP_EQUAL)
		return fault(p, "a text is compared with = != ~");
	if (!n && op == OP_CONTAINS)
		return fault(p, "a number is compared with < <= > >= = !=");
	r = n ? take_text(p, &step.text) : take_number(p, &step.number);
	return r ? r : add_step(p, step);
}

static int parse_or(struct parser *p);

static int parse_unary(struct parser *p)
{
	int r;

	if (++p->depth > DEPTH_MOST)
		return err_set(p->e, E2BIG, "filter: nested too deeply");
	if (take(p, "not") || (skip(p), p->s[0] == '!' && p->s[1] != '=' && take(p, "!"))) {
		r = parse_unary(p);
		if (!r)
			r = add_step(p, (struct filter_step){ .op = OP_NOT });
	} else if (take(p, "(")) {
		r = parse_or(p);
		if (!r && !take(p, ")"))
			r = fault(p, "')' is expected");
	} else {
		r = parse_condition(p);
	}
	p->depth--;
	return r;
}

static int parse_and(struct parser *p)
{
	int r = parse_unary(p);

	while (!r && (take(p, "and") || take(p, "&&"))) {
		r = parse_unary(p);
		if (!r)
			r = add_step(p, (struct filter_step){ .op = OP_AND });
	}
	return r;
}

static int parse_or(struct parser *p)
{
	int r = parse_and(p);

	while (!r && (take(p, "or") || take(p, "||"))) {
		r = parse_and(p);
		if (!r)
			r = add_step(p, (struct filter_step){ .op = OP_OR });
	}
	return r;
}

/* A condition begins with a column, "not" or a parenthesis, and has an operator. */
static bool is_condition(const char *text)
{
	struct parser p = { .s = text };
	size_t n;

	while (take(&p, "(") || take(&p, "not") || take(&p, "!"))
		;
	skip(&p);
	n = word_length(p.s);
	if (!n || top_column_find(p.s, n) < 0)
		return false;
	p.s += n;
	return take_operator(&p) != 0;
}

int filter_parse(struct filter *f, const char *text, struct err *e)
{
	struct parser p = { .f = f, .s = text, .e = e };
	int r;

	*f = (struct filter){ 0 };
	text += strspn(text, " \t");
	if (!*text)
		return 0;
	if (!is_condition(text)) {
		f->words = true;
		snprintf(f->texts, sizeof(f->texts), "%s", text);
		return 0;
	}
	r = parse_or(&p);
	skip(&p);
	if (!r && *p.s)
		r = fault(&p, "'and' or 'or' is expected");
	if (r)
		*f = (struct filter){ 0 };
	return r;
}

/* --- matching --------------------------------------------------------------------------------- */

static bool match_number(u8 op, double a, double b)
{
	/* what is not known is neither more nor less */
	if (isnan(a))
		return false;
	switch (op) {
	case OP_LESS: return a < b;
	case OP_LESS_EQUAL: return a <= b;
	case OP_MORE: return a > b;
	case OP_MORE_EQUAL: return a >= b;
	case OP_UNEQUAL: return a < b || a > b;
	default: return !(a < b || a > b);
	}
}

static bool match_text(u8 op, const char *a, const char *b)
{
	if (op == OP_CONTAINS)
		return contains(a, b, strlen(b));
	return (strcasecmp(a, b) == 0) == (op == OP_EQUAL);
}

bool filter_match(const struct filter *f, const struct top_task *t, const struct top_context *ctx)
{
	bool stack[FILTER_STEPS];
	size_t unused;
	u32 n = 0;

	if (f->words)
		return match_words(f->texts, t);
	for (u32 i = 0; i < f->n; i++) {
		const struct filter_step *s = &f->steps[i];
		const struct top_column *c = &top_columns(&unused)[s->column];

		if (s->op == OP_NOT) {
			stack[n - 1] = !stack[n - 1];
		} else if (s->op == OP_AND || s->op == OP_OR) {
			n--;
			stack[n - 1] = s->op == OP_AND ? stack[n - 1] && stack[n]
						       : stack[n - 1] || stack[n];
		} else if (c->kind == KIND_TEXT) {
			stack[n++] = match_text(s->op, c->text(t, ctx), f->texts + s->text);
		} else {
			stack[n++] = match_number(s->op, top_column_value(c, t, ctx), s->number);
		}
	}
	return n ? stack[n - 1] : true;
}
