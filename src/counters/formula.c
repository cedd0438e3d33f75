/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A formula becomes steps of a stack machine: no tree, no memory. */
#include "counters/formula.h"

#include "base/suggest.h"

#include <ctype.h>
#include <math.h>

enum op {
	OP_NUMBER,
	OP_COUNTER,  /* of the current instance */
	OP_NAMED,    /* of the instance that is named */
	OP_SUM,      /* over all instances */
	OP_TOTAL,    /* since boot */
	OP_OPTIONAL, /* as OP_COUNTER, 0 if there is none */
	OP_SECONDS,
	OP_RATE,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MAX,
	OP_MIN,
};

struct parser {
	struct formula *out;
	struct counter_set *set;
	const char *text;
	const char *at;
	struct err *e;
	int depth;
};

static int parse_sum(struct parser *p);

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static int complain(struct parser *p, const char *what)
{
	return err_set(p->e, EINVAL, "in '%s', at '%s': %s", p->text, p->at, what);
}

static int emit(struct parser *p, struct formula_step step)
{
	if (p->out->n >= FORMULA_STEPS)
		return complain(p, "the formula is too long");
	p->out->steps[p->out->n++] = step;
	return 0;
}

static bool take(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static int unknown_name(struct parser *p, const char *name)
{
	struct suggestion s;

	suggest_init(&s, name);
	vec_each(c, &p->set->counters)
		suggest_try(&s, c->row->name);
	err_set(p->e, EINVAL, "unknown counter '%s'", name);
	if (*s.best)
		err_hint(p->e, "did you mean '%s'? 'fathom counters' lists all", s.best);
	else
		err_hint(p->e, "'fathom counters' lists all");
	return -EINVAL;
}

/* The name of a counter, and {instance} if it follows. */
static int parse_counter(struct parser *p, enum op op)
{
	char name[SET_NAME_MOST], *end;
	struct formula_step step = { .op = (u8)op };
	size_t n = 0, len;

	skip_blanks(p);
	while (is_name(p->at[n]))
		n++;
	if (!n || n >= sizeof(name))
		return complain(p, "the name of a counter should stand here");
	memcpy(name, p->at, n);
	name[n] = '\0';
	step.counter = counter_set_find(p->set, name);
	if (step.counter == SET_NONE)
		return unknown_name(p, name);
	p->at += n;
	if (*p->at == '{') {
		end = strchr(p->at, '}');
		if (!end)
			return complain(p, "a '}' is missing");
		len = (size_t)(end - p->at) - 1;
		step.instance = intern_bytes(&p->set->instances, p->at + 1, len);
		step.op = OP_NAMED;
		p->at = end + 1;
	}
	return emit(p, step);
}

static const struct {
	const char *name;
	enum op op;
	u8 arguments; /* 0: the name of a counter, and nothing else */
} functions[] = {
	{ "rate(", OP_RATE, 1 }, { "max(", OP_MAX, 2 },     { "min(", OP_MIN, 2 },
	{ "sum(", OP_SUM, 0 },   { "total(", OP_TOTAL, 0 }, { "opt(", OP_OPTIONAL, 0 },
};

static int parse_call(struct parser *p, size_t which)
{
	int r = 0;

	p->at += strlen(functions[which].name);
	if (!functions[which].arguments)
		r = parse_counter(p, functions[which].op);
	for (u8 i = 0; !r && i < functions[which].arguments; i++) {
		if (i && !take(p, ','))
			return complain(p, "a ',' should stand here");
		r = parse_sum(p);
	}
	if (!r && !take(p, ')'))
		return complain(p, "a ')' should stand here");
	if (!r && functions[which].arguments)
		r = emit(p, (struct formula_step){ .op = (u8)functions[which].op });
	return r;
}

static int parse_atom(struct parser *p)
{
	char *end;
	double number;

	skip_blanks(p);
	if (take(p, '(')) {
		if (parse_sum(p) < 0)
			return -EINVAL;
		return take(p, ')') ? 0 : complain(p, "a ')' should stand here");
	}
	if (isdigit((unsigned char)*p->at)) {
		number = strtod(p->at, &end);
		p->at = end;
		return emit(p, (struct formula_step){ .op = OP_NUMBER, .number = number });
	}
	if (starts_with(p->at, "seconds") && !is_name(p->at[7])) {
		p->at += 7;
		return emit(p, (struct formula_step){ .op = OP_SECONDS });
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (starts_with(p->at, functions[i].name))
			return parse_call(p, i);
	return parse_counter(p, OP_COUNTER);
}

static int parse_product(struct parser *p)
{
	int r = parse_atom(p);

	while (!r) {
		enum op op;

		if (take(p, '*'))
			op = OP_MUL;
		else if (take(p, '/'))
			op = OP_DIV;
		else
			break;
		r = parse_atom(p);
		if (!r)
			r = emit(p, (struct formula_step){ .op = (u8)op });
	}
	return r;
}

static int parse_sum(struct parser *p)
{
	int r;

	if (++p->depth > FORMULA_DEPTH)
		return complain(p, "too many brackets");
	r = parse_product(p);
	while (!r) {
		enum op op;

		if (take(p, '+'))
			op = OP_ADD;
		else if (take(p, '-'))
			op = OP_SUB;
		else
			break;
		r = parse_product(p);
		if (!r)
			r = emit(p, (struct formula_step){ .op = (u8)op });
	}
	p->depth--;
	return r;
}

bool formula_names_counter(const struct formula_step *s)
{
	return s->op >= OP_COUNTER && s->op <= OP_OPTIONAL;
}

int formula_parse(struct formula *ret, struct counter_set *set, const char *text, struct err *e)
{
	struct parser p = { .out = ret, .set = set, .text = text, .at = text, .e = e };
	int r;

	ret->n = 0;
	r = parse_sum(&p);
	if (r < 0)
		return r;
	skip_blanks(&p);
	return *p.at ? complain(&p, "nothing should follow") : 0;
}

int formula_prepare(struct counter_set *set, struct err *e)
{
	struct formula f;

	vec_each(c, &set->counters) {
		int r;

		if (c->row->kind != RATIO || c->formula)
			continue;
		r = formula_parse(&f, set, c->row->formula, e);
		if (r < 0)
			return err_prefix(e, "'%s'", c->row->name);
		c->formula = arena_dup(&set->arena, &f,
				       offsetof(struct formula, steps) + f.n * sizeof(f.steps[0]));
	}
	return 0;
}

static u32 domain_of(const struct counter_set *set, u32 counter, int depth)
{
	const struct formula *f = set->counters.items[counter].formula;
	u32 found = SET_NONE;

	if (!f)
		return set->counters.items[counter].first == SET_NONE ? SET_NONE : counter;
	for (u32 i = 0; i < f->n && depth < FORMULA_DEPTH && found == SET_NONE; i++)
		if (f->steps[i].op == OP_COUNTER || f->steps[i].op == OP_OPTIONAL)
			found = domain_of(set, f->steps[i].counter, depth + 1);
	return found;
}

u32 formula_domain(const struct counter_set *set, u32 counter)
{
	return domain_of(set, counter, 0);
}

/* --- computing -------------------------------------------------------------------------------- */

struct evaluation {
	const struct delta *d;
	u32 instance;
	int depth; /* of ratios in ratios */
	double stack[FORMULA_STEPS];
	u32 n;
};

static bool counter_value(const struct delta *d, u32 counter, u32 instance, int depth, double *ret);

static bool sum_instances(const struct delta *d, u32 counter, double *ret)
{
	double sum = 0, one;
	bool any = false;

	for (u32 s = d->set->counters.items[counter].first; s != SET_NONE;
	     s = d->set->series.items[s].next) {
		if (!delta_series(d, s, &one))
			continue;
		sum += one;
		any = true;
	}
	*ret = sum;
	return any;
}

static bool total_value(const struct delta *d, u32 counter, u32 instance, double *ret)
{
	struct delta since_boot = { d->set, NULL, d->after, d->seconds };

	return delta_value(&since_boot, counter, instance, ret);
}

static double combine(enum op op, double a, double b)
{
	switch (op) {
	case OP_ADD: return a + b;
	case OP_SUB: return a - b;
	case OP_MUL: return a * b;
	case OP_DIV: return fabs(b) > 0 ? a / b : 0;
	case OP_MAX: return fmax(a, b);
	default: return fmin(a, b);
	}
}

static bool load(struct evaluation *v, const struct formula_step *s, double *ret)
{
	switch (s->op) {
	case OP_NUMBER: *ret = s->number; return true;
	case OP_SECONDS: *ret = v->d->seconds; return true;
	case OP_SUM: return sum_instances(v->d, s->counter, ret);
	case OP_TOTAL: return total_value(v->d, s->counter, v->instance, ret);
	case OP_NAMED: return counter_value(v->d, s->counter, s->instance, v->depth, ret);
	case OP_OPTIONAL:
		if (!counter_value(v->d, s->counter, v->instance, v->depth, ret))
			*ret = 0;
		return true;
	default: return counter_value(v->d, s->counter, v->instance, v->depth, ret);
	}
}

static bool evaluate(struct evaluation *v, const struct formula *f, double *ret)
{
	for (u32 i = 0; i < f->n; i++) {
		const struct formula_step *s = &f->steps[i];

		if (s->op < OP_RATE) {
			if (!load(v, s, &v->stack[v->n]))
				return false;
			v->n++;
		} else if (s->op == OP_RATE) {
			v->stack[v->n - 1] /= v->d->seconds;
		} else {
			v->n--;
			v->stack[v->n - 1] =
				combine((enum op)s->op, v->stack[v->n - 1], v->stack[v->n]);
		}
	}
	*ret = v->stack[0];
	return v->n == 1 && isfinite(v->stack[0]);
}

static bool counter_value(const struct delta *d, u32 counter, u32 instance, int depth, double *ret)
{
	const struct set_counter *c = &d->set->counters.items[counter];
	struct evaluation v = { .d = d, .instance = instance, .depth = depth + 1 };

	if (c->row->kind != RATIO)
		return delta_value(d, counter, instance, ret);
	return c->formula && depth < FORMULA_DEPTH && evaluate(&v, c->formula, ret);
}

bool formula_eval(const struct formula *f, const struct delta *d, u32 instance, double *ret)
{
	struct evaluation v = { .d = d, .instance = instance };

	return evaluate(&v, f, ret);
}

bool formula_counter(const struct delta *d, u32 counter, u32 instance, double *ret)
{
	return counter_value(d, counter, instance, 0, ret);
}
