/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which content a file has: struct unwind_version, as user space reads and compares it. */
#ifndef UNWIND_VERSION_H
#define UNWIND_VERSION_H

#include <sys/stat.h>

#include "base/base.h"
#include "bpf/unwind_abi.h"

/* As unwind_version_of() in the kernel; @st is of @fd. */
void unwind_version_read(int fd, const struct stat *st, struct unwind_version *ret);
bool unwind_version_same(const struct unwind_version *a, const struct unwind_version *b);

#endif
