/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/order.h"

void order_reset(struct order *o, struct chunk_pool *pool)
{
	vec_each(entry, &o->pending)
		chunk_unref(pool, entry->chunk);
	vec_clear(&o->pending);
	o->newest = o->complete = 0;
	o->has_rounds = false;
}

void order_release(struct order *o, struct chunk_pool *pool)
{
	order_reset(o, pool);
	vec_release(&o->pending);
	vec_release(&o->runs);
	free(o->scratch);
	*o = (struct order){ 0 };
}

void order_push(struct order *o, const struct order_entry *entry)
{
	chunk_ref(entry->chunk);
	vec_push(&o->pending, *entry);
	if (entry->time > o->newest)
		o->newest = entry->time;
}

static void find_runs(struct order *o)
{
	const struct order_entry *all = o->pending.items;

	vec_clear(&o->runs);
	vec_push(&o->runs, 0);
	for (size_t i = 1; i < o->pending.len; i++)
		if (all[i].time < all[i - 1].time)
			vec_push(&o->runs, i);
}

/* Merges two neighbouring runs of @from into @to; equal times keep their order. */
static void merge(const struct order_entry *from, size_t a, size_t b, size_t end,
		  struct order_entry *to)
{
	size_t mid = b, at = a;

	while (a < mid && b < end)
		to[at++] = from[b].time < from[a].time ? from[b++] : from[a++];
	if (a < mid)
		memcpy(to + at, from + a, (mid - a) * sizeof(*to));
	else if (b < end)
		memcpy(to + at, from + b, (end - b) * sizeof(*to));
}

static size_t run_start(const struct order *o, size_t run)
{
	return run < o->runs.len ? o->runs.items[run] : o->pending.len;
}

/* One pass: every pair of runs becomes one. */
static void merge_pairs(struct order *o, const struct order_entry *from, struct order_entry *to)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->runs.len; i += 2) {
		size_t a = run_start(o, i), b = run_start(o, i + 1), end = run_start(o, i + 2);

		merge(from, a, b, end, to);
		o->runs.items[kept++] = a;
	}
	o->runs.len = kept;
}

static void sort(struct order *o)
{
	struct order_entry *from = o->pending.items, *to;

	if (o->pending.len < 2)
		return;
	find_runs(o);
	if (o->runs.len < 2)
		return;
	if (o->scratch_cap < o->pending.cap) {
		free(o->scratch);
		o->scratch_cap = o->pending.cap;
		o->scratch = xreallocarray(NULL, o->scratch_cap, sizeof(*o->scratch));
	}
	to = o->scratch;
	while (o->runs.len > 1) {
		struct order_entry *swap = from;

		merge_pairs(o, from, to);
		from = to;
		to = swap;
	}
	if (from == o->pending.items)
		return;
	/* The result is in the scratch array: the two change places, capacities included. */
	o->scratch = o->pending.items;
	o->pending.items = from;
	size_t cap = o->pending.cap;
	o->pending.cap = o->scratch_cap;
	o->scratch_cap = cap;
}

/* Delivers the first @n of the sorted entries. An error ends it; the entry is gone all the same. */
static int deliver(struct order *o, struct chunk_pool *pool, size_t n, order_cb cb, void *ctx)
{
	size_t done = 0;
	int ret = 0;

	while (done < n && ret == 0) {
		const struct order_entry *entry = &o->pending.items[done++];

		ret = cb(ctx, entry);
		chunk_unref(pool, entry->chunk);
	}
	o->pending.len -= done;
	if (done && o->pending.len)
		memmove(o->pending.items, o->pending.items + done,
			o->pending.len * sizeof(*o->pending.items));
	return ret;
}

int order_round(struct order *o, struct chunk_pool *pool, order_cb cb, void *ctx)
{
	size_t n = 0, high;
	u64 limit = o->complete;

	o->complete = o->newest;
	o->has_rounds = true;
	if (!o->pending.len)
		return 0;
	sort(o);
	high = o->pending.len;
	while (n < high) {
		size_t mid = n + (high - n) / 2;

		if (o->pending.items[mid].time <= limit)
			n = mid + 1;
		else
			high = mid;
	}
	return deliver(o, pool, n, cb, ctx);
}

int order_flush(struct order *o, struct chunk_pool *pool, order_cb cb, void *ctx)
{
	sort(o);
	return deliver(o, pool, o->pending.len, cb, ctx);
}

int order_drain_some(struct order *o, struct chunk_pool *pool, order_cb cb, void *ctx)
{
	int ret;

	sort(o);
	ret = deliver(o, pool, DIV_ROUND_UP(o->pending.len, 2), cb, ctx);
	if (ret == 0 && pool->n_live * pool->size > ORDER_MAX_BYTES * order_factor(o) / 4 * 3)
		ret = deliver(o, pool, o->pending.len, cb, ctx);
	return ret;
}
