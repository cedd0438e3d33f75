/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step up the stack, written once: the BPF program and the user-space unwinder both compile
 * this file, so they cannot differ. Whoever includes it defines first
 *
 *	UNWIND_READ(mem, to, bytes, address)	0 when the bytes were read
 *	UNWIND_INLINE				how small functions are declared
 *
 * The state of the art of the x86-64 ABI that is used here: a call pushes the return address just
 * below the CFA, rbp is 0 in the outermost frame, a signal frame holds every register.
 */
#ifndef BPF_UNWIND_STEP_H
#define BPF_UNWIND_STEP_H

#include "bpf/unwind_abi.h"

/* The largest frame that a frame pointer may span; more is taken for a register in other use. */
#define UNWIND_MAX_FP_FRAME (1ull << 20)

struct unwind_state {
	__u64 reg[UNWIND_REGS];
	__u8 returned; /* ip is a return address: the call lies before it */
	__u8 full;     /* all registers are known, not only sp, bp and ip */
	__u8 end;      /* enum unwind_end */
	__u8 bx_lost;  /* rbx is not known */
	__u32 fp_steps;
	__u64 bx_at; /* where this frame's rbx was saved; 0: it is still in the register */
};

UNWIND_INLINE int unwind_stop(struct unwind_state *s, __u8 why)
{
	s->end = why;
	return 1;
}

/*
 * No return address where ax is 0 and no call aligned the stack is the first moment of a thread:
 * the new one has returned from clone, on an empty stack, and not called its function yet.
 */
UNWIND_INLINE int unwind_returned(struct unwind_state *s, __u64 ip, __u64 sp)
{
	__u8 fresh = s->full && !s->reg[UNWIND_REG_AX] && (sp & 15) == 8;

	s->reg[UNWIND_REG_SP] = sp;
	s->reg[UNWIND_REG_IP] = ip;
	s->returned = 1;
	s->full = 0;
	return ip ? 0 : unwind_stop(s, fresh ? UNWIND_END_ROOT : UNWIND_END_ZERO);
}

/* The frame pointer leads to the caller's, whichever stack that is on. */
UNWIND_INLINE int unwind_far_fp_step(struct unwind_state *s, void *mem)
{
	__u64 bp = s->reg[UNWIND_REG_BP], pair[2];

	(void)mem;
	if (!bp || (bp & 7))
		return unwind_stop(s, UNWIND_END_BAD_FP);
	if (UNWIND_READ(mem, pair, sizeof(pair), bp))
		return unwind_stop(s, UNWIND_END_READ);
	s->reg[UNWIND_REG_BP] = pair[0];
	s->bx_lost = 1;
	s->fp_steps++;
	return unwind_returned(s, pair[1], bp + 16);
}

/* Code without CFI: believe the frame pointer if it looks like one. */
UNWIND_INLINE int unwind_fp_step(struct unwind_state *s, void *mem)
{
	__u64 sp = s->reg[UNWIND_REG_SP], bp = s->reg[UNWIND_REG_BP];

	if (bp < sp || bp - sp > UNWIND_MAX_FP_FRAME)
		return unwind_stop(s, UNWIND_END_BAD_FP);
	return unwind_far_fp_step(s, mem);
}

UNWIND_INLINE int unwind_signal_step(struct unwind_state *s, void *mem)
{
	(void)mem;
	if (UNWIND_READ(mem, s->reg, sizeof(s->reg), s->reg[UNWIND_REG_SP] + UNWIND_SIGNAL_REGS))
		return unwind_stop(s, UNWIND_END_READ);
	s->returned = 0;
	s->full = 1;
	s->bx_lost = 0;
	s->bx_at = 0;
	return s->reg[UNWIND_REG_IP] ? 0 : unwind_stop(s, UNWIND_END_ZERO);
}

/* A register plus an offset: any of the innermost frame, only rbx of its callers. */
UNWIND_INLINE __u64 unwind_cfa_reg(struct unwind_state *s, const struct unwind_rule *r, void *mem)
{
	__u64 value;

	(void)mem;
	if (s->full)
		return s->reg[r->reg & 15] + (__s64)r->cfa_off;
	if (r->reg != UNWIND_REG_BX || s->bx_lost) {
		s->end = UNWIND_END_REG;
		return 0;
	}
	value = s->reg[UNWIND_REG_BX];
	if (s->bx_at && UNWIND_READ(mem, &value, 8, s->bx_at)) {
		s->end = UNWIND_END_READ;
		return 0;
	}
	return value + (__s64)r->cfa_off;
}

/* The CFA by rules that are arithmetic on registers or one load; 0 when it cannot be had. */
UNWIND_INLINE __u64 unwind_cfa_of(struct unwind_state *s, const struct unwind_rule *r, void *mem)
{
	__u64 sp = s->reg[UNWIND_REG_SP], bp = s->reg[UNWIND_REG_BP], cfa = 0;
	__s64 off = r->cfa_off;

	(void)mem;
	switch (r->cfa) {
	case UNWIND_CFA_SP: return sp + off;
	case UNWIND_CFA_BP: return bp + off;
	case UNWIND_CFA_PLT: return sp + 8 + ((__s64)(s->reg[UNWIND_REG_IP] & 15) >= off ? 8 : 0);
	case UNWIND_CFA_SP_DEREF:
	case UNWIND_CFA_BP_DEREF:
		if (UNWIND_READ(mem, &cfa, 8, (r->cfa == UNWIND_CFA_SP_DEREF ? sp : bp) + off)) {
			s->end = UNWIND_END_READ;
			return 0;
		}
		return cfa + (__s64)r->aux;
	case UNWIND_CFA_REG: return unwind_cfa_reg(s, r, mem);
	default: s->end = UNWIND_END_UNSUP; return 0;
	}
}

/* The caller's rbp into @ret; non-zero with the reason in @s. */
UNWIND_INLINE int unwind_bp_of(struct unwind_state *s, const struct unwind_rule *r, __u64 cfa,
			       void *mem, __u64 *ret)
{
	__u64 from = cfa;

	(void)mem;
	switch (r->bp) {
	case UNWIND_BP_SAME: return 0;
	case UNWIND_BP_VAL: *ret = cfa + (__s64)r->bp_off; return 0;
	case UNWIND_BP_REG:
		if (!s->full)
			return unwind_stop(s, UNWIND_END_REG);
		*ret = s->reg[r->bp_off & 15];
		return 0;
	case UNWIND_BP_BP: from = s->reg[UNWIND_REG_BP]; break;
	case UNWIND_BP_SP: from = s->reg[UNWIND_REG_SP]; break;
	default: break;
	}
	if (UNWIND_READ(mem, ret, 8, from + (__s64)r->bp_off))
		return unwind_stop(s, UNWIND_END_READ);
	return 0;
}

/* Moves @s to the caller; non-zero when there is none, with the reason in @s->end. */
UNWIND_INLINE int unwind_apply(struct unwind_state *s, const struct unwind_rule *r, void *mem)
{
	__u64 cfa, ra, at, bp = s->reg[UNWIND_REG_BP];

	if (r->cfa == UNWIND_CFA_STOP)
		return unwind_stop(s, UNWIND_END_ROOT);
	if (r->cfa == UNWIND_CFA_END)
		return bp ? unwind_fp_step(s, mem) : unwind_stop(s, UNWIND_END_ROOT);
	if (r->cfa == UNWIND_CFA_FAR_FP)
		return unwind_far_fp_step(s, mem);
	if (r->cfa == UNWIND_CFA_SIGNAL)
		return unwind_signal_step(s, mem);
	cfa = unwind_cfa_of(s, r, mem);
	if (!cfa)
		return s->end ? 1 : unwind_stop(s, UNWIND_END_BAD_SP);
	if (r->ra == UNWIND_RA_REG) {
		/* before the call's own push, or after the return address was popped */
		if (!s->full)
			return unwind_stop(s, UNWIND_END_REG);
		if (cfa < s->reg[UNWIND_REG_SP])
			return unwind_stop(s, UNWIND_END_BAD_SP);
		ra = s->reg[r->aux & 15];
	} else {
		if (r->ra == UNWIND_RA_FP) {
			/* the frame is not made yet, or just gone */
			if (cfa < bp + 16 || cfa - bp > UNWIND_MAX_FP_FRAME)
				return unwind_fp_step(s, mem);
			at = bp + 8;
		} else {
			at = cfa + (r->ra == UNWIND_RA_OFF ? (__s64)r->aux : -8ll);
		}
		if (cfa <= s->reg[UNWIND_REG_SP])
			return unwind_stop(s, UNWIND_END_BAD_SP);
		if (UNWIND_READ(mem, &ra, 8, at))
			return unwind_stop(s, UNWIND_END_READ);
	}
	if (unwind_bp_of(s, r, cfa, mem, &bp))
		return 1;
	s->reg[UNWIND_REG_BP] = bp;
	if (r->bx_off == UNWIND_BX_LOST)
		s->bx_lost = 1;
	else if (r->bx_off)
		s->bx_at = cfa + (__s64)r->bx_off;
	return unwind_returned(s, ra, cfa);
}

#endif
