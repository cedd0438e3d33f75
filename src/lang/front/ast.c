/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/ast.h"

void program_init(struct program *p)
{
	*p = (struct program){ 0 };
}

void program_release(struct program *p)
{
	vec_each(it, &p->probes)
		vec_release(&it->specs);
	vec_each(it, &p->structs)
		vec_release(&(*it)->fields);
	vec_release(&p->probes);
	vec_release(&p->config);
	vec_release(&p->macros);
	vec_release(&p->defines);
	vec_release(&p->map_decls);
	vec_release(&p->structs);
	vec_release(&p->includes);
	vec_release(&p->imports);
	vec_release(&p->directives);
	arena_release(&p->arena);
}

struct define *program_define(struct program *p, const char *name)
{
	for (size_t i = p->defines.len; i-- > 0;) {
		if (streq(p->defines.items[i].name, name))
			return &p->defines.items[i];
	}
	return NULL;
}

struct node *node_clone(struct arena *a, const struct node *n)
{
	struct node *copy = arena_dup(a, n, sizeof(*n));

	if (n->n_kids) {
		copy->kids = arena_alloc(a, n->n_kids * sizeof(*n->kids));
		for (u32 i = 0; i < n->n_kids; i++)
			copy->kids[i] = node_clone(a, n->kids[i]);
	}
	if (n->tn && n->tn->of) {
		struct type_name *tn = arena_dup(a, n->tn, sizeof(*tn));

		tn->of = node_clone(a, n->tn->of);
		copy->tn = tn;
	}
	return copy;
}

bool node_any(const struct node *n, bool (*visit)(const struct node *n, void *ctx), void *ctx)
{
	if (!n)
		return false;
	if (visit(n, ctx))
		return true;
	for (u32 i = 0; i < n->n_kids; i++) {
		/* What 'if comptime' has left out is not there. */
		if (n->kind == N_IF && n->flag && n->ival && i != n->ival)
			continue;
		if (node_any(n->kids[i], visit, ctx))
			return true;
	}
	return false;
}
