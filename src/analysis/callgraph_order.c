/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Few crossings: layers are swept down and up, each sorted by the mean place of its neighbours in
 * the layer before; then neighbours change places where that helps. The best order seen is kept.
 */
#include "analysis/callgraph_layout.h"

enum {
	SWEEPS = 24,
	SWAPS = 8,         /* rounds of exchanging neighbours */
	DEGREE_MOST = 256, /* slots with more links than that are not exchanged */
};

/* --- the first order: as a walk from the roots meets them ---------------------------------- */

struct sibling {
	u32 link, rank;
	double weight;
};

static int compare_siblings(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->link < y->link ? -1 : x->link > y->link;
}

/*
 * The heaviest in the middle, the others by turns at its sides: columns do not lean. Siblings of
 * one layer are kept apart by those of others, between which there is room for them: each has a
 * rank among those of its layer. @ranks: by layer, zeroes before and after.
 */
static void middle_out(const struct layout *l, u32_list *list, u32 *ranks)
{
	size_t n = list->len;
	struct sibling *all;

	if (n < 2)
		return;
	all = xcalloc(n, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = (struct sibling){ list->items[i], 0,
					   l->links.items[list->items[i]].weight };
	qsort(all, n, sizeof(*all), compare_siblings);
	for (size_t i = 0; i < n; i++)
		all[i].rank = ranks[l->links.items[all[i].link].end]++;
	qsort(all, n, sizeof(*all), compare_siblings);
	for (size_t i = 0; i < n; i++) {
		size_t off = (i + 1) / 2;

		list->items[i & 1 ? (n - 1) / 2 + off : (n - 1) / 2 - off] = all[i].link;
		ranks[l->links.items[all[i].link].end] = 0;
	}
	free(all);
}

static void walk_from(struct layout *l, u32 root, u8 *seen)
{
	u32_list path = { 0 };

	vec_push(&path, root);
	while (path.len) {
		u32 at = vec_pop(&path);
		struct slot *s = &l->slots.items[at];

		if (seen[at])
			continue;
		seen[at] = 1;
		s->place = (u32)l->layers.items[s->layer].len;
		vec_push(&l->layers.items[s->layer], at);
		for (size_t i = l->down[at].len; i-- > 0;)
			vec_push(&path, l->links.items[l->down[at].items[i]].down);
	}
	vec_release(&path);
}

static void first_order(struct layout *l)
{
	u8 *seen = xcalloc(l->slots.len, 1);
	u32 *ranks = xcalloc(l->layers.len, sizeof(*ranks));

	for (u32 i = 0; i < l->slots.len; i++)
		middle_out(l, &l->down[i], ranks);
	vec_each(list, &l->layers)
		list->len = 0;
	for (u32 i = 0; i < l->slots.len; i++)
		if (!l->up[i].len)
			walk_from(l, i, seen);
	free(ranks);
	free(seen);
}

/* --- crossings ------------------------------------------------------------------------------ */

/* A Fenwick tree: sums of weights by place. */
static void sums_add(double *sums, size_t n, size_t at, double weight)
{
	for (at++; at <= n; at += at & -at)
		sums[at - 1] += weight;
}

static double sums_below(const double *sums, size_t at)
{
	double sum = 0;

	for (; at; at -= at & -at)
		sum += sums[at - 1];
	return sum;
}

static int compare_down(const void *a, const void *b, void *ctx)
{
	const struct layout *l = ctx;
	u32 x = l->slots.items[l->links.items[*(const u32 *)a].down].place;
	u32 y = l->slots.items[l->links.items[*(const u32 *)b].down].place;

	return x < y ? -1 : x > y;
}

/* Of the links between a layer and the one below it, weighed. */
static double crossings_below(struct layout *l, size_t layer)
{
	const u32_list *list = &l->layers.items[layer];
	size_t n = l->layers.items[layer + 1].len;
	double *sums = xcalloc(n ? n : 1, sizeof(*sums)), all = 0, crossed = 0;

	vec_each(s, list) {
		u32_list *down = &l->down[*s];

		if (down->len > 1)
			qsort_r(down->items, down->len, sizeof(u32), compare_down, l);
		vec_each(i, down) {
			const struct link *k = &l->links.items[*i];

			crossed += k->weight *
				   (all - sums_below(sums, l->slots.items[k->down].place + 1));
		}
		vec_each(i, down) {
			const struct link *k = &l->links.items[*i];

			sums_add(sums, n, l->slots.items[k->down].place, k->weight);
			all += k->weight;
		}
	}
	free(sums);
	return crossed;
}

static double crossings(struct layout *l)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < l->layers.len; i++)
		sum += crossings_below(l, i);
	return sum;
}

/* --- sweeps --------------------------------------------------------------------------------- */

static int compare_slots(const void *a, const void *b, void *ctx)
{
	const struct slot *slots = ctx, *x = &slots[*(const u32 *)a], *y = &slots[*(const u32 *)b];

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The mean place of the neighbours on one side; its own place when it has none there. */
static double mean_place(const struct layout *l, u32 slot, bool down)
{
	const u32_list *list = down ? &l->down[slot] : &l->up[slot];
	double sum = 0, weight = 0;

	vec_each(i, list) {
		const struct link *k = &l->links.items[*i];
		const struct slot *s = &l->slots.items[down ? k->down : k->up];

		sum += k->weight * (double)s->place;
		weight += k->weight;
	}
	return weight > 0 ? sum / weight : (double)l->slots.items[slot].place;
}

static void number(struct layout *l, const u32_list *list)
{
	for (u32 i = 0; i < list->len; i++)
		l->slots.items[list->items[i]].place = i;
}

static void sort_layer(struct layout *l, size_t layer, bool down)
{
	u32_list *list = &l->layers.items[layer];

	vec_each(s, list)
		l->slots.items[*s].order = mean_place(l, *s, down);
	if (list->len > 1)
		qsort_r(list->items, list->len, sizeof(u32), compare_slots, l->slots.items);
	number(l, list);
}

/* How much links of @a would cross those of @b if @a stood on the left of it, on one side. */
static double crossed(const struct layout *l, u32 a, u32 b, bool down)
{
	const u32_list *of_a = down ? &l->down[a] : &l->up[a];
	const u32_list *of_b = down ? &l->down[b] : &l->up[b];
	double sum = 0;

	vec_each(i, of_a) {
		const struct link *x = &l->links.items[*i];
		u32 at = l->slots.items[down ? x->down : x->up].place;

		vec_each(k, of_b) {
			const struct link *y = &l->links.items[*k];

			if (l->slots.items[down ? y->down : y->up].place < at)
				sum += x->weight * y->weight;
		}
	}
	return sum;
}

static bool swap_in(struct layout *l, u32_list *list)
{
	bool changed = false;

	for (size_t i = 0; i + 1 < list->len; i++) {
		u32 a = list->items[i], b = list->items[i + 1];

		if (l->up[a].len + l->down[a].len > DEGREE_MOST ||
		    l->up[b].len + l->down[b].len > DEGREE_MOST)
			continue;
		if (crossed(l, b, a, true) + crossed(l, b, a, false) + 1e-12 >=
		    crossed(l, a, b, true) + crossed(l, a, b, false))
			continue;
		list->items[i] = b;
		list->items[i + 1] = a;
		l->slots.items[b].place = (u32)i;
		l->slots.items[a].place = (u32)i + 1;
		changed = true;
	}
	return changed;
}

static void swap_neighbours(struct layout *l)
{
	bool changed = true;

	for (int i = 0; i < SWAPS && changed; i++) {
		changed = false;
		vec_each(list, &l->layers)
			changed |= swap_in(l, list);
	}
}

static void sweep(struct layout *l, bool down)
{
	for (size_t i = 1; i < l->layers.len; i++)
		sort_layer(l, down ? i : l->layers.len - 1 - i, !down);
}

static void save(const struct layout *l, u32 *places)
{
	for (size_t i = 0; i < l->slots.len; i++)
		places[i] = l->slots.items[i].place;
}

static void restore(struct layout *l, const u32 *places)
{
	for (u32 i = 0; i < l->slots.len; i++) {
		struct slot *s = &l->slots.items[i];

		s->place = places[i];
		l->layers.items[s->layer].items[s->place] = i;
	}
}

void callgraph_order(struct layout *l)
{
	u32 *best = xcalloc(l->slots.len, sizeof(*best));
	double least;

	first_order(l);
	least = crossings(l);
	save(l, best);
	for (int i = 0; i < SWEEPS && least > 0; i++) {
		double now;

		sweep(l, !(i & 1));
		if (i % 4 == 3)
			swap_neighbours(l);
		now = crossings(l);
		if (now >= least)
			continue;
		least = now;
		save(l, best);
	}
	restore(l, best);
	swap_neighbours(l);
	free(best);
}
