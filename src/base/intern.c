/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/intern.h"

#include "base/hash.h"

enum { INTERN_FIRST = 64 };

void intern_release(struct intern *in)
{
	arena_release(&in->arena);
	free(in->entries);
	free(in->slots);
	*in = (struct intern)INTERN_INIT;
}

static bool entry_is(const struct intern_entry *e, u32 hash, const void *p, size_t n)
{
	return e->hash == hash && e->len == n && (!n || memcmp(e->bytes, p, n) == 0);
}

/* The slot that holds these bytes, or the free one where they belong. */
static u32 *slot_of(const struct intern *in, u32 hash, const void *p, size_t n)
{
	size_t mask = in->slot_count - 1, i = hash & mask;

	while (in->slots[i] && !entry_is(&in->entries[in->slots[i]], hash, p, n))
		i = (i + 1) & mask;
	return &in->slots[i];
}

static void grow_slots(struct intern *in)
{
	in->slot_count = in->slot_count ? in->slot_count * 2 : INTERN_FIRST;
	free(in->slots);
	in->slots = xcalloc(in->slot_count, sizeof(*in->slots));
	for (u32 id = 1; id <= in->len; id++) {
		size_t i = in->entries[id].hash & (in->slot_count - 1);

		while (in->slots[i])
			i = (i + 1) & (in->slot_count - 1);
		in->slots[i] = id;
	}
}

static void grow_entries(struct intern *in)
{
	in->cap = in->cap ? in->cap * 2 : INTERN_FIRST;
	in->entries = xreallocarray(in->entries, in->cap, sizeof(*in->entries));
	in->entries[0] = (struct intern_entry){ .bytes = "" };
}

u32 intern_bytes(struct intern *in, const void *p, size_t n)
{
	u32 hash = (u32)hash_bytes(p, n);
	u32 *slot;
	char *copy;

	if (in->len * 4 >= in->slot_count * 3)
		grow_slots(in);
	slot = slot_of(in, hash, p, n);
	if (*slot)
		return *slot;
	if (in->len + 1 >= in->cap)
		grow_entries(in);
	if (n > UINT32_MAX || in->len >= UINT32_MAX - 1)
		oom(n);
	copy = arena_alloc_aligned(&in->arena, n + 1, 8);
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	in->entries[++in->len] =
		(struct intern_entry){ .bytes = copy, .len = (u32)n, .hash = hash };
	*slot = (u32)in->len;
	return *slot;
}

u32 intern_str(struct intern *in, const char *s)
{
	return intern_bytes(in, s, strlen(s));
}

u32 intern_find(const struct intern *in, const void *p, size_t n)
{
	return in->slot_count ? *slot_of(in, (u32)hash_bytes(p, n), p, n) : 0;
}

const char *intern_get(const struct intern *in, u32 id)
{
	return id && id <= in->len ? in->entries[id].bytes : "";
}

size_t intern_len(const struct intern *in, u32 id)
{
	return id && id <= in->len ? in->entries[id].len : 0;
}
