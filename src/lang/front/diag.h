/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wrong with a program, and where. Diagnostics are collected, sorted by place and shown
 * together: several errors at once, each with its source line and the part that is meant.
 */
#ifndef LANG_DIAG_H
#define LANG_DIAG_H

#include "base/buf.h"
#include "base/vec.h"

/* One file of a source that is put together from several. */
struct source_part {
	const char *name;
	u32 start;
	u32 len;
};

struct source {
	const char *name;      /* "stdin" for -e */
	const char *made_from; /* what diagnostics name instead of places; or NULL */
	const char *text;
	size_t len;
	const struct source_part *parts; /* NULL: all is one file */
	size_t n_parts;
};

/* Byte range of the source; end is exclusive. */
struct span_at {
	u32 start;
	u32 end;
};

/* For what is not about a place in the source, as a wrong environment variable. */
#define SPAN_NOWHERE ((struct span_at){ UINT32_MAX, UINT32_MAX })

enum diag_level { DIAG_FORGOTTEN, DIAG_WARNING, DIAG_ERROR };
enum { DIAG_MAX = 50 }; /* further ones are only counted */

struct diag {
	enum diag_level level;
	struct span_at at;
	char *text;
	char *hint; /* or NULL */
};

struct diags {
	VEC(struct diag) list;
	size_t errors;
	size_t dropped;
	bool mute; /* passes that only infer types do not report */
};

void diags_release(struct diags *d);
void diag_error(struct diags *d, struct span_at at, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_warning(struct diags *d, struct span_at at, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Adds a hint to the last one that was reported. */
void diag_hint(struct diags *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "name:1:9-12: ERROR: text", the source line, tildes below it. */
void diags_render(const struct diags *d, const struct source *src, bool warnings, struct buf *out);
/* "name:1:9-12: " */
void source_print(const struct source *src, struct span_at at, struct buf *out);
/* Line and column (both from 1) of a byte in its file. */
void source_place(const struct source *src, u32 offset, u32 *ret_line, u32 *ret_column);
/*
 * The candidate that is nearest to @word, or NULL when none is near enough. @next gives one after
 * the other and NULL at the end.
 */
const char *diag_nearest(const char *word, const char *(*next)(void *ctx, size_t i), void *ctx);

#endif
