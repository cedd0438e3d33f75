/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sizeof, offsetof, typeinfo: what is asked about types, and never evaluated. */
#include "lang/check/strict.h"

/* Names of types for scripts: the kind, as bpftrace calls it, then the whole name. */
static const char *base_type(struct comp *c, const struct type *t)
{
	switch (t->kind) {
	case T_INT: return "int";
	case T_STR: return "string";
	case T_PTR: return "pointer";
	case T_ARRAY: return "array";
	case T_STRUCT: return "c_type";
	case T_TUPLE: return type_is_record(t) ? "record" : "tuple";
	case T_BUF: return "buffer";
	default: return check_type_text(c, t);
	}
}

/* As a script writes it. */
static const char *full_type(struct comp *c, const struct type *t)
{
	if (t->kind == T_INT)
		return arena_printf(&c->arena, "%sint%u", t->is_signed ? "" : "u", t->size * 8);
	return check_type_text(c, t);
}

static struct node *literal_text(struct comp *c, const struct node *at, const char *text)
{
	struct node *n = arena_zalloc(&c->prog.arena, sizeof(*n));

	n->kind = N_STR;
	n->at = at->at;
	n->str = arena_strdup(&c->prog.arena, text);
	n->str_len = (u32)strlen(text);
	n->op = NODE_FORMAT; /* of any length */
	return n;
}

/* A record; its number in the kernel's BTF may be 0. What was asked about is not evaluated. */
static void become_typeinfo(struct comp *c, struct node *n, const struct type *t)
{
	static const char *const names[] = { "btf_id", "base_type", "full_type" };
	struct node *id = arena_zalloc(&c->prog.arena, sizeof(*id));

	id->kind = N_INT;
	id->at = n->at;
	id->ival = t->btf;
	id->flag = true;
	n->kind = N_TUPLE;
	n->tn = NULL;
	n->names = names;
	n->kids = arena_alloc(&c->prog.arena, 3 * sizeof(*n->kids));
	n->kids[0] = id;
	n->kids[1] = literal_text(c, n, base_type(c, t));
	n->kids[2] = literal_text(c, n, full_type(c, t));
	n->n_kids = 3;
	check_expr(c, n);
}

/* The offset of a.b.c. */
static bool nested_field(struct comp *c, const struct type *t, const char *path, u64 *ret)
{
	struct field f;

	for (const char *end; path; path = *end ? end + 1 : NULL) {
		const char *name;

		end = path + strcspn(path, ".");
		name = arena_strndup(&c->arena, path, (size_t)(end - path));
		if (!type_field(&c->types, t, name, &f))
			return false;
		*ret += f.offset;
		t = f.type;
	}
	return true;
}

/* Said in the first pass: there is no such node in the later ones. */
static void refuse_typeinfo(struct comp *c, const struct node *n)
{
	bool mute = c->diags.mute;

	c->diags.mute = false;
	check_error(c, n,
		    "typeinfo feature is not enabled by default. To enable this unstable feature, "
		    "set the config flag to enable. unstable_typeinfo=enable");
	c->diags.mute = mute;
}

void check_sizeof(struct comp *c, struct node *n)
{
	const struct type *t;
	u64 offset = 0;
	bool mute;

	if (n->tn) {
		t = check_type_name(c, n->tn);
	} else {
		mute = c->diags.mute;
		c->diags.mute = mute && n->kind != N_TYPEINFO; /* gone in the last pass */
		strict_word(c, n->kids[0]);
		c->diags.mute = mute;
		check_expr(c, n->kids[0]);
		t = n->kids[0]->type;
	}
	if (n->kind == N_TYPEINFO) {
		if (c->opts->compat && !c->config.typeinfo)
			refuse_typeinfo(c, n);
		if (t && t->kind != T_NONE)
			become_typeinfo(c, n, t);
		else
			n->type = type_new(&c->types, T_NONE, 0);
		return;
	}
	n->type = check_int64(c, false);
	if (!t || t->kind == T_NONE)
		return;
	if (n->kind == N_SIZEOF) {
		check_fold(c, n, type_sizeof(t), false);
		return;
	}
	if (!nested_field(c, t, n->str, &offset)) {
		check_error(c, n, "'%s' has no field '%s'", check_type_text(c, t), n->str);
		return;
	}
	check_fold(c, n, offset, false);
}
