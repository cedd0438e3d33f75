/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import "file": other files whose macros, types and probes belong to the program. Their text comes
 * before that of the program, each file once; the source knows which part is which file.
 */
#ifndef LANG_IMPORT_H
#define LANG_IMPORT_H

#include "base/arena.h"
#include "base/err.h"
#include "lang/front/diag.h"
#include "lang/lang.h"

enum { IMPORT_MAX_FILES = 256, IMPORT_MAX_DEPTH = 16, IMPORT_MAX_BYTES = 16 << 20 };

/*
 * @text (of @len bytes, modifiable) is the program; its import statements are blanked. Without any
 * nothing else happens and @ret is the program itself. Otherwise the text of @ret is in @all.
 */
/* @ret_at: the statement of the program that could not be followed; nowhere if it is another's. */
int import_expand(const char *name, char *text, size_t len, const struct lang_opts *opts,
		  struct arena *arena, struct buf *all, struct source *ret, struct span_at *ret_at,
		  struct err *e);

#endif
