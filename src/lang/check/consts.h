/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Macros of headers that scripts use without including them. */
#ifndef LANG_CONSTS_H
#define LANG_CONSTS_H

#include "base/base.h"

/* False when the name is not one of them. */
bool const_find(const char *name, s64 *ret);

#endif
