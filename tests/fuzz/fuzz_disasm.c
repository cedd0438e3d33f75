/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as code: every byte is part of exactly one instruction, and text ends. */
#include "code/disasm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const char *arch, enum disasm_syntax syntax, const uint8_t *data, size_t size)
{
	struct disasm *d = NULL;
	struct insn insn;
	size_t at = 0;

	if (disasm_new(&d, arch, syntax, NULL) < 0)
		return;
	while (at < size) {
		disasm_next(d, data + at, size - at, 0x1000 + at, &insn);
		if (!insn.size || insn.size > size - at || insn.address != 0x1000 + at)
			abort();
		if (!memchr(insn.name, 0, sizeof(insn.name)) ||
		    !memchr(insn.operands, 0, sizeof(insn.operands)))
			abort();
		at += insn.size;
	}
	disasm_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk("x86_64", DISASM_ATT, data, size);
	walk("x86_64", DISASM_INTEL, data, size);
	walk("aarch64", DISASM_ATT, data, size);
	return 0;
}
