/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions from bytes: kinds, targets, what is cut or no instruction at all. */
#include "unit/harness.h"

#include "code/disasm.h"

#ifdef HAVE_CAPSTONE

static struct insn one(const char *arch, const void *bytes, size_t n)
{
	struct disasm *d = NULL;
	struct insn in = { 0 };

	CHECK_EQ(disasm_new(&d, arch, DISASM_ATT, NULL), 0);
	disasm_next(d, bytes, n, 0x1000, &in);
	disasm_free(d);
	return in;
}

TEST(x86_jumps_and_calls)
{
	struct insn in = one("x86_64", "\x74\x10", 2);

	CHECK_EQ(in.kind, INSN_BRANCH);
	CHECK(in.has_target);
	CHECK_EQ(in.target, 0x1012);
	in = one("x86_64", "\xeb\xfe", 2);
	CHECK_EQ(in.kind, INSN_JUMP);
	CHECK_EQ(in.target, 0x1000);
	in = one("x86_64", "\xe8\x00\x00\x00\x00", 5);
	CHECK_EQ(in.kind, INSN_CALL);
	CHECK_EQ(in.target, 0x1005);
	in = one("x86_64", "\xff\xd0", 2); /* call *%rax */
	CHECK_EQ(in.kind, INSN_CALL);
	CHECK(!in.has_target);
	in = one("x86_64", "\xc3", 1);
	CHECK_EQ(in.kind, INSN_RETURN);
}

TEST(x86_cut_and_bad)
{
	struct insn in = one("x86_64", "\xe8\x00\x00", 3);

	CHECK_EQ(in.kind, INSN_TRUNCATED);
	CHECK_EQ(in.size, 3);
	/* 0x06 is not an instruction in 64-bit code, whatever follows */
	in = one("x86_64", "\x06\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90",
		 17);
	CHECK_EQ(in.kind, INSN_BAD);
	CHECK_EQ(in.size, 1);
}

TEST(arm64_jumps_and_calls)
{
	struct insn in = one("aarch64", "\x02\x00\x00\x94", 4); /* bl .+8 */

	CHECK_EQ(in.kind, INSN_CALL);
	CHECK_EQ(in.target, 0x1008);
	in = one("aarch64", "\x02\x00\x00\x14", 4); /* b .+8 */
	CHECK_EQ(in.kind, INSN_JUMP);
	in = one("aarch64", "\x40\x00\x00\x54", 4); /* b.eq .+8 */
	CHECK_EQ(in.kind, INSN_BRANCH);
	CHECK_EQ(in.target, 0x1008);
	in = one("aarch64", "\xc0\x03\x5f\xd6", 4);
	CHECK_EQ(in.kind, INSN_RETURN);
}

#endif

TEST(another_machine)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct disasm *d = NULL;

	CHECK_EQ(disasm_new(&d, "vax", DISASM_ATT, &e), -EOPNOTSUPP);
}
