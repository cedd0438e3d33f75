/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/gen/refusal.h"
#include "unit/harness.h"

static bool complains(const char *log, const char *text, u32 insn)
{
	struct refusal r;

	refusal_parse(log, &r);
	return r.has_insn && r.insn == insn && r.len == strlen(text) &&
	       memcmp(r.text, text, r.len) == 0;
}

TEST("the complaint and its instruction are at the end of the log")
{
	CHECK(complains("func#0 @0\n0: R1=ctx() R10=fp0\n; BEGIN { } @ stdin:1\n"
			"0: (b7) r0 = 0                        ; R0_w=0\n"
			"7: (79) r1 = *(u64 *)(r2 +8)\nR2 invalid mem access 'scalar'\n"
			"processed 8 insns (limit 1000000) max_states_per_insn 0\n",
			"R2 invalid mem access 'scalar'", 7));
	CHECK(complains(
		"12: (85) call bpf_loop#181\n"
		"from 12 to 14: R0=scalar()\n14: R0=1\n"
		"math between fp pointer and register with unbounded min value is not allowed\n",
		"math between fp pointer and register with unbounded min value is not allowed",
		12));
}

TEST("logs that are cut or empty are no trouble")
{
	struct refusal r;

	refusal_parse("", &r);
	CHECK(!r.has_insn && !r.len);
	refusal_parse("99999999999999: (", &r);
	CHECK(r.insn == UINT32_MAX);
	refusal_parse("12: (b7", &r);
	CHECK(r.has_insn && r.insn == 12);
	refusal_parse("unknown func bpf_x#999", &r);
	CHECK(!r.has_insn && r.len == 22);
}
