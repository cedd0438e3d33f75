/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of expressions; constants are folded on the way. */
#include "lang/check/strict.h"
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

static u32 literal_size(s64 v)
{
	return v == (s8)v ? 1 : v == (s16)v ? 2 : v == (s32)v ? 4 : 8;
}

/* Literals have the smallest signed type that holds them. */
void check_fold(struct comp *c, struct node *n, u64 value, bool is_signed)
{
	struct type *t = type_new(&c->types, T_INT, is_signed ? literal_size((s64)value) : 8);

	t->is_signed = is_signed;
	t->is_literal = !is_signed || (s64)value >= 0;
	n->type = t;
	n->folded = true;
	n->ival = value;
}

void check_fold_bool(struct comp *c, struct node *n, bool value)
{
	n->type = type_bool(&c->types);
	n->folded = true;
	n->ival = value;
}

const struct type *check_value_type(struct comp *c, const struct node *n)
{
	if (n->kind == N_MAP && type_is_agg(n->type) && type_is_number(n->type))
		return check_int64(c, n->type->kind != T_COUNT);
	return n->type;
}

void check_none(struct comp *c, struct node *n)
{
	n->type = type_new(&c->types, T_NONE, 0);
}

/* --- leaves ----------------------------------------------------------------------------------- */

/* A parameter that reads as a number is one: 42, -5, 0x2a, 052. */
static bool param_number(const char *text, u64 *ret)
{
	const char *p = text, *end = text + strlen(text);
	s64 negative;

	if (text[0] == '-') {
		if (parse_s64(text, &negative, NULL) < 0)
			return false;
		*ret = (u64)negative;
		return true;
	}
	if (text[0] == '0' && text[1] && strspn(text, "01234567") == strlen(text))
		return scan_u64(&p, end, 8, ret) && p == end;
	return parse_u64(text, ret, NULL) == 0 || lex_literal(text, ret);
}

static void check_param(struct comp *c, struct node *n)
{
	const char *text;
	u64 value = 0;

	if (n->ival > c->opts->n_params) {
		strict_param(c, n);
		check_fold(c, n, 0, true);
		n->kind = N_INT;
		return;
	}
	text = c->opts->params[n->ival - 1];
	if (param_number(text, &value)) {
		n->kind = N_INT;
		n->ival = value;
		n->flag = value > INT64_MAX && text[0] != '-';
		check_fold(c, n, value, !n->flag);
		return;
	}
	n->kind = N_STR;
	n->op = NODE_PARAM;
	n->str = text;
	n->str_len = (u32)strlen(text);
	n->flag = false;
	check_expr(c, n);
}

static const char *var_name_at(void *ctx, size_t i)
{
	const struct comp *c = ctx;

	/* Those out of scope are not suggested. */
	if (i >= c->at->vars.len)
		return NULL;
	return c->at->vars.items[i]->visible ? c->at->vars.items[i]->name : "";
}

void check_var(struct comp *c, struct node *n)
{
	struct variable *v = check_find_var(c, n->str);

	if (!v || !v->assigned) {
		check_error(c, n, "Undefined or undeclared variable: %s", n->str);
		check_suggest(c, n->str, var_name_at);
		check_none(c, n);
		return;
	}
	advise_empty(c, n, v);
	n->ref = v;
	n->type = v->type ? v->type : type_new(&c->types, T_NONE, 0);
	if (n->type->kind == T_NONE && c->at->final)
		check_error(c, n, "Could not resolve the type of this variable");
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
	if (type_is_bool(of)) {
		check_fold_bool(c, n, n->ival);
		return;
	}
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
	if (n->op != NODE_FORMAT)
		strict_text(c, n, n);
}

/* A constant of one of the kernel's enums. */
static bool enum_constant(struct comp *c, struct node *n)
{
	struct kbtf *btf;
	s64 value;

	btf = types_btf(&c->types);
	for (u32 id = 1; btf && id <= kbtf_count(btf); id++) {
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

/* A constant of a header; bpftrace needs the header. */
static bool header_constant(struct comp *c, struct node *n)
{
	s64 value;

	if ((c->opts->compat && !c->prog.includes.len) || !const_find(n->str, &value))
		return false;
	n->kind = N_INT;
	check_fold(c, n, (u64)value, true);
	return true;
}

static void check_ident(struct comp *c, struct node *n)
{
	const struct builtin *b = strict_builtin(c, n->str) ? builtin_find(n->str) : NULL;

	if (b) {
		b->check(c, n);
		return;
	}
	if (enum_constant(c, n) || header_constant(c, n))
		return;
	check_none(c, n);
	check_error(c, n, "Unknown identifier: '%s'", n->str);
	check_suggest(c, n->str, builtin_name_at);
}

static void check_call(struct comp *c, struct node *n)
{
	const struct fn *f = fn_find(n->str);

	if (!f) {
		check_error(c, n, "Unknown function: '%s'", n->str);
		check_suggest(c, n->str, fn_name_at);
		check_none(c, n);
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
		check_none(c, n);
		return;
	}
	if ((f->flags & FN_UNSAFE) && !c->opts->unsafe) {
		check_error(c, n, "%s() is an unsafe function being used in safe mode", n->str);
		if (!c->opts->compat)
			diag_hint(&c->diags, "--unsafe allows it");
	}
	if (!(f->flags & FN_RAW)) {
		for (u32 i = 0; i < n->n_kids; i++) {
			if (!i && n->kids[i]->kind == N_STR && (f->flags & FN_FORMAT))
				n->kids[i]->op = NODE_FORMAT;
			check_expr(c, n->kids[i]);
		}
	}
	n->type = type_new(&c->types, f->flags & FN_STATEMENT ? T_VOID : T_NONE, 0);
	f->check(c, n);
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
	check_none(c, n);
}

static void check_tuple_field(struct comp *c, struct node *n, const struct type *t)
{
	u32 i = (u32)MIN(n->ival, UINT32_MAX);

	if (n->str[0] >= '0' && n->str[0] <= '9' && type_is_record(t)) {
		check_error(c, n, "Can not access index '%s' on expression of type '%s'", n->str,
			    check_type_text(c, t));
		check_none(c, n);
		return;
	}
	if (!(n->str[0] >= '0' && n->str[0] <= '9')) {
		for (i = 0; i < t->n_fields && !streq(t->fields[i].name, n->str);)
			i++;
		if (i == t->n_fields) {
			check_error(c, n, "the tuple has no element named '%s'", n->str);
			check_none(c, n);
			return;
		}
		n->ival = i;
	}
	if (i >= t->n_fields) {
		check_error(c, n, "Invalid tuple index: %s. Found %u elements in tuple.", n->str,
			    t->n_fields);
		check_none(c, n);
		return;
	}
	n->type = t->fields[i].type;
}

/* config().name is a setting, known when the program is compiled. */
static bool config_field(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[0];
	struct node *name;

	if ((a->kind != N_CALL && a->kind != N_IDENT) || a->n_kids || !streq(a->str, "config"))
		return false;
	name = arena_zalloc(&c->prog.arena, sizeof(*name));
	name->kind = N_STR;
	name->at = n->at;
	name->str = n->str;
	name->str_len = (u32)strlen(n->str);
	n->kind = N_CALL;
	n->str = "config";
	n->flag = true;
	n->kids = arena_dup(&c->prog.arena, &name, sizeof(name));
	check_expr(c, n);
	return true;
}

static void check_field(struct comp *c, struct node *n)
{
	const struct type *t;
	struct field *f;

	if (config_field(c, n))
		return;
	c->at->in_member = n->kids[0]->kind == N_IDENT;
	check_expr(c, n->kids[0]);
	c->at->in_member = false;
	t = n->kids[0]->type;
	if (t->kind == T_PTR)
		t = type_pointee(&c->types, t);
	if (t->kind == T_NONE) {
		check_none(c, n);
		return;
	}
	if (t->kind == T_TUPLE) {
		check_tuple_field(c, n, t);
		return;
	}
	if (t->kind != T_STRUCT) {
		check_error(c, n, "Can not access field '%s' on expression of type '%s'", n->str,
			    check_type_text(c, n->kids[0]->type));
		check_none(c, n);
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
		check_none(c, n);
		return;
	}
	if (!type_is_number(i->type))
		check_error(c, n, "The array index operator [] only accepts numbers. Got: %s",
			    check_type_text(c, i->type));
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
		strict_index(c, n, i);
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
		check_none(c, n);
	}
}

static void check_tuple(struct comp *c, struct node *n)
{
	const struct type **elems = arena_alloc(&c->arena, (n->n_kids + 1) * sizeof(*elems));

	for (u32 i = 0; i < n->n_kids; i++) {
		check_expr(c, n->kids[i]);
		elems[i] = n->kids[i]->type;
		if (elems[i]->kind == T_NONE) {
			check_none(c, n);
			return;
		}
		if (elems[i]->kind == T_VOID || type_is_agg(elems[i]))
			elems[i] = check_int64(c, true);
	}
	n->type = type_tuple(&c->types, elems, n->names, n->n_kids);
}

/* (int8[])x has as many elements as x has bytes; its elements are numbers, not text. */
static const struct type *cast_to_array(struct comp *c, const struct node *n, const struct type *to,
					const struct type *from)
{
	const struct type *elem = to->kind == T_STR ? type_int(&c->types, 1, true) : to->elem;
	u32 count = n->tn->dims[0];

	if (!elem || elem->kind != T_INT)
		return to;
	if (!count && elem->size)
		count = (from->kind == T_INT || from->kind == T_STR || from->kind == T_ARRAY
				 ? from->size
				 : 8) /
			elem->size;
	return type_array(&c->types, elem, count);
}

static bool array_holds(const struct type *to, const struct node *a)
{
	if (a->type->kind == T_STR || a->type->kind == T_ARRAY)
		return a->type->size == to->size;
	if (!type_is_number(a->type) || to->size > 8)
		return false;
	return a->folded || to->size == 8 ? a->type->size <= to->size : a->type->size == to->size;
}

/* Constants of the script's enums; those of the kernel are not checked. */
static bool enum_has(struct comp *c, const struct type *t, s64 value)
{
	vec_each(it, &c->prog.defines) {
		if (it->of && streq(it->of->name, t->name) && it->value == value)
			return true;
	}
	return t->btf;
}

static void check_cast(struct comp *c, struct node *n)
{
	const struct type *to = check_type_name(c, n->tn), *from;
	struct node *a = n->kids[0];

	if (!to && starts_with(n->tn->name, "enum "))
		diag_error(&c->diags, (struct span_at){ n->at.start, n->tn->at.end + 1 },
			   "Unknown enum: %s", n->tn->name + strlen("enum "));

	check_expr(c, a);
	from = a->type;
	if (to && n->tn->n_dims == 1 && !n->tn->pointers && !n->tn->outer &&
	    !streq(n->tn->name, "string") && !streq(n->tn->name, "buffer"))
		to = cast_to_array(c, n, to, from);
	n->type = to ? to : type_new(&c->types, T_NONE, 0);
	if (!to || from->kind == T_NONE)
		return;
	if (c->opts->compat && to->kind == T_INT && a->kind == N_MAP && a->ref &&
	    ((const struct map_def *)a->ref)->value->kind == T_STATS)
		diag_error(&c->diags, (struct span_at){ n->at.start, n->tn->at.end + 1 },
			   "Cannot cast from \"stats_t\" to \"%s\"", check_type_text(c, to));
	if (c->opts->compat && to->kind == T_INT && from->kind == T_ARRAY && to->size != from->size)
		diag_error(&c->diags, (struct span_at){ n->at.start, n->tn->at.end + 1 },
			   "Cannot cast from \"%s\" to \"%s\"", check_type_text(c, from),
			   check_type_text(c, to));
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
		if (to->name && starts_with(to->name, "enum ") && from->is_literal && !from->name &&
		    !enum_has(c, to, (s64)v))
			diag_error(&c->diags, (struct span_at){ n->at.start, n->tn->at.end + 1 },
				   "%s has no constant %lld", to->name, (long long)v);
		return;
	}
	if (to->kind == T_PTR && from->kind == T_STR) {
		n->type = type_in_space(&c->types, to, SPACE_KERNEL);
		check_keep(c, n, from);
		return;
	}
	if (to->kind == T_PTR && from->kind == T_INT && from->space != SPACE_BPF)
		n->type = type_in_space(&c->types, to, from->space);
	else if (to->kind == T_PTR && from->kind == T_PTR && to->space == SPACE_ANY)
		n->type = type_in_space(&c->types, to, from->space);
	else if (to->kind == T_PTR && to->space == SPACE_KERNEL && from->kind != T_PTR)
		n->type = type_in_space(&c->types, to, SPACE_ANY);
	else if (to->kind == T_PTR && from->kind == T_PTR)
		n->type = type_in_space(&c->types, to, from->space);
	if (to->kind == T_STR && from->kind == T_STR && to->size >= from->size)
		return;
	if (to->kind == T_ARRAY && array_holds(to, a))
		return;
	if (to->kind == T_STRUCT || to->kind == T_ARRAY || to->kind == T_STR ||
	    (to->kind == T_INT && !type_is_number(from) && from->kind != T_ARRAY &&
	     (type_stored(from) != 8 || (from->kind == T_STR && !type_is_bool(to)))))
		diag_error(&c->diags, (struct span_at){ n->at.start, n->tn->at.end + 1 },
			   "Cannot cast from \"%s\" to \"%s\"", check_type_text(c, from),
			   check_type_text(c, to));
}

static void check_block_expr(struct comp *c, struct node *n)
{
	bool has_value = n->n_kids && n->kids[n->n_kids - 1]->kind == N_EXPR;

	c->at->depth++;
	for (u32 i = 0; i + has_value < n->n_kids; i++)
		check_stmt(c, n->kids[i]);
	if (has_value)
		check_expr(c, n->kids[n->n_kids - 1]->kids[0]);
	c->at->depth--;
	if (has_value)
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
