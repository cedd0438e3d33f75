/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The past of a machine in memory: snapshots as differences to the one before, the oldest forgotten
 * when there is no room. A second of a machine with 1,000 series and 50 busy tasks takes 5 KB.
 */
#ifndef COUNTERS_RING_H
#define COUNTERS_RING_H

#include "counters/snapshot.h"

struct counters_ring;

/* @most: bytes of all differences together. */
struct counters_ring *counters_ring_new(const struct counter_set *set, size_t most);
void counters_ring_free(struct counters_ring *r);
void counters_ring_add(struct counters_ring *r, const struct snapshot *s);
/* How many snapshots are kept; the first that is kept has number 0. */
size_t counters_ring_len(const struct counters_ring *r);
size_t counters_ring_bytes(const struct counters_ring *r);
/* Snapshot @i; -ENOENT: there is none. */
int counters_ring_get(const struct counters_ring *r, size_t i, struct snapshot *into);
/* The last snapshot at or before @mono; -ENOENT: it is older than all. */
int counters_ring_find(const struct counters_ring *r, u64 mono, size_t *ret);

#endif
