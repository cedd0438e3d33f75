/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bpftrace refuses although it could be done: refused in bpftrace mode, at the same position.
 */
#include "lang/check/strict.h"
#include "lang/front/lex.h"

bool strict_builtin(const struct comp *c, const char *name)
{
	static const char *const known[] = { "comm",  "elapsed",  "cpid",      "probe",
					     "ncpus", "usermode", "probetype", "func",
					     "cpu",   "retval",   "elf_ino",   "elf_is_exe" };
	const char *bare = starts_with(name, "__builtin_");

	if (!bare || !c->opts->compat)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (streq(bare, known[i]))
			return true;
	}
	return false;
}

/*
 * Most words are macros of bpftrace's library, and in sizeof, typeof and typeinfo a word without
 * parentheses is looked up as a type: some are types of the kernel, too.
 */
void strict_word(struct comp *c, const struct node *n)
{
	static const char *const macros[] = {
		"uid",        "gid",      "comm",      "curtask",  "elapsed",    "func",
		"rand",       "username", "jiffies",   "numaid",   "ncpus",      "probetype",
		"cpid",       "has_cpid", "usermode",  "ppid",     "pcomm",      "leader_comm",
		"leader_tid", "retval",   "dw_ustack", "elf_info", "elf_is_exe",
	};

	if (!c->opts->compat || n->kind != N_IDENT || n->at.end - n->at.start != strlen(n->str))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(macros); i++) {
		if (!streq(n->str, macros[i]))
			continue;
		check_error(c, n, "Unknown identifier: '%s'", n->str);
		diag_hint(&c->diags, "%s() is its value", n->str);
	}
}

void strict_text(struct comp *c, const struct node *n, const struct node *at)
{
	if (c->opts->compat && n->str_len >= c->config.max_strlen)
		check_error(c, at, "String is too long (over %llu bytes): %s",
			    (unsigned long long)c->config.max_strlen, n->str);
}

static bool is_signed_number(const struct type *t)
{
	return t->kind == T_INT && t->is_signed && !t->is_literal;
}

void strict_index(struct comp *c, const struct node *n, const struct node *index)
{
	const struct variable *v = index->kind == N_VAR ? index->ref : NULL;

	if (!c->opts->compat || index->folded || (v && v->counts) ||
	    (index->kind != N_VAR && index->kind != N_BINARY) || !is_signed_number(index->type))
		return;
	check_error(
		c, n,
		"The array index operator [] only accepts non-negative integer indices. Got: %s",
		check_type_text(c, index->type));
	diag_hint(&c->diags, "cast it: (uint64)");
}

void strict_fold(struct comp *c, const struct node *n)
{
	if (c->opts->compat)
		check_error(c, n, "unable to fold literals due to overflow or underflow");
}

void strict_condition(struct comp *c, const struct node *n, struct span_at at)
{
	if (c->opts->compat && n->type->kind == T_STR && n->kind != N_STR)
		diag_error(&c->diags, at, "Invalid condition: string");
	if (c->opts->compat && n->kind == N_MAP && type_is_agg(n->type))
		diag_error(&c->diags, at, "Invalid condition: %s", check_type_text(c, n->type));
}

void strict_exit(struct comp *c, const struct node *n)
{
	if (c->opts->compat && c->at->for_depth)
		check_error(c, n, "'return' statement is not allowed in a for-loop");
}

struct span_at strict_comptime(const struct comp *c, const struct node *n)
{
	struct span_at at = n->kids[0]->at;
	const char *close = c->src.text + at.end;

	if (!c->opts->compat)
		return at;
	close += strspn(close, " \t");
	return (struct span_at){ n->op, *close == ')' ? (u32)(close + 1 - c->src.text) : at.end };
}

/* -5 is one, too. */
static bool is_literal(const struct node *n)
{
	return n->kind == N_STR || n->kind == N_INT ||
	       (n->kind == N_UNARY && n->op == OP1('-') && n->kids[0]->kind == N_INT);
}

bool strict_long_str(struct comp *c, const struct node *n)
{
	struct node *a = n->kids[0];

	if (!c->opts->compat || !is_literal(a) || !is_literal(n->kids[1]))
		return false;
	if (a->kind == N_STR)
		return true;
	a->str = arena_printf(&c->prog.arena, "%.*s", (int)(a->at.end - a->at.start),
			      c->src.text + a->at.start);
	a->str_len = (u32)strlen(a->str);
	a->kind = N_STR;
	a->flag = false;
	a->n_kids = 0;
	return true;
}

bool strict_divides(const struct comp *c, const struct node *n)
{
	const struct node *by = n->kids[1];

	return c->opts->compat && (n->op == OP1('/') || n->op == OP1('%')) && !by->ival &&
	       !by->type->is_literal;
}

void strict_for_map(struct comp *c, const struct node *map)
{
	enum type_kind kind = map->type->kind;

	if (c->opts->compat && c->at->final &&
	    (kind == T_STATS || kind == T_HIST || kind == T_LHIST || kind == T_TSERIES))
		check_error(c, map, "Loop expression does not support type: %s",
			    check_type_text(c, map->type));
}

const struct type *strict_type(const struct comp *c, const struct node *n, const struct type *t)
{
	const struct variable *v;

	if (!c->opts->compat || n->kind != N_FIELD || !n->str || !streq(n->str, "1") ||
	    n->kids[0]->kind != N_VAR)
		return t;
	v = n->kids[0]->ref;
	return v && v->of_agg ? v->of_agg : t;
}

void strict_loop_value(struct comp *c, const struct node *n, const struct node *value)
{
	const struct type *t = strict_type(c, value, value->type);

	if (t == value->type)
		return;
	check_error(c, n, "Map value '%s' cannot be assigned from one map to another.",
		    check_type_text(c, t));
	diag_hint(&c->diags, "cast it: (int64)");
}

void strict_param(struct comp *c, const struct node *n)
{
	bool mute = c->diags.mute;

	if (!c->opts->compat)
		return;
	c->diags.mute = false;
	diag_warning(&c->diags, n->at, "Positional parameter $%llu is empty or not provided.",
		     (unsigned long long)n->ival);
	c->diags.mute = mute;
}

/* Only structs are distinguished. */
static bool same_target(struct comp *c, const struct type *a, const struct type *b)
{
	const struct type *x = type_pointee(&c->types, a), *y = type_pointee(&c->types, b);

	return x->kind != T_STRUCT || y->kind != T_STRUCT || streq(x->name, y->name);
}

bool strict_pointers(struct comp *c, const struct type *a, const struct type *b)
{
	u32 n = a->kind == T_TUPLE && b->kind == T_TUPLE && !type_is_record(a)
			? MIN(a->n_fields, b->n_fields)
			: 0;

	if (!c->opts->compat)
		return true;
	for (u32 i = 0; i < n; i++) {
		if (!strict_pointers(c, a->fields[i].type, b->fields[i].type))
			return false;
	}
	if (a->kind == T_PTR && b->kind == T_PTR)
		return same_target(c, a, b);
	return !(a->kind == T_PTR && b->kind == T_INT) && !(a->kind == T_INT && b->kind == T_PTR);
}
