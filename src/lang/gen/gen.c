/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frame of a program, its memory, its statements. */
#include "lang/gen/gen.h"
#include "host/cpu.h"
#include "lang/probe/provider.h"

void gen_fail(struct gen *g, const struct node *n, const char *why)
{
	if (g->failed)
		return;
	g->failed = why;
	if (n)
		g->failed_at = n->at;
}

struct val gen_reg(vreg r)
{
	return (struct val){ .kind = VAL_REG, .reg = r };
}

struct val gen_mem(vreg base, s32 off, enum space space)
{
	return (struct val){ .kind = VAL_MEM, .reg = base, .off = off, .space = space };
}

/* --- maps that the run time brings ------------------------------------------------------------ */

static u32 gen_counter_map(struct comp *c)
{
	if (!c->counter_map)
		c->counter_map = 1 + comp_bpf_map(c, "counters", BPF_MAP_TYPE_ARRAY, 4,
						  8 * COUNTER_COUNT, 1);
	return c->counter_map - 1;
}

u32 gen_ring_map(struct comp *c)
{
	if (!c->ring_map)
		c->ring_map = 1 + comp_bpf_map(c, "ring", BPF_MAP_TYPE_RINGBUF, 0, 0,
					       (u32)c->config.ring_bytes);
	return c->ring_map - 1;
}

u32 gen_zero_map(struct comp *c, u32 size)
{
	struct bpf_map *m;

	if (!c->zero_map)
		c->zero_map = 1 + comp_bpf_map(c, "zero", BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	m = &c->bpf_maps.items[c->zero_map - 1];
	m->value_size = MAX(m->value_size, size);
	return c->zero_map - 1;
}

void gen_count(struct gen *g, enum counter counter)
{
	vreg at = ir_map_value(&g->ir, gen_counter_map(g->c), (u32)counter * 8);
	vreg one = ir_imm(&g->ir, 1);

	ir_atomic_add(&g->ir, at, 0, one);
}

void gen_count_negative(struct gen *g, vreg r, enum counter counter)
{
	ir_label ok = ir_new_label(&g->ir);

	ir_branchi(&g->ir, BPF_JSGE, r, 0, ok);
	gen_count(g, counter);
	ir_label_here(&g->ir, ok);
}

void gen_read_failed(struct gen *g, vreg r, const char *helper, enum counter counter)
{
	ir_label ok = ir_new_label(&g->ir);

	ir_branchi(&g->ir, BPF_JSGE, r, 0, ok);
	if (g->c->opts->helper_errors)
		gen_helper_error(g, helper, r);
	else
		gen_count(g, counter);
	ir_label_here(&g->ir, ok);
}

/* --- memory ----------------------------------------------------------------------------------- */

struct val gen_temp_scratch(struct gen *g, u32 size)
{
	s32 off = (s32)(g->scratch_vars + g->scratch_tmp);

	size = ALIGN_UP(size, 8u);
	g->need_scratch = true;
	g->scratch_tmp += size;
	if ((u32)off + size > GEN_MAX_SCRATCH) {
		gen_fail(g, NULL, "values of one statement need more than 32000 bytes");
		g->c->too_large = true;
		off = 0;
	}
	g->scratch_max = MAX(g->scratch_max, g->scratch_vars + g->scratch_tmp);
	return gen_mem(g->scratch ? g->scratch : VREG_FP, off, SPACE_BPF);
}

struct val gen_temp(struct gen *g, u32 size)
{
	size = ALIGN_UP(MAX(size, 8u), 8u);
	if (size > GEN_FRAME_OBJECT ||
	    g->frame_tmp + size > (g->saved ? GEN_FRAME_TEMPS_LOOP : GEN_FRAME_TEMPS))
		return gen_temp_scratch(g, size);
	g->frame_tmp += size;
	g->frame_max = MAX(g->frame_max, g->frame_tmp);
	return gen_mem(VREG_FP, -(s32)(g->frame_vars + g->frame_tmp), SPACE_BPF);
}

vreg gen_addr(struct gen *g, const struct val *v)
{
	vreg r;

	if (!v->off && v->reg != VREG_FP)
		return v->reg;
	r = ir_reg(&g->ir);
	ir_mov(&g->ir, r, v->reg);
	ir_alui(&g->ir, BPF_ADD, r, v->off);
	return r;
}

struct ir_arg gen_addr_arg(struct gen *g, const struct val *v)
{
	if (v->reg == VREG_FP)
		return ARG_FRAME(v->off);
	return ARG_REG(gen_addr(g, v));
}

void gen_zero(struct gen *g, const struct val *dst, u32 size)
{
	size = ALIGN_UP(size, 8u);
	if (size > 128) {
		/* A read that fails leaves zeros: the cheapest way to clear much memory. */
		IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel, gen_addr_arg(g, dst),
			 ARG_IMM((s32)size), ARG_IMM(0));
		return;
	}
	for (u32 i = 0; i < size; i += 8)
		ir_storei(&g->ir, BPF_DW, dst->reg, dst->off + (s32)i, 0);
}

u8 gen_size_code(u32 bytes)
{
	return bytes >= 8 ? BPF_DW : bytes == 4 ? BPF_W : bytes == 2 ? BPF_H : BPF_B;
}

void gen_copy(struct gen *g, const struct val *dst, const struct val *src, u32 size)
{
	if (src->space != SPACE_BPF || size > 128) {
		gen_read(g, dst, size, gen_addr(g, src),
			 src->space == SPACE_BPF || src->space == SPACE_CTX ? SPACE_KERNEL
									    : src->space);
		return;
	}
	for (u32 i = 0; i < size;) {
		u32 n = size - i >= 8 ? 8 : size - i >= 4 ? 4 : size - i >= 2 ? 2 : 1;
		vreg r = ir_load(&g->ir, gen_size_code(n), src->reg, src->off + (s32)i);

		ir_store(&g->ir, gen_size_code(n), dst->reg, dst->off + (s32)i, r);
		i += n;
	}
}

/* In sleepable programs a page that is not there can be fetched. */
static vreg read_user(struct gen *g, const struct val *dst, struct ir_arg size, vreg address)
{
	struct ir_arg to = gen_addr_arg(g, dst);
	ir_label ok;
	vreg rc, again;

	rc = IR_CALLV(&g->ir, BPF_FUNC_probe_read_user, to, size, ARG_REG(address));
	if (!(g->u->prog_flags & BPF_F_SLEEPABLE))
		return rc;
	ok = ir_new_label(&g->ir);
	ir_branchi(&g->ir, BPF_JSGE, rc, 0, ok);
	again = IR_CALLV(&g->ir, BPF_FUNC_copy_from_user, gen_addr_arg(g, dst), size,
			 ARG_REG(address));
	ir_mov(&g->ir, rc, again);
	ir_label_here(&g->ir, ok);
	return rc;
}

void gen_read(struct gen *g, const struct val *dst, u32 size, vreg address, enum space space)
{
	ir_label user = ir_new_label(&g->ir), done = ir_new_label(&g->ir);
	vreg rc;

	if (space == SPACE_ANY)
		ir_branchi(&g->ir, BPF_JSGE, address, 0, user);
	if (space != SPACE_USER) {
		rc = IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel, gen_addr_arg(g, dst),
			      ARG_IMM((s32)size), ARG_REG(address));
		gen_read_failed(g, rc, "probe_read_kernel", COUNTER_READ_KERNEL);
		ir_jump(&g->ir, done);
	}
	if (space == SPACE_ANY || space == SPACE_USER) {
		ir_label_here(&g->ir, user);
		g->u->reads_user = true;
		rc = read_user(g, dst, ARG_IMM((s32)size), address);
		gen_read_failed(g, rc, "probe_read_user", COUNTER_READ_USER);
	}
	ir_label_here(&g->ir, done);
}

/* Touches the page of an address, so that a second try finds it. */
static void fetch_page(struct gen *g, vreg address)
{
	struct val byte = gen_temp(g, 8);

	ir_storei(&g->ir, BPF_DW, byte.reg, byte.off, 0);
	IR_CALLV(&g->ir, BPF_FUNC_copy_from_user, gen_addr_arg(g, &byte), ARG_IMM(1),
		 ARG_REG(address));
}

static vreg read_user_str(struct gen *g, const struct val *dst, struct ir_arg size, vreg address)
{
	vreg rc = IR_CALLV(&g->ir, BPF_FUNC_probe_read_user_str, gen_addr_arg(g, dst), size,
			   ARG_REG(address));
	vreg again, next;
	ir_label ok;

	g->u->reads_user = true;
	if (!(g->u->prog_flags & BPF_F_SLEEPABLE))
		return rc;
	ok = ir_new_label(&g->ir);
	ir_branchi(&g->ir, BPF_JSGE, rc, 0, ok);
	next = ir_reg(&g->ir);
	ir_mov(&g->ir, next, address);
	ir_alui(&g->ir, BPF_OR, next, 4095);
	ir_alui(&g->ir, BPF_ADD, next, 1);
	fetch_page(g, next);
	fetch_page(g, address);
	again = IR_CALLV(&g->ir, BPF_FUNC_probe_read_user_str, gen_addr_arg(g, dst), size,
			 ARG_REG(address));
	ir_mov(&g->ir, rc, again);
	ir_label_here(&g->ir, ok);
	return rc;
}

vreg gen_read_str(struct gen *g, const struct val *dst, struct ir_arg size, vreg address,
		  enum space space)
{
	ir_label user = ir_new_label(&g->ir), done = ir_new_label(&g->ir);
	vreg result = ir_reg(&g->ir), rc;

	if (space == SPACE_BPF || space == SPACE_CTX)
		space = SPACE_KERNEL;
	if (space == SPACE_ANY)
		ir_branchi(&g->ir, BPF_JSGE, address, 0, user);
	if (space != SPACE_USER) {
		rc = IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel_str, gen_addr_arg(g, dst), size,
			      ARG_REG(address));
		ir_mov(&g->ir, result, rc);
		gen_read_failed(g, result, "probe_read_kernel_str", COUNTER_READ_KERNEL);
		ir_jump(&g->ir, done);
	}
	if (space == SPACE_ANY || space == SPACE_USER) {
		ir_label_here(&g->ir, user);
		rc = read_user_str(g, dst, size, address);
		ir_mov(&g->ir, result, rc);
		gen_read_failed(g, result, "probe_read_user_str", COUNTER_READ_USER);
	}
	ir_label_here(&g->ir, done);
	return result;
}

/* --- events ----------------------------------------------------------------------------------- */

void gen_return(struct gen *g)
{
	ir_jump(&g->ir, g->out);
}

/* --- statements ------------------------------------------------------------------------------- */

void gen_condition(struct gen *g, struct node *n, ir_label no)
{
	ir_branchi(&g->ir, BPF_JEQ, gen_num(g, n), 0, no);
}

struct val gen_var_place(struct gen *g, const struct variable *v)
{
	if (v->frame)
		return gen_mem(g->frame, v->frame, SPACE_BPF);
	g->need_scratch = true;
	return gen_mem(g->scratch ? g->scratch : VREG_FP, (s32)v->scratch, SPACE_BPF);
}

void gen_var(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_var_place(g, n->ref);
	if (n->type->kind == T_INT || n->type->kind == T_PTR)
		*ret = gen_reg(ir_load(&g->ir, BPF_DW, ret->reg, ret->off));
}

static void gen_if(struct gen *g, struct node *n)
{
	ir_label no = ir_new_label(&g->ir), end = ir_new_label(&g->ir);

	if (n->flag) {
		if (n->ival < n->n_kids)
			gen_stmt(g, n->kids[n->ival]);
		return;
	}
	gen_condition(g, n->kids[0], no);
	gen_stmt(g, n->kids[1]);
	if (n->n_kids > 2)
		ir_jump(&g->ir, end);
	ir_label_here(&g->ir, no);
	if (n->n_kids > 2)
		gen_stmt(g, n->kids[2]);
	ir_label_here(&g->ir, end);
}

bool gen_push_loop(struct gen *g, const struct node *n)
{
	if (g->n_loops == GEN_MAX_LOOPS) {
		gen_fail(g, n, "loops are nested too deep");
		return false;
	}
	g->loops[g->n_loops].next = ir_new_label(&g->ir);
	g->loops[g->n_loops].end = ir_new_label(&g->ir);
	g->n_loops++;
	return true;
}

static void gen_for_range(struct gen *g, struct node *n)
{
	struct val place = gen_var_place(g, n->kids[0]->ref);
	ir_label top = ir_new_label(&g->ir);
	vreg i, end;

	if (gen_is_long_loop(n)) {
		gen_for_long(g, n);
		return;
	}
	if (!gen_push_loop(g, n))
		return;
	i = gen_num_copy(g, n->kids[1]);
	end = gen_num_copy(g, n->kids[2]);
	ir_label_here(&g->ir, top);
	ir_branch(&g->ir, BPF_JSGE, i, end, g->loops[g->n_loops - 1].end);
	ir_store(&g->ir, BPF_DW, place.reg, place.off, i);
	gen_stmt(g, n->kids[3]);
	ir_label_here(&g->ir, g->loops[g->n_loops - 1].next);
	ir_alui(&g->ir, BPF_ADD, i, 1);
	ir_jump(&g->ir, top);
	g->n_loops--;
	ir_label_here(&g->ir, g->loops[g->n_loops].end);
}

static void gen_block(struct gen *g, struct node *n)
{
	for (u32 i = 0; i < n->n_kids; i++)
		gen_stmt(g, n->kids[i]);
}

/* Only tests have a result; elsewhere the value is made and forgotten. */
static void gen_return_value(struct gen *g, struct node *n)
{
	struct val ignored;

	if (n->n_kids && g->result)
		ir_store(&g->ir, BPF_DW, g->frame, g->result, gen_num(g, n->kids[0]));
	else if (n->n_kids)
		gen_expr(g, n->kids[0], &ignored);
	gen_return(g);
}

static void gen_statement(struct gen *g, struct node *n)
{
	struct val ignored;

	switch (n->kind) {
	case N_BLOCK: gen_block(g, n); break;
	case N_EXPR: gen_expr(g, n->kids[0], &ignored); break;
	case N_LET: gen_let(g, n); break;
	case N_ASSIGN:
		if (n->kids[0]->kind == N_MAP)
			gen_map_assign(g, n);
		else
			gen_assign_var(g, n);
		break;
	case N_IF: gen_if(g, n); break;
	case N_WHILE: gen_while(g, n); break;
	case N_FOR_MAP: gen_for_map(g, n); break;
	case N_FOR_RANGE: gen_for_range(g, n); break;
	case N_UNROLL:
		for (u64 i = 0; i < n->kids[0]->ival; i++)
			gen_stmt(g, n->kids[1]);
		break;
	case N_BREAK: ir_jump(&g->ir, g->loops[g->n_loops - 1].end); break;
	case N_CONTINUE: ir_jump(&g->ir, g->loops[g->n_loops - 1].next); break;
	case N_RETURN: gen_return_value(g, n); break;
	default: gen_expr(g, n, &ignored); break;
	}
}

void gen_stmt(struct gen *g, struct node *n)
{
	u32 frame = g->frame_tmp, scratch = g->scratch_tmp, line = g->ir.line;
	struct span_at at = g->at;

	g->ir.line = n->at.start;
	g->at = n->at;
	gen_statement(g, n);
	g->at = at;
	g->ir.line = line;
	g->frame_tmp = frame;
	g->scratch_tmp = scratch;
}

/* --- one program ------------------------------------------------------------------------------ */

static bool is_long_loop(const struct node *n, void *ctx)
{
	(void)ctx;
	return gen_is_long_loop(n) || gen_is_long_search(n);
}

static void place_var(struct gen *g, struct variable *v)
{
	u32 size = v->type ? type_stored(v->type) : 8;

	/*
	 * A callback is followed by the verifier until nothing changes any more: what counts in
	 * it must be in memory whose content it does not follow.
	 */
	if (size <= 16 && g->frame_vars + size <= GEN_FRAME_VARS && !g->vars_in_memory) {
		g->frame_vars += size;
		v->frame = -(s32)g->frame_vars;
		return;
	}
	v->frame = 0;
	v->scratch = g->scratch_vars;
	g->scratch_vars += size;
	g->need_scratch = true;
}

static void place_vars(struct gen *g)
{
	const struct probe *p = &g->c->prog.probes.items[g->u->probe];

	g->frame_vars = 0;
	g->saved = g->result = 0;
	if (g->target->provider == &probe_test) {
		g->frame_vars = 8;
		g->result = -8;
	}
	if (node_any(p->body, is_long_loop, NULL) || node_any(p->predicate, is_long_loop, NULL)) {
		g->frame_vars += 24;
		g->saved = -(s32)g->frame_vars;
		g->vars_in_memory = true;
	}
	g->scratch_vars = g->u->prog_flags & BPF_F_SLEEPABLE ? 8 : 0;
	/* Numbers first: loops are only proved to end when the verifier can follow their counters.
	 */
	for (u32 pass = 0; pass < 2; pass++) {
		vec_each(it, &g->c->at->vars) {
			if (((*it)->type && (*it)->type->kind == T_INT) == (pass == 0))
				place_var(g, *it);
		}
	}
	g->scratch_max = MAX(g->scratch_max, g->scratch_vars);
}

static void clear_vars(struct gen *g)
{
	vec_each(it, &g->c->at->vars) {
		struct val place = gen_var_place(g, *it);

		gen_zero(g, &place, (*it)->type ? type_stored((*it)->type) : 8);
	}
}

static bool may_sleep(const struct gen *g)
{
	return g->u->prog_flags & BPF_F_SLEEPABLE;
}

static void add_to_claim(struct gen *g, s64 n)
{
	ir_atomic_add(&g->ir, g->scratch, 0, ir_imm(&g->ir, n));
}

/*
 * While a program sleeps, another task may run it on the same CPU: its first word says whether the
 * memory is in use. A program that finds it taken returns, and that is counted.
 */
static void claim_scratch(struct gen *g)
{
	ir_label mine = ir_new_label(&g->ir);
	vreg users;

	add_to_claim(g, 1);
	users = ir_load(&g->ir, BPF_DW, g->scratch, 0);
	ir_branchi(&g->ir, BPF_JEQ, users, 1, mine);
	add_to_claim(g, -1);
	gen_count(g, COUNTER_SCRATCH);
	ir_exit(&g->ir, 0);
	ir_label_here(&g->ir, mine);
}

static void enter_scratch(struct gen *g)
{
	struct comp *c = g->c;
	struct val key = gen_temp(g, 8);
	ir_label ok = ir_new_label(&g->ir);
	vreg map;

	if (!c->scratch_map)
		c->scratch_map = 1 + comp_bpf_map(c, "scratch", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1);
	ir_storei(&g->ir, BPF_W, key.reg, key.off, (s32)(g->u - c->units.items));
	map = ir_map(&g->ir, c->scratch_map - 1);
	g->scratch =
		IR_CALLV(&g->ir, BPF_FUNC_map_lookup_elem, ARG_REG(map), gen_addr_arg(g, &key));
	ir_branchi(&g->ir, BPF_JNE, g->scratch, 0, ok);
	gen_count(g, COUNTER_SCRATCH);
	ir_exit(&g->ir, 0);
	ir_label_here(&g->ir, ok);
	if (may_sleep(g))
		claim_scratch(g);
	g->frame_tmp = 0;
}

/* The number of the system call that this raw event is about. */
static vreg syscall_number(struct gen *g)
{
	struct val tmp;
	vreg regs;

	if (g->u->mode == TP_SYS_ENTER)
		return ir_load(&g->ir, BPF_DW, g->ctx, 8);
	tmp = gen_temp(g, 8);
	regs = ir_load(&g->ir, BPF_DW, g->ctx, 0);
	ir_alui(&g->ir, BPF_ADD, regs, cpu_register("orig_ax"));
	IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel, gen_addr_arg(g, &tmp), ARG_IMM(8),
		 ARG_REG(regs));
	return ir_load(&g->ir, BPF_DW, tmp.reg, tmp.off);
}

/* One program for many system calls: the number of the call says which target it is. */
static void enter_dispatch(struct gen *g)
{
	struct val key = gen_temp(g, 8);
	vreg id = syscall_number(g), map, at;

	ir_store(&g->ir, BPF_W, key.reg, key.off, id);
	map = ir_map(&g->ir, g->u->dispatch_map - 1);
	at = IR_CALLV(&g->ir, BPF_FUNC_map_lookup_elem, ARG_REG(map), gen_addr_arg(g, &key));
	ir_branchi(&g->ir, BPF_JEQ, at, 0, g->out);
	g->target_id = ir_load(&g->ir, BPF_W, at, 0);
	ir_branchi(&g->ir, BPF_JEQ, g->target_id, 0, g->out);
	ir_alui(&g->ir, BPF_ADD, g->target_id, -1);
	g->frame_tmp = 0;
}

/* What comes after the end is not meant. */
static void enter_stop(struct gen *g)
{
	ir_label go = ir_new_label(&g->ir);
	struct comp *c = g->c;

	if (!g->u->checks_stop)
		return;
	if (!c->stop_map)
		c->stop_map = 1 + comp_bpf_map(c, "stop", BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	ir_branchi(&g->ir, BPF_JEQ,
		   ir_load(&g->ir, BPF_DW, ir_map_value(&g->ir, c->stop_map - 1, 0), 0), 0, go);
	ir_exit(&g->ir, 0);
	ir_label_here(&g->ir, go);
}

/* Only some of what the probe delivers is meant. */
static void enter_filter(struct gen *g)
{
	if (g->target->provider != &probe_tracepoint ||
	    (g->u->mode != TP_SYS_ENTER && g->u->mode != TP_SYS_EXIT))
		return;
	if (g->u->dispatch_map)
		enter_dispatch(g);
	else
		ir_branchi(&g->ir, BPF_JNE, syscall_number(g), (s32)g->target->extra, g->out);
	g->frame_tmp = 0;
}

static void gen_program(struct gen *g)
{
	const struct probe *p = &g->c->prog.probes.items[g->u->probe];

	ir_init(&g->ir);
	g->scratch = 0;
	g->target_id = 0;
	g->scratch_tmp = g->frame_tmp = g->frame_max = g->n_loops = 0;
	g->out = ir_new_label(&g->ir);
	g->ir.line = p->at.start;
	place_vars(g);
	g->frame = VREG_FP;
	vec_clear(&g->u->funcs);
	vec_each(it, &g->u->subs)
		ir_code_release(it);
	vec_clear(&g->u->subs);
	g->ctx = ir_ctx(&g->ir, 1);
	enter_stop(g);
	enter_filter(g);
	if (g->need_scratch)
		enter_scratch(g);
	if (g->saved) {
		ir_store(&g->ir, BPF_DW, VREG_FP, g->saved, g->ctx);
		if (g->scratch)
			ir_store(&g->ir, BPF_DW, VREG_FP, g->saved + 8, g->scratch);
		ir_storei(&g->ir, BPF_DW, VREG_FP, g->saved + 16, 0);
	}
	if (g->result)
		ir_storei(&g->ir, BPF_DW, VREG_FP, g->result, 0);
	if (p->predicate)
		gen_condition(g, p->predicate, g->out);
	g->frame_tmp = g->scratch_tmp = 0;
	clear_vars(g);
	gen_block(g, p->body);
	ir_label_here(&g->ir, g->out);
	if (g->scratch && may_sleep(g))
		add_to_claim(g, -1);
	if (g->result)
		ir_exit_reg(&g->ir, ir_load(&g->ir, BPF_DW, VREG_FP, g->result));
	else
		ir_exit(&g->ir, 0);
	g->ir.stack = g->frame_vars + g->frame_max;
}

/*
 * Marks the callbacks that the code refers to, and those that they refer to. Returns the bytes that
 * all frames need when the deepest is entered, as the kernel counts them, or more than there are.
 */
static u32 mark_used(const struct unit *u, const struct ir_code *code, bool *used, u32 depth)
{
	u32 most = 0;

	for (size_t i = 0; i < code->insns.len && depth < GEN_MAX_FRAMES; i++) {
		const struct bpf_insn *in = &code->insns.items[i];

		if (in->code != (BPF_LD | BPF_DW | BPF_IMM))
			continue;
		if (in->src_reg == BPF_PSEUDO_FUNC) {
			used[in->imm] = true;
			most = MAX(most, mark_used(u, &u->subs.items[in->imm], used, depth + 1));
		}
		i++;
	}
	if (depth >= GEN_MAX_FRAMES)
		return IR_MAX_STACK + 1;
	return most + ALIGN_UP(MAX(code->stack, 1u), 32u);
}

static void append_function(struct unit *u, const struct ir_code *code)
{
	vec_push(&u->funcs, (u32)u->code.insns.len);
	for (size_t i = 0; i < code->insns.len; i++) {
		vec_push(&u->code.insns, code->insns.items[i]);
		vec_push(&u->code.lines, code->lines.items[i]);
	}
}

/*
 * Callbacks follow the program; references to them become distances. A callback whose loop cannot
 * be reached is left out: the kernel wants every function to be called.
 */
static int join_functions(struct unit *u)
{
	bool *used = xcalloc(u->subs.len + 1, sizeof(*used));
	u32 *start = xcalloc(u->subs.len + 1, sizeof(*start));
	bool fits = mark_used(u, &u->code, used, 0) <= IR_MAX_STACK;

	for (size_t i = 0; i < u->subs.len; i++) {
		if (used[i] && !u->funcs.len)
			vec_push(&u->funcs, 0);
		start[i] = (u32)u->code.insns.len;
		if (used[i])
			append_function(u, &u->subs.items[i]);
		ir_code_release(&u->subs.items[i]);
	}
	vec_clear(&u->subs);
	for (size_t i = 0; i < u->code.insns.len; i++) {
		struct bpf_insn *in = &u->code.insns.items[i];

		if (in->code != (BPF_LD | BPF_DW | BPF_IMM))
			continue;
		if (in->src_reg == BPF_PSEUDO_FUNC)
			in->imm = (s32)(start[in->imm] - i - 1);
		i++;
	}
	free(used);
	free(start);
	return fits ? 0 : -ENOBUFS;
}

static int gen_unit(struct comp *c, struct unit *u, struct err *e)
{
	struct gen g = { .c = c, .u = u, .target = &c->targets.items[u->first] };
	int rc;

	gen_program(&g);
	if (g.need_scratch && !g.failed) {
		/* Now that it is known: once more, with scratch memory available. */
		ir_release(&g.ir);
		gen_program(&g);
	}
	if (g.need_scratch && !g.failed) {
		c->bpf_maps.items[c->scratch_map - 1].value_size =
			MAX(c->bpf_maps.items[c->scratch_map - 1].value_size,
			    ALIGN_UP(g.scratch_max, 8u));
		c->bpf_maps.items[c->scratch_map - 1].max_entries = (u32)c->units.len;
	}
	if (g.failed) {
		diag_error(&c->diags,
			   g.failed_at.end ? g.failed_at : c->prog.probes.items[u->probe].at, "%s",
			   g.failed);
		ir_release(&g.ir);
		return err_set(e, EINVAL, "the program cannot be compiled");
	}
	rc = ir_finish(&g.ir, &u->code);
	ir_release(&g.ir);
	if (rc == 0)
		rc = join_functions(u);
	if (rc == -ENOBUFS && u->funcs.len)
		diag_error(&c->diags, c->prog.probes.items[u->probe].at,
			   "loops are nested too deep in this probe");
	else if (rc == -ENOBUFS)
		return err_set(e, E2BIG, "the program needs more than 512 bytes of stack");
	else if (rc < 0)
		return err_set(e, E2BIG, "the program is too long");
	return rc;
}

int comp_generate(struct comp *c, struct err *e)
{
	for (size_t i = 0; i < c->units.len; i++) {
		int rc;

		check_unit_final(c, &c->units.items[i]);
		rc = gen_unit(c, &c->units.items[i], e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
