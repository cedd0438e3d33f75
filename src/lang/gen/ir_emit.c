/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From virtual registers to BPF: reachability, intervals, linear scan, emission. */
#include "lang/gen/ir.h"

#include "base/buf.h"

#include <errno.h>

enum { NO_REG = 0xff, CALLEE_FIRST = 6, CALLEE_LAST = 9, CALLER_FIRST = 2, CALLER_LAST = 5 };

struct interval {
	u32 reg;
	u32 start; /* position of the first definition */
	u32 end;   /* position of the last use */
	bool over_call;
	bool seen;
	u8 phys;  /* NO_REG: in the frame */
	s16 slot; /* offset from r10 */
};

struct emitter {
	struct ir *ir;
	struct ir_code *out;
	struct interval *iv; /* by register number */
	u32 *label_at;       /* label -> position in the IR */
	u32 *insn_at;        /* position in the IR -> instruction */
	VEC(struct fixup {
		u32 insn;
		u32 label;
	})
	fixups;
	s32 stack;
};

/* --- what can be reached ---------------------------------------------------------------------- */

static void find_labels(struct emitter *e)
{
	for (size_t i = 0; i < e->ir->code.len; i++) {
		if (e->ir->code.items[i].kind == IR_LABEL)
			e->label_at[e->ir->code.items[i].label] = (u32)i;
	}
}

static void mark_reachable(struct emitter *e, u8 *seen)
{
	VEC(u32) todo = { 0 };

	vec_push(&todo, 0);
	while (todo.len) {
		u32 i = vec_pop(&todo);

		while (i < e->ir->code.len && !seen[i]) {
			const struct ir_insn *in = &e->ir->code.items[i];

			seen[i] = 1;
			if (in->kind == IR_BRANCH || in->kind == IR_JUMP)
				vec_push(&todo, e->label_at[in->label]);
			if (in->kind == IR_JUMP || in->kind == IR_EXIT)
				break;
			i++;
		}
	}
	vec_release(&todo);
}

/* The verifier refuses code that cannot be reached. */
static void drop_unreachable(struct emitter *e)
{
	size_t n = e->ir->code.len, kept = 0;
	u8 *seen = xcalloc(n ? n : 1, 1);

	mark_reachable(e, seen);
	for (size_t i = 0; i < n; i++) {
		const struct ir_insn *in = &e->ir->code.items[i];
		bool next = in->kind == IR_JUMP && i + 1 < n &&
			    e->ir->code.items[i + 1].kind == IR_LABEL &&
			    e->ir->code.items[i + 1].label == in->label;

		if (seen[i] && !next)
			e->ir->code.items[kept++] = *in;
	}
	e->ir->code.len = kept;
	free(seen);
	find_labels(e);
}

/* --- how long values live --------------------------------------------------------------------- */

static void touch(struct emitter *e, vreg r, u32 pos)
{
	struct interval *iv;

	if (r < VREG_FIRST)
		return;
	iv = &e->iv[r];
	if (!iv->seen) {
		iv->seen = true;
		iv->start = pos;
		iv->reg = r;
	}
	iv->end = pos;
}

static void measure(struct emitter *e)
{
	for (u32 i = 0; i < e->ir->code.len; i++) {
		const struct ir_insn *in = &e->ir->code.items[i];

		if (in->kind == IR_CALL) {
			for (u32 a = 0; a < in->n_args; a++)
				touch(e, in->args[a].reg, i);
		} else {
			touch(e, in->src, i);
		}
		touch(e, in->dst, i);
	}
}

/* What lives when a loop begins must live until its jump back. */
static bool extend_over(struct emitter *e, u32 head, u32 jump)
{
	bool changed = false;

	for (u32 r = VREG_FIRST; r < e->ir->n_regs; r++) {
		struct interval *iv = &e->iv[r];

		if (iv->seen && iv->start < head && iv->end >= head && iv->end < jump) {
			iv->end = jump;
			changed = true;
		}
	}
	return changed;
}

static void extend_over_loops(struct emitter *e)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (u32 i = 0; i < e->ir->code.len; i++) {
			const struct ir_insn *in = &e->ir->code.items[i];

			if ((in->kind == IR_JUMP || in->kind == IR_BRANCH) &&
			    e->label_at[in->label] < i)
				changed = extend_over(e, e->label_at[in->label], i) || changed;
		}
	}
}

static int by_start(const void *a, const void *b)
{
	const struct interval *const *x = a, *const *y = b;

	if ((*x)->start != (*y)->start)
		return (*x)->start < (*y)->start ? -1 : 1;
	return (*x)->reg < (*y)->reg ? -1 : 1;
}

/* Calls are the same for all: a sorted list of positions, one pass over sorted intervals. */
static void mark_calls(struct emitter *e, struct interval **order, size_t n)
{
	VEC(u32) calls = { 0 };
	size_t first = 0;

	for (u32 i = 0; i < e->ir->code.len; i++) {
		if (e->ir->code.items[i].kind == IR_CALL)
			vec_push(&calls, i);
	}
	for (size_t i = 0; i < n; i++) {
		while (first < calls.len && calls.items[first] <= order[i]->start)
			first++;
		order[i]->over_call = first < calls.len && calls.items[first] <= order[i]->end;
		/* The registers of arguments that come after it must stay untouched. */
		if (e->ir->code.items[order[i]->start].kind == IR_CTX)
			order[i]->over_call = true;
	}
	vec_release(&calls);
}

/* --- linear scan ------------------------------------------------------------------------------ */

struct scan {
	struct interval *active[16]; /* by physical register */
	VEC(struct slot {
		s16 off;
		u32 free_from;
	})
	slots;
};

static s16 take_slot(struct emitter *e, struct scan *s, const struct interval *iv)
{
	vec_each(it, &s->slots) {
		if (it->free_from < iv->start) {
			it->free_from = iv->end;
			return it->off;
		}
	}
	e->stack += 8;
	vec_push(&s->slots, (struct slot){ (s16)-e->stack, iv->end });
	return (s16)-e->stack;
}

static u8 free_register(const struct scan *s, const struct interval *iv)
{
	if (!iv->over_call) {
		for (unsigned int r = CALLER_FIRST; r <= CALLER_LAST; r++) {
			if (!s->active[r])
				return (u8)r;
		}
	}
	for (unsigned int r = CALLEE_FIRST; r <= CALLEE_LAST; r++) {
		if (!s->active[r])
			return (u8)r;
	}
	return NO_REG;
}

/* The one that ends last, of those whose place would do for @iv. */
static struct interval *victim(const struct scan *s, struct interval *iv)
{
	struct interval *worst = iv;
	u8 first = iv->over_call ? CALLEE_FIRST : CALLER_FIRST;

	for (unsigned int r = first; r <= CALLEE_LAST; r++) {
		if (s->active[r] && s->active[r]->end > worst->end)
			worst = s->active[r];
	}
	return worst;
}

static void allocate(struct emitter *e, struct interval **order, size_t n)
{
	struct scan s = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct interval *iv = order[i], *out;

		for (size_t r = 0; r < ARRAY_SIZE(s.active); r++) {
			if (s.active[r] && s.active[r]->end <= iv->start)
				s.active[r] = NULL;
		}
		iv->phys = free_register(&s, iv);
		if (iv->phys == NO_REG) {
			out = victim(&s, iv);
			if (out != iv) {
				iv->phys = out->phys;
				out->phys = NO_REG;
				out->slot = take_slot(e, &s, out);
			} else {
				iv->slot = take_slot(e, &s, iv);
			}
		}
		if (iv->phys != NO_REG)
			s.active[iv->phys] = iv;
	}
	vec_release(&s.slots);
}

static void assign_registers(struct emitter *e)
{
	struct interval **order = xcalloc(e->ir->n_regs, sizeof(struct interval *));
	size_t n = 0;

	measure(e);
	extend_over_loops(e);
	for (u32 r = VREG_FIRST; r < e->ir->n_regs; r++) {
		if (e->iv[r].seen)
			order[n++] = &e->iv[r];
	}
	qsort(order, n, sizeof(struct interval *), by_start);
	mark_calls(e, order, n);
	allocate(e, order, n);
	free(order);
}

/* --- emission --------------------------------------------------------------------------------- */

static void put(struct emitter *e, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	struct bpf_insn *i = vec_new(&e->out->insns);

	i->code = code;
	i->dst_reg = dst & 15;
	i->src_reg = src & 15;
	i->off = off;
	i->imm = imm;
	vec_push(&e->out->lines, e->ir->line);
}

/* The register that holds @r; a spilled one is loaded into @temp. */
static u8 use(struct emitter *e, vreg r, u8 temp)
{
	if (r < VREG_FIRST)
		return (u8)r;
	if (e->iv[r].phys != NO_REG)
		return e->iv[r].phys;
	put(e, BPF_LDX | BPF_MEM | BPF_DW, temp, VREG_FP, e->iv[r].slot, 0);
	return temp;
}

/* Where the value of @r is made; finish() stores it if that is not its place. */
static u8 target(const struct emitter *e, vreg r, u8 temp)
{
	return e->iv[r].phys != NO_REG ? e->iv[r].phys : temp;
}

static void finish(struct emitter *e, vreg r, u8 at)
{
	if (e->iv[r].phys == NO_REG)
		put(e, BPF_STX | BPF_MEM | BPF_DW, VREG_FP, at, e->iv[r].slot, 0);
}

static void emit_alu(struct emitter *e, const struct ir_insn *in)
{
	bool mov = in->code == BPF_MOV;
	u8 dst, src;

	if (mov && in->src) {
		src = use(e, in->src, 1);
		dst = e->iv[in->dst].phys;
		if (dst == NO_REG)
			put(e, BPF_STX | BPF_MEM | BPF_DW, VREG_FP, src, e->iv[in->dst].slot, 0);
		else if (dst != src)
			put(e, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
		return;
	}
	dst = mov ? target(e, in->dst, 0) : use(e, in->dst, 0);
	if (in->src) {
		src = use(e, in->src, 1);
		put(e, BPF_ALU64 | in->code | BPF_X, dst, src, 0, 0);
	} else if (in->code == BPF_END) {
		put(e, BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, in->imm);
	} else {
		put(e, BPF_ALU64 | in->code | BPF_K, dst, 0, 0, in->imm);
	}
	finish(e, in->dst, dst);
}

static void emit_imm64(struct emitter *e, vreg r, u8 src, u32 low, u32 high)
{
	u8 dst = target(e, r, 0);

	put(e, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (s32)low);
	put(e, 0, 0, 0, 0, (s32)high);
	finish(e, r, dst);
}

static void emit_jump(struct emitter *e, u8 code, u8 dst, u8 src, s32 imm, u32 label)
{
	vec_push(&e->fixups, (struct fixup){ (u32)e->out->insns.len, label });
	put(e, code, dst, src, 0, imm);
}

static void emit_branch(struct emitter *e, const struct ir_insn *in)
{
	u8 dst = use(e, in->dst, 0);

	if (in->src)
		emit_jump(e, BPF_JMP | in->code | BPF_X, dst, use(e, in->src, 1), 0, in->label);
	else
		emit_jump(e, BPF_JMP | in->code | BPF_K, dst, 0, in->imm, in->label);
}

static void emit_call(struct emitter *e, const struct ir_insn *in)
{
	for (u32 i = 0; i < in->n_args; i++) {
		const struct ir_arg *a = &in->args[i];
		u8 r = (u8)(i + 1), from;

		if (a->frame) {
			put(e, BPF_ALU64 | BPF_MOV | BPF_X, r, VREG_FP, 0, 0);
			put(e, BPF_ALU64 | BPF_ADD | BPF_K, r, 0, 0, a->imm);
		} else if (!a->reg) {
			put(e, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, a->imm);
		} else {
			from = use(e, a->reg, r);
			if (from != r)
				put(e, BPF_ALU64 | BPF_MOV | BPF_X, r, from, 0, 0);
		}
	}
	put(e, BPF_JMP | BPF_CALL, 0, in->code, 0, in->imm);
	if (e->iv[in->dst].end > e->iv[in->dst].start) {
		u8 dst = target(e, in->dst, 0);

		if (dst)
			put(e, BPF_ALU64 | BPF_MOV | BPF_X, dst, 0, 0, 0);
		finish(e, in->dst, 0);
	}
}

static void emit_one(struct emitter *e, const struct ir_insn *in)
{
	u8 dst, src;

	switch (in->kind) {
	case IR_ALU: emit_alu(e, in); break;
	case IR_CTX:
		dst = e->iv[in->dst].phys;
		if (dst == NO_REG)
			put(e, BPF_STX | BPF_MEM | BPF_DW, VREG_FP, (u8)in->imm,
			    e->iv[in->dst].slot, 0);
		else if (dst != in->imm)
			put(e, BPF_ALU64 | BPF_MOV | BPF_X, dst, (u8)in->imm, 0, 0);
		break;
	case IR_BTF_VAR: emit_imm64(e, in->dst, BPF_PSEUDO_BTF_ID, (u32)in->imm, 0); break;
	case IR_FUNC: emit_imm64(e, in->dst, BPF_PSEUDO_FUNC, (u32)in->imm, 0); break;
	case IR_LOAD:
		src = use(e, in->src, 1);
		dst = target(e, in->dst, 0);
		put(e, BPF_LDX | BPF_MEM | in->code, dst, src, in->off, 0);
		finish(e, in->dst, dst);
		break;
	case IR_STORE:
		dst = use(e, in->dst, 0);
		if (in->src)
			put(e, BPF_STX | BPF_MEM | in->code, dst, use(e, in->src, 1), in->off, 0);
		else
			put(e, BPF_ST | BPF_MEM | in->code, dst, 0, in->off, in->imm);
		break;
	case IR_ATOMIC:
		dst = use(e, in->dst, 0);
		put(e, BPF_STX | BPF_ATOMIC | BPF_DW, dst, use(e, in->src, 1), in->off, in->imm);
		break;
	case IR_IMM64: emit_imm64(e, in->dst, 0, (u32)in->imm64, (u32)(in->imm64 >> 32)); break;
	case IR_MAP: emit_imm64(e, in->dst, BPF_PSEUDO_MAP_FD, (u32)in->imm, 0); break;
	case IR_MAP_VALUE:
		emit_imm64(e, in->dst, BPF_PSEUDO_MAP_VALUE, (u32)in->imm, in->label);
		break;
	case IR_JUMP: emit_jump(e, BPF_JMP | BPF_JA, 0, 0, 0, in->label); break;
	case IR_BRANCH: emit_branch(e, in); break;
	case IR_CALL: emit_call(e, in); break;
	case IR_EXIT:
		src = in->src ? use(e, in->src, 0) : 0;
		if (!in->src)
			put(e, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, in->imm);
		else if (src)
			put(e, BPF_ALU64 | BPF_MOV | BPF_X, 0, src, 0, 0);
		put(e, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		break;
	default: break;
	}
}

static int resolve_jumps(struct emitter *e)
{
	vec_each(it, &e->fixups) {
		s64 off = (s64)e->insn_at[e->label_at[it->label]] - (s64)it->insn - 1;

		if (off != (s16)off)
			return -E2BIG;
		e->out->insns.items[it->insn].off = (s16)off;
	}
	return 0;
}

static int emit_all(struct emitter *e)
{
	int rc;

	drop_unreachable(e);
	assign_registers(e);
	if (e->stack > IR_MAX_STACK)
		return -ENOBUFS;
	e->insn_at = xcalloc(e->ir->code.len + 1, sizeof(u32));
	for (size_t i = 0; i < e->ir->code.len; i++) {
		e->insn_at[i] = (u32)e->out->insns.len;
		e->ir->line = e->ir->code.items[i].line;
		emit_one(e, &e->ir->code.items[i]);
		if (e->out->insns.len > IR_MAX_INSNS)
			return -E2BIG;
	}
	rc = resolve_jumps(e);
	e->out->stack = (u32)e->stack;
	return rc;
}

int ir_finish(struct ir *ir, struct ir_code *ret)
{
	struct emitter e = { .ir = ir, .out = ret, .stack = (s32)ir->stack };
	int rc;

	if (ir->n_regs >= UINT16_MAX || ir->code.len > IR_MAX_INSNS)
		return -E2BIG;
	if (ir->stack > IR_MAX_STACK)
		return -ENOBUFS;
	e.iv = xcalloc(ir->n_regs, sizeof(*e.iv));
	e.label_at = xcalloc(ir->n_labels + 1, sizeof(u32));
	find_labels(&e);
	rc = emit_all(&e);
	free(e.iv);
	free(e.label_at);
	free(e.insn_at);
	vec_release(&e.fixups);
	return rc;
}
