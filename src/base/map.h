/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash map from u64 to u64: open addressing, linear probing, at most 3/4 full. Whatever is not a
 * number becomes one first (base/intern.h), so this one map serves everywhere. A zeroed struct is
 * a valid empty map. Any key is allowed, 0 too.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/base.h"

struct map_slot {
	u64 key;
	u64 value;
};

struct map {
	struct map_slot *slots;
	u8 *used; /* 0 free, 1 taken, 2 deleted */
	size_t len;
	size_t filled; /* taken + deleted */
	size_t cap;    /* power of two or 0 */
};

#define MAP_INIT  \
	{         \
		0 \
	}
#define _cleanup_map_ _cleanup_(map_release)

void map_release(struct map *m);
void map_clear(struct map *m);
/* Address of the value, or NULL. Valid until the next map_at(), map_put() or map_del(). */
u64 *map_find(const struct map *m, u64 key);
/* Address of the value, made with value 0 if it was not there. */
u64 *map_at(struct map *m, u64 key);
/* The value, or @otherwise. */
u64 map_get(const struct map *m, u64 key, u64 otherwise);
void map_put(struct map *m, u64 key, u64 value);
/* True if it was there. */
bool map_del(struct map *m, u64 key);
/* Next taken slot after @prev (NULL to begin); NULL at the end. Order is not defined. */
struct map_slot *map_next(const struct map *m, const struct map_slot *prev);

#define map_each(slot, m) \
	for (struct map_slot *slot = map_next(m, NULL); slot; slot = map_next(m, slot))

#endif
