/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer.
 *
 * Invariants: data is never NULL after the first write, data[len] is always '\0' then, len does
 * not count that byte. A zeroed struct buf is a valid empty buffer; buf_str() of it is "".
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"

#include <stdarg.h>

struct buf {
	char *data;
	size_t len;
	size_t cap;
};

#define BUF_INIT  \
	{         \
		0 \
	}
#define _cleanup_buf_ _cleanup_(buf_release)

void buf_release(struct buf *b);
/* Keeps the memory, forgets the content. */
void buf_reset(struct buf *b);
/* Forgets the content, and the memory, too, if it is more than @most: a peak is not forever. */
void buf_reset_most(struct buf *b, size_t most);
/* Room for @extra more bytes; returns where they go. Follow with buf_added(). */
char *buf_reserve(struct buf *b, size_t extra);
void buf_added(struct buf *b, size_t n);

void buf_add(struct buf *b, const void *p, size_t n);
void buf_addstr(struct buf *b, const char *s);
void buf_addch(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
/* Decimal without printf: the hot path of every text view. */
void buf_addu(struct buf *b, u64 v);
void buf_addx(struct buf *b, u64 v);
/* One character as UTF-8; @c is at most 0x10ffff. */
void buf_addutf8(struct buf *b, u32 c);
/* Cuts to @len bytes; a longer length is ignored. */
void buf_truncate(struct buf *b, size_t len);
/* Gives the bytes away; the buffer is empty afterwards. Never NULL. */
char *buf_detach(struct buf *b);

static inline const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

#endif
