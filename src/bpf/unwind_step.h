/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step up the stack, written once: the BPF program and the user-space unwinder both compile
 * this file, so they cannot differ. The includer defines first
 *
 *	UNWIND_READ(mem, to, bytes, address)	0 when the bytes were read
 *	UNWIND_READ_WORD(mem, to, address)	eight of them; may be left to the former
 *	UNWIND_MEM				the type of mem
 *	UNWIND_INLINE, UNWIND_CALLED		how functions are declared; calls of the latter are
 *						rare enough to be calls
 *
 * A frame pointer that a frame saved is read when it is needed: most code has none, and the
 * register is one like others that is saved all the time.
 *
 * The state of the art of the x86-64 ABI that is used here: a call pushes the return address just
 * below the CFA, rbp is 0 in the outermost frame, a signal frame holds every register.
 */
#ifndef BPF_UNWIND_STEP_H
#define BPF_UNWIND_STEP_H

#include "bpf/unwind_abi.h"

#ifndef UNWIND_READ_WORD
#define UNWIND_READ_WORD(mem, to, address) UNWIND_READ(mem, to, 8, address)
#endif

/* The largest frame that a frame pointer may span; more is taken for a register in other use. */
#define UNWIND_MAX_FP_FRAME (1ull << 20)

struct unwind_state {
	__u64 reg[UNWIND_REGS];
	__u8 returned; /* ip is a return address: the call lies before it */
	__u8 full;     /* all registers are known, not only sp, bp and ip */
	__u8 end;      /* enum unwind_end */
	__u8 bx_lost;  /* rbx is not known */
	__u8 bp_known; /* reg[] has this frame's rbp */
	__u8 bp_used;  /* the step depended on rbp, which was bp_was ... */
	__u8 odd;      /* ... or on more than rip, rsp, rbp and the return address below the CFA */
	__u8 pad;
	__u64 bx_at; /* where this frame's rbx was saved; 0: it is still in the register */
	__u64 bp_at; /* and its rbp; 0: reg[] has it */
	__u64 bp_was;
	__u32 fp_steps;
	__u32 pad2;
	__u64 method; /* the step was from a frame of java's interpreter: what that runs, or 0 */
};

/* An interrupted frame: all its registers are in reg[]. */
UNWIND_INLINE void unwind_all_known(struct unwind_state *s)
{
	s->returned = 0;
	s->full = 1;
	s->bx_lost = 0;
	s->bp_known = 1;
	s->bx_at = 0;
	s->bp_at = 0;
}

/* Before the first step, with all registers in reg[]. */
UNWIND_INLINE void unwind_begin(struct unwind_state *s)
{
	unwind_all_known(s);
	s->end = UNWIND_END_NONE;
	s->bp_used = 0;
	s->odd = 0;
	s->fp_steps = 0;
	s->method = 0;
}

UNWIND_INLINE int unwind_stop(struct unwind_state *s, __u8 why)
{
	s->end = why;
	return 1;
}

/* This frame's rbp is needed. */
UNWIND_INLINE int unwind_use_bp(struct unwind_state *s, UNWIND_MEM *mem)
{
	if (!s->bp_known && UNWIND_READ_WORD(mem, &s->reg[UNWIND_REG_BP], s->bp_at))
		return unwind_stop(s, UNWIND_END_READ);
	s->bp_known = 1;
	s->bp_used = 1;
	s->bp_was = s->reg[UNWIND_REG_BP];
	return 0;
}

UNWIND_INLINE void unwind_bp_saved(struct unwind_state *s, __u64 at)
{
	s->bp_at = at;
	s->bp_known = 0;
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
	if (ip)
		return 0;
	s->odd = 1;
	return unwind_stop(s, fresh ? UNWIND_END_ROOT : UNWIND_END_ZERO);
}

UNWIND_INLINE int unwind_follow_fp(struct unwind_state *s, UNWIND_MEM *mem)
{
	__u64 bp = s->reg[UNWIND_REG_BP], ra;

	if (!bp || (bp & 7))
		return unwind_stop(s, UNWIND_END_BAD_FP);
	if (UNWIND_READ_WORD(mem, &ra, bp + 8))
		return unwind_stop(s, UNWIND_END_READ);
	unwind_bp_saved(s, bp);
	s->bx_lost = 1;
	s->fp_steps++;
	return unwind_returned(s, ra, bp + 16);
}

/* The frame pointer leads to the caller's, whichever stack that is on. */
UNWIND_CALLED int unwind_far_fp_step(struct unwind_state *s, UNWIND_MEM *mem)
{
	return !s || !mem || unwind_use_bp(s, mem) || unwind_follow_fp(s, mem);
}

/* Code without CFI: believe the frame pointer if it looks like one. */
UNWIND_CALLED int unwind_fp_step(struct unwind_state *s, UNWIND_MEM *mem)
{
	__u64 sp, bp;

	if (!s || !mem || unwind_use_bp(s, mem))
		return 1;
	sp = s->reg[UNWIND_REG_SP];
	bp = s->reg[UNWIND_REG_BP];
	if (bp < sp || bp - sp > UNWIND_MAX_FP_FRAME)
		return unwind_stop(s, UNWIND_END_BAD_FP);
	return unwind_follow_fp(s, mem);
}

UNWIND_CALLED int unwind_signal_step(struct unwind_state *s, UNWIND_MEM *mem)
{
	if (!s || !mem)
		return 1;
	if (UNWIND_READ(mem, s->reg, sizeof(s->reg), s->reg[UNWIND_REG_SP] + UNWIND_SIGNAL_REGS))
		return unwind_stop(s, UNWIND_END_READ);
	unwind_all_known(s);
	s->odd = 1;
	return s->reg[UNWIND_REG_IP] ? 0 : unwind_stop(s, UNWIND_END_ZERO);
}

/* A register plus an offset: any of the innermost frame, only rbx of its callers. */
UNWIND_INLINE __u64 unwind_cfa_reg(struct unwind_state *s, const struct unwind_rule *r,
				   UNWIND_MEM *mem)
{
	__u64 value;

	s->odd = 1;
	if (s->full)
		return s->reg[r->reg & 15] + (__s64)r->cfa_off;
	if (r->reg != UNWIND_REG_BX || s->bx_lost) {
		s->end = UNWIND_END_REG;
		return 0;
	}
	value = s->reg[UNWIND_REG_BX];
	if (s->bx_at && UNWIND_READ_WORD(mem, &value, s->bx_at)) {
		s->end = UNWIND_END_READ;
		return 0;
	}
	return value + (__s64)r->cfa_off;
}

/* A word at a register plus an offset, plus another. */
UNWIND_INLINE __u64 unwind_cfa_deref(struct unwind_state *s, const struct unwind_rule *r,
				     UNWIND_MEM *mem)
{
	__u64 from = s->reg[r->cfa == UNWIND_CFA_SP_DEREF ? UNWIND_REG_SP : UNWIND_REG_BP], cfa = 0;

	s->odd = 1;
	if (UNWIND_READ_WORD(mem, &cfa, from + (__s64)r->cfa_off)) {
		s->end = UNWIND_END_READ;
		return 0;
	}
	return cfa + (__s64)r->aux;
}

/* The CFA by rules that are arithmetic on registers or one load; 0 when it cannot be obtained. */
UNWIND_INLINE __u64 unwind_cfa_of(struct unwind_state *s, const struct unwind_rule *r,
				  UNWIND_MEM *mem)
{
	__u64 sp = s->reg[UNWIND_REG_SP];
	__s64 off = r->cfa_off;

	if ((r->cfa == UNWIND_CFA_BP || r->cfa == UNWIND_CFA_BP_DEREF) && unwind_use_bp(s, mem))
		return 0;
	switch (r->cfa) {
	case UNWIND_CFA_SP: return sp + off;
	case UNWIND_CFA_BP: return s->reg[UNWIND_REG_BP] + off;
	case UNWIND_CFA_PLT: return sp + 8 + ((__s64)(s->reg[UNWIND_REG_IP] & 15) >= off ? 8 : 0);
	case UNWIND_CFA_SP_DEREF:
	case UNWIND_CFA_BP_DEREF: return unwind_cfa_deref(s, r, mem);
	case UNWIND_CFA_REG: return unwind_cfa_reg(s, r, mem);
	default: s->end = UNWIND_END_UNSUP; return 0;
	}
}

/* Where the caller's rbp is; non-zero with the reason in @s. */
UNWIND_INLINE int unwind_bp_of(struct unwind_state *s, const struct unwind_rule *r, __u64 cfa,
			       UNWIND_MEM *mem)
{
	__u64 from = cfa;

	switch (r->bp) {
	case UNWIND_BP_SAME: return 0;
	case UNWIND_BP_VAL:
		s->reg[UNWIND_REG_BP] = cfa + (__s64)r->bp_off;
		s->bp_at = 0;
		s->bp_known = 1;
		return 0;
	case UNWIND_BP_REG:
		if (!s->full)
			return unwind_stop(s, UNWIND_END_REG);
		s->odd = 1;
		s->reg[UNWIND_REG_BP] = s->reg[r->bp_off & 15];
		s->bp_at = 0;
		s->bp_known = 1;
		return 0;
	case UNWIND_BP_BP:
		if (unwind_use_bp(s, mem))
			return 1;
		from = s->reg[UNWIND_REG_BP];
		break;
	case UNWIND_BP_SP: from = s->reg[UNWIND_REG_SP]; break;
	default: break;
	}
	unwind_bp_saved(s, from + (__s64)r->bp_off);
	return 0;
}

/* Only java's interpreter has frames of this kind, and keeps the method in each. */
UNWIND_INLINE void unwind_method_of(struct unwind_state *s, __u64 bp, UNWIND_MEM *mem)
{
	__u64 method = 0;

	if (!UNWIND_READ_WORD(mem, &method, bp + UNWIND_METHOD_AT) && !(method & 7) &&
	    !(method >> 47))
		s->method = method;
}

/* The return address, by the frame's rule; non-zero when there is no more to do. */
UNWIND_INLINE int unwind_ra_of(struct unwind_state *s, const struct unwind_rule *r, __u64 cfa,
			       UNWIND_MEM *mem, __u64 *ret)
{
	__u64 at = cfa - 8, bp;

	if (r->ra == UNWIND_RA_REG) {
		/* before the call's own push, or after the return address was popped */
		if (!s->full)
			return unwind_stop(s, UNWIND_END_REG);
		if (cfa < s->reg[UNWIND_REG_SP])
			return unwind_stop(s, UNWIND_END_BAD_SP);
		s->odd = 1;
		*ret = s->reg[r->aux & 15];
		return 0;
	}
	if (r->ra == UNWIND_RA_FP) {
		if (unwind_use_bp(s, mem))
			return 1;
		bp = s->reg[UNWIND_REG_BP];
		/* the frame is not made yet, or just gone */
		if (cfa < bp + 16 || cfa - bp > UNWIND_MAX_FP_FRAME) {
			s->odd = 1;
			unwind_fp_step(s, mem);
			return 1;
		}
		at = bp + 8;
		s->odd = 1;
		unwind_method_of(s, bp, mem);
	} else if (r->ra == UNWIND_RA_OFF) {
		at = cfa + (__s64)r->aux;
		s->odd = 1;
	}
	if (cfa <= s->reg[UNWIND_REG_SP])
		return unwind_stop(s, UNWIND_END_BAD_SP);
	if (UNWIND_READ_WORD(mem, ret, at))
		return unwind_stop(s, UNWIND_END_READ);
	return 0;
}

/* Moves @s to the caller; non-zero when there is none, with the reason in @s->end. */
UNWIND_INLINE int unwind_apply(struct unwind_state *s, const struct unwind_rule *r, UNWIND_MEM *mem)
{
	__u64 cfa, ra = 0;

	if (r->cfa == UNWIND_CFA_STOP)
		return unwind_stop(s, UNWIND_END_ROOT);
	if (r->cfa == UNWIND_CFA_END) {
		if (unwind_use_bp(s, mem))
			return 1;
		return s->reg[UNWIND_REG_BP] ? unwind_fp_step(s, mem)
					     : unwind_stop(s, UNWIND_END_ROOT);
	}
	if (r->cfa == UNWIND_CFA_FAR_FP)
		return unwind_far_fp_step(s, mem);
	if (r->cfa == UNWIND_CFA_SIGNAL)
		return unwind_signal_step(s, mem);
	cfa = unwind_cfa_of(s, r, mem);
	if (!cfa)
		return s->end ? 1 : unwind_stop(s, UNWIND_END_BAD_SP);
	if (unwind_ra_of(s, r, cfa, mem, &ra))
		return s->end != UNWIND_END_NONE;
	if (unwind_bp_of(s, r, cfa, mem))
		return 1;
	if (r->bx_off == UNWIND_BX_LOST)
		s->bx_lost = 1;
	else if (r->bx_off)
		s->bx_at = cfa + (__s64)r->bx_off;
	return unwind_returned(s, ra, cfa);
}

#endif
