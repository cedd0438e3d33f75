/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More functions on strings and bytes. */
#include "lang/gen/gen.h"

/* What has bytes that a program may read. */
static bool has_bytes(const struct type *t)
{
	switch (t->kind) {
	case T_INT:
	case T_PTR:
	case T_STR:
	case T_BUF:
	case T_ARRAY:
	case T_STRUCT:
	case T_KSTACK:
	case T_USTACK:
	case T_KSYM:
	case T_USYM:
	case T_INET: return true;
	case T_TUPLE:
		for (u32 i = 0; i < t->n_fields; i++)
			if (!has_bytes(t->fields[i].type))
				return false;
		return true;
	default: return false;
	}
}

static u32 n_bytes(const struct type *t)
{
	return t->kind == T_BUF ? t->size : type_sizeof(t);
}

/* memcmp(a, b, n): 0 when the first n bytes are the same, negative when those of a are less; bytes
 * past the end of a value count as zero. */
static void check_memcmp(struct comp *c, struct node *n)
{
	n->type = check_int64(c, true);
	for (u32 i = 0; i < 2; i++) {
		const struct type *t = n->kids[i]->type;

		if (t->kind != T_NONE && !has_bytes(t))
			check_error(c, n->kids[i],
				    "memcmp() compares numbers, strings, buffers, arrays, "
				    "structs, tuples, stacks, symbols and addresses, not '%s'",
				    check_type_text(c, t));
	}
	if (n->kids[2]->type->kind != T_NONE && n->kids[2]->type->kind != T_INT)
		check_error(c, n->kids[2], "memcmp() expects a number of bytes, not '%s'",
			    check_type_text(c, n->kids[2]->type));
}

/* Copies a value to @to + @at as it would be in the memory of C, where numbers have their size. */
static void pack(struct gen *g, const struct type *t, const struct val *from, const struct val *to,
		 u32 at)
{
	struct val dst = gen_mem(to->reg, to->off + (s32)at, to->space);
	u32 size = 0;

	if (gen_in_register(t)) {
		ir_store(&g->ir, gen_size_code(type_sizeof(t)), dst.reg, dst.off,
			 ir_load(&g->ir, BPF_DW, from->reg, from->off));
		return;
	}
	if (t->kind != T_TUPLE) {
		gen_copy(g, &dst, from, n_bytes(t));
		return;
	}
	for (u32 i = 0; i < t->n_fields; i++) {
		struct val part = *from;

		part.off += (s32)t->fields[i].offset;
		part.off += t->fields[i].type->kind == T_BUF ? 8 : 0;
		size = ALIGN_UP(size, type_alignment(t->fields[i].type));
		pack(g, t->fields[i].type, &part, to, at + size);
		size += type_sizeof(t->fields[i].type);
	}
}

static void memcmp_side(struct gen *g, struct node *n, struct val *ret)
{
	struct val v;

	gen_in_memory(g, n, ret);
	if (n->type->kind == T_BUF)
		ret->off += 8;
	if (n->type->kind != T_TUPLE)
		return;
	v = *ret;
	/* in a map's value words need no alignment, on the stack they do */
	*ret = gen_temp_scratch(g, n_bytes(n->type));
	gen_zero(g, ret, ALIGN_UP(n_bytes(n->type), 8u));
	pack(g, n->type, &v, ret, 0);
}

/* The 8 bytes at @i as a number whose highest byte is the first; zero from @size on. */
static vreg ordered_word(struct gen *g, const struct val *v, u32 i, u32 size)
{
	vreg r;

	if (i >= size) {
		r = ir_reg(&g->ir);
		ir_movi(&g->ir, r, 0);
		return r;
	}
	r = ir_load(&g->ir, BPF_DW, v->reg, v->off + (s32)i);
	ir_alui(&g->ir, BPF_END, r, 64);
	if (size - i < 8) {
		ir_alui(&g->ir, BPF_RSH, r, (s32)(64 - (size - i) * 8));
		ir_alui(&g->ir, BPF_LSH, r, (s32)(64 - (size - i) * 8));
	}
	return r;
}

/* Leaves of @x and @y the bytes requested, when their number is known at run time only. */
static void keep_asked(struct gen *g, vreg x, vreg y, vreg count, u32 i, ir_label end)
{
	ir_label whole = ir_new_label(&g->ir);
	vreg shift = ir_reg(&g->ir);

	ir_branchi(&g->ir, BPF_JLE, count, (s32)i, end);
	ir_branchi(&g->ir, BPF_JGE, count, (s32)i + 8, whole);
	ir_movi(&g->ir, shift, (s64)(i + 8));
	ir_alu(&g->ir, BPF_SUB, shift, count);
	ir_alui(&g->ir, BPF_LSH, shift, 3);
	ir_alu(&g->ir, BPF_RSH, x, shift);
	ir_alu(&g->ir, BPF_RSH, y, shift);
	ir_alu(&g->ir, BPF_LSH, x, shift);
	ir_alu(&g->ir, BPF_LSH, y, shift);
	ir_label_here(&g->ir, whole);
}

/* The difference of the first bytes that differ in two ordered words, as signed ones. */
static void first_difference(struct gen *g, vreg x, vreg y, vreg ret)
{
	for (s32 bits = 32; bits >= 8; bits /= 2) {
		ir_label low = ir_new_label(&g->ir);

		ir_mov(&g->ir, ret, x);
		ir_alu(&g->ir, BPF_XOR, ret, y);
		ir_alui(&g->ir, BPF_RSH, ret, 64 - bits);
		ir_branchi(&g->ir, BPF_JNE, ret, 0, low);
		ir_alui(&g->ir, BPF_LSH, x, bits);
		ir_alui(&g->ir, BPF_LSH, y, bits);
		ir_label_here(&g->ir, low);
	}
	ir_alui(&g->ir, BPF_ARSH, x, 56);
	ir_alui(&g->ir, BPF_ARSH, y, 56);
	ir_mov(&g->ir, ret, x);
	ir_alu(&g->ir, BPF_SUB, ret, y);
}

static void emit_memcmp(struct gen *g, struct node *n, struct val *ret)
{
	ir_label end = ir_new_label(&g->ir), differ = ir_new_label(&g->ir);
	u32 sizes[2], size;
	vreg r = ir_reg(&g->ir), x = ir_reg(&g->ir), y = ir_reg(&g->ir), count = 0;
	struct node *limit = n->kids[2];
	struct val side[2];

	for (u32 i = 0; i < 2; i++) {
		memcmp_side(g, n->kids[i], &side[i]);
		sizes[i] = n_bytes(n->kids[i]->type);
	}
	size = MAX(sizes[0], sizes[1]);
	if (!limit->folded)
		count = gen_num_copy(g, limit);
	else
		for (u32 i = 0; i < 2; i++)
			sizes[i] = (u32)MIN((u64)sizes[i], limit->ival);
	size = limit->folded ? MAX(sizes[0], sizes[1]) : size;
	ir_movi(&g->ir, r, 0);
	for (u32 i = 0; i < size; i += 8) {
		/* the first byte of a word is its highest, so that words compare as their bytes */
		ir_mov(&g->ir, x, ordered_word(g, &side[0], i, sizes[0]));
		ir_mov(&g->ir, y, ordered_word(g, &side[1], i, sizes[1]));
		if (!limit->folded)
			keep_asked(g, x, y, count, i, end);
		ir_branch(&g->ir, BPF_JNE, x, y, differ);
	}
	ir_jump(&g->ir, end);
	ir_label_here(&g->ir, differ);
	first_difference(g, x, y, r);
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
