/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions on maps. */
#include "lang/gen/gen.h"

/* The argument is a whole map; its keys, if any are written, are checked by @keys. */
static struct map_def *whole_map(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];
	struct map_def *m;

	if (a->kind != N_MAP) {
		check_error(c, a, "%s() expects a map argument", n->str);
		return NULL;
	}
	m = comp_map(c, a->str, true);
	a->ref = m;
	a->type = m->value;
	m->used = true;
	if (m->value->kind == T_NONE && c->at->final)
		check_no_map(c, a, a->str);
	return m;
}

static void check_clear(struct comp *c, struct node *n)
{
	if (!whole_map(c, n))
		return;
	if (n->kids[0]->n_kids)
		check_error(c, n, "The map passed to %s() should not be indexed by a key", n->str);
}

static void emit_clear(struct gen *g, struct node *n, struct val *ret)
{
	struct event e = { .kind = n->str[0] == 'c' ? EV_CLEAR : EV_ZERO, .map = n->kids[0]->ref };

	(void)ret;
	gen_event(g, comp_event(g->c, &e), NULL, 0);
}

/* delete(@m, key) is delete(@m[key]). */
static void fold_key(struct comp *c, struct node *n)
{
	struct node *map = n->kids[0], *key = n->kids[n->n_kids - 1];

	if (n->n_kids < 2 || map->kind != N_MAP)
		return;
	if (key->kind == N_TUPLE && !key->names) {
		map->kids = key->kids;
		map->n_kids = key->n_kids;
	} else {
		map->kids = arena_dup(&c->prog.arena, &key, sizeof(key));
		map->n_kids = 1;
	}
	map->at.end = key->at.end;
	n->n_kids = 1;
}

static void check_delete(struct comp *c, struct node *n)
{
	fold_key(c, n);
	if (!whole_map(c, n))
		return;
	if (((struct map_def *)n->kids[0]->ref)->value->kind != T_NONE || n->kids[0]->n_kids)
		check_map(c, n->kids[0], false);
	n->type = type_bool(&c->types);
}

static void emit_delete(struct gen *g, struct node *n, struct val *ret)
{
	gen_map_delete(g, n->kids[0], ret);
}

static void check_has_key(struct comp *c, struct node *n)
{
	fold_key(c, n);
	if (whole_map(c, n)) {
		check_map(c, n->kids[0], false);
		if (!n->kids[0]->n_kids)
			check_error(c, n, "has_key() needs a map with a key");
	}
	n->type = type_bool(&c->types);
}

static void emit_has_key(struct gen *g, struct node *n, struct val *ret)
{
	gen_map_has_key(g, n->kids[0], ret);
}

/* Of a map its keys, of a stack its frames, of a string its characters. */
static void check_len(struct comp *c, struct node *n)
{
	const struct map_def *m;

	n->type = check_int64(c, true);
	if (n->kids[0]->kind != N_MAP || n->kids[0]->n_kids) {
		enum type_kind kind;

		check_expr(c, n->kids[0]);
		kind = n->kids[0]->type->kind;
		if (kind == T_STR && !c->opts->compat) {
			n->str = "strlen";
			check_expr(c, n);
		} else if (kind != T_NONE && kind != T_KSTACK && kind != T_USTACK) {
			check_error(c, n, "call to len() expects a map, ustack, or kstack%s",
				    kind == T_STR ? ": strlen() is for strings" : "");
		}
		return;
	}
	m = whole_map(c, n);
	if (m && !m->key && m->value->kind != T_NONE)
		check_error(c, n, "len() expects a map with keys");
}

static void emit_len(struct gen *g, struct node *n, struct val *ret)
{
	if (n->kids[0]->kind == N_MAP && !n->kids[0]->n_kids)
		gen_map_len(g, n->kids[0]->ref, ret);
	else
		gen_stack_len(g, n->kids[0], ret);
}

/* find(@m, key, $v): whether the key is there, and then its value in the variable. */
static void check_find(struct comp *c, struct node *n)
{
	struct node *map = n->kids[0], *key = n->kids[1], *assign;
	bool hidden;

	n->type = type_bool(&c->types);
	if (n->kids[2]->kind != N_VAR || map->kind != N_MAP) {
		check_error(c, n, "find() expects a map, a key and a variable");
		return;
	}
	/* Who wants to use it has to declare it. */
	hidden = c->opts->compat && !check_find_var(c, n->kids[2]->str);
	if (!map->n_kids && key->kind == N_TUPLE && !key->names) {
		map->kids = key->kids;
		map->n_kids = key->n_kids;
	} else if (!map->n_kids) {
		map->kids = arena_dup(&c->prog.arena, &key, sizeof(key));
		map->n_kids = 1;
	}
	assign = arena_zalloc(&c->prog.arena, sizeof(*assign));
	assign->kind = N_ASSIGN;
	assign->op = ASSIGN_PLAIN;
	assign->at = n->at;
	assign->kids =
		arena_dup(&c->prog.arena, (struct node *[]){ n->kids[2], map }, 2 * sizeof(map));
	assign->n_kids = 2;
	check_stmt(c, assign);
	if (hidden && n->kids[2]->ref)
		((struct variable *)n->kids[2]->ref)->visible = false;
	/* After the arguments, where only emit_find() looks. */
	n->kids = arena_dup(&c->prog.arena, (struct node *[]){ map, key, n->kids[2], assign },
			    4 * sizeof(map));
}

static void emit_find(struct gen *g, struct node *n, struct val *ret)
{
	ir_label none = ir_new_label(&g->ir);
	vreg r = ir_imm(&g->ir, 0);
	struct val there;

	gen_map_has_key(g, n->kids[0], &there);
	ir_branchi(&g->ir, BPF_JEQ, there.reg, 0, none);
	gen_stmt(g, n->kids[3]);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, none);
	*ret = gen_reg(r);
}

const struct fn fn_map_table[] = {
	{ "find", 3, 3, FN_RAW, check_find, emit_find },
	{ "len", 1, 1, FN_RAW, check_len, emit_len },
	{ "clear", 1, 1, FN_STATEMENT | FN_RAW, check_clear, emit_clear },
	{ "zero", 1, 1, FN_STATEMENT | FN_RAW, check_clear, emit_clear },
	{ "delete", 1, 2, FN_RAW, check_delete, emit_delete },
	{ "has_key", 1, 2, FN_RAW, check_has_key, emit_has_key },
	{ 0 },
};
