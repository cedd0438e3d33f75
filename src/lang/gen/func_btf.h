/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types that the kernel wants of programs that have more than one function, and which line of
 * the script each instruction comes from, so that the verifier's log speaks about the script.
 */
#ifndef LANG_FUNC_BTF_H
#define LANG_FUNC_BTF_H

#include "lang/front/diag.h"

#include <linux/bpf.h>

enum { FUNC_MAX_PARAMS = 5 };

struct func_type {
	u32 start;      /* its first instruction */
	bool is_global; /* verified once and by itself: needs to know what pointers point to */
	u32 n_params;
	u32 pointed[FUNC_MAX_PARAMS]; /* bytes that a pointer points to; 0: a number */
};

typedef VEC(struct func_type) func_types;

struct func_btf {
	int fd;
	struct bpf_func_info *funcs;
	struct bpf_line_info *lines;
	u32 n_lines;
};

#define FUNC_BTF_INIT    \
	{                \
		.fd = -1 \
	}

/*
 * Loads BTF for the functions. With @src also lines: @lines holds the offset in the source of each
 * of the first @n_insns instructions; what follows them has none.
 */
int func_btf_load(const func_types *funcs, const struct source *src, const u32 *lines,
		  size_t n_insns, struct func_btf *ret);
void func_btf_release(struct func_btf *b);

#endif
