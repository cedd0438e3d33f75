/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops over maps and long ranges: the body becomes a callback of bpf_for_each_map_elem() or
 * bpf_loop(), so that its length does not matter to the verifier. The callback reaches the
 * variables of the program through a pointer to the program's frame; context and scratch memory
 * are kept there, too.
 */
#include "lang/gen/gen.h"

enum { FOR_MAX_CALLBACKS = 32, FOR_INLINE = 4, FOR_MOST_ROUNDS = 1 << 23 /* of bpf_loop() */ };

/* What a callback has of its own while it is generated. */
struct outer {
	struct ir ir;
	vreg ctx, scratch, frame, target_id;
	u32 frame_vars, frame_tmp, frame_max, n_loops;
	ir_label out;
};

static void enter(struct gen *g, struct outer *o, bool over_map, vreg *key)
{
	*o = (struct outer){ g->ir,         g->ctx,       g->scratch,   g->frame,   g->target_id,
			     g->frame_vars, g->frame_tmp, g->frame_max, g->n_loops, g->out };
	ir_init(&g->ir);
	g->ir.line = o->ir.line;
	g->frame_vars = g->frame_tmp = g->frame_max = g->n_loops = 0;
	*key = ir_ctx(&g->ir, over_map ? 2 : 1);
	g->frame = ir_ctx(&g->ir, over_map ? 4 : 2);
	g->ctx = ir_load(&g->ir, BPF_DW, g->frame, g->saved);
	if (o->scratch)
		g->scratch = ir_load(&g->ir, BPF_DW, g->frame, g->saved + 8);
	g->target_id = 0;
	g->out = ir_new_label(&g->ir);
}

static void leave(struct gen *g, const struct outer *o)
{
	g->ir = o->ir;
	g->ctx = o->ctx;
	g->scratch = o->scratch;
	g->frame = o->frame;
	g->target_id = o->target_id;
	g->frame_vars = o->frame_vars;
	g->frame_tmp = o->frame_tmp;
	g->frame_max = o->frame_max;
	g->n_loops = o->n_loops;
	g->out = o->out;
}

/* (key, value) into the loop's variable. */
static void fill_variable(struct gen *g, struct node *n, vreg key)
{
	const struct map_def *m = n->kids[1]->ref;
	const struct type *pair = n->kids[0]->type;
	struct val place = gen_var_place(g, n->kids[0]->ref), to = place;
	struct val from = gen_mem(key, 0, SPACE_BPF), value;
	ir_label gone = ir_new_label(&g->ir);

	for (u32 i = 0; i < m->key->size; i += 8)
		ir_store(&g->ir, BPF_DW, to.reg, to.off + (s32)i,
			 ir_load(&g->ir, BPF_DW, from.reg, from.off + (s32)i));
	to.off += (s32)pair->fields[1].offset;
	if (type_is_agg(m->value)) {
		gen_map_read_agg(g, m, &from, &value);
		ir_store(&g->ir, BPF_DW, to.reg, to.off, value.reg);
		return;
	}
	/* Looked up again: the element's own pointer says nothing about its size. */
	{
		vreg map = ir_map(&g->ir, m->index), p;

		p = IR_CALLV(&g->ir, BPF_FUNC_map_lookup_elem, ARG_REG(map), ARG_REG(key));
		ir_branchi(&g->ir, BPF_JEQ, p, 0, gone);
		value = gen_mem(p, 0, SPACE_BPF);
		gen_copy(g, &to, &value, type_stored(m->value));
	}
	ir_label_here(&g->ir, gone);
}

/* The next number: the variable itself keeps count. */
static void count_up(struct gen *g, const struct node *n)
{
	struct val place = gen_var_place(g, n->kids[0]->ref);
	vreg i = ir_load(&g->ir, BPF_DW, place.reg, place.off);

	ir_alui(&g->ir, BPF_ADD, i, 1);
	ir_store(&g->ir, BPF_DW, place.reg, place.off, i);
}

/* 0 goes on with the next element, 1 ends the loop. */
static void callback_body(struct gen *g, struct node *n, vreg key)
{
	if (!gen_push_loop(g, n))
		return;
	if (n->kind == N_FOR_MAP)
		fill_variable(g, n, key);
	else if (n->kind == N_FOR_RANGE)
		count_up(g, n);
	else
		gen_condition(g, n->kids[0], g->loops[0].end);
	gen_stmt(g, n->kids[n->n_kids - 1]);
	ir_label_here(&g->ir, g->loops[0].next);
	ir_exit(&g->ir, 0);
	ir_label_here(&g->ir, g->out);
	ir_storei(&g->ir, BPF_DW, g->frame, g->saved + 16, 1);
	ir_label_here(&g->ir, g->loops[0].end);
	ir_exit(&g->ir, 1);
}

static int make_callback(struct gen *g, struct node *n)
{
	u32 number = (u32)g->u->subs.len;
	struct ir_code code = { 0 };
	typeof(g->loops[0]) first = g->loops[0];
	struct outer o;
	vreg key;
	int rc;

	vec_push(&g->u->subs, code);
	enter(g, &o, n->kind == N_FOR_MAP, &key);
	callback_body(g, n, key);
	g->ir.stack = g->frame_max;
	rc = ir_finish(&g->ir, &code);
	ir_release(&g->ir);
	leave(g, &o);
	g->loops[0] = first;
	g->u->subs.items[number] = code;
	if (rc < 0)
		gen_fail(g, n, "the body of the loop is too large");
	return (int)number;
}

static bool room_for_callback(struct gen *g, const struct node *n)
{
	if (g->u->subs.len < FOR_MAX_CALLBACKS)
		return true;
	gen_fail(g, n, "too many loops");
	return false;
}

static void leave_if_requested(struct gen *g)
{
	vreg stop = ir_load(&g->ir, BPF_DW, g->frame, g->saved + 16);

	ir_branchi(&g->ir, BPF_JNE, stop, 0, g->out);
}

static bool is_loop(const struct node *n, void *ctx)
{
	(void)ctx;
	return n->kind == N_FOR_MAP || n->kind == N_FOR_RANGE || n->kind == N_WHILE ||
	       n->kind == N_UNROLL || gen_is_long_search(n);
}

/* Only few rounds of a body without loops are walked through by the verifier one by one. */
bool gen_is_long_loop(const struct node *n)
{
	if (n->kind == N_FOR_MAP || n->kind == N_WHILE)
		return true;
	if (n->kind != N_FOR_RANGE)
		return false;
	return !n->kids[1]->folded || !n->kids[2]->folded ||
	       n->kids[2]->ival - n->kids[1]->ival > FOR_INLINE ||
	       node_any(n->kids[3], is_loop, NULL);
}

/* What a helper that calls back is given: our function of that number, and the frame. */
struct callback {
	vreg func, frame;
};

static struct callback callback(struct gen *g, u32 number)
{
	struct callback b = { .frame = ir_reg(&g->ir) };

	ir_mov(&g->ir, b.frame, g->frame);
	b.func = ir_func(&g->ir, number);
	return b;
}

void gen_loop(struct gen *g, const struct node *n, vreg count,
	      void (*body)(struct gen *g, vreg i, void *ctx), void *ctx)
{
	u32 number = (u32)g->u->subs.len;
	struct ir_code code = { 0 };
	struct callback b;
	struct outer o;
	vreg i;
	int rc;

	if (!room_for_callback(g, n))
		return;
	vec_push(&g->u->subs, code);
	enter(g, &o, false, &i);
	body(g, i, ctx);
	g->ir.stack = g->frame_max;
	rc = ir_finish(&g->ir, &code);
	ir_release(&g->ir);
	leave(g, &o);
	g->u->subs.items[number] = code;
	if (rc < 0)
		gen_fail(g, n, "the search is too large");
	b = callback(g, number);
	IR_CALLV(&g->ir, BPF_FUNC_loop, ARG_REG(count), ARG_REG(b.func), ARG_REG(b.frame),
		 ARG_IMM(0));
}

void gen_for_long(struct gen *g, struct node *n)
{
	struct val place = gen_var_place(g, n->kids[0]->ref);
	vreg first = gen_num_copy(g, n->kids[1]), count = gen_num_copy(g, n->kids[2]);
	ir_label end = ir_new_label(&g->ir);
	struct callback b;
	vreg rc;

	if (!room_for_callback(g, n))
		return;
	ir_branch(&g->ir, BPF_JSLE, count, first, end);
	ir_alu(&g->ir, BPF_SUB, count, first);
	ir_alui(&g->ir, BPF_ADD, first, -1);
	ir_store(&g->ir, BPF_DW, place.reg, place.off, first);
	b = callback(g, (u32)make_callback(g, n));
	rc = IR_CALLV(&g->ir, BPF_FUNC_loop, ARG_REG(count), ARG_REG(b.func), ARG_REG(b.frame),
		      ARG_IMM(0));
	gen_count_negative(g, rc, COUNTER_LOOP);
	leave_if_requested(g);
	ir_label_here(&g->ir, end);
}

/* The condition is asked in the callback; a loop that does not end in time is stopped, and counted.
 */
void gen_while(struct gen *g, struct node *n)
{
	ir_label ended = ir_new_label(&g->ir);
	struct callback b;
	vreg rc;

	if (!room_for_callback(g, n))
		return;
	b = callback(g, (u32)make_callback(g, n));
	rc = IR_CALLV(&g->ir, BPF_FUNC_loop, ARG_IMM(FOR_MOST_ROUNDS), ARG_REG(b.func),
		      ARG_REG(b.frame), ARG_IMM(0));
	ir_branchi(&g->ir, BPF_JNE, rc, FOR_MOST_ROUNDS, ended);
	gen_count(g, COUNTER_LOOP);
	ir_label_here(&g->ir, ended);
	leave_if_requested(g);
}

void gen_for_map(struct gen *g, struct node *n)
{
	const struct map_def *m = n->kids[1]->ref;
	struct callback b;
	vreg map;

	if (!room_for_callback(g, n))
		return;
	b = callback(g, (u32)make_callback(g, n));
	map = ir_map(&g->ir, m->index);
	IR_CALLV(&g->ir, BPF_FUNC_for_each_map_elem, ARG_REG(map), ARG_REG(b.func),
		 ARG_REG(b.frame), ARG_IMM(0));
	leave_if_requested(g);
}

/* Walking the map without doing anything gives the number of its keys. */
void gen_map_len(struct gen *g, const struct map_def *m, struct val *ret)
{
	struct ir_code code = { 0 };
	struct ir ir;
	u32 number = (u32)g->u->subs.len;
	struct callback b;
	vreg map;

	ir_init(&ir);
	ir_ctx(&ir, 1);
	ir_exit(&ir, 0);
	ir_finish(&ir, &code);
	ir_release(&ir);
	vec_push(&g->u->subs, code);
	b = callback(g, number);
	map = ir_map(&g->ir, m->index);
	*ret = gen_reg(IR_CALLV(&g->ir, BPF_FUNC_for_each_map_elem, ARG_REG(map), ARG_REG(b.func),
				ARG_REG(b.frame), ARG_IMM(0)));
}
