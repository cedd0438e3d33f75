/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macros: a call is replaced by a copy of the body in which parameters stand for the arguments.
 * Variables of the body are renamed, so that they cannot meet those of the caller.
 */
#include "lang/check/check.h"

enum { MACRO_MAX_EXPANSIONS = 10000, MACRO_MAX_DEPTH = 32 };

struct expansion {
	struct comp *c;
	const struct macro_def *m;
	struct node **args;
	u32 number;
	u32 depth;
};

static const struct node *argument(const struct expansion *x, const struct node *n)
{
	for (u32 i = 0; i < x->m->n_params; i++) {
		const struct node *p = x->m->params[i];

		if (p->kind == n->kind && streq(p->str, n->str))
			return x->args[i];
	}
	return NULL;
}

static void substitute(const struct expansion *x, struct node **slot)
{
	struct node *n = *slot;
	const struct node *arg = NULL;

	for (u32 i = 0; i < n->n_kids; i++)
		substitute(x, &n->kids[i]);
	if (n->kind == N_VAR || n->kind == N_MAP || n->kind == N_IDENT)
		arg = argument(x, n);
	if (arg && n->kind == N_MAP) {
		n->str = arg->str; /* keeps its keys */
	} else if (arg) {
		*slot = node_clone(&x->c->prog.arena, arg);
	} else if (n->kind == N_MAP) {
		check_error(x->c, n,
			    "Unhygienic access to map: %s. Maps must be passed into the macro as "
			    "arguments.",
			    n->str);
	} else if (n->kind == N_VAR) {
		n->str = arena_printf(&x->c->prog.arena, "%s.%u", n->str, x->number);
	}
}

static struct macro_def *find_macro(struct comp *c, const char *name, u32 n_args)
{
	struct macro_def *any = NULL;

	vec_each(it, &c->prog.macros) {
		if (!streq(it->name, name))
			continue;
		any = it;
		if (it->n_params == n_args)
			return it;
	}
	return any;
}

static bool expand(struct comp *c, struct node **slot, u32 depth);

static bool expand_call(struct comp *c, struct node **slot, struct macro_def *m, u32 depth)
{
	struct node *call = *slot, *body;
	struct expansion x = { .c = c, .m = m, .args = call->kids, .number = ++c->at->expansions };

	if (call->n_kids != m->n_params) {
		check_error(c, call,
			    "Call to macro has wrong number arguments. Expected: %u but "
			    "got %u",
			    m->n_params, call->n_kids);
		return false;
	}
	for (u32 i = 0; i < m->n_params; i++) {
		if (m->params[i]->kind != N_IDENT && m->params[i]->kind != call->kids[i]->kind) {
			check_error(c, call, "macro '%s' expects a %s as argument %u", m->name,
				    m->params[i]->kind == N_MAP ? "map" : "variable", i + 1);
			return false;
		}
	}
	if (c->at->expansions > MACRO_MAX_EXPANSIONS || depth > MACRO_MAX_DEPTH) {
		check_error(c, call, "macro '%s' expands without end", m->name);
		return false;
	}
	body = node_clone(&c->prog.arena, m->body);
	body->kind = N_BLOCK_EXPR;
	substitute(&x, &body);
	*slot = body;
	return expand(c, slot, depth + 1);
}

static bool expand(struct comp *c, struct node **slot, u32 depth)
{
	struct node *n = *slot;
	struct macro_def *m;

	for (u32 i = 0; i < n->n_kids; i++) {
		if (!expand(c, &n->kids[i], depth))
			return false;
	}
	if (n->kind != N_CALL && n->kind != N_IDENT)
		return true;
	m = find_macro(c, n->str, n->n_kids);
	if (!m || (n->kind == N_IDENT && m->n_params))
		return true;
	return expand_call(c, slot, m, depth);
}

static void check_redefinitions(struct comp *c)
{
	vec_each(it, &c->prog.macros) {
		for (const struct macro_def *m = c->prog.macros.items; m < it; m++) {
			bool same = streq(m->name, it->name) && m->n_params == it->n_params;

			for (u32 i = 0; same && i < m->n_params; i++)
				same = m->params[i]->kind == it->params[i]->kind;
			if (same)
				diag_error(&c->diags, it->at, "Redefinition of macro: %s",
					   it->name);
		}
	}
}

void comp_expand_macros(struct comp *c)
{
	check_redefinitions(c);
	for (size_t i = 0; c->prog.macros.len && i < c->prog.probes.len && !c->diags.errors; i++) {
		struct probe *p = &c->prog.probes.items[i];

		expand(c, &p->body, 0);
		if (p->predicate)
			expand(c, &p->predicate, 0);
	}
}
