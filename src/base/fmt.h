/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for people. Each writes to @b, which is what every view appends to anyway. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include "base/buf.h"

/* 999ns 1.50us 12.3ms 1.00s 2m05s 3h07m 4d02h: three significant digits, one unit. */
void fmt_duration(struct buf *b, u64 ns);
/* 512 1.5K 64.0M 1012K 2.0G: powers of 1024, at most six characters. */
void fmt_size(struct buf *b, u64 bytes);
/* 1,234,567 */
void fmt_count(struct buf *b, u64 n);
/* Wall clock as 14:03:59.123456 in local time; @digits of the second's fraction (0 to 9). */
void fmt_clock(struct buf *b, u64 wall_ns, int digits);
/* 2024-05-01T14:03:59.123Z */
void fmt_iso_time(struct buf *b, u64 wall_ns);
/* Bytes as lower-case hexadecimal. */
void fmt_hex(struct buf *b, const void *p, size_t n);
/* Terminal columns of UTF-8 text; bytes that are not UTF-8 count 1 each. */
size_t fmt_width(const char *s);
/* Length of the UTF-8 sequence at @s (of @n > 0 bytes) and its code; 0: it is not one. */
size_t fmt_rune(const char *s, size_t n, u32 *ret_code);
/* Terminal columns of a character: 0, 1 or 2. */
size_t fmt_rune_width(u32 code);
/* Byte offset at which the text exceeds @columns. */
size_t fmt_cut(const char *s, size_t columns);
/* The text with control characters and broken UTF-8 made visible (\x1b, ?): safe for terminals. */
void fmt_clean(struct buf *b, const char *s, size_t n);
/* The same for text of several lines: newlines and tabs stay. */
void fmt_clean_lines(struct buf *b, const char *s, size_t n);

#endif
