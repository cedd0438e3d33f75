/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "base/buf.h"

/* Longer names, and names that grow longer when read, are shown as they are. */
enum { DEMANGLE_MAX_IN = 16 << 10, DEMANGLE_MAX_OUT = 64 << 10 };

/*
 * Appends what @name means in C++ (with parameters, as perf shows it), Rust (both schemes) or D.
 * False, and nothing is appended, when it is not such a name.
 */
bool demangle(const char *name, struct buf *ret);

#endif
