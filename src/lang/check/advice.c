/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings that bpftrace gives about programs that are valid, but perhaps not intended. */
#include "lang/check/check.h"
#include "lang/comp.h"

/* A statement with the semicolon that ends it. */
static struct span_at with_end(const struct comp *c, struct span_at at)
{
	if (at.end < c->src.len && c->src.text[at.end] == ';')
		at.end++;
	return at;
}

static bool wanted(const struct comp *c)
{
	return c->opts->compat && c->at->final && !c->at->dead;
}

/* Does the block end after the statement? */
static bool is_last(const struct comp *c, struct span_at at)
{
	u32 i = with_end(c, at).end;

	while (i < c->src.len && strchr(" \t\n\r", c->src.text[i]))
		i++;
	return i < c->src.len && c->src.text[i] == '}';
}

/* Names, and what is last in a block, stand for themselves; whatever else ends with the statement.
 */
static bool is_name(const struct node *e)
{
	return e->kind == N_VAR || e->kind == N_MAP ||
	       (e->kind == N_IDENT && !streq(e->str, "kstack") && !streq(e->str, "ustack"));
}

void advise_discarded(struct comp *c, const struct node *e)
{
	const struct fn *f = e->kind == N_CALL ? fn_find(e->str) : NULL;

	if (!wanted(c) || e->kind == N_INCDEC || e->type->kind == T_NONE ||
	    e->type->kind == T_VOID || type_is_agg(e->type) || e->kind == N_BLOCK_EXPR)
		return;
	if (f && (f->flags & FN_STATEMENT))
		return;
	diag_warning(&c->diags, is_name(e) || is_last(c, e->at) ? e->at : with_end(c, e->at),
		     "Return value discarded.");
}

void advise_empty(struct comp *c, const struct node *n, const struct variable *v)
{
	if (wanted(c) && v->empty)
		diag_warning(&c->diags, n->at, "Variable used before it was assigned: %s", n->str);
}

void advise_unassigned(struct comp *c)
{
	vec_each(it, &c->at->vars) {
		if (wanted(c) && (*it)->empty && (*it)->let.end)
			diag_warning(&c->diags, (*it)->let, "Variable %s was never assigned to.",
				     (*it)->name);
	}
}

static bool ends_block(const struct node *n)
{
	const struct node *e = n->kind == N_EXPR ? n->kids[0] : NULL;

	return n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE ||
	       (e && e->kind == N_CALL && streq(e->str, "exit"));
}

void advise_unreachable(struct comp *c, const struct node *block)
{
	for (u32 i = 0; wanted(c) && i + 1 < block->n_kids; i++) {
		if (!ends_block(block->kids[i]))
			continue;
		diag_warning(&c->diags, with_end(c, block->kids[i + 1]->at),
			     "Unreachable statement.");
		return;
	}
}

void advise_while(struct comp *c, const struct node *n)
{
	if (!wanted(c))
		return;
	diag_warning(&c->diags, n->at,
		     "While loops are deprecated and may be removed in the future.");
	diag_hint(&c->diags,
		  "For loops support ranges (e.g. `for ($x : $start..$end) { ... }`), and "
		  "can be used in place of while. These are more easily proven to be "
		  "bounded by the verifier.");
}

void advise_print(struct comp *c, const struct node *n, const struct type *t)
{
	if (wanted(c) && n->n_kids > 1 && t->kind == T_STATS)
		diag_warning(&c->diags, n->at,
			     "print()'s top and div arguments are ignored when used on stats() "
			     "maps.");
}

void advise_debugf(struct comp *c, const struct node *n)
{
	if (wanted(c) && streq(n->str, "debugf"))
		diag_warning(&c->diags, n->at,
			     "The debugf() builtin is not recommended for production use. For "
			     "more information see bpf_trace_printk in bpf-helpers(7).");
}

void advise_unstable(struct comp *c, const char *feature)
{
	if (wanted(c))
		diag_warning(&c->diags, SPAN_NOWHERE,
			     "Script is using an unstable feature: %s. To prevent this warning you "
			     "must explicitly enable it in the config e.g. unstable_%s=enable",
			     feature, feature);
}

static bool holds_all(const struct type *t, const struct type *values)
{
	if (t->is_signed == values->is_signed || (values->is_literal && !t->is_signed))
		return t->size >= values->size;
	return t->is_signed && t->size > values->size;
}

void advise_cast(struct comp *c, const struct node *value, const struct type *to)
{
	const struct type *t = value->type;
	const struct variable *v = value->kind == N_VAR ? value->ref : NULL;
	struct span_at at = value->at;

	if (t->kind != T_INT || to->kind != T_INT || type_is_bool(t) || t->name ||
	    (value->folded && value->kind != N_CAST) || value->kind == N_MAP || (v && v->counts))
		return;
	if (value->kind == N_CAST)
		at.end = value->tn->at.end + 1;
	advise_cast_at(c, at, t, to);
}

void advise_cast_at(struct comp *c, struct span_at at, const struct type *t, const struct type *to)
{
	if (!wanted(c) || holds_all(to, t))
		return;
	diag_warning(&c->diags, at,
		     "Expression of type: %s being cast to type: %s. This may cause unexpected "
		     "results. Use an explicit cast to suppress this warning.",
		     check_type_text(c, t), check_type_text(c, to));
}
