/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/gen/ir.h"

void ir_init(struct ir *ir)
{
	*ir = (struct ir){ .n_regs = VREG_FIRST };
}

void ir_release(struct ir *ir)
{
	vec_release(&ir->code);
}

void ir_code_release(struct ir_code *code)
{
	vec_release(&code->insns);
	vec_release(&code->lines);
}

static struct ir_insn *add(struct ir *ir, enum ir_kind kind)
{
	struct ir_insn *i = vec_new(&ir->code);

	i->kind = (u8)kind;
	i->line = ir->line;
	return i;
}

vreg ir_reg(struct ir *ir)
{
	/* Beyond 16 bits the program is refused for its length anyway. */
	if (ir->n_regs >= UINT16_MAX)
		return UINT16_MAX;
	return (vreg)ir->n_regs++;
}

ir_label ir_new_label(struct ir *ir)
{
	return ir->n_labels++;
}

vreg ir_ctx(struct ir *ir, u32 number)
{
	struct ir_insn *i = add(ir, IR_CTX);

	i->imm = (s32)number;

	return i->dst = ir_reg(ir);
}

void ir_mov(struct ir *ir, vreg dst, vreg src)
{
	ir_alu(ir, BPF_MOV, dst, src);
}

void ir_movi(struct ir *ir, vreg dst, s64 value)
{
	if (value == (s32)value) {
		ir_alui(ir, BPF_MOV, dst, (s32)value);
	} else {
		struct ir_insn *i = add(ir, IR_IMM64);

		i->dst = dst;
		i->imm64 = (u64)value;
	}
}

vreg ir_imm(struct ir *ir, s64 value)
{
	vreg r = ir_reg(ir);

	ir_movi(ir, r, value);
	return r;
}

void ir_alu(struct ir *ir, u8 op, vreg dst, vreg src)
{
	struct ir_insn *i = add(ir, IR_ALU);

	i->code = op;
	i->dst = dst;
	i->src = src;
}

void ir_alui(struct ir *ir, u8 op, vreg dst, s32 imm)
{
	struct ir_insn *i = add(ir, IR_ALU);

	i->code = op;
	i->dst = dst;
	i->imm = imm;
}

vreg ir_load(struct ir *ir, u8 size, vreg base, s32 off)
{
	struct ir_insn *i = add(ir, IR_LOAD);

	i->code = size;
	i->src = base;
	i->off = (s16)off;
	return i->dst = ir_reg(ir);
}

void ir_store(struct ir *ir, u8 size, vreg base, s32 off, vreg src)
{
	struct ir_insn *i = add(ir, IR_STORE);

	i->code = size;
	i->dst = base;
	i->off = (s16)off;
	i->src = src;
}

void ir_storei(struct ir *ir, u8 size, vreg base, s32 off, s32 imm)
{
	struct ir_insn *i = add(ir, IR_STORE);

	i->code = size;
	i->dst = base;
	i->off = (s16)off;
	i->imm = imm;
}

void ir_atomic_add(struct ir *ir, vreg base, s32 off, vreg src)
{
	struct ir_insn *i = add(ir, IR_ATOMIC);

	i->dst = base;
	i->off = (s16)off;
	i->src = src;
	i->imm = BPF_ADD;
}

void ir_extend(struct ir *ir, vreg reg, u32 bytes, bool is_signed)
{
	s32 shift = (s32)(64 - bytes * 8);

	if (bytes >= 8 || !bytes)
		return;
	ir_alui(ir, BPF_LSH, reg, shift);
	ir_alui(ir, is_signed ? BPF_ARSH : BPF_RSH, reg, shift);
}

vreg ir_map(struct ir *ir, u32 map)
{
	struct ir_insn *i = add(ir, IR_MAP);

	i->imm = (s32)map;
	return i->dst = ir_reg(ir);
}

vreg ir_map_value(struct ir *ir, u32 map, u32 off)
{
	struct ir_insn *i = add(ir, IR_MAP_VALUE);

	i->imm = (s32)map;
	i->label = off;
	return i->dst = ir_reg(ir);
}

vreg ir_btf_var(struct ir *ir, u32 id)
{
	struct ir_insn *i = add(ir, IR_BTF_VAR);

	i->imm = (s32)id;
	return i->dst = ir_reg(ir);
}

vreg ir_func(struct ir *ir, u32 number)
{
	struct ir_insn *i = add(ir, IR_FUNC);

	i->imm = (s32)number;
	return i->dst = ir_reg(ir);
}

void ir_label_here(struct ir *ir, ir_label label)
{
	add(ir, IR_LABEL)->label = label;
}

void ir_jump(struct ir *ir, ir_label label)
{
	add(ir, IR_JUMP)->label = label;
}

void ir_branch(struct ir *ir, u8 op, vreg a, vreg b, ir_label label)
{
	struct ir_insn *i = add(ir, IR_BRANCH);

	i->code = op;
	i->dst = a;
	i->src = b;
	i->label = label;
}

void ir_branchi(struct ir *ir, u8 op, vreg a, s32 imm, ir_label label)
{
	struct ir_insn *i = add(ir, IR_BRANCH);

	i->code = op;
	i->dst = a;
	i->imm = imm;
	i->label = label;
}

vreg ir_call(struct ir *ir, u32 helper, const struct ir_arg *args, u32 n_args)
{
	struct ir_insn *i = add(ir, IR_CALL);

	i->imm = (s32)helper;
	i->n_args = n_args;
	if (n_args)
		memcpy(i->args, args, n_args * sizeof(*args));
	return i->dst = ir_reg(ir);
}

vreg ir_call_linked(struct ir *ir, const struct ir_arg *args, u32 n_args)
{
	vreg dst = ir_call(ir, 0, args, n_args);

	vec_last(&ir->code)->code = BPF_PSEUDO_CALL;
	return dst;
}

void ir_exit(struct ir *ir, s32 value)
{
	add(ir, IR_EXIT)->imm = value;
}

void ir_exit_reg(struct ir *ir, vreg value)
{
	add(ir, IR_EXIT)->src = value;
}
