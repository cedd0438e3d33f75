/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/bytes.h"

const char *bytes_string(struct bytes *b, struct arena *a)
{
	u32 len = bytes_u32(b);
	const char *p = bytes_take(b, len);

	return p ? arena_strndup(a, p, strnlen(p, len)) : NULL;
}

const char *bytes_cstring(struct bytes *b, struct arena *a)
{
	size_t left = bytes_left(b), len = left ? strnlen((const char *)b->p, left) : 0;
	const char *p;

	if (len == left) {
		b->bad = true;
		return NULL;
	}
	p = bytes_take(b, len + 1);
	return p ? arena_strndup(a, p, len) : NULL;
}
