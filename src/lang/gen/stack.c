/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks: frames are read into scratch memory, hashed, and kept once per content in a map of
 * their own. What travels is the hash. Unlike stack maps of the kernel nothing collides.
 */
#include "lang/gen/gen.h"

static u32 stack_map(struct comp *c, bool user)
{
	u32 *map = user ? &c->ustack_map : &c->kstack_map;

	if (!*map)
		*map = 1 + comp_bpf_map(c, user ? "ustacks" : "kstacks", BPF_MAP_TYPE_HASH, 8,
					sizeof(struct lang_stack), LANG_STACKS);
	return *map - 1;
}

/* The kernel starts from where the helper is called, not from registers. */
static bool begins_in_program(const struct gen *g)
{
	return g->u->prog_type == BPF_PROG_TYPE_RAW_TRACEPOINT ||
	       g->u->prog_type == BPF_PROG_TYPE_TRACING;
}

/*
 * FNV-like over the words of the stack. The first @skip of them say where in this program the
 * stack is taken: two places must not make two stacks of one.
 */
static vreg hash_frames(struct gen *g, const struct val *frames, vreg bytes, u32 depth, u32 skip)
{
	ir_label top = ir_new_label(&g->ir), end = ir_new_label(&g->ir);
	vreg h = ir_imm(&g->ir, 0x4bf29ce484222325ll), i = ir_imm(&g->ir, (s64)skip * 8);
	vreg p = ir_reg(&g->ir), factor = ir_imm(&g->ir, 0x100000001b3ll), word;

	ir_mov(&g->ir, p, gen_addr(g, frames));
	ir_alui(&g->ir, BPF_ADD, p, (s32)skip * 8);
	ir_label_here(&g->ir, top);
	ir_branch(&g->ir, BPF_JGE, i, bytes, end);
	word = ir_load(&g->ir, BPF_DW, p, 0);
	ir_alu(&g->ir, BPF_XOR, h, word);
	ir_alu(&g->ir, BPF_MUL, h, factor);
	ir_mov(&g->ir, word, h);
	ir_alui(&g->ir, BPF_RSH, word, 29);
	ir_alu(&g->ir, BPF_XOR, h, word);
	ir_alui(&g->ir, BPF_ADD, p, 8);
	ir_alui(&g->ir, BPF_ADD, i, 8);
	ir_branchi(&g->ir, BPF_JLT, i, (s32)depth * 8, top);
	ir_label_here(&g->ir, end);
	return h;
}

/*
 * Where the hashes of stacks that are in the map are noted: reading it costs a few instructions,
 * looking a stack up ten times that. Stacks stay until the end, so a note is never wrong.
 */
static vreg seen_slot(struct gen *g, bool user, vreg h)
{
	u32 *map = user ? &g->c->ustack_seen : &g->c->kstack_seen;
	vreg at = ir_reg(&g->ir);

	if (!*map)
		*map = 1 + comp_bpf_map(g->c, user ? "useen" : "kseen", BPF_MAP_TYPE_ARRAY, 4,
					LANG_STACKS_SEEN * 8, 1);
	ir_mov(&g->ir, at, h);
	ir_alui(&g->ir, BPF_AND, at, LANG_STACKS_SEEN - 1);
	ir_alui(&g->ir, BPF_LSH, at, 3);
	ir_alu(&g->ir, BPF_ADD, at, ir_map_value(&g->ir, *map - 1, 0));
	return at;
}

static void keep(struct gen *g, bool user, const struct val *record, vreg h)
{
	struct val key = gen_temp(g, 8);
	ir_label known = ir_new_label(&g->ir), done = ir_new_label(&g->ir);
	u32 map = stack_map(g->c, user);
	vreg fd, rc;

	ir_branch(&g->ir, BPF_JEQ, ir_load(&g->ir, BPF_DW, seen_slot(g, user, h), 0), h, done);
	ir_store(&g->ir, BPF_DW, key.reg, key.off, h);
	/* Most are there already, and looking takes no lock. */
	fd = ir_map(&g->ir, map);
	rc = IR_CALLV(&g->ir, BPF_FUNC_map_lookup_elem, ARG_REG(fd), gen_addr_arg(g, &key));
	ir_branchi(&g->ir, BPF_JNE, rc, 0, known);
	fd = ir_map(&g->ir, map);
	rc = IR_CALLV(&g->ir, BPF_FUNC_map_update_elem, ARG_REG(fd), gen_addr_arg(g, &key),
		      gen_addr_arg(g, record), ARG_IMM(BPF_NOEXIST));
	ir_branchi(&g->ir, BPF_JEQ, rc, -17 /* EEXIST */, known);
	ir_branchi(&g->ir, BPF_JEQ, rc, 0, known);
	gen_count(g, COUNTER_STACK);
	ir_jump(&g->ir, done);
	ir_label_here(&g->ir, known);
	ir_store(&g->ir, BPF_DW, seen_slot(g, user, h), 0, h);
	ir_label_here(&g->ir, done);
}

/* By the unwinder, which finds out the number of the stack and keeps it. */
static vreg unwound_stack(struct gen *g, u32 depth, bool places)
{
	const struct ir_arg args[] = { ARG_IMM((s32)(depth | (places ? LANG_PLACES : 0))) };
	ir_label ok = ir_new_label(&g->ir);
	vreg id;

	stack_map(g->c, true);
	g->u->calls_unwinder = true;
	id = ir_call_linked(&g->ir, args, ARRAY_SIZE(args));
	ir_branchi(&g->ir, BPF_JSGE, id, 0, ok);
	gen_count(g, COUNTER_STACK);
	ir_movi(&g->ir, id, 0);
	ir_label_here(&g->ir, ok);
	return id;
}

/* By the kernel: frame pointers in user space. */
static vreg walked_stack(struct gen *g, u32 depth, bool user)
{
	struct val record = gen_temp_scratch(g, sizeof(struct lang_stack)), frames = record;
	ir_label failed = ir_new_label(&g->ir), end = ir_new_label(&g->ir);
	vreg bytes, h, id = ir_imm(&g->ir, 0);

	frames.off += (s32)offsetof(struct lang_stack, ip);
	bytes = IR_CALLV(&g->ir, BPF_FUNC_get_stack, ARG_REG(g->ctx), gen_addr_arg(g, &frames),
			 ARG_IMM((s32)depth * 8), ARG_IMM(user ? BPF_F_USER_STACK : 0));
	ir_branchi(&g->ir, BPF_JSLE, bytes, 0, failed);
	ir_store(&g->ir, BPF_DW, record.reg, record.off, bytes);
	h = hash_frames(g, &frames, bytes, depth, !user && begins_in_program(g) ? 1 : 0);
	keep(g, user, &record, h);
	ir_mov(&g->ir, id, h);
	ir_jump(&g->ir, end);
	ir_label_here(&g->ir, failed);
	gen_count_negative(g, bytes, COUNTER_STACK);
	ir_label_here(&g->ir, end);
	return id;
}

/* Addresses are requested, or the other one counts the stacks of each process by themselves. */
static bool wants_addresses(const struct gen *g, const struct type *t)
{
	return g->c->opts->compat || t->p[1] == STACK_RAW || t->p[1] == STACK_PERF;
}

/* The process of the stack, where that matters: not for places in files. */
static void store_process(struct gen *g, const struct val *to, vreg id, bool unwound)
{
	ir_label done = ir_new_label(&g->ir);
	vreg pid = ir_imm(&g->ir, 0), found;

	if (unwound) {
		ir_store(&g->ir, BPF_DW, to->reg, to->off + 8, pid);
		ir_alui(&g->ir, BPF_AND, id, LANG_OF_PROCESS);
		ir_branchi(&g->ir, BPF_JEQ, id, 0, done);
	}
	found = ir_call(&g->ir, BPF_FUNC_get_current_pid_tgid, NULL, 0);
	ir_alui(&g->ir, BPF_RSH, found, 32);
	ir_store(&g->ir, BPF_DW, to->reg, to->off + 8, found);
	ir_label_here(&g->ir, done);
}

/*
 * Frames of ours that are read in addition to what was requested. Where more are read than there
 * are, stacks differ in hidden frames: the program and what called it, none where the kernel starts
 * from the registers of what was interrupted. Callbacks of loops are counted generously.
 */
static u32 own_frames(const struct gen *g)
{
	if (g->n_loops)
		return COMP_OWN_FRAMES;
	return begins_in_program(g) ? 2 : 0;
}

void gen_stack(struct gen *g, const struct type *t, struct val *ret)
{
	bool user = t->kind == T_USTACK, unwound = g->c->config.cfi_stacks && !g->c->no_unwinder;
	u32 depth = MIN((u32)t->p[0] + (user ? 0 : own_frames(g)), COMP_STACK_DEPTH);
	vreg id;

	if (!user) {
		*ret = gen_reg(walked_stack(g, depth, false));
		return;
	}
	g->c->user_symbols = true;
	*ret = gen_temp(g, 16);
	/* Whether the kernel takes the unwinder is only known when the program is loaded. */
	id = unwound ? unwound_stack(g, depth, !wants_addresses(g, t))
		     : walked_stack(g, depth, true);
	ir_store(&g->ir, BPF_DW, ret->reg, ret->off, id);
	store_process(g, ret, id, unwound);
}

void gen_stack_len(struct gen *g, struct node *stack, struct val *ret)
{
	bool user = stack->type->kind == T_USTACK;
	ir_label none = ir_new_label(&g->ir);
	struct val v, key = gen_temp(g, 8);
	vreg id, map, p, n;

	gen_expr(g, stack, &v);
	id = v.kind == VAL_MEM ? ir_load(&g->ir, BPF_DW, v.reg, v.off) : v.reg;
	ir_store(&g->ir, BPF_DW, key.reg, key.off, id);
	n = ir_imm(&g->ir, 0);
	map = ir_map(&g->ir, stack_map(g->c, user));
	p = IR_CALLV(&g->ir, BPF_FUNC_map_lookup_elem, ARG_REG(map), gen_addr_arg(g, &key));
	ir_branchi(&g->ir, BPF_JEQ, p, 0, none);
	ir_mov(&g->ir, n, ir_load(&g->ir, BPF_DW, p, 0));
	ir_alui(&g->ir, BPF_RSH, n, 3);
	if (!user)
		ir_alui(&g->ir, BPF_SUB, n, (s32)own_frames(g));
	/* More are taken than asked for, in the place of our own. */
	ir_branchi(&g->ir, BPF_JLE, n, (s32)stack->type->p[0], none);
	ir_movi(&g->ir, n, stack->type->p[0]);
	ir_label_here(&g->ir, none);
	*ret = gen_reg(n);
}
