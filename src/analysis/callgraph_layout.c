/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layers, as Sugiyama draws them: cycles are broken where a depth first walk from the heaviest
 * node meets itself, each node lies one layer below its lowest caller, arcs over several layers go
 * through points in between. Light nodes leave layers that are too wide, and roots come down to
 * what they call.
 */
#include "analysis/callgraph_layout.h"

#include <math.h>

enum {
	GAP_X = 24,
	GAP_Y = 52,
	GAP_STRAIGHT = 24, /* between layers whose arcs lead straight down */
	WIDTH_LEAST = 1100,
	POINT_WIDTH = 8,      /* room for an arc that passes through a layer */
	SLOTS_MOST = 1 << 18, /* nodes and points: beyond it long arcs are straight */
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

struct queued {
	u32 node, layer;
};

static int compare_queued(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* How wide a layer may become: the picture should be about as wide as it is high. */
static double width_limit(const struct callgraph *g)
{
	double area = 0;

	vec_each(n, &g->nodes)
		area += (n->width + GAP_X) * (n->height + GAP_Y);
	return MAX(sqrt(area) * 1.2, (double)WIDTH_LEAST);
}

static void fit_layer(double *used, size_t n, u32 *layer, double width, double limit)
{
	while (*layer + 1 < n && used[*layer] > 0 && used[*layer] + width > limit)
		++*layer;
	used[*layer] += width;
}

/* Where a layer is full, the lighter functions go further down. */
static void spread_layers(struct callgraph *g)
{
	size_t n = g->nodes.len;
	u32_list *out = arcs_by_upper(g);
	struct queued *queue = xcalloc(n, sizeof(*queue));
	double *used = xcalloc(2 * n, sizeof(*used)), limit = width_limit(g);

	for (u32 i = 0; i < n; i++)
		queue[i] = (struct queued){ i, g->nodes.items[i].layer };
	/* nodes are sorted by weight: of one layer the heavy ones come first */
	qsort(queue, n, sizeof(*queue), compare_queued);
	for (size_t i = 0; i < n; i++) {
		struct callgraph_node *node = &g->nodes.items[queue[i].node];

		fit_layer(used, 2 * n, &node->layer, node->width + GAP_X, limit);
		vec_each(k, &out[queue[i].node]) {
			const struct callgraph_arc *a = &g->arcs.items[*k];
			struct callgraph_node *below = &g->nodes.items[lower(a)];

			if (a->from != a->to)
				below->layer = MAX(below->layer, node->layer + 1);
		}
	}
	free_lists(g, out);
	free(queue);
	free(used);
}

/* Functions without callers move down to what they call: their arcs become short. */
static void lower_roots(struct callgraph *g)
{
	u32 *calls = xcalloc(g->nodes.len, sizeof(*calls)); /* layer of the highest callee */
	u8 *called = xcalloc(g->nodes.len, 1);

	vec_each(a, &g->arcs) {
		u32 below = g->nodes.items[lower(a)].layer;

		if (a->from == a->to)
			continue;
		called[lower(a)] = 1;
		if (!calls[upper(a)] || below < calls[upper(a)])
			calls[upper(a)] = below;
	}
	for (u32 i = 0; i < g->nodes.len; i++)
		if (!called[i] && calls[i])
			g->nodes.items[i].layer = calls[i] - 1;
	free(calls);
	free(called);
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
	double weight = 0.01 + (double)a->weight / (double)l->graph->whole;

	if (a->from == a->to || (to > from + 1 && l->slots.len + to - from > SLOTS_MOST))
		return;
	l->first[index] = (u32)l->slots.len;
	for (u32 layer = from + 1; layer < to; layer++) {
		u32 point = add_slot(l, 0, layer, POINT_WIDTH);

		vec_push(&l->links, (struct link){ last, point, to, weight });
		last = point;
		l->count[index]++;
	}
	vec_push(&l->links, (struct link){ last, bottom, to, weight });
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

/* --- result --------------------------------------------------------------------------------- */

/* The layers below which an arc leads aside: it needs room to turn. */
static u8 *layers_with_turns(const struct layout *l)
{
	u8 *turns = xcalloc(l->layers.len + 1, 1);

	vec_each(k, &l->links) {
		const struct slot *a = &l->slots.items[k->up], *b = &l->slots.items[k->down];

		turns[a->layer] |= fabs(a->x - b->x) > GAP_X;
	}
	return turns;
}

static void place_nodes(struct layout *l)
{
	struct callgraph *g = l->graph;
	_cleanup_free_ u8 *turns = layers_with_turns(l);
	double least = 1e300, y = 0, most = 0, gap = 0;

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

			l->slots.items[*s].y = y + height / 2;
			if (node) {
				g->nodes.items[node - 1].x = l->slots.items[*s].x;
				g->nodes.items[node - 1].y = y + height / 2;
			}
		}
		gap = turns[list - l->layers.items] ? GAP_Y : GAP_STRAIGHT;
		y += height + gap;
	}
	g->width = most;
	g->height = y - gap;
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

			add_point(g, a, s->x, s->y);
		}
		add_point(g, a, bottom->x, bottom->y - bottom->height / 2);
	}
}

void callgraph_layout(struct callgraph *g)
{
	struct layout l = { .graph = g };

	break_cycles(g);
	set_layers(g);
	spread_layers(g);
	lower_roots(g);
	l.first = xcalloc(g->arcs.len ? g->arcs.len : 1, sizeof(*l.first));
	l.count = xcalloc(g->arcs.len ? g->arcs.len : 1, sizeof(*l.count));
	make_slots(&l);
	callgraph_order(&l);
	callgraph_place(&l);
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
