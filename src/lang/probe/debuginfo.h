/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the debug information of a traced file says: parameters, types, lines. */
#ifndef LANG_DEBUGINFO_H
#define LANG_DEBUGINFO_H

#include "base/vec.h"
#include "lang/check/type.h"

struct comp;
struct debuginfo;

void debuginfo_free(struct debuginfo *d);

/*
 * The parameters of the function at a file offset as a struct, whose fields have the number of the
 * word in which they are passed as their offset (DEBUGINFO_STACK + number: on the stack); NULL:
 * there is no debug information for it.
 */
enum { DEBUGINFO_STACK = 1 << 16 };
const struct type *debuginfo_params(struct comp *c, const char *path, u64 offset);
/* A type by its name in C ("struct x"); NULL: none. */
const struct type *debuginfo_type(struct comp *c, const char *path, const char *name);
/* File offsets where a line begins. */
typedef VEC(u64) offset_list;
void debuginfo_line(struct comp *c, const char *path, const char *file, u32 line, offset_list *ret);

#endif
