/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include <stdarg.h>

enum { ARENA_FIRST = 4096, ARENA_MOST = 1 << 20, ARENA_ALIGN = 16 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	size_t used;
	_Alignas(ARENA_ALIGN) char bytes[];
};

void arena_release(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena)ARENA_INIT;
}

/* Blocks double up to 1 MB, so small arenas stay small and large ones need few blocks. */
static struct arena_block *block_add(struct arena *a, size_t size)
{
	size_t want = a->blocks ? a->blocks->size * 2 : ARENA_FIRST;
	struct arena_block *b;

	want = MAX(MIN(want, (size_t)ARENA_MOST), size);
	b = xmalloc(sizeof(*b) + want);
	*b = (struct arena_block){ .next = a->blocks, .size = want };
	a->blocks = b;
	a->total += sizeof(*b) + want;
	return b;
}

void *arena_alloc_aligned(struct arena *a, size_t size, size_t align)
{
	struct arena_block *b = a->blocks;
	size_t at = b ? ALIGN_UP(b->used, align) : 0;

	if (size > SIZE_MAX / 2)
		oom(size);
	if (!b || at > b->size || b->size - at < size) {
		b = block_add(a, size);
		at = 0;
	}
	b->used = at + size;
	return b->bytes + at;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return arena_alloc_aligned(a, size, ARENA_ALIGN);
}

void *arena_zalloc(struct arena *a, size_t size)
{
	return memset(arena_alloc(a, size), 0, size);
}

void *arena_dup(struct arena *a, const void *p, size_t n)
{
	void *copy = arena_alloc(a, n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc_aligned(a, len + 1, 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		oom(0);
	s = arena_alloc_aligned(a, (size_t)n + 1, 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}
