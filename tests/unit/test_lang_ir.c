/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register allocation: programs are run by a small interpreter of BPF and must give what was meant.
 */
#include "base/buf.h"
#include "lang/gen/ir.h"
#include "unit/harness.h"

#include <errno.h>

enum { STEPS_MOST = 100000 };

static u64 alu(u8 op, u64 a, u64 b)
{
	switch (op) {
	case BPF_ADD: return a + b;
	case BPF_SUB: return a - b;
	case BPF_MUL: return a * b;
	case BPF_XOR: return a ^ b;
	case BPF_OR: return a | b;
	case BPF_AND: return a & b;
	case BPF_LSH: return a << (b & 63);
	case BPF_RSH: return a >> (b & 63);
	case BPF_ARSH: return (u64)((s64)a >> (b & 63));
	case BPF_NEG: return 0 - a;
	case BPF_MOV: return b;
	default: FAIL("operation 0x%x", op);
	}
}

/* Runs the code; calls return the sum of r1 and r2 and destroy r1 to r5. */
static u64 execute(const struct ir_code *code, u64 ctx)
{
	u64 r[11] = { 0 }, stack[64] = { 0 };

	r[1] = ctx;
	r[10] = (u64)(uintptr_t)(stack + 64);
	for (size_t pc = 0, steps = 0; pc < code->insns.len; pc++) {
		const struct bpf_insn *i = &code->insns.items[pc];
		u64 src = BPF_SRC(i->code) == BPF_X ? r[i->src_reg] : (u64)(s64)i->imm;

		CHECK(++steps < STEPS_MOST);
		switch (BPF_CLASS(i->code)) {
		case BPF_ALU64: r[i->dst_reg] = alu(BPF_OP(i->code), r[i->dst_reg], src); break;
		case BPF_LDX:
			r[i->dst_reg] = *(u64 *)(uintptr_t)(r[i->src_reg] + (u64)i->off);
			break;
		case BPF_STX:
			*(u64 *)(uintptr_t)(r[i->dst_reg] + (u64)i->off) = r[i->src_reg];
			break;
		case BPF_ST:
			*(u64 *)(uintptr_t)(r[i->dst_reg] + (u64)i->off) = (u64)(s64)i->imm;
			break;
		case BPF_LD:
			r[i->dst_reg] = (u32)i->imm | (u64)(u32)i[1].imm << 32;
			pc++;
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_EXIT)
				return r[0];
			if (BPF_OP(i->code) == BPF_CALL) {
				r[0] = r[1] + r[2];
				for (int k = 1; k <= 5; k++)
					r[k] = 0xdeadbeef;
			} else if (BPF_OP(i->code) == BPF_JA ||
				   (BPF_OP(i->code) == BPF_JLT && r[i->dst_reg] < src) ||
				   (BPF_OP(i->code) == BPF_JEQ && r[i->dst_reg] == src)) {
				pc = (size_t)((ssize_t)pc + i->off);
			}
			break;
		default: FAIL("class of 0x%x", i->code);
		}
	}
	FAIL("ran off the end");
}

/* Stores @result where execute() finds it: an own memory cell. */
static u64 finish_and_run(struct ir *ir, vreg result)
{
	struct ir_code code = { 0 };
	u64 cell = 0, got;
	vreg at = ir_imm(ir, (s64)(uintptr_t)&cell);

	ir_store(ir, BPF_DW, at, 0, result);
	ir_exit(ir, 0);
	CHECK_EQ(ir_finish(ir, &code), 0);
	execute(&code, 7);
	got = cell;
	ir_code_release(&code);
	ir_release(ir);
	return got;
}

TEST(many_values_live_at_once_are_spilled)
{
	struct ir ir;
	vreg v[30], sum;

	ir_init(&ir);
	for (u32 i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = ir_imm(&ir, 1ll << i);
	sum = ir_imm(&ir, 0);
	for (u32 i = 0; i < ARRAY_SIZE(v); i++)
		ir_alu(&ir, BPF_ADD, sum, v[i]);
	CHECK_EQ(finish_and_run(&ir, sum), (1ull << 30) - 1);
}

TEST(values_live_over_calls)
{
	struct ir ir;
	vreg v[12], r;

	ir_init(&ir);
	for (u32 i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = ir_imm(&ir, i + 1);
	r = IR_CALLV(&ir, 5, ARG_REG(v[3]), ARG_IMM(100));
	for (u32 i = 0; i < ARRAY_SIZE(v); i++)
		r = IR_CALLV(&ir, 5, ARG_REG(r), ARG_REG(v[i]));
	CHECK_EQ(finish_and_run(&ir, r), 104 + 78);
}

TEST(loops_keep_what_they_use)
{
	struct ir ir;
	vreg i, sum, step, many[8];
	ir_label top;

	ir_init(&ir);
	step = ir_imm(&ir, 3);
	for (u32 k = 0; k < ARRAY_SIZE(many); k++)
		many[k] = ir_imm(&ir, k);
	i = ir_imm(&ir, 0);
	sum = ir_imm(&ir, 0);
	top = ir_new_label(&ir);
	ir_label_here(&ir, top);
	for (u32 k = 0; k < ARRAY_SIZE(many); k++)
		ir_alu(&ir, BPF_ADD, sum, many[k]);
	IR_CALLV(&ir, 5, ARG_REG(sum), ARG_REG(step));
	ir_alu(&ir, BPF_ADD, i, step);
	ir_branchi(&ir, BPF_JLT, i, 30, top);
	CHECK_EQ(finish_and_run(&ir, sum), 28 * 10);
}

TEST(unreachable_code_is_dropped)
{
	struct ir_code code = { 0 };
	struct ir ir;
	ir_label end;

	ir_init(&ir);
	end = ir_new_label(&ir);
	ir_jump(&ir, end);
	ir_imm(&ir, 1);
	ir_exit(&ir, 1);
	ir_label_here(&ir, end);
	ir_exit(&ir, 0);
	CHECK_EQ(ir_finish(&ir, &code), 0);
	CHECK_EQ(code.insns.len, 3); /* jump, result, exit */
	ir_code_release(&code);
	ir_release(&ir);
}

TEST(too_large_a_frame_is_refused)
{
	struct ir_code code = { 0 };
	struct ir ir;

	ir_init(&ir);
	ir.stack = 520;
	ir_exit(&ir, 0);
	CHECK_EQ(ir_finish(&ir, &code), -ENOBUFS);
	ir_code_release(&code);
	ir_release(&ir);
}

TEST(code_can_be_shown)
{
	struct ir_code code = { 0 };
	struct buf out = BUF_INIT;
	struct ir ir;

	ir_init(&ir);
	ir_imm(&ir, 1ll << 40);
	ir_exit(&ir, 3);
	CHECK_EQ(ir_finish(&ir, &code), 0);
	ir_dump(&code, &out);
	CHECK(strstr(buf_str(&out), "r0 = 3"));
	CHECK(strstr(buf_str(&out), "exit"));
	buf_release(&out);
	ir_code_release(&code);
	ir_release(&ir);
}
