/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of folded stacks, "outermost;...;leaf weight", for everything that writes them. Separators
 * within a name are replaced: ';' by ':', a line break by a blank.
 */
#ifndef BASE_FOLDED_H
#define BASE_FOLDED_H

#include "base/buf.h"

/* Before a name: a semicolon, unless the line, which starts at @line in @out, is empty. */
void folded_next(struct buf *out, size_t line);
/* After a name that was appended from @from on. */
void folded_clean(struct buf *out, size_t from);
/* The two at once. */
void folded_name(struct buf *out, size_t line, const char *name);
/* Ends the line. */
void folded_weight(struct buf *out, u64 weight);

#endif
