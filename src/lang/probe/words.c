/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes whose context is an array of words, one for each argument: raw tracepoints, fentry and
 * fexit. Which words there are, BTF says.
 */
#include "lang/gen/gen.h"
#include "lang/comp.h"
#include "lang/probe/provider.h"

const struct type *probe_words_kernel_type(struct comp *c, const struct kbtf *btf, u32 id)
{
	(void)btf;
	return type_from_btf(&c->types, id, SPACE_KERNEL);
}

const struct type *probe_words_args(struct comp *c, const struct words_source *from,
				    const char *name)
{
	struct type *args = type_new(&c->types, T_STRUCT, 0);
	_cleanup_buf_ struct buf text = BUF_INIT;
	VEC(struct field) fields = { 0 };
	const char *param;
	u32 type;

	for (u32 i = 0; kbtf_param(from->btf, from->func, from->skip + i, &type, &param) == 0;
	     i++) {
		struct field f = { .offset = i * 8,
				   /* BTF of a program is gone before the name is used */
				   .name = *param ? arena_strdup(&c->arena, param)
						  : arena_printf(&c->arena, "arg%u", i),
				   .type = from->type_of(c, from->btf, type) };

		kbtf_type_name(from->btf, type, &text);
		f.decl = arena_printf(&c->arena, "%s %s", buf_str(&text), f.name);
		buf_reset(&text);
		vec_push(&fields, f);
	}
	args->name = name;
	args->space = SPACE_CTX;
	args->size = (u32)fields.len * 8;
	args->fields = arena_dup(&c->arena, fields.items, fields.len * sizeof(*fields.items));
	args->n_fields = (u32)fields.len;
	vec_release(&fields);
	return args;
}

const struct type *probe_words_arg_type(struct comp *c, u32 n)
{
	const struct type *args = c->at->target->args;

	return args && n < args->n_fields ? args->fields[n].type : NULL;
}

void probe_words_arg(struct gen *g, u32 n, struct val *ret)
{
	/* A copy of the word, so that the verifier sees a number and no pointer. */
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, (s32)n * 8));
}

/* Arguments are whole words, whatever their type. */
bool probe_words_field(struct gen *g, const struct field *f, struct val *ret)
{
	vreg r = ir_load(&g->ir, BPF_DW, g->ctx, (s32)f->offset);

	if (f->type->kind == T_INT)
		ir_extend(&g->ir, r, f->type->size, f->type->is_signed);
	*ret = gen_reg(r);
	return true;
}
