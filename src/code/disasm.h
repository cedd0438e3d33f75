/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions from bytes. Bytes that are not an instruction, and those of one that is cut off at
 * the end, are instructions of their own kind: every byte is part of exactly one.
 */
#ifndef CODE_DISASM_H
#define CODE_DISASM_H

#include "base/err.h"

struct disasm;

enum disasm_syntax { DISASM_ATT, DISASM_INTEL };

enum insn_kind {
	INSN_PLAIN,
	INSN_JUMP,   /* the only way on */
	INSN_BRANCH, /* perhaps */
	INSN_CALL,
	INSN_RETURN,
	INSN_BAD,       /* no instruction begins here: a byte */
	INSN_TRUNCATED, /* it would continue after the last byte */
};

enum { INSN_TEXT = 192, INSN_BYTES_MOST = 16 };

struct insn {
	u64 address;
	u8 size; /* never 0 */
	u8 kind; /* enum insn_kind */
	bool has_target;
	u64 target; /* of a direct jump or call */
	char name[32];
	char operands[INSN_TEXT - 32];
};

/* "x86_64" and "aarch64" as uname -m has them; -EOPNOTSUPP: another, or built without capstone. */
int disasm_new(struct disasm **ret, const char *arch, enum disasm_syntax syntax, struct err *e);
void disasm_free(struct disasm *d);
/* The instruction at the start of @n bytes, which is at @address. @n is not 0. */
void disasm_next(struct disasm *d, const u8 *bytes, size_t n, u64 address, struct insn *ret);

#endif
