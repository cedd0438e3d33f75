/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few symbols of an ELF file by name: how a runtime is recognised and where it keeps its state.
 * Names for people come from symbol/.
 */
#ifndef UNWIND_ELFSYM_H
#define UNWIND_ELFSYM_H

#include "unwind/image.h"

enum { ELFSYM_MAX_SYMBOLS = 4 << 20, ELFSYM_MAX_STRINGS = 256 << 20 };

struct elfsym {
	const char *name;
	u64 vaddr; /* 0: not found */
	u64 size;
};

/*
 * Looks for @want[0..n) among the exported symbols. False when the first of them is not there: then
 * the others were not looked for.
 */
bool elfsym_find(const struct image *im, struct elfsym *want, size_t n);

#endif
