/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trampolines that CPython 3.12 and later makes under -X perf, one for each function, so that
 * perf sees an address for it: they have no frame information and no frame pointer.
 */
#ifndef RUNTIME_PYTHON_TRAMPOLINE_H
#define RUNTIME_PYTHON_TRAMPOLINE_H

#include "base/err.h"
#include "runtime/code.h"

/* -ENOENT: the process has none. */
int python_trampolines(int pid, struct code_rows *ret, struct err *e);
/* Whether these bytes are the beginning of a stretch of trampolines. */
bool python_is_trampoline(const u8 *code, size_t n);

#endif
