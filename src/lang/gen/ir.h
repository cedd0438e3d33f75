/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF instructions over any number of virtual registers, and the way from there to the real ones.
 *
 * The code generator appends; ir_finish() drops what cannot be reached, gives registers (linear
 * scan: values that live over a call get r6-r9, others r2-r5 first; what does not fit is spilled
 * to the stack), expands calls and resolves jumps. r0 and r1 stay free for spilled operands, r10
 * is the frame.
 */
#ifndef LANG_IR_H
#define LANG_IR_H

#include "base/vec.h"

#include <linux/bpf.h>

typedef u16 vreg; /* 0: none, VREG_FP: the frame, otherwise virtual */
typedef u32 ir_label;

enum {
	VREG_FP = 10,
	VREG_FIRST = 16,
	IR_MAX_STACK = 512,
	IR_MAX_INSNS = 200000, /* the verifier refuses far earlier */
	IR_CALL_ARGS = 5,
};

enum ir_kind {
	IR_ALU,       /* dst op= src, or imm when src is 0; MOV too */
	IR_LOAD,      /* dst = *(size *)(src + off) */
	IR_STORE,     /* *(size *)(dst + off) = src, or imm when src is 0 */
	IR_ATOMIC,    /* *(u64 *)(dst + off) op= src; imm: the operation */
	IR_IMM64,     /* dst = imm64 */
	IR_MAP,       /* dst = map number imm */
	IR_MAP_VALUE, /* dst = address of the value of map imm, plus off bytes */
	IR_CTX,       /* dst = argument register imm at the entry; first instructions only */
	IR_LABEL,
	IR_JUMP,    /* to label */
	IR_BRANCH,  /* if dst op src (or imm) to label */
	IR_CALL,    /* dst = helper imm (args) */
	IR_BTF_VAR, /* dst = address of the kernel's variable with the BTF id imm */
	IR_FUNC,    /* dst = address of function number imm of the unit */
	IR_EXIT,    /* return src, or imm when src is 0 */
};

struct ir_arg {
	vreg reg; /* 0: imm */
	s32 imm;
	bool frame; /* address in the frame: r10 + imm */
};

struct ir_insn {
	u8 kind;
	u8 code; /* BPF opcode: operation or size */
	vreg dst;
	vreg src;
	s16 off;
	s32 imm;
	u32 label;
	u32 line; /* offset in the source, for the verifier's complaints */
	union {
		u64 imm64;
		struct {
			struct ir_arg args[IR_CALL_ARGS];
			u32 n_args;
		};
	};
};

struct ir {
	VEC(struct ir_insn) code;
	u32 n_regs; /* virtual registers handed out */
	u32 n_labels;
	u32 stack; /* bytes of the frame that the generator took, from the top */
	u32 line;  /* given to every new instruction */
};

typedef VEC(struct bpf_insn) bpf_insns;

/* What ir_finish() makes. Map references hold the map's number until they are relocated. */
struct ir_code {
	bpf_insns insns;
	VEC(u32) lines; /* per instruction: offset in the source */
	u32 stack;
};

void ir_init(struct ir *ir);
void ir_release(struct ir *ir);
void ir_code_release(struct ir_code *code);

vreg ir_reg(struct ir *ir);
ir_label ir_new_label(struct ir *ir);

/* Argument @number (from 1) of the program or callback. */
vreg ir_ctx(struct ir *ir, u32 number);
vreg ir_func(struct ir *ir, u32 number);
vreg ir_imm(struct ir *ir, s64 value);
void ir_mov(struct ir *ir, vreg dst, vreg src);
void ir_movi(struct ir *ir, vreg dst, s64 value);
void ir_alu(struct ir *ir, u8 op, vreg dst, vreg src);
void ir_alui(struct ir *ir, u8 op, vreg dst, s32 imm);
/* @size is BPF_B, BPF_H, BPF_W or BPF_DW. */
vreg ir_load(struct ir *ir, u8 size, vreg base, s32 off);
void ir_store(struct ir *ir, u8 size, vreg base, s32 off, vreg src);
void ir_storei(struct ir *ir, u8 size, vreg base, s32 off, s32 imm);
void ir_atomic_add(struct ir *ir, vreg base, s32 off, vreg src);
/* Sign- or zero-extends the low @bytes of a register to all of it. */
void ir_extend(struct ir *ir, vreg reg, u32 bytes, bool is_signed);
vreg ir_map(struct ir *ir, u32 map);
vreg ir_map_value(struct ir *ir, u32 map, u32 off);
vreg ir_btf_var(struct ir *ir, u32 id);
void ir_label_here(struct ir *ir, ir_label label);
void ir_jump(struct ir *ir, ir_label label);
void ir_branch(struct ir *ir, u8 op, vreg a, vreg b, ir_label label);
void ir_branchi(struct ir *ir, u8 op, vreg a, s32 imm, ir_label label);
vreg ir_call(struct ir *ir, u32 helper, const struct ir_arg *args, u32 n_args);
/* The same of the function that is linked after the program. */
vreg ir_call_linked(struct ir *ir, const struct ir_arg *args, u32 n_args);
void ir_exit(struct ir *ir, s32 value);
void ir_exit_reg(struct ir *ir, vreg value);

#define ARG_REG(r)   ((struct ir_arg){ .reg = (r) })
#define ARG_IMM(i)   ((struct ir_arg){ .imm = (i) })
#define ARG_FRAME(o) ((struct ir_arg){ .imm = (o), .frame = true })
/* ir_call with its arguments in place. */
#define IR_CALLV(ir, helper, ...)                                   \
	ir_call(ir, helper, (const struct ir_arg[]){ __VA_ARGS__ }, \
		sizeof((const struct ir_arg[]){ __VA_ARGS__ }) / sizeof(struct ir_arg))

/* -E2BIG: too many instructions or a jump too far; -ENOBUFS: the frame is too small. */
int ir_finish(struct ir *ir, struct ir_code *ret);
/* Text of the instructions, one per line. */
struct buf;
void ir_dump(const struct ir_code *code, struct buf *out);

#endif
