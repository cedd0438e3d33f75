/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The types that the kernel wants of programs with callbacks. */
#ifndef LANG_FUNC_BTF_H
#define LANG_FUNC_BTF_H

#include "base/base.h"

#include <linux/bpf.h>

/* Loads BTF with two functions, the program and a callback; the descriptor or -errno. */
int func_btf_load(void);
/* Says which function begins where; @starts holds @n instructions. */
void func_btf_info(const u32 *starts, size_t n, struct bpf_func_info *ret);

#endif
