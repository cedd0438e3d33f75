/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where slots stand. Between two layers the links that matter most are made vertical, as many as
 * can be without crossing one another: those of long arcs first, then the heavy ones. Slots that
 * are connected by such links are a block and share one x, so a hot path is a straight column. The
 * blocks are then drawn towards what they call and are called by, and pushed apart where they come
 * too close, until they rest.
 */
#include "analysis/callgraph_layout.h"

#include <math.h>

enum {
	GAP_NODES = 24,
	GAP_POINTS = 9,
	ROUNDS_MOST = 240,
	ROUNDS_LEAST = 12,
	WORK = 6 << 20, /* rounds times links */
	PUSHES = 3,
	POLISH = 10,
};

#define CLOSE_RANKS 0.02 /* in shares of the whole, as the weight of links */

/* Block @right is at least @gap to the right of @left. */
struct keep_off {
	u32 left, right;
	double gap;
};

/* Block @b would be @off to the right of @a. */
struct pull {
	u32 a, b;
	double off, weight;
};

struct blocks {
	size_t n;
	double *x, *wish, *weight;
	VEC(struct keep_off) apart;
	VEC(struct pull) pulls;
	u32_list sorted; /* blocks, each after all that are left of it */
	u32_list *lefts; /* by block: where it is the right one */
	u32_list *rights;
};

/* --- blocks --------------------------------------------------------------------------------- */

struct candidate {
	u32 link;
	double rank;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->link < y->link ? -1 : x->link > y->link;
}

/* An arc that bends between two points catches the eye more than one that bends at a box. */
static double rank_of(const struct layout *l, const struct link *k)
{
	bool up = l->slots.items[k->up].node, down = l->slots.items[k->down].node;

	return k->weight * (up && down ? 1 : up || down ? 2 : 8);
}

/* @partner: by place in the upper layer, the place below that it is on, + 1. */
static bool fits(const u32 *partner, size_t n, u32 up, u32 down)
{
	size_t i;

	for (i = up; i-- > 0;)
		if (partner[i]) {
			if (partner[i] - 1 >= down)
				return false;
			break;
		}
	for (i = up + 1; i < n; i++)
		if (partner[i])
			return partner[i] - 1 > down;
	return true;
}

/* @above: by slot, + 1: the slot above it in its block. */
static void align_layer(const struct layout *l, size_t layer, u32 *above)
{
	const u32_list *list = &l->layers.items[layer];
	u32 *partner = xcalloc(list->len ? list->len : 1, sizeof(*partner));
	VEC(struct candidate) all = { 0 };

	vec_each(s, list) {
		vec_each(i, &l->down[*s])
			vec_push(&all, (struct candidate){ *i, rank_of(l, &l->links.items[*i]) });
	}
	vec_sort(&all, compare_candidates);
	vec_each(c, &all) {
		const struct link *k = &l->links.items[c->link];
		u32 up = l->slots.items[k->up].place, down = l->slots.items[k->down].place;

		if (partner[up] || above[k->down] || !fits(partner, list->len, up, down))
			continue;
		partner[up] = down + 1;
		above[k->down] = k->up + 1;
	}
	vec_release(&all);
	free(partner);
}

static size_t make_blocks(struct layout *l)
{
	u32 *above = xcalloc(l->slots.len, sizeof(*above));
	size_t n = 0;

	for (size_t i = 0; i + 1 < l->layers.len; i++)
		align_layer(l, i, above);
	vec_each(list, &l->layers)
		vec_each(s, list)
			l->slots.items[*s].block =
				above[*s] ? l->slots.items[above[*s] - 1].block : (u32)n++;
	free(above);
	return n;
}

/* --- what holds blocks together and apart --------------------------------------------------- */

static double room(const struct slot *a, const struct slot *b)
{
	return (a->width + b->width) / 2 + (a->node && b->node ? GAP_NODES : GAP_POINTS);
}

static void add_keep_offs(const struct layout *l, struct blocks *b)
{
	vec_each(list, &l->layers) {
		for (size_t i = 1; i < list->len; i++) {
			const struct slot *left = &l->slots.items[list->items[i - 1]];
			const struct slot *right = &l->slots.items[list->items[i]];

			vec_push(&b->lefts[right->block], (u32)b->apart.len);
			vec_push(&b->rights[left->block], (u32)b->apart.len);
			vec_push(&b->apart,
				 (struct keep_off){ left->block, right->block, room(left, right) });
		}
	}
}

static void add_pull(struct blocks *b, u32 left, u32 right, double off, double weight)
{
	vec_push(&b->pulls, (struct pull){ left, right, off, weight });
	b->weight[left] += weight;
	b->weight[right] += weight;
}

static void add_pulls(const struct layout *l, struct blocks *b)
{
	vec_each(k, &l->links) {
		u32 up = l->slots.items[k->up].block, down = l->slots.items[k->down].block;

		if (up == down)
			continue;
		add_pull(b, up, down, 0, k->weight);
	}
	/* neighbours close ranks, if nothing else draws them elsewhere */
	vec_each(k, &b->apart)
		add_pull(b, k->left, k->right, k->gap, CLOSE_RANKS);
}

static void sort_blocks(struct blocks *b)
{
	u32 *waiting = xcalloc(b->n, sizeof(*waiting));

	vec_each(k, &b->apart)
		waiting[k->right]++;
	for (u32 i = 0; i < b->n; i++)
		if (!waiting[i])
			vec_push(&b->sorted, i);
	for (size_t i = 0; i < b->sorted.len; i++)
		vec_each(k, &b->rights[b->sorted.items[i]])
			if (!--waiting[b->apart.items[*k].right])
				vec_push(&b->sorted, b->apart.items[*k].right);
	free(waiting);
}

/* How far left, and how far right, a block may go without pushing another. */
static double left_end(const struct blocks *b, const double *x, u32 block)
{
	double end = -INFINITY;

	vec_each(k, &b->lefts[block])
		end = MAX(end, x[b->apart.items[*k].left] + b->apart.items[*k].gap);
	return end;
}

static double right_end(const struct blocks *b, const double *x, u32 block)
{
	double end = INFINITY;

	vec_each(k, &b->rights[block])
		end = MIN(end, x[b->apart.items[*k].right] - b->apart.items[*k].gap);
	return end;
}

/*
 * Two ways to make room, pushing only to the right or only to the left; between two places where
 * nothing overlaps lies another such place.
 */
static void make_room(struct blocks *b)
{
	memcpy(b->wish, b->x, b->n * sizeof(*b->x));
	vec_each(i, &b->sorted)
		b->x[*i] = MAX(b->x[*i], left_end(b, b->x, *i));
	for (size_t i = b->sorted.len; i-- > 0;) {
		u32 block = b->sorted.items[i];

		b->wish[block] = MIN(b->wish[block], right_end(b, b->wish, block));
	}
	for (size_t i = 0; i < b->n; i++)
		b->x[i] = (b->x[i] + b->wish[i]) / 2;
}

static void set_wishes(struct blocks *b)
{
	memset(b->wish, 0, b->n * sizeof(*b->wish));
	vec_each(p, &b->pulls) {
		b->wish[p->a] += p->weight * (b->x[p->b] - p->off);
		b->wish[p->b] += p->weight * (b->x[p->a] + p->off);
	}
	for (size_t i = 0; i < b->n; i++)
		b->wish[i] = b->weight[i] > 0 ? b->wish[i] / b->weight[i] : b->x[i];
}

static void push_apart(struct blocks *b)
{
	vec_each(k, &b->apart) {
		double short_of = k->gap - (b->x[k->right] - b->x[k->left]);

		if (short_of <= 0)
			continue;
		b->x[k->left] -= short_of / 2;
		b->x[k->right] += short_of / 2;
	}
}

static void polish(struct blocks *b)
{
	for (int round = 0; round < POLISH; round++) {
		set_wishes(b);
		for (size_t i = 0; i < b->n; i++) {
			u32 block = b->sorted.items[round & 1 ? b->n - 1 - i : i];
			double x = MAX(b->wish[block], left_end(b, b->x, block));

			b->x[block] = MIN(x, right_end(b, b->x, block));
		}
	}
}

static void settle(struct blocks *b)
{
	size_t rounds = WORK / (b->pulls.len + b->apart.len + b->n + 1);

	rounds = MIN(MAX(rounds, (size_t)ROUNDS_LEAST), (size_t)ROUNDS_MOST);
	make_room(b);
	for (size_t i = 0; i < rounds; i++) {
		set_wishes(b);
		for (size_t k = 0; k < b->n; k++)
			b->x[k] += (b->wish[k] - b->x[k]) / 2;
		for (int k = 0; k < PUSHES; k++)
			push_apart(b);
	}
	make_room(b);
	polish(b);
}

static void blocks_release(struct blocks *b)
{
	for (size_t i = 0; i < b->n; i++) {
		vec_release(&b->lefts[i]);
		vec_release(&b->rights[i]);
	}
	free(b->lefts);
	free(b->rights);
	free(b->x);
	free(b->wish);
	free(b->weight);
	vec_release(&b->apart);
	vec_release(&b->pulls);
	vec_release(&b->sorted);
}

void callgraph_place(struct layout *l)
{
	struct blocks b = { .n = make_blocks(l) };

	b.x = xcalloc(b.n, sizeof(*b.x));
	b.wish = xcalloc(b.n, sizeof(*b.wish));
	b.weight = xcalloc(b.n, sizeof(*b.weight));
	b.lefts = xcalloc(b.n, sizeof(*b.lefts));
	b.rights = xcalloc(b.n, sizeof(*b.rights));
	add_keep_offs(l, &b);
	add_pulls(l, &b);
	sort_blocks(&b);
	settle(&b);
	vec_each(s, &l->slots)
		s->x = b.x[s->block];
	blocks_release(&b);
}
