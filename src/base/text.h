/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running text: paragraphs separated by blank lines; one whose lines begin with a blank is kept
 * as it is. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"

struct paragraph {
	const char *start;
	size_t len;
	bool literal;
};

/* The next paragraph of *text, which is moved past it; false at the end. NULL is empty text. */
bool text_next(const char **text, struct paragraph *ret);
/*
 * Words of @text, wrapped at @width, continuation lines indented by @indent; the first line is
 * already @column wide. Ends with a newline.
 */
void text_fill(struct buf *out, const char *text, size_t len, size_t column, size_t indent,
	       size_t width);
/* All paragraphs, a blank line between them. */
void text_paragraphs(struct buf *out, const char *text, size_t indent, size_t width);

#endif
