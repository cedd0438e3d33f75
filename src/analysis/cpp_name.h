/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C++ names in short form. */
#ifndef ANALYSIS_CPP_NAME_H
#define ANALYSIS_CPP_NAME_H

#include "base/base.h"

/*
 * The part of a demangled name without parameters, result type and marks of clones, as perf shows
 * it; other names as they are. *ret_suffix is what follows it: "@plt", or "".
 */
const char *cpp_name(const char *name, size_t *ret_len, const char **ret_suffix);

#endif
