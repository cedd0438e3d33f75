/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cursor over foreign bytes: reads past the end give zeros and set bad, so a parser checks once
 * at its end instead of at every step.
 */
#ifndef RECORDING_BYTES_H
#define RECORDING_BYTES_H

#include "base/arena.h"

struct bytes {
	const u8 *p;
	const u8 *end;
	bool swap;
	bool bad;
};

static inline struct bytes bytes_of(const void *p, size_t n, bool swap)
{
	return (struct bytes){ .p = p, .end = (const u8 *)p + n, .swap = swap };
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->p);
}

/* The next @n bytes, or NULL (and bad) when there are fewer. */
static inline const void *bytes_take(struct bytes *b, u64 n)
{
	const u8 *p = b->p;

	if (b->bad || n > bytes_left(b)) {
		b->bad = true;
		return NULL;
	}
	b->p += n;
	return p;
}

static inline u16 bytes_u16(struct bytes *b)
{
	const void *p = bytes_take(b, 2);
	u16 v = 0;

	if (p)
		memcpy(&v, p, 2);
	return b->swap ? __builtin_bswap16(v) : v;
}

static inline u32 bytes_u32(struct bytes *b)
{
	const void *p = bytes_take(b, 4);
	u32 v = 0;

	if (p)
		memcpy(&v, p, 4);
	return b->swap ? __builtin_bswap32(v) : v;
}

static inline u64 bytes_u64(struct bytes *b)
{
	const void *p = bytes_take(b, 8);
	u64 v = 0;

	if (p)
		memcpy(&v, p, 8);
	return b->swap ? __builtin_bswap64(v) : v;
}

/* perf's string: u32 length with padding, bytes, at least one NUL. NULL when it does not fit. */
const char *bytes_string(struct bytes *b, struct arena *a);
/* A bare NUL-terminated string. */
const char *bytes_cstring(struct bytes *b, struct arena *a);

#endif
