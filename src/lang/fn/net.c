/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and names of numbers: resolved when they are shown. */
#include "lang/gen/gen.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static void check_ntop(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[n->n_kids - 1];

	if (a->type->kind != T_NONE && !type_is_number(a->type) && a->type->kind != T_ARRAY &&
	    a->type->kind != T_STR && a->type->kind != T_STRUCT)
		check_error(c, n, "ntop() expects an integer or array argument, got %s",
			    check_type_text(c, a->type));
	if (a->type->kind == T_ARRAY && a->type->size != 4 && a->type->size != 16)
		check_error(c, n, "ntop() argument must be 4 or 16 bytes in size");
	n->type = type_new(&c->types, T_INET, 24);
}

/* { u64 family; u8 address[16] } */
static void emit_ntop(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[n->n_kids - 1];
	bool number = type_is_number(a->type);
	struct val data, v;
	s32 family = number || a->type->size == 4 ? AF_INET : AF_INET6;

	*ret = gen_temp(g, 24);
	gen_zero(g, ret, 24);
	if (n->n_kids == 2)
		ir_store(&g->ir, BPF_DW, ret->reg, ret->off, gen_num(g, n->kids[0]));
	else
		ir_storei(&g->ir, BPF_DW, ret->reg, ret->off, family);
	data = *ret;
	data.off += 8;
	if (number) {
		ir_store(&g->ir, BPF_W, data.reg, data.off, gen_num(g, a));
		return;
	}
	gen_expr(g, a, &v);
	gen_copy(g, &data, &v, MIN(a->type->size, 16u));
}

static void check_pton(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];
	u8 bytes[16];
	u32 size = 4;

	n->type = type_array(&c->types, type_int(&c->types, 1, false), 4);
	if (a->kind != N_STR) {
		if (a->type->kind != T_NONE)
			check_error(c, n, "pton() expects a string literal");
		return;
	}
	if (inet_pton(AF_INET, a->str, bytes) != 1) {
		if (inet_pton(AF_INET6, a->str, bytes) != 1) {
			check_error(c, n, "pton() expects a valid IPv4 or IPv6 address, got '%s'",
				    a->str);
			return;
		}
		size = 16;
	}
	n->type = type_array(&c->types, type_int(&c->types, 1, false), size);
}

static void emit_pton(struct gen *g, struct node *n, struct val *ret)
{
	u8 bytes[16] = { 0 };
	s32 words[4];
	u32 size = n->type->size;

	inet_pton(size == 4 ? AF_INET : AF_INET6, n->kids[0]->str, bytes);
	memcpy(words, bytes, sizeof(words));
	*ret = gen_temp(g, size);
	gen_zero(g, ret, size);
	for (u32 i = 0; i < size / 4; i++)
		ir_storei(&g->ir, BPF_W, ret->reg, ret->off + (s32)i * 4, words[i]);
}

static void check_macaddr(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type;

	if (c->opts->compat && n->kids[0]->kind == N_STR)
		check_error(c, n, "macaddr() does not support literal string arguments");
	else if (t->kind != T_NONE && !type_is_number(t) && t->size < 6)
		check_error(c, n, "macaddr() argument must be 6 bytes in size");
	n->type = type_new(&c->types, T_MAC, 8);
}

static void emit_macaddr(struct gen *g, struct node *n, struct val *ret)
{
	const struct type *t = n->kids[0]->type;
	struct val v, tmp = gen_temp(g, 8);

	gen_expr(g, n->kids[0], &v);
	ir_storei(&g->ir, BPF_DW, tmp.reg, tmp.off, 0);
	if (type_is_number(t)) {
		vreg p = gen_load(g, &v, t);

		if (t->kind == T_PTR)
			gen_read(g, &tmp, 6, p, t->space);
		else
			ir_store(&g->ir, BPF_DW, tmp.reg, tmp.off, p);
	} else {
		gen_copy(g, &tmp, &v, 6);
	}
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, tmp.reg, tmp.off));
}

static void check_name(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type;

	if (t->kind != T_NONE && !type_is_number(t))
		check_error(c, n, "%s() only supports integer arguments (%s provided)", n->str,
			    check_type_text(c, t));
	n->type = type_new(&c->types,
			   streq(n->str, "strerror")       ? T_STRERROR
			   : streq(n->str, "signal_name")  ? T_SIGNAL_NAME
			   : streq(n->str, "syscall_name") ? T_SYSCALL_NAME
							   : T_CGROUP_PATH,
			   8);
}

static void emit_name(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(gen_num(g, n->kids[0]));
}

const struct fn fn_net_table[] = {
	{ "ntop", 1, 2, 0, check_ntop, emit_ntop },
	{ "pton", 1, 1, 0, check_pton, emit_pton },
	{ "macaddr", 1, 1, 0, check_macaddr, emit_macaddr },
	{ "strerror", 1, 1, 0, check_name, emit_name },
	{ "signal_name", 1, 1, 0, check_name, emit_name },
	{ "syscall_name", 1, 1, 0, check_name, emit_name },
	{ "cgroup_path", 1, 2, 0, check_name, emit_name },
	{ 0 },
};
