/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who calls whom: a node for each function, an arc for each call, both with their weight.
 *
 * Recursion counts once: a stack adds to a node or to an arc at most once. What is too light is
 * left out and counted; a call that goes through such a function is an arc between those that are
 * left, and marked as indirect.
 */
#ifndef ANALYSIS_CALLGRAPH_H
#define ANALYSIS_CALLGRAPH_H

#include "base/err.h"
#include "profile/profile.h"
#include "result/result.h"

enum { CALLGRAPH_NODES_MOST = 2000 };

struct callgraph_opts {
	u16 event;
	bool by_module;    /* a node is a module instead of a function */
	double min_node;   /* share (0..1) of the whole that a node has at least */
	double min_arc;    /* likewise an arc */
	u32 max_nodes;     /* half by total, half by self; 0: CALLGRAPH_NODES_MOST */
	const char *focus; /* only stacks with a function that matches this glob; NULL: all */
};

struct callgraph_node {
	u32 name;   /* string of the profile */
	u32 module; /* likewise */
	u8 kind;    /* enum frame_kind */
	u64 self, total;
	/* the layout */
	double x, y, width, height; /* of the centre */
	u32 layer;
};

struct callgraph_point {
	double x, y;
};

struct callgraph_arc {
	u32 from, to; /* nodes */
	u64 weight;
	u64 direct;    /* of that, calls without anything between */
	bool indirect; /* only through functions that were left out */
	bool back;     /* against the direction of the layout: part of a cycle */
	u32 first_point, n_points;
};

struct callgraph {
	struct profile *profile;
	u16 event;
	VEC(struct callgraph_node) nodes; /* heaviest first */
	VEC(struct callgraph_arc) arcs;   /* heaviest first */
	VEC(struct callgraph_point) points;
	u64 whole;
	u64 samples;
	u64 hidden_nodes, hidden_self; /* left out, and what they weigh */
	u64 hidden_arcs;
	u64 bridged_arcs; /* taken away by callgraph_thin() */
	u32 trimmed;      /* functions taken away by callgraph_trim() */
	u64 unfocused;    /* weight of stacks without the function asked for */
	double width, height;
};

/* -ENODATA when no sample is left. */
int callgraph_init(struct callgraph *g, struct profile *p, const struct callgraph_opts *opts,
		   struct err *e);
void callgraph_release(struct callgraph *g);
/*
 * For pictures: takes away indirect arcs where other arcs lead the same way; otherwise
 * what leads through hidden functions would be drawn many times.
 */
void callgraph_thin(struct callgraph *g);
/*
 * For pictures: removes the functions that nearly all paths pass through before they part, and what
 * is called beside; both are counted.
 */
void callgraph_trim(struct callgraph *g);
/*
 * Places: callers above callees, few crossings. Each node's width and height must be set; arcs
 * become lines of points from one to the other.
 */
void callgraph_layout(struct callgraph *g);
void callgraph_report(const struct callgraph *g, u32 max_lines, struct result *ret);

static inline const char *callgraph_name(const struct callgraph *g, u32 node)
{
	return profile_str(g->profile, g->nodes.items[node].name);
}
static inline double callgraph_share(const struct callgraph *g, u64 weight)
{
	return g->whole ? 100 * (double)weight / (double)g->whole : 0;
}

#endif
