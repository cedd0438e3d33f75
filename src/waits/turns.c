/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/turns.h"

#include "base/map.h"

static int by_begin(const void *a, const void *b)
{
	const struct cpu_turn *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Two cannot run at once: an end that was worked out may be too late, a begin was seen. */
static void settle(turn_list *turns)
{
	vec_sort(turns, by_begin);
	for (size_t i = 1; i < turns->len; i++) {
		struct cpu_turn *t = &turns->items[i - 1];

		if (t->cpu == t[1].cpu)
			t->end = MIN(t->end, t[1].begin);
	}
}

/* Index of the first turn of that CPU that ends after @time. */
static size_t first_after(const turn_list *turns, u32 cpu, u64 time)
{
	size_t low = 0, high = turns->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct cpu_turn *t = &turns->items[mid];

		if (t->cpu < cpu || (t->cpu == cpu && t->end <= time))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void add(struct map *by_tid, ran_list *ret, u32 tid, u64 ns)
{
	u64 *at = map_at(by_tid, tid);

	if (!*at) {
		vec_push(ret, (struct ran_instead){ .tid = tid });
		*at = ret->len;
	}
	ret->items[*at - 1].ns += ns;
	ret->items[*at - 1].turns++;
}

u64 turns_share(turn_list *turns, const need_list *needs, ran_list *ret)
{
	struct map by_tid = MAP_INIT;
	u64 guessed = 0;

	settle(turns);
	vec_each(n, needs) {
		u64 rest = n->to - n->from;

		for (size_t i = first_after(turns, n->cpu, n->from); i < turns->len; i++) {
			const struct cpu_turn *t = &turns->items[i];
			u64 begin = MAX(t->begin, n->from), end = MIN(t->end, n->to);

			if (t->cpu != n->cpu || t->begin >= n->to)
				break;
			if (begin >= end)
				continue;
			add(&by_tid, ret, t->tid, end - begin);
			rest -= end - begin;
		}
		if (rest && n->last) {
			add(&by_tid, ret, n->last, rest);
			guessed += rest;
		}
	}
	map_release(&by_tid);
	return guessed;
}
