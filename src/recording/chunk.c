/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/chunk.h"

enum { CHUNK_KEEP = 64 }; /* free ones kept for the next round */

void chunk_pool_init(struct chunk_pool *pool, u64 expected)
{
	u64 size = expected ? ALIGN_UP(expected, (u64)16) : CHUNK_MAX;

	*pool = (struct chunk_pool){ .size = MIN(MAX(size, (u64)CHUNK_MIN), (u64)CHUNK_MAX) };
}

struct chunk *chunk_get(struct chunk_pool *pool)
{
	struct chunk *c = pool->free;

	if (c) {
		pool->free = c->next;
		pool->n_free--;
	} else {
		c = xmalloc(sizeof(*c) + pool->size);
	}
	c->next = NULL;
	c->refs = 1;
	c->len = 0;
	pool->n_live++;
	return c;
}

void chunk_unref(struct chunk_pool *pool, struct chunk *c)
{
	if (!c || --c->refs)
		return;
	pool->n_live--;
	if (pool->n_free >= CHUNK_KEEP) {
		free(c);
		return;
	}
	c->next = pool->free;
	pool->free = c;
	pool->n_free++;
}

void chunk_pool_release(struct chunk_pool *pool)
{
	while (pool->free) {
		struct chunk *c = pool->free;

		pool->free = c->next;
		free(c);
	}
	*pool = (struct chunk_pool){ .size = pool->size };
}
