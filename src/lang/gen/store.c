/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values into memory: variables, keys, events. */
#include "lang/gen/gen.h"

static void store_literal(struct gen *g, const struct node *n, u32 size, const struct val *dst,
			  bool clean)
{
	u32 len = MIN(n->str_len, size - 1), room = ALIGN_UP(size, 8u);
	u32 end = clean || dst->reg == VREG_FP ? room : MIN(ALIGN_UP(len + 1, 8u), room);

	for (u32 i = 0; i < end; i += 8) {
		u64 word = 0;

		if (i < len)
			memcpy(&word, n->str + i, MIN(len - i, 8u));
		if (i > len + 8 && end - i > 128) {
			struct val rest = *dst;

			rest.off += (s32)i;
			gen_zero(g, &rest, end - i);
			return;
		}
		if (word == (u64)(s64)(s32)word)
			ir_storei(&g->ir, BPF_DW, dst->reg, dst->off + (s32)i, (s32)word);
		else
			ir_store(&g->ir, BPF_DW, dst->reg, dst->off + (s32)i,
				 ir_imm(&g->ir, (s64)word));
	}
}

/* Reading a string ends it, in the place of the last byte of an array that is full. */
static void keep_last_byte(struct gen *g, const struct val *v, u32 size, const struct val *dst)
{
	ir_label shorter = ir_new_label(&g->ir);
	struct val last = *dst, from = *v;

	if (size < 2)
		return;
	last.off += (s32)size - 1;
	from.off += (s32)size - 1;
	ir_branchi(&g->ir, BPF_JEQ, ir_load(&g->ir, BPF_B, dst->reg, last.off - 1), 0, shorter);
	gen_read(g, &last, 1, gen_addr(g, &from), v->space);
	ir_label_here(&g->ir, shorter);
}

static void store_string(struct gen *g, const struct val *v, u32 from_size, u32 size,
			 const struct val *dst, bool clean)
{
	u32 room = ALIGN_UP(size, 8u);

	if (v->space == SPACE_BPF && ALIGN_UP(from_size, 8u) >= room) {
		gen_copy(g, dst, v, room);
		for (u32 i = size - 1; from_size > size && i < room; i++) /* cut: end it */
			ir_storei(&g->ir, BPF_B, dst->reg, dst->off + (s32)i, 0);
		return;
	}
	if (clean)
		gen_zero(g, dst, room);
	else if (size % 8 || dst->reg == VREG_FP)
		ir_storei(&g->ir, BPF_DW, dst->reg, dst->off + (s32)room - 8, 0);
	if (v->space == SPACE_BPF) {
		gen_copy(g, dst, v, MIN(from_size, size));
		if (dst->reg == VREG_FP && !clean && room > ALIGN_UP(from_size, 8u)) {
			struct val rest = *dst;

			rest.off += (s32)ALIGN_UP(from_size, 8u);
			gen_zero(g, &rest, room - ALIGN_UP(from_size, 8u));
		}
		return;
	}
	gen_read_str(g, dst, ARG_IMM((s32)MIN(size, from_size)), gen_addr(g, v), v->space);
	if (size >= from_size && from_size)
		keep_last_byte(g, v, from_size, dst);
	if (dst->reg == VREG_FP && !clean && room > ALIGN_UP(MIN(from_size, size), 8u)) {
		struct val rest = *dst;

		rest.off += (s32)ALIGN_UP(MIN(from_size, size), 8u);
		gen_zero(g, &rest, room - ALIGN_UP(MIN(from_size, size), 8u));
	}
}

static void gen_store_val(struct gen *g, const struct val *v, const struct type *t,
			  const struct type *as, const struct val *dst, bool clean);

/* Where element @i of @t goes in @as: records are matched by name. */
static const struct field *as_element(const struct type *as, const struct type *t, u32 i)
{
	u32 k = type_is_record(as) ? type_record_field(as, t->fields[i].name) : i;

	return &as->fields[k < as->n_fields ? k : i];
}

static bool same_layout(const struct type *a, const struct type *b)
{
	if (a->size != b->size)
		return false;
	for (u32 i = 0; i < a->n_fields; i++) {
		if (type_stored(a->fields[i].type) != type_stored(b->fields[i].type) ||
		    (type_is_record(a) && !streq(a->fields[i].name, b->fields[i].name)) ||
		    (a->fields[i].type->kind == T_TUPLE &&
		     !same_layout(a->fields[i].type, b->fields[i].type)))
			return false;
	}
	return true;
}

static void store_tuple_val(struct gen *g, const struct val *v, const struct type *t,
			    const struct type *as, const struct val *dst, bool clean)
{
	for (u32 i = 0; i < t->n_fields; i++) {
		const struct field *as_field = as_element(as, t, i);
		struct val from = *v, to = *dst;

		from.off += (s32)t->fields[i].offset;
		to.off += (s32)as_field->offset;
		if (gen_in_register(t->fields[i].type))
			from = gen_reg(ir_load(&g->ir, BPF_DW, from.reg, from.off));
		gen_store_val(g, &from, t->fields[i].type, as_field->type, &to, clean);
	}
}

static void gen_store_val(struct gen *g, const struct val *v, const struct type *t,
			  const struct type *as, const struct val *dst, bool clean)
{
	u32 size = type_stored(as);

	if (v->kind == VAL_NONE) {
		gen_zero(g, dst, size);
	} else if (v->kind == VAL_REG || (gen_in_register(t) && gen_in_register(as))) {
		ir_store(&g->ir, BPF_DW, dst->reg, dst->off, gen_load(g, v, t));
	} else if (t->kind == T_STR && as->kind == T_STR) {
		store_string(g, v, t->size, as->size, dst, clean);
	} else if (t->kind == T_TUPLE && as->kind == T_TUPLE && as->n_fields == t->n_fields &&
		   !same_layout(as, t)) {
		store_tuple_val(g, v, t, as, dst, clean);
	} else if (t->kind == T_BUF && t->size != as->size) {
		gen_zero(g, dst, size);
		gen_copy(g, dst, v, type_stored(t));
	} else {
		u32 n = t->kind == T_STRUCT || t->kind == T_ARRAY ? t->size : size;

		if (n % 8)
			ir_storei(&g->ir, BPF_DW, dst->reg, dst->off + (s32)ALIGN_UP(n, 8u) - 8, 0);
		gen_copy(g, dst, v, n);
	}
}

static void store(struct gen *g, struct node *n, const struct type *as, const struct val *dst,
		  bool clean)
{
	struct val v;

	if (n->kind == N_STR && as->kind == T_STR) {
		store_literal(g, n, as->size, dst, clean);
		return;
	}
	if (n->kind == N_TUPLE && as->kind == T_TUPLE) {
		for (u32 i = 0; i < n->n_kids; i++) {
			const struct field *f = as_element(as, n->type, i);
			struct val at = *dst;

			at.off += (s32)f->offset;
			gen_store(g, n->kids[i], f->type, &at, clean);
		}
		return;
	}
	if (n->folded && as->kind == T_INT && n->ival == (u64)(s64)(s32)n->ival) {
		ir_storei(&g->ir, BPF_DW, dst->reg, dst->off, (s32)n->ival);
		return;
	}
	gen_expr(g, n, &v);
	gen_store_val(g, &v, n->type, as, dst, clean);
}

void gen_store(struct gen *g, struct node *n, const struct type *as, const struct val *dst,
	       bool clean)
{
	struct span_at at = g->at;

	g->at = n->at;
	store(g, n, as, dst, clean);
	g->at = at;
}

void gen_in_memory(struct gen *g, struct node *n, struct val *ret)
{
	struct val v;

	if (n->kind != N_STR && n->kind != N_TUPLE) {
		gen_expr(g, n, &v);
		if (v.kind == VAL_MEM && v.space == SPACE_BPF) {
			*ret = v;
			return;
		}
		*ret = gen_temp(g, type_stored(n->type));
		gen_store_val(g, &v, n->type, n->type, ret, true);
		return;
	}
	*ret = gen_temp(g, type_stored(n->type));
	gen_store(g, n, n->type, ret, true);
}

/* --- variables -------------------------------------------------------------------------------- */

void gen_cut(struct gen *g, const struct variable *v, vreg r)
{
	if (v->fixed && v->type->kind == T_INT && v->type->size < 8)
		ir_extend(&g->ir, r, v->type->size, v->type->is_signed);
}

/* A declared number, cut to its type. */
static void assign_fixed(struct gen *g, struct node *value, const struct variable *v,
			 const struct val *place)
{
	vreg r = gen_num_copy(g, value);

	gen_cut(g, v, r);
	ir_store(&g->ir, BPF_DW, place->reg, place->off, r);
}

/* An assignment or a let with a value. */
void gen_assign_var(struct gen *g, const struct node *n)
{
	struct node *target = n->kids[0], *value = n->kids[1];
	struct variable *v = target->ref;
	u32 op = n->kind == N_LET ? ASSIGN_PLAIN : n->op;
	struct val place = gen_var_place(g, v), tmp;

	if (op != ASSIGN_PLAIN) {
		struct node sum = { .kind = N_BINARY,
				    .op = op,
				    .at = { (u32)n->ival, n->at.end },
				    .flag = v->type->is_signed,
				    .kids = (struct node *[]){ target, value },
				    .n_kids = 2 };

		sum.type = v->type;
		if (v->fixed && v->type->kind == T_INT)
			assign_fixed(g, &sum, v, &place);
		else
			gen_store(g, &sum, v->type, &place, true);
		return;
	}
	if (v->fixed && v->type->kind == T_INT && v->type->size < 8 && !value->folded) {
		assign_fixed(g, value, v, &place);
		return;
	}
	/* The value may be made from the variable itself: not in place. */
	if (type_stored(v->type) > 8 && value->kind != N_STR && value->kind != N_CALL) {
		tmp = gen_temp(g, type_stored(v->type));
		gen_store(g, value, v->type, &tmp, true);
		gen_copy(g, &place, &tmp, type_stored(v->type));
		return;
	}
	gen_store(g, value, v->type, &place, true);
}

void gen_let(struct gen *g, struct node *n)
{
	struct variable *v = n->kids[0]->ref;
	struct val place;

	if (n->n_kids > 1) {
		gen_assign_var(g, n);
		return;
	}
	place = gen_var_place(g, v);
	gen_zero(g, &place, type_stored(v->type));
}
