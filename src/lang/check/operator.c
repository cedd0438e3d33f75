/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of operators, and their values where the operands are constants. */
#include "lang/check/strict.h"
#include "lang/front/lex.h"

static u64 fold_binary(u32 op, u64 a, u64 b, bool is_signed, bool *ok)
{
	switch (op) {
	case OP1('+'): return a + b;
	case OP1('-'): return a - b;
	case OP1('*'): return a * b;
	case OP1('&'): return a & b;
	case OP1('|'): return a | b;
	case OP1('^'): return a ^ b;
	case OP2('<', '<'): return b > 63 ? 0 : a << b;
	case OP2('>', '>'):
		if (is_signed)
			return (u64)((s64)a >> (b > 63 ? 63 : b));
		return b > 63 ? 0 : a >> b;
	case OP2('=', '='): return a == b;
	case OP2('!', '='): return a != b;
	case OP1('<'): return is_signed ? (s64)a < (s64)b : a < b;
	case OP1('>'): return is_signed ? (s64)a > (s64)b : a > b;
	case OP2('<', '='): return is_signed ? (s64)a <= (s64)b : a <= b;
	case OP2('>', '='): return is_signed ? (s64)a >= (s64)b : a >= b;
	case OP2('&', '&'): return a && b;
	case OP2('|', '|'): return a || b;
	case OP1('/'):
	case OP1('%'):
		if (!b || (is_signed && b == UINT64_MAX && a == 1ull << 63)) {
			*ok = false;
			return 0;
		}
		if (is_signed)
			return op == OP1('/') ? (u64)((s64)a / (s64)b) : (u64)((s64)a % (s64)b);
		return op == OP1('/') ? a / b : a % b;
	default: *ok = false; return 0;
	}
}

static bool is_comparison(u32 op)
{
	return op == OP2('=', '=') || op == OP2('!', '=') || op == OP1('<') || op == OP1('>') ||
	       op == OP2('<', '=') || op == OP2('>', '=');
}

/* Comparisons; and bits of two truths are one. */
static bool gives_bool(const struct node *n)
{
	u32 op = n->op;

	if (op == OP1('&') || op == OP1('|') || op == OP1('^'))
		return type_is_bool(n->kids[0]->type) && type_is_bool(n->kids[1]->type);
	return is_comparison(op) || op == OP2('&', '&') || op == OP2('|', '|');
}

/* 1 << 63 is a large number, not a negative one. */
static bool outgrows_sign(const struct node *n, u64 value)
{
	return n->op != OP1('-') && (s64)n->kids[0]->ival >= 0 && (s64)n->kids[1]->ival >= 0 &&
	       (s64)value < 0;
}

static bool sign_of(const struct node *n)
{
	if (n->type->kind != T_INT)
		return n->type->kind != T_PTR && n->type->kind != T_COUNT;
	return n->type->is_signed;
}

/* Positive literals are at home on both sides. */
static bool both_signed(const struct node *a, const struct node *b)
{
	bool any_a = a->folded && (s64)a->ival >= 0 && a->type->is_literal;
	bool any_b = b->folded && (s64)b->ival >= 0 && b->type->is_literal;

	if (any_a && any_b)
		return sign_of(a) && sign_of(b);
	if (any_a)
		return sign_of(b);
	if (any_b)
		return sign_of(a);
	if (a->type->kind == T_INT && b->type->kind == T_INT)
		return sign_of(a) || sign_of(b);
	return sign_of(a) && sign_of(b);
}

static void operator_text(u32 op, char ret[4])
{
	ret[0] = (char)op;
	ret[1] = (char)(op >> 8);
	ret[2] = (char)(op >> 16);
	ret[3] = 0;
}

static bool comparable(const struct type *a, const struct type *b)
{
	if (type_is_number(a) && type_is_number(b))
		return true;
	if (a->kind == T_STR && b->kind == T_STR)
		return true;
	if (a->kind == T_BUF && b->kind == T_BUF)
		return true;
	if (a->kind == T_TUPLE && b->kind == T_TUPLE)
		return type_fits(a, b);
	if (a->kind == T_ARRAY && b->kind == T_ARRAY)
		return a->size == b->size;
	if (a->kind == b->kind && (a->kind == T_INET || a->kind == T_MAC || a->kind == T_USERNAME))
		return true;
	/* Addresses and numbers that are shown as names are still numbers. */
	return (type_stored(a) == 8 && type_is_number(b) && a->kind > T_TUPLE) ||
	       (type_stored(b) == 8 && type_is_number(a) && b->kind > T_TUPLE);
}

/* Pointers are added to and subtracted from; only integers are multiplied. */
static bool pointer_math_ok(const struct node *n)
{
	bool a = n->kids[0]->type->kind == T_PTR, b = n->kids[1]->type->kind == T_PTR;

	if (!a && !b)
		return true;
	return n->op == OP1('+') ? !(a && b) : n->op == OP1('-') && a && !b;
}

static void check_pointer_math(struct node *n)
{
	const struct type *p =
		n->kids[0]->type->kind == T_PTR ? n->kids[0]->type : n->kids[1]->type;

	n->type = p;
}

static enum type_unit unit_of(const struct node *n)
{
	return n->type->kind == T_INT ? (enum type_unit)n->type->p[0] : UNIT_NONE;
}

/* From moments to the time between them, which may be scaled. */
static enum type_unit result_unit(const struct node *n)
{
	enum type_unit a = unit_of(n->kids[0]), b = unit_of(n->kids[1]);

	if (n->op == OP1('-'))
		return a == UNIT_TIME || b == UNIT_TIME || a == UNIT_DURATION ? UNIT_DURATION
									      : UNIT_NONE;
	if (n->op == OP1('+'))
		return a == UNIT_DURATION && b == UNIT_DURATION ? UNIT_DURATION : UNIT_NONE;
	if (n->op == OP1('/') || n->op == OP1('*') || n->op == OP2('>', '>'))
		return a == UNIT_DURATION && n->kids[1]->folded ? UNIT_DURATION : UNIT_NONE;
	return UNIT_NONE;
}

/* Defined, but hardly what was meant. */
static void warn_operand(struct comp *c, const struct node *n)
{
	const struct node *b = n->kids[1];
	bool shift = n->op == OP2('<', '<') || n->op == OP2('>', '>');

	if (!c->at->final || c->opts->compat || !b->folded)
		return;
	if ((n->op == OP1('/') || n->op == OP1('%')) && !b->ival)
		diag_warning(&c->diags, n->at, "division by zero: %s",
			     n->op == OP1('/') ? "the result is 0" : "the left side is the result");
	else if (shift && b->ival > 63)
		diag_warning(&c->diags, n->at, "numbers have 64 bits: nothing of it is left");
}

/* Literal texts are joined and compared when the program is compiled. */
static bool fold_strings(struct comp *c, struct node *n)
{
	int order = strcmp(n->kids[0]->str, n->kids[1]->str);

	if (n->op == OP1('+')) {
		n->str = arena_printf(&c->prog.arena, "%s%s", n->kids[0]->str, n->kids[1]->str);
		n->str_len = (u32)strlen(n->str);
		n->kind = N_STR;
		n->flag = false;
		n->n_kids = 0;
		check_expr(c, n);
		return true;
	}
	switch (n->op) {
	case OP2('=', '='): check_fold_bool(c, n, !order); return true;
	case OP2('!', '='): check_fold_bool(c, n, order); return true;
	case OP1('<'): check_fold_bool(c, n, order < 0); return true;
	case OP1('>'): check_fold_bool(c, n, order > 0); return true;
	case OP2('<', '='): check_fold_bool(c, n, order <= 0); return true;
	case OP2('>', '='): check_fold_bool(c, n, order >= 0); return true;
	default: return false;
	}
}

/* $1 + 2: the parameter without its first two bytes. */
static bool fold_param(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[0];
	u64 skip = n->kids[1]->ival;

	skip = MIN(skip, (u64)a->str_len);
	n->str = a->str + skip;
	n->str_len = a->str_len - (u32)skip;
	n->kind = N_STR;
	n->op = NODE_PARAM;
	n->flag = false;
	n->n_kids = 0;
	check_expr(c, n);
	return true;
}

/* Literals whose result does not exist or does not fit. */
static bool leaves_range(const struct node *n, bool is_signed)
{
	u64 a = n->kids[0]->ival, b = n->kids[1]->ival, r;

	switch (n->op) {
	case OP1('/'):
	case OP1('%'): return !b;
	case OP2('<', '<'):
	case OP2('>', '>'): return b > 63;
	case OP1('+'): return !is_signed && __builtin_add_overflow(a, b, &r);
	default: return false;
	}
}

void check_binary(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0], *b = n->kids[1];
	bool ok = true, is_signed;
	char op[4];
	u64 value;

	check_expr(c, a);
	check_expr(c, b);
	operator_text(n->op, op);
	n->flag = false;
	n->type = gives_bool(n) ? type_bool(&c->types) : check_int64(c, true);
	if (a->type->kind == T_NONE || b->type->kind == T_NONE)
		return;
	if (a->kind == N_STR && b->kind == N_STR && fold_strings(c, n))
		return;
	if (a->kind == N_STR && a->op == NODE_PARAM && b->folded && n->op == OP1('+') &&
	    fold_param(c, n))
		return;
	if (n->op == OP2('&', '&') || n->op == OP2('|', '|')) {
		ok = type_is_number(a->type) || a->type->kind == T_STR;
		ok = ok && (type_is_number(b->type) || b->type->kind == T_STR);
		if (c->opts->compat && (a->type->kind == T_STR) != (b->type->kind == T_STR)) {
			check_error(c, n, "Type mismatch for '%s': comparing %s with %s", op,
				    check_type_text(c, a->type), check_type_text(c, b->type));
			return;
		}
	} else if (is_comparison(n->op)) {
		bool equality = n->op == OP2('=', '=') || n->op == OP2('!', '=');

		if (equality && a->type->kind == T_TUPLE && b->type->kind == T_TUPLE &&
		    !type_fits(a->type, b->type)) {
			check_fold_bool(c, n, n->op == OP2('!', '='));
			return;
		}
		ok = comparable(a->type, b->type) &&
		     (equality || (type_is_number(a->type) && type_is_number(b->type)));
		if (!ok) {
			check_error(c, n, "Type mismatch for '%s': comparing %s with %s", op,
				    check_type_text(c, a->type), check_type_text(c, b->type));
			return;
		}
	} else {
		ok = type_is_number(a->type) && type_is_number(b->type) && pointer_math_ok(n);
	}
	if (!ok) {
		check_error(c, n,
			    "The %s operator can not be used on expressions of types '%s', '%s'",
			    op, check_type_text(c, a->type), check_type_text(c, b->type));
		return;
	}
	is_signed = both_signed(a, b) || n->op == OP1('-');
	n->flag = is_signed;
	if (!a->folded)
		warn_operand(c, n);
	if (a->folded && b->folded && !strict_divides(c, n)) {
		if (leaves_range(n, is_signed))
			strict_fold(c, n);
		value = fold_binary(n->op, a->ival, b->ival, is_signed, &ok);
		if (ok && gives_bool(n))
			check_fold_bool(c, n, value);
		else if (ok)
			check_fold(c, n, value, is_signed && !outgrows_sign(n, value));
		else if (n->op == OP1('/') || n->op == OP1('%'))
			check_fold(c, n, n->op == OP1('/') ? 0 : a->ival, is_signed);
		warn_operand(c, n);
		return;
	}
	if ((n->op == OP1('+') || n->op == OP1('-')) &&
	    (a->type->kind == T_PTR || b->type->kind == T_PTR))
		check_pointer_math(n);
	else if (!gives_bool(n))
		n->type = type_in_unit(&c->types, check_int64(c, is_signed || n->op == OP1('-')),
				       result_unit(n));
}

static void check_deref(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type;

	if (t->kind == T_NONE) {
		check_none(c, n);
		return;
	}
	if (t->kind == T_INT) {
		n->type = check_int64(c, false);
		return;
	}
	if (t->kind != T_PTR) {
		check_error(c, n, "Can not dereference a value of type '%s'",
			    check_type_text(c, t));
		check_none(c, n);
		return;
	}
	n->type = type_pointee(&c->types, t);
	if (n->type->kind == T_VOID && !n->flag) {
		check_error(c, n, "Can not dereference a pointer to void");
		check_none(c, n);
	}
}

/* Numbers of variables and maps are kept in 8 bytes, whatever they were. */
static const struct type *stored_type(struct comp *c, const struct node *n, bool own)
{
	return own && n->type->kind == T_INT ? check_int64(c, n->type->is_signed) : n->type;
}

/* &@x without a key where it has some, or of an aggregation: the address of the map itself. */
static bool address_of_map(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];
	struct map_def *m = a->kind == N_MAP && !a->n_kids ? comp_map(c, a->str, true) : NULL;

	if (!m || !c->opts->compat || !(m->key || type_is_agg(m->value)))
		return false;
	m->used = m->read = true;
	a->ref = m;
	a->type = type_is_agg(m->value) ? check_int64(c, true) : m->value;
	n->type = type_ptr(&c->types, stored_type(c, a, true), SPACE_KERNEL);
	return true;
}

/* A number without a sign keeps its width. */
static void fold_sign(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[0];
	u64 value = n->op == OP1('-') ? 0 - a->ival : ~a->ival;
	u32 unused = 64 - MAX(a->type->size, 1u) * 8;

	if (a->type->kind != T_INT || a->type->is_signed || a->type->size > 4) {
		check_fold(c, n, value, n->op == OP1('-'));
		return;
	}
	n->folded = true;
	n->ival = value << unused >> unused;
}

void check_unary(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];

	if (n->op == OP1('&') && address_of_map(c, n))
		return;
	check_expr(c, a);
	if (n->op == OP1('*')) {
		check_deref(c, n);
		return;
	}
	n->type = check_int64(c, true);
	if (n->op == OP1('&')) {
		bool own = a->kind == N_VAR || (a->kind == N_MAP && !type_is_agg(a->type));

		if (a->kind != N_FIELD && a->kind != N_INDEX && !own)
			check_error(c, n, "the address of this cannot be taken");
		if (a->type->kind == T_NONE)
			check_none(c, n);
		else
			n->type = type_ptr(&c->types, stored_type(c, a, own),
					   own ? SPACE_KERNEL : SPACE_ANY);
		return;
	}
	if (a->type->kind == T_NONE)
		return;
	if (!type_is_number(a->type) || (type_is_bool(a->type) && n->op != OP1('!')) ||
	    (c->opts->compat &&
	     (a->type->kind == T_PTR || (a->kind == N_MAP && type_is_agg(a->type))))) {
		check_error(c, n, "The %c operator can not be used on expressions of type '%s'",
			    (char)n->op, check_type_text(c, a->type));
		return;
	}
	if (n->op == OP1('!'))
		n->type = type_bool(&c->types);
	else if (a->type->kind == T_INT && !a->type->is_signed)
		n->type = type_int(&c->types, a->type->size, false);
	else if (n->op == OP1('~') && a->type->kind == T_INT)
		n->type = check_int64(c, true);
	if (a->folded && n->op == OP1('!'))
		check_fold_bool(c, n, !a->ival);
	else if (a->folded)
		fold_sign(c, n);
}

void check_incdec(struct comp *c, struct node *n)
{
	struct node *t = n->kids[0];

	if (t->kind == N_MAP) {
		struct node one = { .kind = N_INT, .at = n->at, .ival = 1 };

		check_assign_map(c, n, t, &one, OP1('+'));
		n->type = t->type;
		return;
	}
	if (t->kind != N_VAR) {
		check_error(c, n, "The %s operator must be applied to a map or variable",
			    n->op == OP2('+', '+') ? "++" : "--");
		check_none(c, n);
		return;
	}
	check_var(c, t);
	if (t->ref && t->type->kind == T_INT)
		check_widen(c, t->ref, n);
	n->type = t->type;
	if (t->type->kind != T_NONE && !type_is_number(t->type))
		check_error(c, n, "The %s operator can not be used on expressions of type '%s'",
			    n->op == OP2('+', '+') ? "++" : "--", check_type_text(c, t->type));
}

/* Puts @kid in the place of @n. */
static void become(struct node *n, const struct node *kid)
{
	struct span_at at = n->at;

	*n = *kid;
	n->at = at;
}

/* An 'if comptime' with a value: what is not chosen need not make sense. */
static void choose(struct comp *c, struct node *n)
{
	const struct node *condition = n->kids[0];

	check_expr(c, n->kids[0]);
	if (condition->folded) {
		become(n, n->kids[condition->ival ? 1 : 2]);
		check_expr(c, n);
		return;
	}
	check_none(c, n);
	if (c->at->final && condition->type->kind != T_NONE)
		check_error(c, condition, "Unable to resolve comptime expression");
}

void check_ternary(struct comp *c, struct node *n)
{
	struct node *yes = n->kids[1], *no = n->kids[2];
	const struct type *yes_type, *no_type;

	if (n->flag) {
		choose(c, n);
		return;
	}
	for (u32 i = 0; i < 3; i++)
		check_expr(c, n->kids[i]);
	yes_type = check_value_type(c, yes);
	no_type = check_value_type(c, no);
	n->type = yes_type;
	if (yes_type->kind == T_NONE || no_type->kind == T_NONE) {
		n->type = yes_type->kind == T_NONE ? no_type : yes_type;
		return;
	}
	if (n->kids[0]->type->kind != T_NONE && n->kids[0]->kind != N_STR &&
	    !type_is_number(n->kids[0]->type))
		check_error(c, n, "Invalid condition in ternary: %s",
			    check_type_text(c, n->kids[0]->type));
	if (c->opts->compat && n->kids[0]->kind == N_MAP && type_is_agg(n->kids[0]->type))
		check_error(c, n, "Invalid condition: %s", check_type_text(c, n->kids[0]->type));
	if (!type_fits(yes_type, no_type) && n->kids[0]->folded) {
		become(n, n->kids[0]->ival ? yes : no);
		return;
	}
	if (!type_fits(yes_type, no_type) || !strict_pointers(c, yes_type, no_type)) {
		check_error(c, n,
			    "Branches must return the same type or compatible types: have '%s' "
			    "and '%s'",
			    check_type_text(c, yes_type), check_type_text(c, no_type));
		return;
	}
	n->type = type_merge(&c->types, yes_type, no_type);
}
