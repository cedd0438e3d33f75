/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tool/expr.h"

#include "base/clock.h"

#include <math.h>

enum { EXPR_DEPTH = 64, EXPR_TEXT = 256 };

/* A number, or a text. */
struct part {
	double d;
	const char *s; /* NULL: a number */
	char text[EXPR_TEXT];
};

struct eval {
	const char *start;
	const char *at;
	const struct tool_header *h;
	const struct value *cells; /* NULL: only checked */
	struct err *e;
	bool failed;
	u32 depth;
};

static void fail(struct eval *x, const char *what)
{
	if (!x->failed) {
		err_set(x->e, EINVAL, "in '%s': %s at '%.20s'", x->start, what,
			*x->at ? x->at : "the end");
	}
	x->failed = true;
}

static void blanks(struct eval *x)
{
	while (*x->at == ' ' || *x->at == '\t')
		x->at++;
}

static bool accept(struct eval *x, const char *op)
{
	size_t n = strlen(op);

	blanks(x);
	if (strncmp(x->at, op, n) != 0)
		return false;
	x->at += n;
	return true;
}

static void number(struct eval *x, struct part *ret)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = { { "ns", 1 },   { "us", 1e3 },    { "ms", 1e6 },   { "s", 1e9 },
		      { "K", 1024 }, { "M", 1 << 20 }, { "G", 1 << 30 } };
	char *end;

	ret->d = strtod(x->at, &end);
	x->at = end;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(x->at, units[i].name, n) == 0) {
			ret->d *= units[i].factor;
			x->at += n;
			return;
		}
	}
}

static void text(struct eval *x, struct part *ret)
{
	char quote = *x->at++;
	size_t n = 0;

	while (*x->at && *x->at != quote) {
		if (n + 1 < sizeof(ret->text))
			ret->text[n++] = *x->at;
		x->at++;
	}
	if (!*x->at)
		fail(x, "a text has no end");
	else
		x->at++;
	ret->text[n] = 0;
	ret->s = ret->text;
}

static bool is_real(enum value_type type)
{
	return type == VALUE_PERCENT || type == VALUE_NUMBER;
}

static void column(struct eval *x, struct part *ret)
{
	const char *start = x->at;
	const struct value *v;
	size_t i;

	while ((*x->at >= 'a' && *x->at <= 'z') || (*x->at >= 'A' && *x->at <= 'Z') ||
	       (*x->at >= '0' && *x->at <= '9') || *x->at == '_')
		x->at++;
	i = header_column(x->h, start, (size_t)(x->at - start));
	if (i == SIZE_MAX) {
		x->at = start;
		fail(x, "unknown column");
		return;
	}
	if (!x->cells)
		return;
	v = &x->cells[i];
	if (!v->type)
		ret->d = 0;
	else if (v->type == VALUE_TEXT)
		ret->s = v->s;
	else
		ret->d = is_real(v->type)       ? v->d
			 : v->type == VALUE_INT ? (double)(s64)v->u
						: (double)v->u;
}

static void either(struct eval *x, struct part *ret);

static bool truth(const struct part *p)
{
	return p->s ? *p->s : p->d != 0;
}

static void set(struct part *p, double d)
{
	p->s = NULL;
	p->d = d;
}

static void primary(struct eval *x, struct part *ret)
{
	*ret = (struct part){ 0 };
	if (++x->depth > EXPR_DEPTH)
		fail(x, "it is nested too deeply");
	blanks(x);
	if (x->failed) {
		x->depth--;
		return;
	}
	if (accept(x, "(")) {
		either(x, ret);
		if (!accept(x, ")"))
			fail(x, "')' is missing");
	} else if (*x->at == '!' && x->at[1] != '=') {
		x->at++;
		primary(x, ret);
		set(ret, !truth(ret));
	} else if (accept(x, "-")) {
		primary(x, ret);
		set(ret, -ret->d);
	} else if ((*x->at >= '0' && *x->at <= '9') || *x->at == '.') {
		number(x, ret);
	} else if (*x->at == '"' || *x->at == '\'') {
		text(x, ret);
	} else if ((*x->at >= 'a' && *x->at <= 'z') || (*x->at >= 'A' && *x->at <= 'Z')) {
		column(x, ret);
	} else {
		fail(x, "a number, a text or a column is expected");
	}
	x->depth--;
}

static void product(struct eval *x, struct part *ret)
{
	struct part b;

	primary(x, ret);
	while (!x->failed) {
		bool times = accept(x, "*");

		if (!times && !accept(x, "/"))
			return;
		primary(x, &b);
		set(ret, times ? ret->d * b.d : b.d != 0 ? ret->d / b.d : NAN);
	}
}

static void sum(struct eval *x, struct part *ret)
{
	struct part b;

	product(x, ret);
	while (!x->failed) {
		bool plus = accept(x, "+");

		if (!plus && !accept(x, "-"))
			return;
		product(x, &b);
		set(ret, plus ? ret->d + b.d : ret->d - b.d);
	}
}

/* -1, 0, 1; 2 where a text and a number meet. */
static int order(const struct part *a, const struct part *b)
{
	int c;

	if (!a->s != !b->s)
		return 2;
	if (!a->s)
		return a->d < b->d ? -1 : a->d > b->d;
	c = strcmp(a->s, b->s);
	return c < 0 ? -1 : c > 0;
}

static void comparison(struct eval *x, struct part *ret)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">" };
	struct part b;
	size_t op = 0;
	int c;

	sum(x, ret);
	while (op < ARRAY_SIZE(ops) && !accept(x, ops[op]))
		op++;
	if (x->failed || op == ARRAY_SIZE(ops))
		return;
	sum(x, &b);
	c = order(ret, &b);
	set(ret, op == 0   ? c == 0
		 : op == 1 ? c != 0
		 : c == 2  ? 0
		 : op == 2 ? c <= 0
		 : op == 3 ? c >= 0
		 : op == 4 ? c < 0
			   : c > 0);
}

static void both(struct eval *x, struct part *ret)
{
	struct part b;

	comparison(x, ret);
	while (!x->failed && accept(x, "&&")) {
		comparison(x, &b);
		set(ret, truth(ret) && truth(&b));
	}
}

static void either(struct eval *x, struct part *ret)
{
	struct part b;

	both(x, ret);
	while (!x->failed && accept(x, "||")) {
		both(x, &b);
		set(ret, truth(ret) || truth(&b));
	}
}

static void evaluate(struct eval *x, struct part *ret)
{
	x->at = x->start;
	either(x, ret);
	blanks(x);
	if (*x->at)
		fail(x, "an operator is expected");
}

int expr_check(const char *expr, const struct tool_header *h, struct err *e)
{
	struct eval x = { .start = expr, .h = h, .e = e };
	struct part p;

	evaluate(&x, &p);
	if (x.failed) {
		_cleanup_buf_ struct buf names = BUF_INIT;

		vec_each(it, &h->columns)
			buf_addf(&names, "%s%s", names.len ? ", " : "", it->name);
		err_hint(e, "the columns are: %s", buf_str(&names));
	}
	return x.failed ? -EINVAL : 0;
}

double expr_number(const char *expr, const struct tool_header *h, const struct value *cells)
{
	struct eval x = { .start = expr, .h = h, .cells = cells };
	struct part p;

	evaluate(&x, &p);
	if (x.failed)
		return NAN;
	return p.s ? *p.s != 0 : p.d;
}
