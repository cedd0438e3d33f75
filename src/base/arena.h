/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory with one lifetime: many small allocations, one release. Addresses never move. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/base.h"

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	size_t total;               /* bytes asked from the system */
};

#define ARENA_INIT \
	{          \
		0  \
	}
#define _cleanup_arena_ _cleanup_(arena_release)

void arena_release(struct arena *a);
/* 16-byte aligned, not cleared. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
/* Aligned as asked (a power of two up to 16), not cleared. */
void *arena_alloc_aligned(struct arena *a, size_t size, size_t align)
	__attribute__((returns_nonnull));
void *arena_zalloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
void *arena_dup(struct arena *a, const void *p, size_t n) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3)
	__attribute__((returns_nonnull));

#endif
