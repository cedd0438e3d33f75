/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code for expressions. */
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

static u8 load_size(u32 bytes)
{
	return bytes >= 8 ? BPF_DW : bytes == 4 ? BPF_W : bytes == 2 ? BPF_H : BPF_B;
}

vreg gen_load(struct gen *g, const struct val *v, const struct type *t)
{
	u32 size = t->kind == T_INT ? t->size : 8;
	bool extend = t->kind == T_INT && t->is_signed && size < 8;
	struct val tmp = *v;
	vreg r;

	if (v->kind == VAL_REG)
		return v->reg;
	if (size != 1 && size != 2 && size != 4)
		size = 8;
	if (v->space != SPACE_BPF && v->space != SPACE_CTX) {
		tmp = gen_temp(g, 8);
		if (size < 8)
			ir_storei(&g->ir, BPF_DW, tmp.reg, tmp.off, 0);
		gen_read(g, &tmp, size, gen_addr(g, v), v->space);
	}
	r = ir_load(&g->ir, load_size(size), tmp.reg, tmp.off);
	if (extend)
		ir_extend(&g->ir, r, size, true);
	return r;
}

/* Types that are a number in a register. */
bool gen_in_register(const struct type *t)
{
	switch (t->kind) {
	case T_INT:
	case T_PTR:
	case T_KSTACK:
	case T_KSYM:
	case T_USERNAME:
	case T_TIMESTAMP:
	case T_CGROUP_PATH:
	case T_STRERROR:
	case T_SIGNAL_NAME:
	case T_SYSCALL_NAME:
	case T_TASK_COMM:
	case T_PROBE:
	case T_FUNC:
	case T_COUNT:
	case T_SUM:
	case T_MIN:
	case T_MAX:
	case T_AVG:
	case T_STATS:
	case T_MAC: return true;
	default: return false;
	}
}

static vreg number(struct gen *g, struct node *n)
{
	struct val v;
	vreg r;

	if (n->folded)
		return ir_imm(&g->ir, (s64)n->ival);
	gen_expr(g, n, &v);
	if (v.kind == VAL_NONE)
		return ir_imm(&g->ir, 0);
	if (v.kind == VAL_MEM && n->type->kind == T_STR) {
		/* As a condition: not empty. */
		gen_in_memory(g, n, &v);
		r = ir_load(&g->ir, BPF_B, v.reg, v.off);
		return r;
	}
	return gen_load(g, &v, n->type);
}

vreg gen_num(struct gen *g, struct node *n)
{
	struct span_at at = g->at;
	vreg r;

	g->at = n->at;
	r = number(g, n);
	g->at = at;
	return r;
}

vreg gen_num_copy(struct gen *g, struct node *n)
{
	vreg r = gen_num(g, n), copy;

	if (n->folded)
		return r;
	copy = ir_reg(&g->ir);
	ir_mov(&g->ir, copy, r);
	return copy;
}

/* --- comparing memory ------------------------------------------------------------------------- */

/* Goes to @differ unless the first @n bytes in memory are the same. */
static void compare_bytes(struct gen *g, const struct val *a, const struct val *b, u32 n,
			  ir_label differ)
{
	for (u32 i = 0; i < n;) {
		u32 step = n - i >= 8 ? 8 : n - i >= 4 ? 4 : n - i >= 2 ? 2 : 1;
		vreg x = ir_load(&g->ir, load_size(step), a->reg, a->off + (s32)i);
		vreg y = ir_load(&g->ir, load_size(step), b->reg, b->off + (s32)i);

		ir_branch(&g->ir, BPF_JNE, x, y, differ);
		i += step;
	}
}

static void compare_literal(struct gen *g, const struct val *a, const char *text, u32 n,
			    ir_label differ)
{
	for (u32 i = 0; i < n;) {
		u32 step = n - i >= 8 ? 8 : n - i >= 4 ? 4 : n - i >= 2 ? 2 : 1;
		vreg x = ir_load(&g->ir, load_size(step), a->reg, a->off + (s32)i), y;
		u64 word = 0;

		memcpy(&word, text + i, step);
		if (word <= INT32_MAX) {
			ir_branchi(&g->ir, BPF_JNE, x, (s32)word, differ);
		} else {
			y = ir_imm(&g->ir, (s64)word);
			ir_branch(&g->ir, BPF_JNE, x, y, differ);
		}
		i += step;
	}
}

/*
 * Strings are followed by zeros to the end of their room: words can be compared, and no branch
 * depends on what they hold, so that the verifier has one way to follow.
 */
static void compare_words(struct gen *g, const struct val *a, u32 a_room, const struct val *b,
			  u32 b_room, u32 limit, ir_label differ)
{
	u32 room = MIN(MAX(a_room, b_room), ALIGN_UP(MIN(limit, (u32)TYPE_MAX_STRING), 8u));
	vreg all = ir_imm(&g->ir, 0);

	for (u32 i = 0; i < room; i += 8) {
		vreg x = i < a_room ? ir_load(&g->ir, BPF_DW, a->reg, a->off + (s32)i) : 0;
		vreg y = i < b_room ? ir_load(&g->ir, BPF_DW, b->reg, b->off + (s32)i) : 0;

		if (x && y)
			ir_alu(&g->ir, BPF_XOR, x, y);
		if (!x)
			x = y;
		if (limit < i + 8)
			ir_alui(&g->ir, BPF_LSH, x, (s32)(64 - (limit - i) * 8));
		ir_alu(&g->ir, BPF_OR, all, x);
	}
	ir_branchi(&g->ir, BPF_JNE, all, 0, differ);
}

void gen_compare_strings(struct gen *g, struct node *a, struct node *b, u32 limit, ir_label differ)
{
	struct val x, y;

	if (a->kind == N_STR && b->kind != N_STR) {
		gen_compare_strings(g, b, a, limit, differ);
		return;
	}
	gen_in_memory(g, a, &x);
	if (b->kind == N_STR) {
		u32 n = MIN(b->str_len + 1, limit);

		if (n > a->type->size) {
			ir_jump(&g->ir, differ);
			return;
		}
		compare_literal(g, &x, b->str, n, differ);
		return;
	}
	gen_in_memory(g, b, &y);
	compare_words(g, &x, type_stored(a->type), &y, type_stored(b->type), limit, differ);
}

static void gen_compare_memory(struct gen *g, struct node *n, struct val *ret)
{
	ir_label differ = ir_new_label(&g->ir), end = ir_new_label(&g->ir);
	struct node *a = n->kids[0], *b = n->kids[1];
	vreg r = ir_reg(&g->ir);
	struct val x, y;

	if (a->type->kind == T_STR) {
		gen_compare_strings(g, a, b, UINT32_MAX, differ);
	} else {
		const struct type *wide = type_merge(&g->c->types, a->type, b->type);

		x = gen_temp(g, type_stored(wide));
		y = gen_temp(g, type_stored(wide));
		gen_store(g, a, wide, &x, true);
		gen_store(g, b, wide, &y, true);
		compare_bytes(g, &x, &y, type_stored(wide), differ);
	}
	ir_movi(&g->ir, r, n->op == OP2('=', '='));
	ir_jump(&g->ir, end);
	ir_label_here(&g->ir, differ);
	ir_movi(&g->ir, r, n->op != OP2('=', '='));
	ir_label_here(&g->ir, end);
	*ret = gen_reg(r);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static u8 jump_for(u32 op, bool is_signed)
{
	switch (op) {
	case OP2('=', '='): return BPF_JEQ;
	case OP2('!', '='): return BPF_JNE;
	case OP1('<'): return is_signed ? BPF_JSLT : BPF_JLT;
	case OP1('>'): return is_signed ? BPF_JSGT : BPF_JGT;
	case OP2('<', '='): return is_signed ? BPF_JSLE : BPF_JLE;
	case OP2('>', '='): return is_signed ? BPF_JSGE : BPF_JGE;
	default: return 0;
	}
}

static void gen_comparison(struct gen *g, struct node *n, struct val *ret)
{
	ir_label yes = ir_new_label(&g->ir);
	struct node *b = n->kids[1];
	vreg x = gen_num(g, n->kids[0]), r = ir_reg(&g->ir), y;
	u8 jump = jump_for(n->op, n->flag);

	if (b->folded && b->ival == (u64)(s64)(s32)b->ival) {
		ir_movi(&g->ir, r, 1);
		ir_branchi(&g->ir, jump, x, (s32)b->ival, yes);
	} else {
		y = gen_num(g, b);
		ir_movi(&g->ir, r, 1);
		ir_branch(&g->ir, jump, x, y, yes);
	}
	ir_movi(&g->ir, r, 0);
	ir_label_here(&g->ir, yes);
	*ret = gen_reg(r);
}

static void gen_logical(struct gen *g, struct node *n, struct val *ret)
{
	bool is_and = n->op == OP2('&', '&');
	ir_label stop = ir_new_label(&g->ir);
	vreg r = ir_reg(&g->ir);

	ir_movi(&g->ir, r, !is_and);
	for (u32 i = 0; i < 2; i++)
		ir_branchi(&g->ir, is_and ? BPF_JEQ : BPF_JNE, gen_num(g, n->kids[i]), 0, stop);
	ir_movi(&g->ir, r, is_and);
	ir_label_here(&g->ir, stop);
	*ret = gen_reg(r);
}

/* The instruction divides unsigned: work with absolute values and put the sign back. */
vreg gen_signed_division(struct gen *g, u32 op, vreg a, vreg b)
{
	ir_label pa = ir_new_label(&g->ir), pb = ir_new_label(&g->ir), done = ir_new_label(&g->ir);
	vreg x = ir_reg(&g->ir), y = ir_reg(&g->ir), sign = ir_reg(&g->ir);

	ir_mov(&g->ir, x, a);
	ir_mov(&g->ir, y, b);
	ir_mov(&g->ir, sign, a);
	if (op == OP1('/'))
		ir_alu(&g->ir, BPF_XOR, sign, b);
	ir_branchi(&g->ir, BPF_JSGE, x, 0, pa);
	ir_alui(&g->ir, BPF_NEG, x, 0);
	ir_label_here(&g->ir, pa);
	ir_branchi(&g->ir, BPF_JSGE, y, 0, pb);
	ir_alui(&g->ir, BPF_NEG, y, 0);
	ir_label_here(&g->ir, pb);
	ir_alu(&g->ir, op == OP1('/') ? BPF_DIV : BPF_MOD, x, y);
	ir_branchi(&g->ir, BPF_JSGE, sign, 0, done);
	ir_alui(&g->ir, BPF_NEG, x, 0);
	ir_label_here(&g->ir, done);
	return x;
}

static u8 alu_for(u32 op, bool is_signed)
{
	switch (op) {
	case OP1('+'): return BPF_ADD;
	case OP1('-'): return BPF_SUB;
	case OP1('*'): return BPF_MUL;
	case OP1('/'): return BPF_DIV;
	case OP1('%'): return BPF_MOD;
	case OP1('&'): return BPF_AND;
	case OP1('|'): return BPF_OR;
	case OP1('^'): return BPF_XOR;
	case OP2('<', '<'): return BPF_LSH;
	default: return is_signed ? BPF_ARSH : BPF_RSH;
	}
}

s32 gen_pointer_step(struct gen *g, const struct type *t)
{
	if (t->kind != T_PTR)
		return 1;
	t = type_pointee(&g->c->types, t);
	return t->size > 1 && t->size < INT16_MAX ? (s32)t->size : 1;
}

/* Adding to a pointer counts elements. */
static s32 pointer_scale(struct gen *g, const struct node *n, u32 side)
{
	const struct type *t = n->kids[side]->type;

	if (n->op != OP1('+') && n->op != OP1('-'))
		return 1;
	return n->kids[!side]->type->kind == T_PTR ? 1 : gen_pointer_step(g, t);
}

/* The CPU shifts by the last bits of a count: beyond the width nothing, or only the sign, is left.
 */
static void limit_shift(struct gen *g, vreg x, vreg count, bool keep_sign)
{
	ir_label fits = ir_new_label(&g->ir);

	ir_branchi(&g->ir, BPF_JLE, count, 63, fits);
	if (keep_sign)
		ir_movi(&g->ir, count, 63);
	else
		ir_movi(&g->ir, x, 0);
	ir_label_here(&g->ir, fits);
	ir_alui(&g->ir, BPF_AND, count, 63);
}

/* What is divided by 0 is 1, and said to be. */
static void guard_division(struct gen *g, const struct node *n, vreg x, vreg y)
{
	struct event e = { .kind = EV_RUNTIME_ERROR,
			   .fmt = "Divide or modulo by 0 detected. This can lead to unexpected "
				  "results. 1 is being used as the result.",
			   .at = n->at };
	ir_label ok = ir_new_label(&g->ir);

	ir_branchi(&g->ir, BPF_JNE, y, 0, ok);
	if (!gen_is_pinned(g))
		gen_event(g, comp_event(g->c, &e), NULL, 0);
	ir_movi(&g->ir, x, 1);
	ir_movi(&g->ir, y, n->op == OP1('/') ? 1 : 2);
	ir_label_here(&g->ir, ok);
}

static void gen_arithmetic(struct gen *g, struct node *n, struct val *ret)
{
	struct node *b = n->kids[1];
	bool divides = n->op == OP1('/') || n->op == OP1('%');
	bool shifts = n->op == OP2('<', '<') || n->op == OP2('>', '>');
	bool is_signed = n->flag;
	vreg x = gen_num_copy(g, n->kids[0]), y;
	s32 scale = pointer_scale(g, n, 1);

	if (shifts)
		is_signed = n->kids[0]->type->kind == T_INT && n->kids[0]->type->is_signed;
	if (scale > 1)
		ir_alui(&g->ir, BPF_MUL, x, scale);
	scale = pointer_scale(g, n, 0);
	if (b->folded && b->ival == (u64)(s64)(s32)b->ival && !(divides && is_signed) &&
	    !(divides && !b->ival) && !(shifts && b->ival > 63) && scale == 1) {
		ir_alui(&g->ir, alu_for(n->op, is_signed), x, (s32)b->ival);
		*ret = gen_reg(x);
		return;
	}
	y = gen_num_copy(g, b);
	if (scale > 1)
		ir_alui(&g->ir, BPF_MUL, y, scale);
	if (shifts)
		limit_shift(g, x, y, n->op == OP2('>', '>') && is_signed);
	if (divides && (!b->folded || (!b->ival && g->c->opts->compat)))
		guard_division(g, n, x, y);
	if (divides && is_signed)
		x = gen_signed_division(g, n->op, x, y);
	else
		ir_alu(&g->ir, alu_for(n->op, is_signed), x, y);
	*ret = gen_reg(x);
}

static void gen_binary(struct gen *g, struct node *n, struct val *ret)
{
	const struct type *t = n->kids[0]->type;

	if (n->op == OP2('&', '&') || n->op == OP2('|', '|'))
		gen_logical(g, n, ret);
	else if (jump_for(n->op, false) && !gen_in_register(t))
		gen_compare_memory(g, n, ret);
	else if (jump_for(n->op, false))
		gen_comparison(g, n, ret);
	else
		gen_arithmetic(g, n, ret);
}

/* The verifier forgets what a pointer was when it has been in a map's memory. */
static vreg as_number(struct gen *g, vreg pointer)
{
	struct val place = gen_temp_scratch(g, 8);

	ir_store(&g->ir, BPF_DW, place.reg, place.off, pointer);
	return ir_load(&g->ir, BPF_DW, place.reg, place.off);
}

static void gen_unary(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[0];
	struct val v;
	vreg x;

	if (n->op == OP1('*')) {
		const struct type *t = a->type;

		x = gen_num(g, a);
		*ret = gen_mem(x, 0, t->kind == T_PTR ? t->space : SPACE_ANY);
		return;
	}
	if (n->op == OP1('&') && (a->kind == N_VAR || a->kind == N_MAP)) {
		const struct map_def *m = a->kind == N_MAP ? a->ref : NULL;

		if (m && !a->n_kids && (m->key || type_is_agg(m->value))) {
			*ret = gen_reg(as_number(g, ir_map(&g->ir, m->index)));
			return;
		}
		if (a->kind == N_VAR)
			v = gen_var_place(g, a->ref);
		else
			v = gen_mem(gen_map_address(g, a), 0, SPACE_BPF);
		*ret = gen_reg(as_number(g, gen_addr(g, &v)));
		return;
	}
	if (n->op == OP1('&')) {
		gen_expr(g, a, &v);
		if (v.kind == VAL_MEM)
			*ret = gen_reg(gen_addr(g, &v));
		else
			gen_fail(g, n, "the address of this cannot be taken");
		return;
	}
	x = gen_num_copy(g, a);
	if (n->op == OP1('-')) {
		ir_alui(&g->ir, BPF_NEG, x, 0);
	} else if (n->op == OP1('~')) {
		ir_alui(&g->ir, BPF_XOR, x, -1);
	} else {
		ir_label zero = ir_new_label(&g->ir);
		vreg r = ir_imm(&g->ir, 1);

		ir_branchi(&g->ir, BPF_JEQ, x, 0, zero);
		ir_movi(&g->ir, r, 0);
		ir_label_here(&g->ir, zero);
		x = r;
	}
	if (n->type->kind == T_INT && !n->type->is_signed && n->type->size < 8)
		ir_extend(&g->ir, x, n->type->size, false);
	*ret = gen_reg(x);
}

static void gen_incdec(struct gen *g, struct node *n, struct val *ret)
{
	struct node *t = n->kids[0];
	const struct variable *v = t->ref;
	s32 step = n->op == OP2('+', '+') ? 1 : -1;
	struct val place;
	vreg old, new;

	if (t->kind == N_MAP) {
		gen_map_incdec(g, n, ret);
		return;
	}
	step *= gen_pointer_step(g, t->type);
	place = gen_var_place(g, v);
	old = ir_load(&g->ir, BPF_DW, place.reg, place.off);
	new = ir_reg(&g->ir);
	ir_mov(&g->ir, new, old);
	ir_alui(&g->ir, BPF_ADD, new, step);
	gen_cut(g, v, new);
	ir_store(&g->ir, BPF_DW, place.reg, place.off, new);
	*ret = gen_reg(n->flag ? new : old);
}

static void gen_ternary(struct gen *g, struct node *n, struct val *ret)
{
	ir_label no = ir_new_label(&g->ir), end = ir_new_label(&g->ir);
	bool number = gen_in_register(n->type);
	struct val place = { 0 };
	vreg r = ir_reg(&g->ir);

	if (!number && n->type->kind != T_VOID)
		place = gen_temp(g, type_stored(n->type));
	gen_condition(g, n->kids[0], no);
	for (u32 i = 1; i < 3; i++) {
		if (number)
			ir_mov(&g->ir, r, gen_num(g, n->kids[i]));
		else if (n->type->kind == T_VOID)
			gen_expr(g, n->kids[i], &(struct val){ 0 });
		else
			gen_store(g, n->kids[i], n->type, &place, true);
		if (i == 1)
			ir_jump(&g->ir, end);
		ir_label_here(&g->ir, i == 1 ? no : end);
	}
	*ret = number ? gen_reg(r) : place;
	if (n->type->kind == T_VOID)
		ret->kind = VAL_NONE;
}

/* --- members ---------------------------------------------------------------------------------- */

static vreg bit_field(struct gen *g, const struct val *v, const struct field *f)
{
	vreg r, copy = ir_reg(&g->ir);
	u32 size = f->type->size;
	const struct type *word = type_int(&g->c->types, size, false);

	r = gen_load(g, v, word);
	ir_mov(&g->ir, copy, r);
	ir_alui(&g->ir, BPF_LSH, copy, (s32)(64 - f->bit - f->bits));
	ir_alui(&g->ir, f->type->is_signed ? BPF_ARSH : BPF_RSH, copy, (s32)(64 - f->bits));
	return copy;
}

static void load_data_loc(struct gen *g, const struct val *base, struct val *ret)
{
	vreg where = ir_load(&g->ir, BPF_W, base->reg, base->off), at = ir_reg(&g->ir);

	ir_alui(&g->ir, BPF_AND, where, 0xffff);
	ir_mov(&g->ir, at, g->ctx);
	ir_alu(&g->ir, BPF_ADD, at, where);
	*ret = gen_reg(at);
}

static void gen_field(struct gen *g, struct node *n, struct val *ret)
{
	struct node *of = n->kids[0];
	const struct field *f = n->ref;
	const struct type *t = of->type;
	struct val v;

	if (t->kind == T_TUPLE) {
		gen_in_memory(g, of, &v);
		v.off += (s32)t->fields[n->ival].offset;
		if (gen_in_register(n->type))
			v = gen_reg(ir_load(&g->ir, BPF_DW, v.reg, v.off));
		*ret = v;
		return;
	}
	if (of->kind == N_IDENT && (streq(of->str, "args") || streq(of->str, "ctx")) && f &&
	    g->target->provider->emit_field && g->target->provider->emit_field(g, f, ret))
		return;
	gen_expr(g, of, &v);
	if (t->kind == T_PTR)
		v = gen_mem(gen_load(g, &v, t), 0, t->space);
	if (v.kind == VAL_NONE) {
		*ret = v;
		return;
	}
	v.off += (s32)f->offset;
	if (f->data_loc)
		load_data_loc(g, &v, &v);
	else if (f->bits)
		v = gen_reg(bit_field(g, &v, f));
	*ret = v;
}

static void gen_index(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[0], *i = n->kids[1];
	u32 size = MAX(n->type->size, 1u);
	struct val v;
	vreg at, x;

	gen_expr(g, a, &v);
	if (a->type->kind == T_PTR)
		v = gen_mem(gen_load(g, &v, a->type), 0, a->type->space);
	if (v.kind != VAL_MEM) {
		gen_fail(g, n, "this value cannot be indexed");
		return;
	}
	if (a->type->kind == T_BUF)
		v.off += 8;
	if (i->folded && i->ival * size < INT16_MAX) {
		v.off += (s32)(i->ival * size);
		*ret = v;
		return;
	}
	x = gen_num_copy(g, i);
	ir_alui(&g->ir, BPF_MUL, x, (s32)size);
	if (v.space == SPACE_BPF || v.space == SPACE_CTX) {
		/* Read like kernel memory: the verifier need not know the bounds. */
		at = as_number(g, gen_addr(g, &v));
		ir_alu(&g->ir, BPF_ADD, x, at);
		*ret = gen_mem(x, 0, SPACE_KERNEL);
		return;
	}
	ir_alu(&g->ir, BPF_ADD, x, v.reg);
	*ret = gen_mem(x, v.off, v.space);
}

/* 1 for whatever is not 0 */
static void truth(struct gen *g, vreg r)
{
	ir_label zero = ir_new_label(&g->ir);

	ir_branchi(&g->ir, BPF_JEQ, r, 0, zero);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, zero);
}

static void gen_cast(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[0];
	vreg r;

	if (n->type->kind == T_INT && type_is_number(a->type)) {
		r = gen_num_copy(g, a);
		if (type_is_bool(n->type))
			truth(g, r);
		else
			ir_extend(&g->ir, r, n->type->size, n->type->is_signed);
		*ret = gen_reg(r);
		return;
	}
	if (n->type->kind == T_PTR && a->type->kind == T_STR) {
		struct val kept = gen_var_place(g, n->ref);

		gen_store(g, a, ((const struct variable *)n->ref)->type, &kept, true);
		*ret = gen_reg(as_number(g, gen_addr(g, &kept)));
		return;
	}
	if (n->type->kind == T_ARRAY && type_is_number(a->type)) {
		*ret = gen_temp(g, 8);
		ir_store(&g->ir, BPF_DW, ret->reg, ret->off, gen_num(g, a));
		return;
	}
	if (n->type->kind == T_STR || (n->type->kind == T_ARRAY && a->type->kind == T_STR)) {
		*ret = gen_temp(g, type_stored(n->type));
		gen_store(g, a, type_str(&g->c->types, n->type->size), ret, true);
		return;
	}
	gen_expr(g, a, ret);
	if (n->type->kind == T_INT && ret->kind == VAL_MEM)
		*ret = gen_reg(gen_load(g, ret, n->type));
	else if (n->type->kind == T_PTR)
		*ret = gen_reg(gen_load(g, ret, a->type));
}

static void gen_block_expr(struct gen *g, struct node *n, struct val *ret)
{
	*ret = (struct val){ 0 };
	for (u32 i = 0; i + 1 < n->n_kids; i++)
		gen_stmt(g, n->kids[i]);
	if (!n->n_kids)
		return;
	if (n->kids[n->n_kids - 1]->kind == N_EXPR)
		gen_expr(g, n->kids[n->n_kids - 1]->kids[0], ret);
	else
		gen_stmt(g, n->kids[n->n_kids - 1]);
}

void gen_expr(struct gen *g, struct node *n, struct val *ret)
{
	struct span_at at = g->at;

	*ret = (struct val){ 0 };
	if (n->folded) {
		*ret = gen_reg(ir_imm(&g->ir, (s64)n->ival));
		return;
	}
	g->at = n->at;
	switch (n->kind) {
	case N_STR:
	case N_TUPLE:
		*ret = gen_temp(g, type_stored(n->type));
		gen_store(g, n, n->type, ret, true);
		break;
	case N_VAR: gen_var(g, n, ret); break;
	case N_MAP: gen_map_read(g, n, ret); break;
	case N_IDENT: builtin_find(n->str)->emit(g, n, ret); break;
	case N_CALL: ((const struct fn *)n->ref)->emit(g, n, ret); break;
	case N_UNARY: gen_unary(g, n, ret); break;
	case N_INCDEC: gen_incdec(g, n, ret); break;
	case N_BINARY: gen_binary(g, n, ret); break;
	case N_TERNARY: gen_ternary(g, n, ret); break;
	case N_FIELD: gen_field(g, n, ret); break;
	case N_INDEX: gen_index(g, n, ret); break;
	case N_CAST: gen_cast(g, n, ret); break;
	case N_BLOCK_EXPR: gen_block_expr(g, n, ret); break;
	default: gen_stmt(g, n); break;
	}
	g->at = at;
}
