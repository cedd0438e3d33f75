/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/kept.h"

struct kept_item {
	u64 turn; /* in which it was last seen */
	u8 bytes[];
};

static struct kept_item *item_of(const struct waits_kept *k, u64 id)
{
	return (struct kept_item *)(uintptr_t)map_get(&k->items, id, 0);
}

void waits_kept_release(struct waits_kept *k)
{
	map_each(slot, &k->items)
		free((void *)(uintptr_t)slot->value);
	map_release(&k->items);
}

void *waits_kept_get(const struct waits_kept *k, u64 id)
{
	struct kept_item *item = item_of(k, id);

	return item ? item->bytes : NULL;
}

void *waits_kept_put(struct waits_kept *k, u64 id, u64 turn, const void *bytes, size_t size)
{
	struct kept_item *item = item_of(k, id);

	if (!item) {
		item = xcalloc(1, sizeof(*item) + size);
		if (bytes)
			memcpy(item->bytes, bytes, size);
		map_put(&k->items, id, (u64)(uintptr_t)item);
	}
	item->turn = turn;
	return item->bytes;
}

void waits_kept_hold(struct waits_kept *k, u64 id, u64 turn)
{
	struct kept_item *item = id ? item_of(k, id) : NULL;

	if (item)
		item->turn = turn;
}

void waits_kept_forget(struct waits_kept *k, u64 turn)
{
	struct map left = { 0 };

	map_each(slot, &k->items) {
		struct kept_item *item = (struct kept_item *)(uintptr_t)slot->value;

		if (item->turn + 2 > turn)
			map_put(&left, slot->key, slot->value);
		else
			free(item);
	}
	/* a map that was deleted from keeps its size */
	map_release(&k->items);
	k->items = left;
}
