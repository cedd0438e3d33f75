/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More functions on strings and bytes. */
#include "lang/gen/gen.h"

static bool is_bytes(const struct type *t)
{
	return t->kind == T_STR || t->kind == T_BUF || t->kind == T_ARRAY || t->kind == T_STRUCT;
}

/* memcmp(a, b, n): 0 when the first n bytes are the same, negative when those of a are less. */
static void check_memcmp(struct comp *c, struct node *n)
{
	n->type = check_int64(c, true);
	for (u32 i = 0; i < 2; i++) {
		const struct type *t = n->kids[i]->type;

		if (t->kind != T_NONE && !is_bytes(t))
			check_error(c, n->kids[i],
				    "memcmp() compares strings, buffers, arrays and "
				    "structs, not '%s'",
				    check_type_text(c, t));
	}
	if (!n->kids[2]->folded) {
		if (n->kids[2]->type->kind != T_NONE)
			check_error(c, n->kids[2], "memcmp() expects a literal length");
		return;
	}
	for (u32 i = 0; i < 2; i++) {
		const struct type *t = n->kids[i]->type;

		if (is_bytes(t) && n->kids[2]->ival > t->size)
			check_error(c, n->kids[i], "memcmp() of %llu bytes, but this has %u",
				    (unsigned long long)n->kids[2]->ival, t->size);
	}
}

/* The 8 bytes at @i as a number whose highest byte is the first; bytes from @size on are left out.
 */
static vreg ordered_word(struct gen *g, const struct val *v, u32 i, u32 size)
{
	vreg r = ir_load(&g->ir, BPF_DW, v->reg, v->off + (s32)i);

	ir_alui(&g->ir, BPF_END, r, 64);
	if (size - i < 8)
		ir_alui(&g->ir, BPF_RSH, r, (s32)(64 - (size - i) * 8));
	return r;
}

static void emit_memcmp(struct gen *g, struct node *n, struct val *ret)
{
	u32 size = (u32)n->kids[2]->ival;
	ir_label end = ir_new_label(&g->ir);
	vreg r = ir_reg(&g->ir), x, y;
	struct val side[2];

	for (u32 i = 0; i < 2; i++) {
		gen_in_memory(g, n->kids[i], &side[i]);
		if (n->kids[i]->type->kind == T_BUF)
			side[i].off += 8;
	}
	/* The first byte of a word is its highest, so that words compare as their bytes do. */
	ir_movi(&g->ir, r, 0);
	for (u32 i = 0; i < size; i += 8) {
		x = ordered_word(g, &side[0], i, size);
		y = ordered_word(g, &side[1], i, size);
		ir_movi(&g->ir, r, -1);
		ir_branch(&g->ir, BPF_JLT, x, y, end);
		ir_movi(&g->ir, r, 1);
		ir_branch(&g->ir, BPF_JGT, x, y, end);
		ir_movi(&g->ir, r, 0);
	}
	ir_label_here(&g->ir, end);
	*ret = gen_reg(r);
}

static void need_string(struct comp *c, const struct node *n, u32 i)
{
	const struct type *t = n->kids[i]->type;

	if (t->kind != T_NONE && t->kind != T_STR)
		check_error(c, n, "%s() only supports string arguments (%s provided)", n->str,
			    check_type_text(c, t));
}

/* The bytes that the string may have, its end included. */
static void check_strcap(struct comp *c, struct node *n)
{
	need_string(c, n, 0);
	n->type = check_int64(c, false);
	if (n->kids[0]->type->kind == T_STR)
		check_fold(c, n, n->kids[0]->type->size, false);
}

static void check_str_concat(struct comp *c, struct node *n)
{
	u64 size = 1;

	for (u32 i = 0; i < 2; i++) {
		need_string(c, n, i);
		size += n->kids[i]->type->size;
	}
	n->type = type_str(&c->types, (u32)MIN(size, (u64)TYPE_MAX_STRING));
}

/* Copies the string to @dst and gives its length without the end, at most @size - 1. */
static vreg copy_string(struct gen *g, struct node *n, const struct val *dst, u32 size)
{
	ir_label low = ir_new_label(&g->ir), high = ir_new_label(&g->ir);
	struct val s;
	vreg len;

	gen_in_memory(g, n, &s);
	len = IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel_str, gen_addr_arg(g, dst),
		       ARG_IMM((s32)size), ARG_REG(gen_addr(g, &s)));
	ir_branchi(&g->ir, BPF_JSGT, len, 0, low);
	ir_movi(&g->ir, len, 1);
	ir_label_here(&g->ir, low);
	ir_alui(&g->ir, BPF_ADD, len, -1);
	ir_branchi(&g->ir, BPF_JLT, len, (s32)size, high);
	ir_movi(&g->ir, len, (s32)size - 1);
	ir_label_here(&g->ir, high);
	return len;
}

static void emit_str_concat(struct gen *g, struct node *n, struct val *ret)
{
	u32 first = MIN(n->kids[0]->type->size, n->type->size);
	u32 second = MIN(n->kids[1]->type->size, n->type->size);
	/* Room for both whole, so that the verifier sees that the second fits wherever it begins.
	 */
	struct val both = gen_temp_scratch(g, first + second + 8), tail;
	vreg at = ir_reg(&g->ir);

	gen_zero(g, &both, first + second + 8);
	ir_mov(&g->ir, at, copy_string(g, n->kids[0], &both, first));
	ir_alu(&g->ir, BPF_ADD, at, gen_addr(g, &both));
	tail = gen_mem(at, 0, SPACE_BPF);
	copy_string(g, n->kids[1], &tail, second);
	*ret = both;
}

static void check_default_length(struct comp *c, struct node *n)
{
	check_fold(c, n, c->config.max_strlen, false);
}

static void emit_nothing(struct gen *g, struct node *n, struct val *ret)
{
	(void)g;
	(void)n;
	(void)ret;
}

/* Pointers below zero by less than a page are errors of the kernel. */
static void check_is_err(struct comp *c, struct node *n)
{
	if (n->kids[0]->type->kind != T_NONE && !type_is_number(n->kids[0]->type))
		check_error(c, n, "is_err() expects a pointer or a number");
	n->type = type_bool(&c->types);
}

static void emit_is_err(struct gen *g, struct node *n, struct val *ret)
{
	ir_label no = ir_new_label(&g->ir);
	vreg r = ir_imm(&g->ir, 0);

	ir_branchi(&g->ir, BPF_JLT, gen_num(g, n->kids[0]), -4095, no);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, no);
	*ret = gen_reg(r);
}

const struct fn fn_str_table[] = {
	{ "memcmp", 3, 3, 0, check_memcmp, emit_memcmp },
	{ "strcap", 1, 1, 0, check_strcap, emit_nothing },
	{ "str_concat", 2, 2, 0, check_str_concat, emit_str_concat },
	{ "default_str_length", 0, 0, 0, check_default_length, emit_nothing },
	{ "is_err", 1, 1, 0, check_is_err, emit_is_err },
	{ 0 },
};
