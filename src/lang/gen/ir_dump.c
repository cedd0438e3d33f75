/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as text. */
#include "base/buf.h"
#include "lang/gen/ir.h"

static const char *const alu_names[] = { "+=",  "-=", "*=", "/=", "|=",   "&=",    "<<=", ">>=",
					 "neg", "%=", "^=", "=",  "s>>=", "bswap", "?",   "?" };
static const char *const jump_names[] = { "goto", "==",   ">", ">=", "&",  "!=",  "s>", "s>=",
					  "call", "exit", "<", "<=", "s<", "s<=", "?",  "?" };
static const char *const size_names[] = { "u32", "u16", "u8", "u64" };

static void dump_jump(const struct bpf_insn *i, size_t at, struct buf *out)
{
	u8 op = BPF_OP(i->code);

	if (op == BPF_CALL)
		buf_addf(out, "call %d", i->imm);
	else if (op == BPF_EXIT)
		buf_addstr(out, "exit");
	else if (op == BPF_JA)
		buf_addf(out, "goto %zu", at + 1 + (size_t)(ssize_t)i->off);
	else if (BPF_SRC(i->code) == BPF_X)
		buf_addf(out, "if r%d %s r%d goto %zu", i->dst_reg, jump_names[op >> 4], i->src_reg,
			 at + 1 + (size_t)(ssize_t)i->off);
	else
		buf_addf(out, "if r%d %s %d goto %zu", i->dst_reg, jump_names[op >> 4], i->imm,
			 at + 1 + (size_t)(ssize_t)i->off);
}

static void dump_one(const struct bpf_insn *i, size_t at, struct buf *out)
{
	const char *size = size_names[BPF_SIZE(i->code) >> 3];

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU64:
	case BPF_ALU:
		if (BPF_SRC(i->code) == BPF_X && BPF_OP(i->code) != BPF_END)
			buf_addf(out, "r%d %s r%d", i->dst_reg, alu_names[BPF_OP(i->code) >> 4],
				 i->src_reg);
		else
			buf_addf(out, "r%d %s %d", i->dst_reg, alu_names[BPF_OP(i->code) >> 4],
				 i->imm);
		break;
	case BPF_LDX:
		buf_addf(out, "r%d = *(%s *)(r%d %+d)", i->dst_reg, size, i->src_reg, i->off);
		break;
	case BPF_ST:
		buf_addf(out, "*(%s *)(r%d %+d) = %d", size, i->dst_reg, i->off, i->imm);
		break;
	case BPF_STX:
		buf_addf(out, "*(%s *)(r%d %+d) %s r%d", size, i->dst_reg, i->off,
			 BPF_MODE(i->code) == BPF_ATOMIC ? "+=" : "=", i->src_reg);
		break;
	case BPF_LD:
		buf_addf(out, i->src_reg ? "r%d = map %d" : "r%d = %d ll", i->dst_reg, i->imm);
		break;
	default: dump_jump(i, at, out); break;
	}
}

void ir_dump(const struct ir_code *code, struct buf *out)
{
	for (size_t i = 0; i < code->insns.len; i++) {
		const struct bpf_insn *in = &code->insns.items[i];

		buf_addf(out, "%5zu: ", i);
		dump_one(in, i, out);
		buf_addch(out, '\n');
		if (in->code == (BPF_LD | BPF_DW | BPF_IMM))
			i++;
	}
}
