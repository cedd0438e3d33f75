/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/chainmemo.h"

enum { MEMO_FIRST = 1 << 12, MEMO_MOST = 1 << 22, PROBE_MOST = 8 };

void chainmemo_release(struct chainmemo *m)
{
	free(m->slots);
	*m = (struct chainmemo){ 0 };
}

static u64 key_of(u64 hash)
{
	return hash ? hash : 1;
}

static size_t home(const struct chainmemo *m, u64 key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & (m->cap - 1);
}

const struct chainmemo_slot *chainmemo_find(const struct chainmemo *m, u64 hash)
{
	u64 key = key_of(hash);

	if (!m->cap)
		return NULL;
	for (size_t i = home(m, key), n = 0; n < PROBE_MOST; i = (i + 1) & (m->cap - 1), n++) {
		if (m->slots[i].hash == key)
			return &m->slots[i];
		if (!m->slots[i].hash)
			break;
	}
	return NULL;
}

/* The first free slot near its home; where there is none, the home itself is overwritten. */
static void place(struct chainmemo *m, const struct chainmemo_slot *slot)
{
	size_t at = home(m, slot->hash);

	for (size_t i = at, n = 0; n < PROBE_MOST; i = (i + 1) & (m->cap - 1), n++) {
		if (!m->slots[i].hash) {
			at = i;
			m->len++;
			break;
		}
	}
	m->slots[at] = *slot;
}

static void grow(struct chainmemo *m)
{
	struct chainmemo old = *m;

	m->cap = old.cap ? old.cap * 2 : MEMO_FIRST;
	m->slots = xcalloc(m->cap, sizeof(*m->slots));
	m->len = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].hash)
			place(m, &old.slots[i]);
	free(old.slots);
}

void chainmemo_put(struct chainmemo *m, u64 hash, u32 stack)
{
	if (m->cap < MEMO_MOST && m->len * 2 >= m->cap)
		grow(m);
	place(m, &(struct chainmemo_slot){ .hash = key_of(hash), .stack = stack });
}
