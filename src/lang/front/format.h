/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program as text again, in one form. */
#ifndef LANG_FORMAT_H
#define LANG_FORMAT_H

#include "lang/front/ast.h"

void format_program(const struct program *p, struct buf *out);

#endif
