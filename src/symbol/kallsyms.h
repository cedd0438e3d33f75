/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's functions from text in the form of /proc/kallsyms. */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include "base/intern.h"
#include "base/vec.h"
#include "base/span.h"

enum { KALLSYMS_MAX_SYMBOLS = 16 << 20 };

struct kallsyms_symbol {
	u64 start;
	u64 end;
	u32 name;   /* offset into names */
	u32 module; /* of modules ("ext4", "bpf"); 0 the kernel itself */
};

struct kallsyms {
	struct span_table spans; /* ids are indexes into symbols */
	VEC(struct kallsyms_symbol) symbols;
	char *names;
	struct intern modules;
	bool hidden; /* there were symbols, but all at address 0 */
};

#define KALLSYMS_INIT \
	{             \
		0     \
	}

/* Lines that are not understood are left out. */
void kallsyms_parse(struct kallsyms *k, const char *text, size_t len);
void kallsyms_release(struct kallsyms *k);
/* NULL when there is none. */
const struct kallsyms_symbol *kallsyms_find(const struct kallsyms *k, u64 address);
/* The address of a function, 0 when it is not there. Looks at all of them. */
u64 kallsyms_address(const struct kallsyms *k, const char *name);

#endif
