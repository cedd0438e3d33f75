/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layers, as Sugiyama draws them: cycles are broken where a depth first walk from the heaviest
 * node meets itself, each node lies one layer below its lowest caller, arcs over several layers go
 * through points in between, and neighbours are sorted by where their neighbours stand until few
 * arcs cross. Then everything moves to the middle of what it is connected to, as far as there is
 * room.
 */
#include "analysis/callgraph.h"

#include <math.h>

enum {
	GAP_X = 24,
	GAP_Y = 56,
	POINT_WIDTH = 10, /* room for an arc that passes through a layer */
	SWEEPS = 12,
	MOVES = 24,
	SLOTS_MOST = 1 << 18, /* nodes and points: beyond it long arcs are straight */
};

/* A place in a layer: of a node, or of an arc that passes. */
struct slot {
	u32 node; /* + 1; 0: a point of an arc */
	u32 layer;
	u32 place; /* in its layer */
	double x, width, order;
};

struct link {
	u32 up, down; /* slots of neighbouring layers */
	double weight;
};

typedef VEC(u32) u32_list;

struct layout {
	struct callgraph *graph;
	VEC(struct slot) slots; /* the first are those of the nodes */
	VEC(struct link) links;
	VEC(u32_list) layers; /* slots by place */
	u32_list *up, *down;  /* by slot: links */
	u32 *first;           /* by arc: its first point's slot; points follow one another */
	u32 *count;
};

/* --- cycles and layers ---------------------------------------------------------------------- */

struct visit {
	u32 node;
	u32 next; /* index into its arcs */
};

/* Where an arc begins and ends when those against the direction are turned round. */
static u32 upper(const struct callgraph_arc *a)
{
	return a->back ? a->to : a->from;
}

static u32 lower(const struct callgraph_arc *a)
{
	return a->back ? a->from : a->to;
}

static u32_list *arcs_by_upper(const struct callgraph *g)
{
	u32_list *out = xcalloc(g->nodes.len, sizeof(*out));

	for (u32 i = 0; i < g->arcs.len; i++)
		vec_push(&out[upper(&g->arcs.items[i])], i);
	return out;
}

static void free_lists(const struct callgraph *g, u32_list *lists)
{
	for (u32 i = 0; i < g->nodes.len; i++)
		vec_release(&lists[i]);
	free(lists);
}

static void walk_from(struct callgraph *g, const u32_list *out, u8 *state, u32 root)
{
	VEC(struct visit) path = { 0 };

	vec_push(&path, (struct visit){ root, 0 });
	state[root] = 1;
	while (path.len) {
		struct visit *v = vec_last(&path);
		struct callgraph_arc *a;

		if (v->next == out[v->node].len) {
			state[v->node] = 2;
			path.len--;
			continue;
		}
		a = &g->arcs.items[out[v->node].items[v->next++]];
		if (state[a->to] == 1) {
			a->back = true;
		} else if (!state[a->to]) {
			state[a->to] = 1;
			vec_push(&path, (struct visit){ a->to, 0 });
		}
	}
	vec_release(&path);
}

static void break_cycles(struct callgraph *g)
{
	u32_list *out = arcs_by_upper(g);
	u8 *state = xcalloc(g->nodes.len, 1);

	for (u32 i = 0; i < g->nodes.len; i++)
		if (!state[i])
			walk_from(g, out, state, i);
	free_lists(g, out);
	free(state);
}

/* Longest path from above, by taking away nodes that nothing is above. */
static void set_layers(struct callgraph *g)
{
	u32 *waiting = xcalloc(g->nodes.len, sizeof(*waiting));
	u32_list ready = { 0 }, *out = arcs_by_upper(g);

	vec_each(a, &g->arcs)
		if (a->from != a->to)
			waiting[lower(a)]++;
	for (u32 i = 0; i < g->nodes.len; i++)
		if (!waiting[i])
			vec_push(&ready, i);
	while (ready.len) {
		u32 node = vec_pop(&ready);

		vec_each(i, &out[node]) {
			const struct callgraph_arc *a = &g->arcs.items[*i];
			struct callgraph_node *below = &g->nodes.items[lower(a)];

			if (a->from == a->to)
				continue;
			below->layer = MAX(below->layer, g->nodes.items[node].layer + 1);
			if (!--waiting[lower(a)])
				vec_push(&ready, lower(a));
		}
	}
	free_lists(g, out);
	vec_release(&ready);
	free(waiting);
}

/* --- slots ---------------------------------------------------------------------------------- */

static u32 add_slot(struct layout *l, u32 node, u32 layer, double width)
{
	u32 id = (u32)l->slots.len;

	while (l->layers.len <= layer)
		vec_push(&l->layers, (u32_list){ 0 });
	vec_push(&l->slots, (struct slot){ .node = node,
					   .layer = layer,
					   .place = (u32)l->layers.items[layer].len,
					   .width = width });
	vec_push(&l->layers.items[layer], id);
	return id;
}

static void add_links(struct layout *l, u32 index)
{
	const struct callgraph_arc *a = &l->graph->arcs.items[index];
	u32 top = upper(a), bottom = lower(a), last = top;
	u32 from = l->graph->nodes.items[top].layer, to = l->graph->nodes.items[bottom].layer;
	double weight = 1 + 8 * (double)a->weight / (double)l->graph->whole;

	if (a->from == a->to)
		return;
	l->first[index] = (u32)l->slots.len;
	for (u32 layer = from + 1; layer < to && l->slots.len < SLOTS_MOST; layer++) {
		u32 point = add_slot(l, 0, layer, POINT_WIDTH);

		vec_push(&l->links, (struct link){ last, point, weight });
		last = point;
		l->count[index]++;
	}
	vec_push(&l->links, (struct link){ last, bottom, weight });
}

static void make_slots(struct layout *l)
{
	struct callgraph *g = l->graph;

	for (u32 i = 0; i < g->nodes.len; i++)
		add_slot(l, i + 1, g->nodes.items[i].layer, g->nodes.items[i].width);
	for (u32 i = 0; i < g->arcs.len; i++)
		add_links(l, i);
	l->up = xcalloc(l->slots.len, sizeof(*l->up));
	l->down = xcalloc(l->slots.len, sizeof(*l->down));
	for (u32 i = 0; i < l->links.len; i++) {
		vec_push(&l->down[l->links.items[i].up], i);
		vec_push(&l->up[l->links.items[i].down], i);
	}
}

/* --- order in layers ------------------------------------------------------------------------ */

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

	if (!l->links.items)
		return (double)l->slots.items[slot].place;
	vec_each(i, list) {
		const struct link *k = &l->links.items[*i];
		const struct slot *s = &l->slots.items[down ? k->down : k->up];

		sum += k->weight * (double)s->place;
		weight += k->weight;
	}
	return weight > 0 ? sum / weight : (double)l->slots.items[slot].place;
}

static void sort_layer(struct layout *l, size_t layer, bool down)
{
	u32_list *list = &l->layers.items[layer];

	vec_each(s, list)
		l->slots.items[*s].order = mean_place(l, *s, down);
	qsort_r(list->items, list->len, sizeof(*list->items), compare_slots, l->slots.items);
	for (u32 i = 0; i < list->len; i++)
		l->slots.items[list->items[i]].place = i;
}

static void reduce_crossings(struct layout *l)
{
	if (!l->layers.items)
		return;
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		for (size_t i = 1; i < l->layers.len; i++)
			sort_layer(l, i, false);
		for (size_t i = l->layers.len - 1; i-- > 0;)
			sort_layer(l, i, true);
	}
	for (size_t i = 1; i < l->layers.len; i++)
		sort_layer(l, i, false);
}

/* --- places --------------------------------------------------------------------------------- */

static double room(const struct slot *a, const struct slot *b)
{
	return (a->width + b->width) / 2 + GAP_X;
}

static void pack(struct layout *l)
{
	vec_each(list, &l->layers) {
		double x = 0;

		for (size_t i = 0; i < list->len; i++) {
			struct slot *s = &l->slots.items[list->items[i]];

			if (i)
				x += room(&l->slots.items[list->items[i - 1]], s);
			s->x = x;
		}
	}
}

/* Where the slot's neighbours, above and below, would have it. */
static double wanted_x(const struct layout *l, u32 slot)
{
	double sum = 0, weight = 0;

	vec_each(i, &l->up[slot]) {
		sum += l->links.items[*i].weight * l->slots.items[l->links.items[*i].up].x;
		weight += l->links.items[*i].weight;
	}
	vec_each(i, &l->down[slot]) {
		sum += l->links.items[*i].weight * l->slots.items[l->links.items[*i].down].x;
		weight += l->links.items[*i].weight;
	}
	return weight > 0 ? sum / weight : l->slots.items[slot].x;
}

/*
 * Each slot goes where it is wanted; those that come too close are pushed apart from the left and
 * from the right, and the mean of both is taken.
 */
static void move_layer(struct layout *l, const u32_list *list)
{
	size_t n = list->len;
	double *left = xcalloc(n, sizeof(*left)), *right = xcalloc(n, sizeof(*right));

	for (size_t i = 0; i < n; i++)
		left[i] = right[i] = wanted_x(l, list->items[i]);
	for (size_t i = 1; i < n; i++)
		left[i] = MAX(left[i], left[i - 1] + room(&l->slots.items[list->items[i - 1]],
							  &l->slots.items[list->items[i]]));
	for (size_t i = n - 1; i-- > 0;)
		right[i] = MIN(right[i], right[i + 1] - room(&l->slots.items[list->items[i]],
							     &l->slots.items[list->items[i + 1]]));
	for (size_t i = 0; i < n; i++)
		l->slots.items[list->items[i]].x = (left[i] + right[i]) / 2;
	free(left);
	free(right);
}

static void settle(struct layout *l)
{
	for (int i = 0; i < MOVES; i++) {
		for (size_t k = 0; k < l->layers.len; k++)
			move_layer(l, &l->layers.items[i & 1 ? l->layers.len - 1 - k : k]);
	}
}

/* --- result --------------------------------------------------------------------------------- */

static void place_nodes(struct layout *l)
{
	struct callgraph *g = l->graph;
	double least = 1e300, y = 0, most = 0;

	vec_each(s, &l->slots)
		least = MIN(least, s->x - s->width / 2);
	vec_each(s, &l->slots)
		s->x -= least;
	vec_each(list, &l->layers) {
		double height = 0;

		vec_each(s, list) {
			u32 node = l->slots.items[*s].node;

			if (node)
				height = MAX(height, g->nodes.items[node - 1].height);
			most = MAX(most, l->slots.items[*s].x + l->slots.items[*s].width / 2);
		}
		vec_each(s, list) {
			u32 node = l->slots.items[*s].node;

			l->slots.items[*s].order = y + height / 2;
			if (node) {
				g->nodes.items[node - 1].x = l->slots.items[*s].x;
				g->nodes.items[node - 1].y = y + height / 2;
			}
		}
		y += height + GAP_Y;
	}
	g->width = most;
	g->height = y - GAP_Y;
}

static void add_point(struct callgraph *g, struct callgraph_arc *a, double x, double y)
{
	vec_push(&g->points, (struct callgraph_point){ x, y });
	a->n_points++;
}

static void place_arcs(struct layout *l)
{
	struct callgraph *g = l->graph;

	for (u32 i = 0; i < g->arcs.len; i++) {
		struct callgraph_arc *a = &g->arcs.items[i];
		const struct callgraph_node *top = &g->nodes.items[upper(a)];
		const struct callgraph_node *bottom = &g->nodes.items[lower(a)];

		a->first_point = (u32)g->points.len;
		a->n_points = 0;
		if (a->from == a->to)
			continue;
		add_point(g, a, top->x, top->y + top->height / 2);
		for (u32 k = 0; k < l->count[i]; k++) {
			const struct slot *s = &l->slots.items[l->first[i] + k];

			add_point(g, a, s->x, s->order);
		}
		add_point(g, a, bottom->x, bottom->y - bottom->height / 2);
	}
}

void callgraph_layout(struct callgraph *g)
{
	struct layout l = { .graph = g };

	break_cycles(g);
	set_layers(g);
	l.first = xcalloc(g->arcs.len ? g->arcs.len : 1, sizeof(*l.first));
	l.count = xcalloc(g->arcs.len ? g->arcs.len : 1, sizeof(*l.count));
	make_slots(&l);
	reduce_crossings(&l);
	pack(&l);
	settle(&l);
	place_nodes(&l);
	place_arcs(&l);
	for (size_t i = 0; i < l.slots.len; i++) {
		vec_release(&l.up[i]);
		vec_release(&l.down[i]);
	}
	vec_each(list, &l.layers)
		vec_release(list);
	vec_release(&l.layers);
	vec_release(&l.slots);
	vec_release(&l.links);
	free(l.up);
	free(l.down);
	free(l.first);
	free(l.count);
}
