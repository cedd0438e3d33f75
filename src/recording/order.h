/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that wait for their turn.
 *
 * A recorder sweeps its rings one after another: each ring is in order, the file is not. After
 * every sweep comes a FINISHED_ROUND; what follows it can be no older than the newest record of
 * the sweep before it. So at each round everything up to the previous round's newest time can go.
 * Within a sweep the records form a few ascending runs, which is what the sort relies on.
 */
#ifndef RECORDING_ORDER_H
#define RECORDING_ORDER_H

#include "base/vec.h"
#include "recording/stream.h"

/*
 * How much may wait. Where there are rounds, two of them must fit, and on a large machine one is
 * large; without rounds the limit is only reached by waiting for an order that never comes.
 */
enum { ORDER_MAX_ENTRIES = 1 << 20, ORDER_MAX_BYTES = 64 << 20, ORDER_ROUNDS_FACTOR = 4 };

struct order_entry {
	u64 time;
	struct perf_event_header *header;
	struct chunk *chunk;
	u64 offset;
	u32 event;
	u32 pad;
};

struct order {
	VEC(struct order_entry) pending;
	VEC(size_t) runs; /* where ascending runs begin */
	struct order_entry *scratch;
	size_t scratch_cap;
	u64 newest;   /* of all records seen */
	u64 complete; /* nothing up to here can follow any more */
	bool has_rounds;
};

typedef int (*order_cb)(void *ctx, const struct order_entry *entry);

void order_release(struct order *o, struct chunk_pool *pool);
void order_reset(struct order *o, struct chunk_pool *pool);
/* Takes a reference on the entry's chunk. */
void order_push(struct order *o, const struct order_entry *entry);
/* A round has ended: delivers what is complete. */
int order_round(struct order *o, struct chunk_pool *pool, order_cb cb, void *ctx);
/* Delivers all. */
int order_flush(struct order *o, struct chunk_pool *pool, order_cb cb, void *ctx);
/* Too much waits: delivers the older half, or all when that frees too little. */
int order_drain_some(struct order *o, struct chunk_pool *pool, order_cb cb, void *ctx);

static inline size_t order_factor(const struct order *o)
{
	return o->has_rounds ? ORDER_ROUNDS_FACTOR : 1;
}

static inline bool order_full(const struct order *o, const struct chunk_pool *pool)
{
	return pool->n_live * pool->size > ORDER_MAX_BYTES * order_factor(o) ||
	       o->pending.len >= ORDER_MAX_ENTRIES * order_factor(o);
}

#endif
