/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The types that the kernel wants of programs that have more than one function. */
#ifndef LANG_FUNC_BTF_H
#define LANG_FUNC_BTF_H

#include "base/vec.h"

#include <linux/bpf.h>

enum { FUNC_MAX_PARAMS = 5 };

struct func_type {
	u32 start;      /* its first instruction */
	bool is_global; /* verified once and by itself: needs to know what is behind pointers */
	u32 n_params;
	u32 pointed[FUNC_MAX_PARAMS]; /* bytes behind a pointer; 0: a number */
};

typedef VEC(struct func_type) func_types;

/* Loads BTF for the functions, and says in @info (one for each) which it is; descriptor or -errno.
 */
int func_btf_load(const func_types *funcs, struct bpf_func_info *info);

#endif
