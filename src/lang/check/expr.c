/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of expressions; constants are folded on the way. */
#include "lang/check/check.h"
#include "lang/check/consts.h"
#include "lang/front/lex.h"

#include "base/parse.h"

const struct type *check_int64(struct comp *c, bool is_signed)
{
	return type_int(&c->types, 8, is_signed);
}

bool check_is_int(const struct node *n)
{
	return type_is_number(n->type);
}

void check_fold(struct comp *c, struct node *n, u64 value, bool is_signed)
{
	struct type *t = type_new(&c->types, T_INT, 8);

	t->is_signed = is_signed;
	t->is_literal = true;
	n->type = t;
	n->folded = true;
	n->ival = value;
}

const struct type *check_value_type(struct comp *c, const struct node *n)
{
	if (n->kind == N_MAP && type_is_agg(n->type) && type_is_number(n->type))
		return check_int64(c, n->type->kind != T_COUNT);
	return n->type;
}

static void set_none(struct comp *c, struct node *n)
{
	n->type = type_new(&c->types, T_NONE, 0);
}

/* --- leaves ----------------------------------------------------------------------------------- */

static void check_param(struct comp *c, struct node *n)
{
	const char *text;
	u64 value = 0;
	s64 negative;

	if (n->ival > c->opts->n_params) {
		check_fold(c, n, 0, true);
		n->kind = N_INT;
		return;
	}
	text = c->opts->params[n->ival - 1];
	if (text[0] == '-' && parse_s64(text, &negative, NULL) == 0) {
		value = (u64)negative;
	} else if (parse_u64(text, &value, NULL) < 0) {
		check_error(c, n, "$%llu used numerically but given \"%s\". Try using str($%llu).",
			    (unsigned long long)n->ival, text, (unsigned long long)n->ival);
		value = 0;
	}
	n->kind = N_INT;
	check_fold(c, n, value, true);
}

static const char *var_name_at(void *ctx, size_t i)
{
	const struct comp *c = ctx;

	/* Those that are out of sight have no name to offer. */
	if (i >= c->at->vars.len)
		return NULL;
	return c->at->vars.items[i]->visible ? c->at->vars.items[i]->name : "";
}

static void check_var(struct comp *c, struct node *n)
{
	struct variable *v = check_find_var(c, n->str);

	if (!v || !v->assigned) {
		check_error(c, n, "Undefined or undeclared variable: %s", n->str);
		check_suggest(c, n->str, var_name_at);
		set_none(c, n);
		return;
	}
	n->ref = v;
	n->type = v->type ? v->type : type_new(&c->types, T_NONE, 0);
}

/* A literal, or a constant of an enum, which knows its name. */
static void check_number(struct comp *c, struct node *n)
{
	const struct type *of;
	struct type *t;

	check_fold(c, n, n->ival, !n->flag);
	if (!n->ref && n->tn)
		n->ref = (void *)check_type_name(c, n->tn);
	of = n->ref;
	if (!of)
		return;
	t = type_new(&c->types, T_INT, 8);
	t->is_signed = n->type->is_signed;
	t->is_literal = true;
	t->name = of->name ? of->name : "";
	t->btf = of->btf;
	n->type = t;
}

/* A literal, or a word that is another one in the next program of the same probe. */
static void check_text(struct comp *c, struct node *n)
{
	if (n->flag)
		builtin_find("probetype")->check(c, n);
	else
		n->type = type_str(&c->types, n->str_len + 1);
}

/* A constant of a header, or of one of the kernel's enums. */
static bool enum_constant(struct comp *c, struct node *n)
{
	struct kbtf *btf;
	s64 value;

	if (const_find(n->str, &value)) {
		n->kind = N_INT;
		check_fold(c, n, (u64)value, true);
		return true;
	}
	btf = types_btf(&c->types);
	if (!btf)
		return false;
	for (u32 id = 1; id <= kbtf_count(btf); id++) {
		const struct btf_type *t = kbtf_type(btf, id);

		if (!t || (kbtf_kind(t) != BTF_KIND_ENUM && kbtf_kind(t) != KBTF_KIND_ENUM64))
			continue;
		if (kbtf_enum_value(btf, id, n->str, &value) == 0) {
			n->kind = N_INT;
			n->flag = value >= 0;
			n->ival = (u64)value;
			n->ref = (void *)type_from_btf(&c->types, id, SPACE_KERNEL);
			check_number(c, n);
			return true;
		}
	}
	return false;
}

static void check_ident(struct comp *c, struct node *n)
{
	const struct builtin *b = builtin_find(n->str);

	if (b) {
		b->check(c, n);
		return;
	}
	if (enum_constant(c, n))
		return;
	set_none(c, n);
	check_error(c, n, "Unknown identifier: '%s'", n->str);
	check_suggest(c, n->str, builtin_name_at);
}

static void check_call(struct comp *c, struct node *n)
{
	const struct fn *f = fn_find(n->str);

	if (!f) {
		struct span_at name = { n->at.start, n->at.start + (u32)strlen(n->str) };

		diag_error(&c->diags, name, "Unknown function: %s", n->str);
		check_suggest(c, n->str, fn_name_at);
		set_none(c, n);
		return;
	}
	n->ref = (void *)f;
	if (n->n_kids < f->min_args || n->n_kids > f->max_args) {
		if (f->min_args == f->max_args)
			check_error(c, n, "%s() requires %s%u argument%s (%u provided)", n->str,
				    f->min_args ? "" : "", f->min_args, f->min_args == 1 ? "" : "s",
				    n->n_kids);
		else if (n->n_kids < f->min_args)
			check_error(c, n, "%s() requires at least %u argument%s (%u provided)",
				    n->str, f->min_args, f->min_args == 1 ? "" : "s", n->n_kids);
		else
			check_error(c, n, "%s() takes up to %u arguments (%u provided)", n->str,
				    f->max_args, n->n_kids);
		set_none(c, n);
		return;
	}
	if ((f->flags & FN_UNSAFE) && !c->opts->unsafe) {
		check_error(c, n, "%s() is an unsafe function being used in safe mode", n->str);
		if (!c->opts->compat)
			diag_hint(&c->diags, "--unsafe allows it");
	}
	if (!(f->flags & FN_RAW)) {
		for (u32 i = 0; i < n->n_kids; i++)
			check_expr(c, n->kids[i]);
	}
	n->type = type_new(&c->types, f->flags & FN_STATEMENT ? T_VOID : T_NONE, 0);
	f->check(c, n);
}

/* --- operators -------------------------------------------------------------------------------- */

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

static void check_pointer_math(struct comp *c, struct node *n)
{
	const struct type *p =
		n->kids[0]->type->kind == T_PTR ? n->kids[0]->type : n->kids[1]->type;

	n->type = p;
	if (n->kids[0]->type->kind == T_PTR && n->kids[1]->type->kind == T_PTR)
		n->type = check_int64(c, true);
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

static void check_binary(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0], *b = n->kids[1];
	bool ok = true, is_signed;
	char op[4];
	u64 value;

	check_expr(c, a);
	check_expr(c, b);
	operator_text(n->op, op);
	n->type = check_int64(c, true);
	if (a->type->kind == T_NONE || b->type->kind == T_NONE)
		return;
	if (n->op == OP2('&', '&') || n->op == OP2('|', '|')) {
		ok = type_is_number(a->type) || a->type->kind == T_STR;
		ok = ok && (type_is_number(b->type) || b->type->kind == T_STR);
	} else if (is_comparison(n->op)) {
		bool equality = n->op == OP2('=', '=') || n->op == OP2('!', '=');

		ok = comparable(a->type, b->type) &&
		     (equality || (type_is_number(a->type) && type_is_number(b->type)));
		if (!ok) {
			check_error(c, n, "Type mismatch for '%s': comparing '%s' with '%s'", op,
				    check_type_text(c, a->type), check_type_text(c, b->type));
			return;
		}
	} else {
		ok = type_is_number(a->type) && type_is_number(b->type);
	}
	if (!ok) {
		check_error(c, n,
			    "The %s operator can not be used on expressions of types '%s', '%s'",
			    op, check_type_text(c, a->type), check_type_text(c, b->type));
		return;
	}
	if (a->kind == N_STR && b->kind == N_STR && is_comparison(n->op)) {
		check_fold(c, n, streq(a->str, b->str) == (n->op == OP2('=', '=')), true);
		return;
	}
	is_signed = both_signed(a, b);
	n->flag = is_signed;
	if (!a->folded)
		warn_operand(c, n);
	if (a->folded && b->folded) {
		value = fold_binary(n->op, a->ival, b->ival, is_signed, &ok);
		if (ok)
			check_fold(c, n, value, is_signed || is_comparison(n->op));
		else if (n->op == OP1('/') || n->op == OP1('%'))
			check_fold(c, n, n->op == OP1('/') ? 0 : a->ival, is_signed);
		warn_operand(c, n);
		return;
	}
	if ((n->op == OP1('+') || n->op == OP1('-')) &&
	    (a->type->kind == T_PTR || b->type->kind == T_PTR))
		check_pointer_math(c, n);
	else if (!is_comparison(n->op) && n->op != OP2('&', '&') && n->op != OP2('|', '|'))
		n->type = type_in_unit(&c->types, check_int64(c, is_signed || n->op == OP1('-')),
				       result_unit(n));
}

static void check_deref(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type;

	if (t->kind == T_NONE) {
		set_none(c, n);
		return;
	}
	if (t->kind == T_INT) {
		n->type = check_int64(c, false);
		return;
	}
	if (t->kind != T_PTR) {
		check_error(c, n, "Can not dereference a value of type '%s'",
			    check_type_text(c, t));
		set_none(c, n);
		return;
	}
	n->type = type_pointee(&c->types, t);
	if (n->type->kind == T_VOID) {
		check_error(c, n, "Can not dereference a pointer to void");
		set_none(c, n);
	}
}

/* Numbers of variables and maps are kept in 8 bytes, whatever they were. */
static const struct type *stored_type(struct comp *c, const struct node *n, bool own)
{
	return own && n->type->kind == T_INT ? check_int64(c, n->type->is_signed) : n->type;
}

static void check_unary(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];

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
			set_none(c, n);
		else
			n->type = type_ptr(&c->types, stored_type(c, a, own),
					   own ? SPACE_KERNEL : SPACE_ANY);
		return;
	}
	if (a->type->kind == T_NONE)
		return;
	if (!type_is_number(a->type)) {
		check_error(c, n, "The %c operator can not be used on expressions of type '%s'",
			    (char)n->op, check_type_text(c, a->type));
		return;
	}
	if (n->op == OP1('~') && a->type->kind == T_INT)
		n->type = check_int64(c, a->type->is_signed);
	if (a->folded)
		check_fold(c, n,
			   n->op == OP1('-')   ? 0 - a->ival
			   : n->op == OP1('~') ? ~a->ival
					       : !a->ival,
			   true);
}

static void check_incdec(struct comp *c, struct node *n)
{
	struct node *t = n->kids[0];

	if (t->kind == N_MAP) {
		struct node one = { .kind = N_INT, .at = n->at, .ival = 1 };

		check_assign_map(c, t, &one, OP1('+'));
		n->type = t->type;
		return;
	}
	if (t->kind != N_VAR) {
		check_error(c, n, "The %s operator must be applied to a map or variable",
			    n->op == OP2('+', '+') ? "++" : "--");
		set_none(c, n);
		return;
	}
	check_var(c, t);
	n->type = t->type;
	if (t->type->kind != T_NONE && !type_is_number(t->type))
		check_error(c, n, "The %s operator can not be used on expressions of type '%s'",
			    n->op == OP2('+', '+') ? "++" : "--", check_type_text(c, t->type));
}

static void check_ternary(struct comp *c, struct node *n)
{
	struct node *yes = n->kids[1], *no = n->kids[2];
	const struct type *yes_type, *no_type;

	for (u32 i = 0; i < 3; i++)
		check_expr(c, n->kids[i]);
	yes_type = check_value_type(c, yes);
	no_type = check_value_type(c, no);
	n->type = yes_type;
	if (yes_type->kind == T_NONE || no_type->kind == T_NONE) {
		n->type = yes_type->kind == T_NONE ? no_type : yes_type;
		return;
	}
	if (n->kids[0]->type->kind != T_NONE && !type_is_number(n->kids[0]->type))
		check_error(c, n, "Invalid condition in ternary: %s",
			    check_type_text(c, n->kids[0]->type));
	if (!type_fits(yes_type, no_type)) {
		check_error(c, n, "Ternary operator must return the same type: have '%s' and '%s'",
			    check_type_text(c, yes_type), check_type_text(c, no_type));
		return;
	}
	n->type = type_merge(&c->types, yes_type, no_type);
}

/* --- members ---------------------------------------------------------------------------------- */

struct field_names {
	struct types *types;
	const struct type *t;
};

static const char *field_name_at(void *ctx, size_t i)
{
	const struct field_names *f = ctx;

	return type_field_name(f->types, f->t, (u32)i);
}

static void no_such_field(struct comp *c, struct node *n, const struct type *t)
{
	struct field_names all = { &c->types, t };
	struct buf names = BUF_INIT;
	const char *name, *nearest = diag_nearest(n->str, field_name_at, &all);
	u32 shown = 0;

	check_error(c, n, "Struct/union of type '%s' does not contain a field named '%s'", t->name,
		    n->str);
	for (u32 i = 0; (name = type_field_name(&c->types, t, i)) && shown < 12; i++) {
		if (*name)
			buf_addf(&names, "%s%s", shown++ ? ", " : "", name);
	}
	if (nearest && strlen(n->str) > 2)
		diag_hint(&c->diags, "did you mean '%s'?", nearest);
	else if (shown)
		diag_hint(&c->diags, "available fields are %s%s", buf_str(&names),
			  shown == 12 ? ", ..." : "");
	buf_release(&names);
	set_none(c, n);
}

static void check_tuple_field(struct comp *c, struct node *n, const struct type *t)
{
	u32 i = (u32)MIN(n->ival, UINT32_MAX);

	if (!(n->str[0] >= '0' && n->str[0] <= '9')) {
		for (i = 0; i < t->n_fields && !streq(t->fields[i].name, n->str);)
			i++;
		if (i == t->n_fields) {
			check_error(c, n, "the tuple has no element named '%s'", n->str);
			set_none(c, n);
			return;
		}
		n->ival = i;
	}
	if (i >= t->n_fields) {
		check_error(c, n, "Invalid tuple index: %s. Found %u elements in tuple.", n->str,
			    t->n_fields);
		set_none(c, n);
		return;
	}
	n->type = t->fields[i].type;
}

static void check_field(struct comp *c, struct node *n)
{
	const struct type *t;
	struct field *f;

	check_expr(c, n->kids[0]);
	t = n->kids[0]->type;
	if (t->kind == T_PTR)
		t = type_pointee(&c->types, t);
	if (t->kind == T_NONE) {
		set_none(c, n);
		return;
	}
	if (t->kind == T_TUPLE) {
		check_tuple_field(c, n, t);
		return;
	}
	if (t->kind != T_STRUCT) {
		check_error(c, n, "Can not access field '%s' on expression of type '%s'", n->str,
			    check_type_text(c, n->kids[0]->type));
		set_none(c, n);
		return;
	}
	f = arena_zalloc(&c->arena, sizeof(*f));
	if (!type_field(&c->types, t, n->str, f)) {
		no_such_field(c, n, t);
		return;
	}
	n->ref = f;
	n->type = f->type;
}

static void check_index(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0], *i = n->kids[1];

	check_expr(c, a);
	check_expr(c, i);
	if (a->type->kind == T_NONE || i->type->kind == T_NONE) {
		set_none(c, n);
		return;
	}
	if (!type_is_number(i->type))
		check_error(c, i, "The array index operator [] only accepts numbers");
	if (a->type->kind == T_TUPLE && i->folded) {
		n->kind = N_FIELD;
		n->str = arena_printf(&c->arena, "%llu", (unsigned long long)i->ival);
		n->ival = i->ival;
		n->n_kids = 1;
		check_tuple_field(c, n, a->type);
		return;
	}
	if (a->type->kind == T_ARRAY) {
		n->type = a->type->elem;
		if (i->folded && i->ival >= a->type->count && a->type->count)
			check_error(c, n, "the index %llu is out of bounds for array of size %u",
				    (unsigned long long)i->ival, a->type->count);
	} else if (a->type->kind == T_PTR) {
		n->type = type_pointee(&c->types, a->type);
		if (n->type->kind == T_VOID)
			n->type = check_int64(c, false);
	} else if (a->type->kind == T_STR || a->type->kind == T_BUF) {
		n->type = type_int(&c->types, 1, false);
		if (i->folded && i->ival >= a->type->size)
			check_error(c, n, "the index %llu is out of bounds for size %u",
				    (unsigned long long)i->ival, a->type->size);
	} else {
		check_error(c, n,
			    "The array index operator [] can only be used on arrays and pointers, "
			    "found '%s'",
			    check_type_text(c, a->type));
		set_none(c, n);
	}
}

static void check_tuple(struct comp *c, struct node *n)
{
	const struct type **elems = arena_alloc(&c->arena, (n->n_kids + 1) * sizeof(*elems));

	for (u32 i = 0; i < n->n_kids; i++) {
		check_expr(c, n->kids[i]);
		elems[i] = n->kids[i]->type;
		if (elems[i]->kind == T_NONE) {
			set_none(c, n);
			return;
		}
		if (elems[i]->kind == T_VOID || type_is_agg(elems[i]))
			elems[i] = check_int64(c, true);
	}
	n->type = type_tuple(&c->types, elems, n->names, n->n_kids);
}

static void check_cast(struct comp *c, struct node *n)
{
	const struct type *to = check_type_name(c, n->tn), *from;
	struct node *a = n->kids[0];

	check_expr(c, a);
	from = a->type;
	/* The bytes of a number are no text. */
	if (to && to->kind == T_STR && to->size == 8 && type_is_number(from) &&
	    !streq(n->tn->name, "string"))
		to = type_array(&c->types, type_int(&c->types, 1, n->tn->name[0] != 'u'), 8);
	n->type = to ? to : type_new(&c->types, T_NONE, 0);
	if (!to || from->kind == T_NONE)
		return;
	if (to->kind == T_INT && from->kind == T_INT && from->p[0])
		n->type = type_in_unit(&c->types, to, (enum type_unit)from->p[0]);
	if (to->kind == T_INT && a->folded) {
		u64 v = a->ival;
		u32 shift = 64 - to->size * 8;

		v <<= shift;
		v = to->is_signed ? (u64)((s64)v >> shift) : v >> shift;
		if (type_is_bool(to))
			v = a->ival != 0;
		check_fold(c, n, v, to->is_signed);
		n->type = to;
		return;
	}
	if (to->kind == T_PTR && from->kind == T_PTR && to->space == SPACE_ANY)
		n->type = type_in_space(&c->types, to, from->space);
	else if (to->kind == T_PTR && to->space == SPACE_KERNEL && from->kind != T_PTR)
		n->type = type_in_space(&c->types, to, SPACE_ANY);
	else if (to->kind == T_PTR && from->kind == T_PTR)
		n->type = type_in_space(&c->types, to, from->space);
	if (to->kind == T_STR && from->kind == T_STR)
		return;
	if (to->kind == T_ARRAY && type_is_number(from) && to->size == 8)
		return;
	if (to->kind == T_STRUCT || to->kind == T_ARRAY || to->kind == T_STR ||
	    (to->kind == T_INT && !type_is_number(from) && from->kind != T_ARRAY &&
	     type_stored(from) != 8))
		check_error(c, n, "Cannot cast from \"%s\" to \"%s\"", check_type_text(c, from),
			    check_type_text(c, to));
}

static void check_block_expr(struct comp *c, struct node *n)
{
	c->at->depth++;
	for (u32 i = 0; i < n->n_kids; i++)
		check_stmt(c, n->kids[i]);
	c->at->depth--;
	if (n->n_kids && n->kids[n->n_kids - 1]->kind == N_EXPR)
		n->type = n->kids[n->n_kids - 1]->kids[0]->type;
	else
		n->type = type_new(&c->types, T_VOID, 0);
}

void check_expr(struct comp *c, struct node *n)
{
	n->folded = n->kind == N_INT;
	switch (n->kind) {
	case N_INT: check_number(c, n); break;
	case N_STR: check_text(c, n); break;
	case N_PARAM: check_param(c, n); break;
	case N_PARAM_COUNT: check_fold(c, n, c->opts->n_params, true); break;
	case N_VAR: check_var(c, n); break;
	case N_MAP: check_map(c, n, false); break;
	case N_IDENT: check_ident(c, n); break;
	case N_CALL: check_call(c, n); break;
	case N_UNARY: check_unary(c, n); break;
	case N_INCDEC: check_incdec(c, n); break;
	case N_BINARY: check_binary(c, n); break;
	case N_TERNARY: check_ternary(c, n); break;
	case N_FIELD: check_field(c, n); break;
	case N_INDEX: check_index(c, n); break;
	case N_TUPLE: check_tuple(c, n); break;
	case N_CAST: check_cast(c, n); break;
	case N_SIZEOF:
	case N_TYPEINFO:
	case N_OFFSETOF: check_sizeof(c, n); break;
	case N_BLOCK_EXPR: check_block_expr(c, n); break;
	default:
		check_stmt(c, n);
		n->type = type_new(&c->types, T_VOID, 0);
		break;
	}
}
