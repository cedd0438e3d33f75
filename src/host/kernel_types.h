/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the types of the running kernel are described. Kernels with CONFIG_DEBUG_INFO_BTF carry the
 * description themselves, and only those take typed programs, task storage and iterators. For
 * others a file will do to find the fields of structs: FATHOM_BTF names it, or it is a vmlinux with
 * BTF in one of the usual places.
 *
 * FATHOM_NO_BTF makes any kernel one of the others: for tests.
 */
#ifndef HOST_KERNEL_TYPES_H
#define HOST_KERNEL_TYPES_H

#include "base/buf.h"
#include "base/err.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* The kernel describes its types itself. */
bool kernel_types_own(void);
/*
 * The path of their description: KERNEL_TYPES, or a file, raw or ELF. -EOPNOTSUPP: there is
 * none; another error: that of the file which FATHOM_BTF names. Appends to @ret.
 */
int kernel_types_path(struct buf *ret, struct err *e);

#endif
