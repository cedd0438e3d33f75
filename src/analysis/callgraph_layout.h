/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the steps of callgraph_layout(): layers, the order in them, places. */
#ifndef ANALYSIS_CALLGRAPH_LAYOUT_H
#define ANALYSIS_CALLGRAPH_LAYOUT_H

#include "analysis/callgraph.h"

typedef VEC(u32) u32_list;

/* A place in a layer: of a node, or of an arc that passes. */
struct slot {
	u32 node; /* + 1; 0: a point of an arc */
	u32 layer;
	u32 place; /* in its layer */
	u32 block; /* slots in one vertical line */
	double x, y, width, order;
};

struct link {
	u32 up, down;  /* slots of neighbouring layers */
	u32 end;       /* the layer where its arc ends */
	double weight; /* share of the whole, and a little */
};

struct layout {
	struct callgraph *graph;
	VEC(struct slot) slots; /* the first are those of the nodes */
	VEC(struct link) links;
	VEC(u32_list) layers; /* slots by place */
	u32_list *up, *down;  /* by slot: links */
	u32 *first;           /* by arc: its first point's slot; points follow one another */
	u32 *count;
};

/* Sorts each layer so that few arcs cross, the heavy ones least of all. */
void callgraph_order(struct layout *l);
/* Gives every slot its x: heavy and long arcs are straight, the rest as short as it can be. */
void callgraph_place(struct layout *l);

#endif
