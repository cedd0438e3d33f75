/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of types, and the layout of structs that a script defines. */
#include "lang/check/strict.h"
#include "lang/probe/debuginfo.h"
#include "lang/probe/provider.h"

static const struct type *script_struct(struct comp *c, struct c_struct *s);

static const struct type *field_type(struct comp *c, const struct c_field *f)
{
	const struct type *t;

	if (f->inner) {
		t = script_struct(c, f->inner);
		for (u32 i = 0; i < f->tn.pointers; i++)
			t = type_ptr(&c->types, t, SPACE_ANY);
		for (u32 i = f->tn.n_dims; i-- > 0;)
			t = type_array(&c->types, t, f->tn.dims[i]);
		return t;
	}
	t = check_type_name(c, &f->tn);
	return t ? t : type_int(&c->types, 4, true);
}

static u32 type_align(const struct type *t)
{
	u32 align = 1;

	if (t->kind == T_ARRAY)
		return type_align(t->elem);
	if (t->kind == T_STR)
		return 1;
	if (t->kind == T_STRUCT && t->n_fields) {
		for (u32 i = 0; i < t->n_fields; i++)
			align = MAX(align, type_align(t->fields[i].type));
		return align;
	}
	if (t->kind == T_STRUCT)
		return 8;
	return t->size ? MIN(t->size, 8u) : 1;
}

/* Layout as a C compiler does it. */
static void lay_out(struct comp *c, const struct c_struct *s, struct field *fields,
		    struct type *ret)
{
	u64 bit = 0, size = 0;
	u32 align = MAX(s->aligned, 1u);

	for (size_t i = 0; i < s->fields.len; i++) {
		const struct c_field *f = &s->fields.items[i];
		const struct type *t = field_type(c, f);
		u32 a = s->packed ? 1 : type_align(t), unit = t->size * 8;

		align = MAX(align, a);
		if (s->is_union)
			bit = 0;
		if (f->bits && unit) {
			if (bit / unit != (bit + f->bits - 1) / unit)
				bit = ALIGN_UP(bit, (u64)unit);
			fields[i].offset = (u32)(bit / unit * t->size);
			fields[i].bit = (u32)(bit % unit);
			fields[i].bits = f->bits;
			bit += f->bits;
		} else {
			bit = ALIGN_UP(bit, (u64)a * 8);
			fields[i].offset = (u32)(bit / 8);
			bit += (u64)t->size * 8;
		}
		fields[i].name = f->name;
		fields[i].type = t;
		size = MAX(size, (bit + 7) / 8);
	}
	ret->size = size > TYPE_MAX_SIZE ? 0 : (u32)ALIGN_UP(size, (u64)align);
}

static const struct type *script_struct(struct comp *c, struct c_struct *s)
{
	struct type *t;
	struct field *fields;

	if (s->type)
		return s->type;
	t = type_new(&c->types, T_STRUCT, 0);
	t->name = *s->name ? s->name : "struct";
	t->space = SPACE_ANY;
	s->type = t; /* before its fields: they may point to it */
	fields = arena_zalloc(&c->types.arena, (s->fields.len + 1) * sizeof(*fields));
	lay_out(c, s, fields, t);
	t->fields = fields;
	t->n_fields = (u32)s->fields.len;
	return t;
}

/* An enum of the script, or NULL. */
static const struct type *script_enum(struct comp *c, const char *name)
{
	vec_each(it, &c->prog.defines) {
		struct type *t;

		if (!it->of || !streq(it->of->name, name))
			continue;
		t = type_new(&c->types, T_INT, 4);
		t->name = it->of->name;
		return t;
	}
	return NULL;
}

static const struct type *named(struct comp *c, const char *name)
{
	const struct type *t;
	const char *bare;

	for (size_t i = c->prog.structs.len; i-- > 0;) {
		struct c_struct *s = c->prog.structs.items[i];

		bare = strchr(s->name, ' ');
		if (streq(s->name, name) || (bare && bare[1] && streq(bare + 1, name)))
			return script_struct(c, s);
	}
	t = type_by_name(&c->types, name);
	t = t ? t : script_enum(c, name);
	if (t)
		return t;
	/* A program's own types come before the kernel's of that name. */
	if (c->at->target && (c->at->target->provider->flags & PROBE_USER) &&
	    c->at->target->group) {
		t = debuginfo_type(c, c->at->target->group, name);
		if (t)
			return t;
	}
	t = type_by_btf_name(&c->types, name, SPACE_KERNEL);
	/* An undefined enum is still a number, but not for bpftrace. */
	if (!t && c->opts->compat)
		return NULL;
	return t || !starts_with(name, "enum ") ? t : type_int(&c->types, 4, false);
}

const struct type *check_type_name(struct comp *c, const struct type_name *tn)
{
	const struct type *t;
	u32 dims = tn->n_dims;

	if (tn->of) {
		strict_word(c, tn->of);
		check_expr(c, tn->of);
		t = check_value_type(c, tn->of);
		if (t->kind == T_NONE)
			return NULL;
	} else {
		t = named(c, tn->name);
	}
	if (!t && tn->pointers) {
		/* A pointer to an unknown type is still a pointer. */
		if (c->at->final)
			diag_error(&c->diags, tn->at, "Cannot resolve unknown type \"%s\"",
				   tn->name);
		t = type_new(&c->types, T_VOID, 0);
	}
	if (!t) {
		diag_error(&c->diags, tn->at, "Cannot resolve unknown type \"%s\"", tn->name);
		return NULL;
	}
	if ((t->kind == T_STR || t->kind == T_BUF) && dims == 1) {
		u32 size = MIN(tn->dims[0], (u32)TYPE_MAX_STRING);

		return t->kind == T_STR ? type_str(&c->types, size) : type_buf(&c->types, size);
	}
	if (t->kind == T_STR && !t->size)
		t = type_str(&c->types, (u32)c->config.max_strlen);
	for (u32 i = 0; i < tn->pointers; i++)
		t = type_ptr(&c->types, t,
			     t->kind == T_STRUCT || t->kind == T_PTR ? t->space : SPACE_ANY);
	for (u32 i = dims; i-- > 0;)
		t = type_array(&c->types, t, tn->dims[i]);
	for (u32 i = 0; i < tn->outer; i++)
		t = type_ptr(&c->types, t, SPACE_ANY);
	return t;
}
