/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code/disasm.h"

#include "base/base.h"

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

struct disasm {
	csh handle;
	cs_insn *insn;
	bool arm;
	size_t longest;
};

static const struct {
	const char *arch;
	cs_arch cs;
	cs_mode mode;
	size_t longest;
} machines[] = {
	{ "x86_64", CS_ARCH_X86, CS_MODE_64, 15 },  { "i386", CS_ARCH_X86, CS_MODE_32, 15 },
	{ "i686", CS_ARCH_X86, CS_MODE_32, 15 },    { "aarch64", CS_ARCH_ARM64, CS_MODE_ARM, 4 },
	{ "arm64", CS_ARCH_ARM64, CS_MODE_ARM, 4 },
};

int disasm_new(struct disasm **ret, const char *arch, enum disasm_syntax syntax, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct disasm *d;

		if (!streq(machines[i].arch, arch))
			continue;
		d = xcalloc(1, sizeof(*d));
		if (cs_open(machines[i].cs, machines[i].mode, &d->handle) != CS_ERR_OK) {
			free(d);
			return err_set(e, EOPNOTSUPP, "capstone cannot read code of %s", arch);
		}
		d->arm = machines[i].cs == CS_ARCH_ARM64;
		d->longest = machines[i].longest;
		cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
		if (!d->arm && syntax == DISASM_ATT)
			cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
		d->insn = cs_malloc(d->handle);
		*ret = d;
		return 0;
	}
	return err_set(e, EOPNOTSUPP, "code of %s is not read: x86_64 and aarch64 are", arch);
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

static bool in_group(const cs_insn *in, u8 group)
{
	for (u8 i = 0; i < in->detail->groups_count; i++)
		if (in->detail->groups[i] == group)
			return true;
	return false;
}

static enum insn_kind kind_of(const struct disasm *d, const cs_insn *in)
{
	if (in_group(in, CS_GRP_CALL) ||
	    (d->arm && (in->id == ARM64_INS_BL || in->id == ARM64_INS_BLR)))
		return INSN_CALL;
	if (in_group(in, CS_GRP_RET) || in_group(in, CS_GRP_IRET))
		return INSN_RETURN;
	if (!in_group(in, CS_GRP_JUMP))
		return INSN_PLAIN;
	if (d->arm)
		return (in->id == ARM64_INS_B && in->detail->arm64.cc <= ARM64_CC_INVALID) ||
				       in->id == ARM64_INS_BR
			       ? INSN_JUMP
			       : INSN_BRANCH;
	return in->id == X86_INS_JMP || in->id == X86_INS_LJMP ? INSN_JUMP : INSN_BRANCH;
}

/* The address that a direct jump or call names: its last operand. */
static bool target_of(const struct disasm *d, const cs_insn *in, u64 *ret)
{
	if (d->arm) {
		const cs_arm64 *a = &in->detail->arm64;

		if (!a->op_count || a->operands[a->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*ret = (u64)a->operands[a->op_count - 1].imm;
		return true;
	}
	if (in->detail->x86.op_count != 1 || in->detail->x86.operands[0].type != X86_OP_IMM)
		return false;
	*ret = (u64)in->detail->x86.operands[0].imm;
	return true;
}

static void unknown(const struct disasm *d, const u8 *bytes, size_t n, struct insn *ret)
{
	bool cut = n < d->longest;

	ret->kind = cut ? INSN_TRUNCATED : INSN_BAD;
	ret->size = cut ? (u8)n : d->arm ? 4 : 1;
	snprintf(ret->name, sizeof(ret->name), "(%s)", cut ? "cut" : "bad");
	for (size_t i = 0, at = 0; i < ret->size && at + 4 < sizeof(ret->operands); i++)
		at += (size_t)snprintf(ret->operands + at, sizeof(ret->operands) - at, "%s%02x",
				       i ? " " : "", bytes[i]);
}

void disasm_next(struct disasm *d, const u8 *bytes, size_t n, u64 address, struct insn *ret)
{
	const u8 *code = bytes;
	u64 at = address;
	size_t left = n;

	*ret = (struct insn){ .address = address };
	if (!cs_disasm_iter(d->handle, &code, &left, &at, d->insn) || !d->insn->size ||
	    d->insn->size > n) {
		unknown(d, bytes, n, ret);
		return;
	}
	ret->size = (u8)d->insn->size;
	ret->kind = (u8)kind_of(d, d->insn);
	if (ret->kind == INSN_JUMP || ret->kind == INSN_BRANCH || ret->kind == INSN_CALL)
		ret->has_target = target_of(d, d->insn, &ret->target);
	snprintf(ret->name, sizeof(ret->name), "%s", d->insn->mnemonic);
	snprintf(ret->operands, sizeof(ret->operands), "%.*s", (int)sizeof(ret->operands) - 1,
		 d->insn->op_str);
}

#else

int disasm_new(struct disasm **ret UNUSED, const char *arch UNUSED,
	       enum disasm_syntax syntax UNUSED, struct err *e)
{
	err_set(e, EOPNOTSUPP, "this build cannot read code: it is without capstone");
	err_hint(e, "install libcapstone-dev and build again");
	return -EOPNOTSUPP;
}

void disasm_free(struct disasm *d UNUSED)
{
}

void disasm_next(struct disasm *d UNUSED, const u8 *bytes UNUSED, size_t n UNUSED, u64 address,
		 struct insn *ret)
{
	*ret = (struct insn){ .address = address, .size = 1, .kind = INSN_BAD };
}

#endif
