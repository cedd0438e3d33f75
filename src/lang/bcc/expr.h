/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions as bcc's trace and argdist take them: C over the parameters of a signature, arg1 ...,
 * $retval, $latency, $entry(x), $PID and the like. They become expressions of our language.
 */
#ifndef LANG_BCC_EXPR_H
#define LANG_BCC_EXPR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

enum { BCC_MAX_SPEC = 16384 }; /* bytes of a probe */

struct bcc_param {
	const char *type; /* "size_t", "struct timespec *" */
	const char *name;
};

struct bcc_scope {
	struct arena *arena; /* for everything kept */
	VEC(struct bcc_param) params;
	bool at_return;  /* parameters are what $entry() kept: argN does not exist */
	bool in_wrapper; /* of a system call: its arguments are in the registers that arg0 points to
			  */
};

/* "int fd, const char *path": what stands between the parentheses. */
void bcc_signature(struct bcc_scope *s, const char *text, size_t len);
void bcc_scope_release(struct bcc_scope *s);

/* The expression in our language. */
void bcc_expr(const struct bcc_scope *s, const char *text, size_t len, struct buf *out);
/* The parameter by name as it is at the entry, with its type; false: none. */
bool bcc_entry(const struct bcc_scope *s, const char *name, struct buf *out);
/*
 * A type as C writes it, in one form: a blank between words and before the '*', no words that
 * change nothing.
 */
const char *bcc_type(struct arena *arena, const char *text, size_t len);
/* A value of the C type @type, of our language's expression @expr. */
void bcc_convert(const char *type, const char *expr, struct buf *out);
/* The name after "$entry(" at @text, copied to the arena; NULL when it is something else. */
const char *bcc_entry_name(const struct bcc_scope *s, const char *text);
/* After the bracket or quote that closes the one at @p; @end when it does not close. */
const char *bcc_skip(const char *p, const char *end);

#endif
