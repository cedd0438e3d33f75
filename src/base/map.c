/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include "base/hash.h"

enum { FREE = 0, TAKEN = 1, DELETED = 2, MAP_FIRST = 16 };

void map_release(struct map *m)
{
	free(m->slots);
	free(m->used);
	*m = (struct map)MAP_INIT;
}

void map_clear(struct map *m)
{
	if (m->used)
		memset(m->used, FREE, m->cap);
	m->len = m->filled = 0;
}

static size_t probe(const struct map *m, u64 key, bool *ret_found)
{
	size_t mask = m->cap - 1, i = hash_u64(key) & mask, grave = SIZE_MAX;

	for (;; i = (i + 1) & mask) {
		if (m->used[i] == FREE) {
			*ret_found = false;
			return grave != SIZE_MAX ? grave : i;
		}
		if (m->used[i] == DELETED) {
			if (grave == SIZE_MAX)
				grave = i;
		} else if (m->slots[i].key == key) {
			*ret_found = true;
			return i;
		}
	}
}

static void rehash(struct map *m, size_t cap)
{
	struct map old = *m;
	bool found;

	*m = (struct map){
		.slots = xmalloc(cap * sizeof(*m->slots)),
		.used = xcalloc(cap, 1),
		.len = old.len,
		.filled = old.len,
		.cap = cap,
	};
	for (size_t i = 0; i < old.cap; i++) {
		if (old.used[i] != TAKEN)
			continue;
		size_t at = probe(m, old.slots[i].key, &found);

		m->slots[at] = old.slots[i];
		m->used[at] = TAKEN;
	}
	free(old.slots);
	free(old.used);
}

u64 *map_find(const struct map *m, u64 key)
{
	bool found;
	size_t at;

	if (!m->len)
		return NULL;
	at = probe(m, key, &found);
	return found ? &m->slots[at].value : NULL;
}

u64 *map_at(struct map *m, u64 key)
{
	bool found;
	size_t at;

	if (m->filled >= m->cap - m->cap / 4)
		rehash(m, m->len >= m->cap / 2 ? MAX(m->cap * 2, (size_t)MAP_FIRST) : m->cap);
	at = probe(m, key, &found);
	if (!found) {
		m->filled += m->used[at] == FREE;
		m->used[at] = TAKEN;
		m->slots[at] = (struct map_slot){ .key = key };
		m->len++;
	}
	return &m->slots[at].value;
}

u64 map_get(const struct map *m, u64 key, u64 otherwise)
{
	const u64 *v = map_find(m, key);

	return v ? *v : otherwise;
}

void map_put(struct map *m, u64 key, u64 value)
{
	*map_at(m, key) = value;
}

bool map_del(struct map *m, u64 key)
{
	bool found;
	size_t at;

	if (!m->len)
		return false;
	at = probe(m, key, &found);
	if (found) {
		m->used[at] = DELETED;
		m->len--;
	}
	return found;
}

struct map_slot *map_next(const struct map *m, const struct map_slot *prev)
{
	size_t i = prev ? (size_t)(prev - m->slots) + 1 : 0;

	for (; i < m->cap; i++)
		if (m->used[i] == TAKEN)
			return &m->slots[i];
	return NULL;
}
