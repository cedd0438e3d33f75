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

/* What C calls a type in one word has another name here. */
static const char *type_word(const char *word)
{
	static const char *const words[][2] = { { "int", "int32" },       { "char", "int8" },
						{ "short", "int16" },     { "long", "int64" },
						{ "unsigned", "uint32" }, { "signed", "int32" } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (streq(words[i][0], word))
			return words[i][1];
	}
	return word;
}

static const struct node *argument(const struct expansion *x, const struct node *n)
{
	for (u32 i = 0; i < x->m->n_params; i++) {
		const struct node *p = x->m->params[i];

		if (p->kind == n->kind && streq(p->str, n->str))
			return x->args[i];
	}
	return NULL;
}

static void substitute(const struct expansion *x, struct node **slot);

/* A parameter may stand for a type: (x)5, struct x, typeof(x). */
static void substitute_type(const struct expansion *x, struct node *n)
{
	struct type_name *tn = arena_dup(&x->c->prog.arena, n->tn, sizeof(*tn));
	const char *space = tn->of ? NULL : strchr(tn->name, ' ');
	const char *bare = space ? space + 1 : tn->name;
	const struct node *arg;

	n->tn = tn;
	if (tn->of) {
		substitute(x, &tn->of);
		return;
	}
	arg = argument(x, &(struct node){ .kind = N_IDENT, .str = bare });
	if (!arg)
		return;
	if (arg->kind != N_IDENT) {
		check_error(x->c, arg,
			    "Invalid replacement for macro '%s' type parameter '%s' which makes up "
			    "the type '%s'",
			    x->m->name, bare, tn->name);
		return;
	}
	tn->name = space ? arena_printf(&x->c->prog.arena, "%.*s %s", (int)(space - tn->name),
					tn->name, arg->str)
			 : type_word(arg->str);
}

static void substitute(const struct expansion *x, struct node **slot)
{
	struct node *n = *slot;
	const struct node *arg = NULL;

	if (n->tn)
		substitute_type(x, n);
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

/* What a body must not have, if anything. */
static const struct node *misplaced(const struct macro_def *m, const struct node *n)
{
	const struct node *found = n->kind == N_RETURN ? n : NULL;

	for (u32 i = 0; n->kind == N_LET && i < m->n_params; i++) {
		if (m->params[i]->kind == N_VAR && streq(m->params[i]->str, n->kids[0]->str))
			found = n;
	}
	for (u32 i = 0; !found && i < n->n_kids; i++)
		found = misplaced(m, n->kids[i]);
	return found;
}

static bool check_body(struct comp *c, const struct macro_def *m)
{
	const struct node *n = misplaced(m, m->body);

	if (!n)
		return true;
	if (n->kind == N_RETURN)
		check_error(c, n, "'return' statement is not allowed in a macro");
	else
		diag_error(&c->diags, (struct span_at){ n->at.start, n->kids[0]->at.end },
			   "Variable declaration shadows macro arg %s", n->kids[0]->str);
	return false;
}

static bool expand_call(struct comp *c, struct node **slot, struct macro_def *m, u32 depth)
{
	struct node *call = *slot, *body;
	struct expansion x = { .c = c, .m = m, .args = call->kids, .number = ++c->at->expansions };
	bool valid;

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
	if (m->depth) {
		check_error(c, call, "Recursive macro call detected: %s", m->name);
		return false;
	}
	if (!check_body(c, m))
		return false;
	body = node_clone(&c->prog.arena, m->body);
	body->kind = N_BLOCK_EXPR;
	substitute(&x, &body);
	*slot = body;
	m->depth++;
	valid = expand(c, slot, depth + 1);
	m->depth--;
	return valid;
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
