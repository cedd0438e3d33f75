/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/own_columns.h"

#include <ctype.h>
#include <math.h>

#include "counters/formula.h"

enum { STEPS_MOST = 32, NAME_MOST = 16, NESTED_MOST = 16 };

struct step {
	char op; /* 'n' a number, 'c' a column, 'f' a formula over counters, or what joins two */
	u32 which;
	double number;
};

static struct own {
	struct top_column column;
	char name[NAME_MOST], title[NAME_MOST], text[OWN_TEXT], meaning[OWN_TEXT];
	struct step steps[STEPS_MOST];
	u32 n;
} own[OWN_MOST];
static size_t n_own;
/* Numbers of formulas are never given again: frames that were made before hold their values. */
static char formulas[OWN_FORMULAS][OWN_TEXT];
static size_t n_formulas;

/* --- parsing ---------------------------------------------------------------------------------- */

struct parser {
	const char *at;
	struct own *to;
	struct err *e;
	int depth;
};

static int fault(struct parser *p, const char *what)
{
	err_set(p->e, EINVAL, "%s is expected at '%.20s'", what, p->at);
	return -EINVAL;
}

static int add(struct parser *p, struct step step)
{
	if (p->to->n >= STEPS_MOST)
		return err_set(p->e, EINVAL, "the formula is too long");
	p->to->steps[p->to->n++] = step;
	return 0;
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t");
}

static int parse_sum(struct parser *p);

/* Are there such counters? */
static int check_counters(const char *formula, struct err *e)
{
	struct counter_set set;
	struct formula parsed;
	int r;

	counter_set_init(&set);
	counter_set_add_tables(&set);
	r = formula_parse(&parsed, &set, formula, e);
	counter_set_release(&set);
	return r;
}

static int parse_counters(struct parser *p)
{
	size_t n = strcspn(++p->at, "]"), i;
	char text[OWN_TEXT];

	if (!n || p->at[n] != ']' || n >= OWN_TEXT)
		return fault(p, "a formula over counters and ]");
	snprintf(text, sizeof(text), "%.*s", (int)n, p->at);
	if (check_counters(text, p->e) < 0)
		return -EINVAL;
	for (i = 0; i < n_formulas; i++)
		if (streq(formulas[i], text))
			break;
	if (i == OWN_FORMULAS)
		return err_set(p->e, EINVAL, "at most %d formulas over counters", OWN_FORMULAS);
	if (i == n_formulas)
		memcpy(formulas[n_formulas++], text, sizeof(text));
	p->at += n + 1;
	return add(p, (struct step){ .op = 'f', .which = (u32)i });
}

static int parse_column(struct parser *p)
{
	size_t n = 0, all;
	int column;

	while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
		n++;
	column = n ? top_column_find(p->at, n) : -1;
	if (column < 0 || !top_columns(&all)[column].get)
		return fault(p, "a column with numbers, a number, ( or [");
	for (size_t i = 0; i < n_own; i++)
		if (top_columns(&all)[column].key == own[i].name)
			return fault(p, "a column that is not your own");
	p->at += n;
	return add(p, (struct step){ .op = 'c', .which = (u32)column });
}

static int parse_value(struct parser *p)
{
	char *end;
	double number;
	int r;

	skip_blanks(p);
	if (*p->at == '[')
		return parse_counters(p);
	if (*p->at == '(') {
		if (++p->depth > NESTED_MOST)
			return err_set(p->e, EINVAL, "the formula is nested too deeply");
		p->at++;
		r = parse_sum(p);
		skip_blanks(p);
		if (r < 0 || *p->at != ')')
			return r < 0 ? r : fault(p, ")");
		p->at++;
		p->depth--;
		return 0;
	}
	if (!isdigit((unsigned char)*p->at) && *p->at != '.')
		return parse_column(p);
	number = strtod(p->at, &end);
	if (end == p->at || !isfinite(number))
		return fault(p, "a number");
	p->at = end;
	return add(p, (struct step){ .op = 'n', .number = number });
}

static int parse_joined(struct parser *p, const char *ops, int (*next)(struct parser *p))
{
	int r = next(p);

	while (r >= 0) {
		char op;

		skip_blanks(p);
		if (!*p->at || !strchr(ops, *p->at))
			break;
		op = *p->at++;
		r = next(p);
		if (r >= 0)
			r = add(p, (struct step){ .op = op });
	}
	return r;
}

static int parse_product(struct parser *p)
{
	return parse_joined(p, "*/", parse_value);
}

static int parse_sum(struct parser *p)
{
	return parse_joined(p, "+-", parse_product);
}

static int parse_unit(struct parser *p, struct top_column *c)
{
	static const struct {
		const char *name;
		enum top_kind kind;
		u8 decimals;
	} units[] = {
		{ "number", KIND_NUMBER, 2 },
		{ "percent", KIND_PERCENT, 1 },
		{ "bytes", KIND_BYTES, 0 },
		{ "rate", KIND_RATE, 0 },
	};

	c->kind = KIND_NUMBER;
	c->decimals = 2;
	skip_blanks(p);
	if (!*p->at)
		return 0;
	if (*p->at != ',')
		return fault(p, "an operator, or a comma and a unit,");
	p->at++;
	skip_blanks(p);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(p->at, units[i].name, n) != 0 || p->at[n + strspn(p->at + n, " \t")])
			continue;
		c->kind = units[i].kind;
		c->decimals = units[i].decimals;
		return 0;
	}
	return fault(p, "number, percent, bytes or rate");
}

/* --- values ----------------------------------------------------------------------------------- */

static double join(char op, double a, double b)
{
	switch (op) {
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	default: return isnan(a) || isnan(b) ? (double)NAN : b != 0 ? a / b : 0;
	}
}

static double evaluate(const struct own *o, const struct top_task *t, const struct top_context *c)
{
	double stack[STEPS_MOST];
	size_t n = 0, all;

	for (u32 i = 0; i < o->n; i++) {
		const struct step *s = &o->steps[i];

		switch (s->op) {
		case 'n': stack[n++] = s->number; break;
		case 'c': stack[n++] = top_column_value(&top_columns(&all)[s->which], t, c); break;
		case 'f':
			stack[n++] =
				s->which < c->frame->n_own ? c->frame->own[s->which] : (double)NAN;
			break;
		default: n--; stack[n - 1] = join(s->op, stack[n - 1], stack[n]);
		}
	}
	return n ? stack[0] : (double)NAN;
}

#define VALUE_OF(i)                                                                    \
	static double value_##i(const struct top_task *t, const struct top_context *c) \
	{                                                                              \
		return evaluate(&own[i], t, c);                                        \
	}
VALUE_OF(0)
VALUE_OF(1)
VALUE_OF(2)
VALUE_OF(3)
VALUE_OF(4)
VALUE_OF(5)
VALUE_OF(6)
VALUE_OF(7)

static double (*const values[OWN_MOST])(const struct top_task *t, const struct top_context *c) = {
	value_0, value_1, value_2, value_3, value_4, value_5, value_6, value_7
};

/* --- definitions ------------------------------------------------------------------------------ */

/* A name is a word that is not a column of ours. */
static int parse_name(struct parser *p, struct own *o)
{
	size_t n, all;
	const struct top_column *columns = top_columns(&all);
	int column;

	skip_blanks(p);
	n = strspn(p->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (!n || n >= NAME_MOST || isdigit((unsigned char)*p->at))
		return fault(p, "a name of at most 15 small letters, and a colon,");
	column = top_column_find(p->at, n);
	if (column >= 0 && (size_t)column < all - n_own)
		return err_set(p->e, EINVAL, "there is a column '%s' already", columns[column].key);
	snprintf(o->name, sizeof(o->name), "%.*s", (int)n, p->at);
	for (size_t i = 0; i <= n; i++)
		o->title[i] = (char)toupper((unsigned char)o->name[i]);
	p->at += n;
	skip_blanks(p);
	if (*p->at != ':')
		return fault(p, "a colon");
	p->at++;
	return 0;
}

static int define(struct own *o, const char *text, struct err *e)
{
	struct parser p = { .at = text, .to = o, .e = e };
	int r;

	if (strlen(text) >= OWN_TEXT || strpbrk(text, ";\n"))
		return err_set(e, EINVAL, "the column is too long, or has a semicolon");
	snprintf(o->text, sizeof(o->text), "%s", text);
	r = parse_name(&p, o);
	if (r >= 0)
		r = parse_sum(&p);
	return r < 0 ? r : parse_unit(&p, &o->column);
}

int own_column_define(const char *text, struct err *e)
{
	struct own new = { 0 };
	size_t at = 0;
	int r = define(&new, text, e);

	if (r < 0) {
		err_hint(e, "a column is NAME: FORMULA[, UNIT], as in iosize: io / (vcsw + 1), "
			    "bytes");
		return -EINVAL;
	}
	while (at < n_own && !streq(own[at].name, new.name))
		at++;
	if (at == OWN_MOST)
		return err_set(e, EINVAL, "at most %d columns of your own", OWN_MOST);
	own[at] = new;
	snprintf(own[at].meaning, sizeof(own[at].meaning), "Your column: %.140s", new.text);
	own[at].column.key = own[at].name;
	own[at].column.title = own[at].title;
	own[at].column.width = MAX((int)strlen(new.name) + 1, 8);
	own[at].column.get = values[at];
	own[at].column.meaning = own[at].meaning;
	own[at].column.from = "the columns and counters that it names";
	own[at].column.deeper = ": column = NAME: FORMULA changes it, S keeps it.";
	n_own = MAX(n_own, at + 1);
	return 0;
}

const char *own_column_text(size_t i)
{
	return i < n_own ? own[i].text : NULL;
}

const char *own_column_formula(size_t i)
{
	return i < n_formulas ? formulas[i] : NULL;
}

const struct top_column *own_column(size_t i)
{
	return i < n_own ? &own[i].column : NULL;
}
