/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows over the stream. Records are used where they are; a record that must wait for its turn
 * holds a reference on the window around it, so nothing is copied.
 */
#ifndef RECORDING_CHUNK_H
#define RECORDING_CHUNK_H

#include "base/base.h"

enum {
	CHUNK_MIN = 192 << 10,        /* more than the largest record */
	CHUNK_MAX = (256 << 10) - 64, /* stays in the cache until it has been read */
};

struct chunk {
	struct chunk *next; /* in the pool */
	u32 refs;
	size_t len; /* bytes filled */
	_Alignas(16) u8 data[];
};

struct chunk_pool {
	size_t size; /* of data[], the same for all */
	struct chunk *free;
	size_t n_free;
	size_t n_live;
};

/* @expected: bytes of the whole stream, 0 if not known. Small streams need no large windows. */
void chunk_pool_init(struct chunk_pool *pool, u64 expected);
struct chunk *chunk_get(struct chunk_pool *pool);
void chunk_unref(struct chunk_pool *pool, struct chunk *c);
void chunk_pool_release(struct chunk_pool *pool);

static inline struct chunk *chunk_ref(struct chunk *c)
{
	c->refs++;
	return c;
}

#endif
