/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of the running kernel, as it is now: /proc/kcore. */
#ifndef CODE_KCORE_H
#define CODE_KCORE_H

#include "base/err.h"

/*
 * Reads up to @n bytes at a kernel address from @path, a core file; how many, or -errno with the
 * reason in @e. Sites that the kernel patches (static keys, ftrace, mitigations) are as they are
 * now.
 */
ssize_t kcore_read(const char *path, u64 address, void *ret, size_t n, struct err *e);

#endif
