/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of expressions. Every access to the data is checked against its size: what is outside
 * reads as 0 or as no bytes at all.
 */
#include "profile/tracefield_tree.h"

typedef struct tracefield_value value;
typedef struct tracefield_bytes bytes;

u64 tracefield_read(const struct tracefield_run *r, const u8 *p, u32 size)
{
	u16 v16;
	u32 v32;
	u64 v64;

	switch (size) {
	case 1: return *p;
	case 2: memcpy(&v16, p, 2); return r->env->swap ? __builtin_bswap16(v16) : v16;
	case 4: memcpy(&v32, p, 4); return r->env->swap ? __builtin_bswap32(v32) : v32;
	case 8: memcpy(&v64, p, 8); return r->env->swap ? __builtin_bswap64(v64) : v64;
	default: return 0;
	}
}

static u64 sign_extend(u64 v, u32 size)
{
	switch (size) {
	case 1: return (u64)(s64)(s8)v;
	case 2: return (u64)(s64)(s16)v;
	case 4: return (u64)(s64)(s32)v;
	default: return v;
	}
}

static bytes range(const struct tracefield_run *r, u64 offset, u64 n)
{
	if (offset > r->size || n > r->size - offset)
		return (bytes){ NULL, 0 };
	return (bytes){ r->data + offset, (u32)n };
}

/* The data of a field: for __data_loc and __rel_loc, where it points to. */
bytes tracefield_field_bytes(const struct tracefield_run *r, const struct tracepoint_field *f)
{
	bytes at = range(r, f->offset, f->size);
	u64 loc, offset;

	if (!at.p || !f->is_dynamic || f->size != 4) {
		/* a field of no size is the rest of the data */
		if (at.p && !f->size)
			at.n = r->size - f->offset;
		return at;
	}
	loc = tracefield_read(r, at.p, 4);
	offset = loc & 0xffff;
	if (strstr(f->type, "__rel_loc"))
		offset += f->offset + f->size;
	return range(r, offset, loc >> 16);
}

static const struct tracepoint_field *field_of(const struct tracefield_run *r, s64 index)
{
	return &r->t->format.fields.items[index];
}

static value eval_field(const struct tracefield_run *r, const struct tracepoint_field *f)
{
	bytes at = range(r, f->offset, f->size);
	value v = { .is_unsigned = !f->is_signed && f->size == 8 };

	if (!at.p)
		return v;
	v.bits = tracefield_read(r, at.p, f->size);
	if (f->is_signed)
		v.bits = sign_extend(v.bits, f->size);
	return v;
}

/* Bytes of one element of what @node points to. */
static u32 element_size(const struct tracefield_run *r, const struct node *n)
{
	const struct tracepoint_field *f;

	if (n->kind == NODE_CAST)
		return n->first;
	if (n->kind != NODE_FIELD && n->kind != NODE_DYNAMIC)
		return 0;
	f = field_of(r, n->value);
	if (f->is_dynamic) {
		if (strstr(f->type, "long") || strstr(f->type, "64"))
			return 8;
		return strstr(f->type, "int") || strstr(f->type, "32") ? 4
		       : strstr(f->type, "16")                         ? 2
								       : 1;
	}
	return f->array_len ? f->size / f->array_len : f->size;
}

static value eval_index(const struct tracefield_run *r, const struct node *n)
{
	const struct node *base = &r->t->nodes.items[n->a];
	bytes at = tracefield_eval_bytes(r, n->a);
	u32 size = element_size(r, base);
	u64 index = tracefield_eval(r, n->b).bits;

	if (!at.p || !size || index >= at.n / size)
		return (value){ 0 };
	return (value){ .bits = tracefield_read(r, at.p + index * size, size),
			.is_unsigned = size == 8 };
}

static value eval_load(const struct tracefield_run *r, const struct node *n)
{
	bytes at = tracefield_eval_bytes(r, n->a);
	u32 size = n->value ? (u32)n->value : at.n;

	if (!at.p || size > at.n)
		return (value){ 0 };
	return (value){ .bits = tracefield_read(r, at.p, size), .is_unsigned = size == 8 };
}

static value eval_cast(const struct tracefield_run *r, const struct node *n)
{
	value v = tracefield_eval(r, n->a);

	if (n->value <= 0 || n->value >= 8)
		return (value){ v.bits, n->value ? !n->is_signed : v.is_unsigned };
	v.bits &= (1ull << (n->value * 8)) - 1;
	if (n->is_signed)
		v.bits = sign_extend(v.bits, (u32)n->value);
	v.is_unsigned = false;
	return v;
}

static value eval_unary(const struct tracefield_run *r, const struct node *n)
{
	value v = tracefield_eval(r, n->a);

	switch (n->op) {
	case OP_NOT: return (value){ .bits = !v.bits };
	case OP_INVERT: v.bits = ~v.bits; return v;
	default: v.bits = -v.bits; return v;
	}
}

static u64 divide(u64 a, u64 b, bool is_unsigned, bool modulo)
{
	if (!b)
		return 0;
	if (is_unsigned)
		return modulo ? a % b : a / b;
	/* the one quotient that does not fit */
	if ((s64)b == -1)
		return modulo ? 0 : -a;
	return (u64)(modulo ? (s64)a % (s64)b : (s64)a / (s64)b);
}

static bool less(u64 a, u64 b, bool is_unsigned)
{
	return is_unsigned ? a < b : (s64)a < (s64)b;
}

static u64 operate(u8 op, u64 a, u64 b, bool is_unsigned)
{
	switch ((enum operator)op) {
	case OP_MUL: return a * b;
	case OP_DIV: return divide(a, b, is_unsigned, false);
	case OP_MOD: return divide(a, b, is_unsigned, true);
	case OP_ADD: return a + b;
	case OP_SUB: return a - b;
	case OP_SHL: return a << (b & 63);
	case OP_SHR: return is_unsigned ? a >> (b & 63) : (u64)((s64)a >> (b & 63));
	case OP_LT: return less(a, b, is_unsigned);
	case OP_GT: return less(b, a, is_unsigned);
	case OP_LE: return !less(b, a, is_unsigned);
	case OP_GE: return !less(a, b, is_unsigned);
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_AND: return a & b;
	case OP_XOR: return a ^ b;
	case OP_OR: return a | b;
	default: return 0;
	}
}

static value eval_binary(const struct tracefield_run *r, const struct node *n)
{
	value a = tracefield_eval(r, n->a), b;
	bool is_unsigned;

	if (n->op == OP_LOGICAL_AND)
		return (value){ .bits = a.bits && tracefield_eval(r, n->b).bits };
	if (n->op == OP_LOGICAL_OR)
		return (value){ .bits = a.bits || tracefield_eval(r, n->b).bits };
	b = tracefield_eval(r, n->b);
	is_unsigned = a.is_unsigned || (b.is_unsigned && n->op != OP_SHR && n->op != OP_SHL);
	return (value){ operate(n->op, a.bits, b.bits, is_unsigned), is_unsigned };
}

value tracefield_eval(const struct tracefield_run *r, u32 node)
{
	const struct node *n = &r->t->nodes.items[node];

	switch (n->kind) {
	case NODE_NUMBER: return (value){ .bits = (u64)n->value };
	case NODE_NAME: return (value){ .is_unsigned = true };
	case NODE_FIELD: return eval_field(r, field_of(r, n->value));
	case NODE_LENGTH:
		return (value){ .bits = tracefield_field_bytes(r, field_of(r, n->value)).n };
	case NODE_LOAD: return eval_load(r, n);
	case NODE_INDEX: return eval_index(r, n);
	case NODE_CAST: return eval_cast(r, n);
	case NODE_UNARY: return eval_unary(r, n);
	case NODE_BINARY: return eval_binary(r, n);
	case NODE_CHOICE: return tracefield_eval(r, tracefield_eval(r, n->a).bits ? n->b : n->c);
	default: return (value){ 0 };
	}
}

bytes tracefield_eval_bytes(const struct tracefield_run *r, u32 node)
{
	const struct node *n = &r->t->nodes.items[node];

	switch (n->kind) {
	case NODE_CAST:
	case NODE_ADDRESS: return tracefield_eval_bytes(r, n->a);
	case NODE_CHOICE:
		return tracefield_eval_bytes(r, tracefield_eval(r, n->a).bits ? n->b : n->c);
	case NODE_FIELD:
	case NODE_DYNAMIC:
	case NODE_STRING:
	case NODE_BITMASK: return tracefield_field_bytes(r, field_of(r, n->value));
	default: return (bytes){ NULL, 0 };
	}
}
