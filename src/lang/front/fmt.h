/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printf formats of the language, taken apart once for checking and for printing. */
#ifndef LANG_FMT_H
#define LANG_FMT_H

#include "base/base.h"

struct conversion {
	const char *text; /* the literal text before it */
	size_t text_len;
	char letter; /* 0: the end of the format; g: %gr */
	char flags[8];
	int width;        /* -1: none */
	int precision;    /* -1: none */
	u8 bytes;         /* by the length letters: 1, 2, 4 (none) or 8 */
	bool hex_plain;   /* %rh */
	bool hex_escaped; /* %rx */
};

/* The next one; moves *p after it. NULL, or where the format is wrong. */
const char *fmt_next(const char **p, struct conversion *ret);

#endif
