/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions of call frame information, and how their outcome maps to rules. */
#include "unwind/cfi.h"

enum { MAX_REMEMBERED = 64 };

/* DWARF register numbers of x86-64. */
enum { DW_RBX = 3, DW_RBP = 6, DW_RSP = 7 };

/* DWARF number -> the order of a signal frame. */
static const u8 reg_order[16] = {
	UNWIND_REG_AX,  UNWIND_REG_DX,  UNWIND_REG_CX,  UNWIND_REG_BX,
	UNWIND_REG_SI,  UNWIND_REG_DI,  UNWIND_REG_BP,  UNWIND_REG_SP,
	UNWIND_REG_R8,  UNWIND_REG_R9,  UNWIND_REG_R10, UNWIND_REG_R11,
	UNWIND_REG_R12, UNWIND_REG_R13, UNWIND_REG_R14, UNWIND_REG_R15,
};

static bool fits(s64 v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

static bool fits16(s64 v)
{
	return v > INT16_MIN && v <= INT16_MAX;
}

/* What expressions compute in practice: register + a, perhaps loaded, + b. */
struct simple_expr {
	u8 reg; /* DWARF number */
	bool loaded;
	s64 before; /* added before the load */
	s64 after;
};

enum { OP_DEREF = 0x06, OP_PLUS = 0x22, OP_PLUS_UCONST = 0x23, OP_LIT0 = 0x30, OP_BREG0 = 0x70 };

static s64 wrap_add(s64 a, s64 b)
{
	return (s64)((u64)a + (u64)b);
}

static bool parse_expr(const u8 *p, size_t n, struct simple_expr *ret)
{
	struct cfi_reader r = { p, p + n, false };
	u8 op = (u8)cfi_uint(&r, 1);

	*ret = (struct simple_expr){ 0 };
	if (op < OP_BREG0 || op > OP_BREG0 + 15)
		return false;
	ret->reg = op - OP_BREG0;
	ret->before = cfi_sleb(&r);
	while (r.p < r.end && !r.bad) {
		s64 *sum = ret->loaded ? &ret->after : &ret->before;

		op = (u8)cfi_uint(&r, 1);
		if (op == OP_DEREF && !ret->loaded)
			ret->loaded = true;
		else if (op == OP_PLUS_UCONST)
			*sum = wrap_add(*sum, (s64)cfi_uleb(&r));
		else if (op >= OP_LIT0 && op < OP_LIT0 + 32 && cfi_uint(&r, 1) == OP_PLUS)
			*sum = wrap_add(*sum, op - OP_LIT0);
		else
			return false;
	}
	return !r.bad && fits(ret->before) && fits(ret->after);
}

/* The one expression of every lazy PLT: sp + 8, and 8 more once its push has run. */
static bool plt_expr(const u8 *p, size_t n, s32 *ret_threshold)
{
	static const u8 head[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a };
	static const u8 tail[] = { 0x2a, 0x33, 0x24, 0x22 };

	if (n != 11 || memcmp(p, head, 6) != 0 || memcmp(p + 7, tail, 4) != 0 || p[6] < 0x30 ||
	    p[6] > 0x3f)
		return false;
	*ret_threshold = p[6] - 0x30;
	return true;
}

static bool cfa_register(u8 reg, s64 offset, struct unwind_rule *out)
{
	if (!fits(offset))
		return false;
	out->cfa_off = (s32)offset;
	if (reg == DW_RSP) {
		out->cfa = UNWIND_CFA_SP;
	} else if (reg == DW_RBP) {
		out->cfa = UNWIND_CFA_BP;
	} else if (reg < 16) {
		out->cfa = UNWIND_CFA_REG;
		out->reg = reg_order[reg];
	} else {
		return false;
	}
	return true;
}

static bool cfa_rule(const struct cfi_column *cfa, struct unwind_rule *out)
{
	struct simple_expr x;

	if (cfa->where == CFI_REG)
		return cfa_register(cfa->reg, cfa->offset, out);
	if (cfa->where != CFI_EXPR)
		return false;
	if (plt_expr(cfa->expr, cfa->expr_len, &out->cfa_off)) {
		out->cfa = UNWIND_CFA_PLT;
		return true;
	}
	if (!parse_expr(cfa->expr, cfa->expr_len, &x))
		return false;
	if (!x.loaded)
		return cfa_register(x.reg, x.before, out);
	if (x.reg != DW_RSP && x.reg != DW_RBP)
		return false;
	out->cfa = x.reg == DW_RSP ? UNWIND_CFA_SP_DEREF : UNWIND_CFA_BP_DEREF;
	out->cfa_off = (s32)x.before;
	out->aux = (s32)x.after;
	return true;
}

/* An rbp that we cannot find is no reason to give up: few callers are reached through it. */
static bool bp_rule(const struct cfi_column *bp, struct unwind_rule *out)
{
	struct simple_expr x;

	switch (bp->where) {
	case CFI_SAME:
	case CFI_UNDEFINED: return true;
	case CFI_OFFSET: out->bp = UNWIND_BP_CFA; break;
	case CFI_VAL_OFFSET: out->bp = UNWIND_BP_VAL; break;
	case CFI_REG:
		if (bp->reg >= 16)
			return false;
		out->bp = bp->reg == DW_RBP ? UNWIND_BP_SAME : UNWIND_BP_REG;
		out->bp_off = bp->reg == DW_RBP ? 0 : reg_order[bp->reg];
		return true;
	case CFI_EXPR:
		/* the expression gives the address: a load of its own would be one too many */
		if (!parse_expr(bp->expr, bp->expr_len, &x) || x.loaded ||
		    (x.reg != DW_RBP && x.reg != DW_RSP))
			return false;
		out->bp = x.reg == DW_RBP ? UNWIND_BP_BP : UNWIND_BP_SP;
		out->bp_off = (s16)x.before;
		return fits16(x.before);
	default: return false;
	}
	out->bp_off = (s16)bp->offset;
	return fits16(bp->offset);
}

/* Not a reason to give up: few frames need it. */
static void bx_rule(const struct cfi_column *bx, struct unwind_rule *out)
{
	if (bx->where == CFI_SAME || bx->where == CFI_UNDEFINED)
		return;
	out->bx_off = bx->where == CFI_OFFSET && bx->offset && fits16(bx->offset) ? (s16)bx->offset
										  : UNWIND_BX_LOST;
}

static bool ra_rule(const struct cfi_column *ra, struct unwind_rule *out)
{
	bool aux_taken = out->cfa == UNWIND_CFA_SP_DEREF || out->cfa == UNWIND_CFA_BP_DEREF;

	if (ra->where == CFI_OFFSET && ra->offset == -8)
		return true;
	if (aux_taken)
		return false;
	if (ra->where == CFI_OFFSET && fits(ra->offset)) {
		out->ra = UNWIND_RA_OFF;
		out->aux = (s32)ra->offset;
		return true;
	}
	if (ra->where == CFI_REG && ra->reg < 16) {
		out->ra = UNWIND_RA_REG;
		out->aux = reg_order[ra->reg];
		return true;
	}
	return false;
}

static struct unwind_rule rule_of(const struct cfi_cie *cie, const struct cfi_state *s)
{
	struct unwind_rule r = { 0 };

	if (cie->signal) {
		r.cfa = UNWIND_CFA_SIGNAL;
		return r;
	}
	if (s->ra.where == CFI_UNDEFINED) {
		r.cfa = UNWIND_CFA_STOP;
		return r;
	}
	if (s->sp_moved || !cfa_rule(&s->cfa, &r) || !bp_rule(&s->bp, &r) || !ra_rule(&s->ra, &r))
		r = (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUP };
	else
		bx_rule(&s->bx, &r);
	return r;
}

/* Everything that instructions work on. */
struct run {
	const struct cfi *c;
	const struct cfi_cie *cie;
	struct cfi_reader *r;
	struct cfi_state *state;
	u64 loc;
	u64 end;
	cfi_emit_fn *emit;
	void *ctx;
	bool changed; /* since the last row was emitted */
	bool left;    /* the program continued to addresses outside the function */
	size_t n_remembered;
	struct cfi_state remembered[MAX_REMEMBERED];
};

static void emit_row(struct run *run)
{
	if (!run->emit || !run->changed)
		return;
	const struct unwind_rule rule = rule_of(run->cie, run->state);

	run->emit(run->ctx, run->loc, &rule);
	run->changed = false;
}

/* False when the rest of the program is outside the function. */
static bool advance(struct run *run, u64 delta)
{
	u64 bytes;

	emit_row(run);
	if (__builtin_mul_overflow(delta, run->cie->code_align, &bytes) ||
	    bytes >= run->end - run->loc) {
		run->left = true;
		return false;
	}
	run->loc += bytes;
	return true;
}

static bool set_loc(struct run *run)
{
	u64 to = cfi_pointer(run->r, run->cie->fde_encoding, &run->c->section);

	if (run->r->bad || to < run->loc || to >= run->end)
		return false;
	emit_row(run);
	run->loc = to;
	return true;
}

static void set_column(struct run *run, u64 reg, struct cfi_column col)
{
	if (reg == DW_RBP)
		run->state->bp = col;
	else if (reg == run->cie->ra_column)
		run->state->ra = col;
	else if (reg == DW_RBX)
		run->state->bx = col;
	else if (reg == DW_RSP)
		run->state->sp_moved = col.where != CFI_SAME;
	else
		return;
	run->changed = true;
}

static void set_offset(struct run *run, u64 reg, u8 where, s64 factored)
{
	s64 offset;

	if (__builtin_mul_overflow(factored, run->cie->data_align, &offset))
		where = CFI_LOST;
	set_column(run, reg, (struct cfi_column){ .where = where, .offset = offset });
}

static void restore_column(struct run *run, u64 reg)
{
	struct cfi_column same = { .where = CFI_SAME };

	if (reg == DW_RBP)
		same = run->cie->initial.bp;
	else if (reg == run->cie->ra_column)
		same = run->cie->initial.ra;
	else if (reg == DW_RBX)
		same = run->cie->initial.bx;
	set_column(run, reg, same);
}

static void set_cfa(struct run *run, u64 reg, s64 offset)
{
	run->state->cfa = (struct cfi_column){
		.where = CFI_REG,
		.reg = reg < 255 ? (u8)reg : 255,
		.offset = offset,
	};
	run->changed = true;
}

static void set_cfa_offset(struct run *run, s64 offset)
{
	run->state->cfa.offset = offset;
	run->changed = true;
}

static struct cfi_column read_block(struct cfi_reader *r, u8 where)
{
	u64 n = cfi_uleb(r);

	if (n > (u64)(r->end - r->p)) {
		r->bad = true;
		return (struct cfi_column){ .where = CFI_LOST };
	}
	struct cfi_column col = { .where = where, .expr = r->p, .expr_len = (u32)n };

	r->p += n;
	return col;
}

static bool remember(struct run *run)
{
	if (run->n_remembered == MAX_REMEMBERED)
		return false;
	run->remembered[run->n_remembered++] = *run->state;
	return true;
}

static bool restore(struct run *run)
{
	if (!run->n_remembered)
		return false;
	*run->state = run->remembered[--run->n_remembered];
	run->changed = true;
	return true;
}

static s64 factored_s(struct run *run)
{
	return (s64)((u64)cfi_sleb(run->r) * (u64)run->cie->data_align);
}

/* Instructions that define the CFA. */
static bool execute_cfa(struct run *run, u8 op)
{
	struct cfi_reader *r = run->r;
	u64 reg;

	switch (op) {
	case 0x0c: /* def_cfa */
		reg = cfi_uleb(r);
		set_cfa(run, reg, (s64)cfi_uleb(r));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(run, cfi_uleb(r), run->state->cfa.offset);
		return true;
	case 0x0e: /* def_cfa_offset */ set_cfa_offset(run, (s64)cfi_uleb(r)); return true;
	case 0x0f: /* def_cfa_expression */
		run->state->cfa = read_block(r, CFI_EXPR);
		run->changed = true;
		return true;
	case 0x12: /* def_cfa_sf */
		reg = cfi_uleb(r);
		set_cfa(run, reg, factored_s(run));
		return true;
	case 0x13: /* def_cfa_offset_sf */ set_cfa_offset(run, factored_s(run)); return true;
	default: return false;
	}
}

/* Instructions that say where a register was saved. */
static bool execute_column(struct run *run, u8 op)
{
	struct cfi_reader *r = run->r;
	u64 reg = cfi_uleb(r), other;

	switch (op) {
	case 0x05: /* offset_extended */
		set_offset(run, reg, CFI_OFFSET, (s64)cfi_uleb(r));
		return true;
	case 0x06: /* restore_extended */ restore_column(run, reg); return true;
	case 0x07: /* undefined */
		set_column(run, reg, (struct cfi_column){ .where = CFI_UNDEFINED });
		return true;
	case 0x08: /* same_value */
		set_column(run, reg, (struct cfi_column){ .where = CFI_SAME });
		return true;
	case 0x09: /* register */
		other = cfi_uleb(r);
		set_column(run, reg,
			   (struct cfi_column){ .where = CFI_REG,
						.reg = other < 255 ? (u8)other : 255 });
		return true;
	case 0x10: /* expression */ set_column(run, reg, read_block(r, CFI_EXPR)); return true;
	case 0x11: /* offset_extended_sf */
		set_offset(run, reg, CFI_OFFSET, cfi_sleb(r));
		return true;
	case 0x14: /* val_offset */
		set_offset(run, reg, CFI_VAL_OFFSET, (s64)cfi_uleb(r));
		return true;
	case 0x15: /* val_offset_sf */
		set_offset(run, reg, CFI_VAL_OFFSET, cfi_sleb(r));
		return true;
	case 0x16: /* val_expression */ set_column(run, reg, read_block(r, CFI_LOST)); return true;
	case 0x2f: /* GNU_negative_offset_extended */
		set_offset(run, reg, CFI_OFFSET, (s64)(0 - cfi_uleb(r)));
		return true;
	default: return false;
	}
}

/* Instructions whose two high bits are 0. */
static bool execute_extended(struct run *run, u8 op)
{
	switch (op) {
	case 0x00: /* nop */ return true;
	case 0x01: return set_loc(run);
	case 0x02: return advance(run, cfi_uint(run->r, 1));
	case 0x03: return advance(run, cfi_uint(run->r, 2));
	case 0x04: return advance(run, cfi_uint(run->r, 4));
	case 0x0a: return remember(run);
	case 0x0b: return restore(run);
	case 0x0c:
	case 0x0d:
	case 0x0e:
	case 0x0f:
	case 0x12:
	case 0x13: return execute_cfa(run, op);
	case 0x2d: /* GNU_window_save: not on this CPU */ return true;
	case 0x2e: /* GNU_args_size */ cfi_uleb(run->r); return true;
	default: return execute_column(run, op);
	}
}

static bool execute_one(struct run *run)
{
	u8 op = (u8)cfi_uint(run->r, 1), low = op & 0x3f;

	switch (op >> 6) {
	case 1: return advance(run, low);
	case 2: set_offset(run, low, CFI_OFFSET, (s64)cfi_uleb(run->r)); return true;
	case 3: restore_column(run, low); return true;
	default: return execute_extended(run, op);
	}
}

bool cfi_execute(const struct cfi *c, const struct cfi_cie *cie, struct cfi_reader *program,
		 u64 start, u64 end, struct cfi_state *state, cfi_emit_fn *emit, void *ctx)
{
	struct run run;

	/* not one initialiser: that would clear the room for remembered states each time */
	run.c = c;
	run.cie = cie;
	run.r = program;
	run.state = state;
	run.loc = start;
	run.end = end;
	run.emit = emit;
	run.ctx = ctx;
	run.changed = true;
	run.n_remembered = 0;
	bool more = true;

	run.left = false;
	while (more && program->p < program->end)
		more = execute_one(&run) && !program->bad;
	emit_row(&run);
	if (!more && !run.left && emit) {
		/* broken: what follows in this function is not known */
		emit(ctx, run.loc, &(struct unwind_rule){ .cfa = UNWIND_CFA_UNSUP });
	}
	return more;
}
