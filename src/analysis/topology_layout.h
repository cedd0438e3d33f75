/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the boxes of a machine lie, in cells of a terminal: computed once, drawn as characters or
 * as a picture. What is alone in its parent (a core in its own L2) shares its box; CPUs and memory
 * nodes are lines, which have room for their load.
 */
#ifndef ANALYSIS_TOPOLOGY_LAYOUT_H
#define ANALYSIS_TOPOLOGY_LAYOUT_H

#include "analysis/topology.h"

enum { TOPO_BAR = 10 }; /* cells for a load: "CPU 12 ######...." */

struct topo_box {
	const struct topo_obj *obj;
	const char *title; /* safe for a terminal */
	u32 x, y, w, h;
};

struct topo_line {
	const struct topo_obj *obj; /* a CPU or a node has a load; NULL: text alone */
	const char *text;
	u32 x, y, w;
};

struct topo_layout {
	struct arena arena;
	const struct topo_tree *tree;
	VEC(struct topo_box) boxes; /* outer ones first */
	VEC(struct topo_line) lines;
	u32 w, h;
	bool live; /* lines have room for loads */
};

/* @width: rows of boxes break there. @devices: also what hangs on PCI. */
void topo_layout_make(struct topo_layout *l, const struct topo_tree *t, u32 width, bool live,
		      bool devices);
void topo_layout_release(struct topo_layout *l);

/* --- load ------------------------------------------------------------------------------------- */

struct topo_cpu_load {
	bool known;
	double busy;       /* 0 to 1 */
	u32 queue;         /* threads that want to run there, the running one included */
	double interrupts; /* a second */
};

struct topo_node_load {
	bool known;
	double used;  /* 0 to 1 of its memory */
	double pages; /* allocated there, a second */
};

struct topo_load {
	struct topo_cpu_load *cpus; /* by number */
	size_t n_cpus;
	struct topo_node_load *nodes; /* by number */
	size_t n_nodes;
	double time; /* seconds since the start */
};

struct load_moment;
/* What happened between two moments; @begin: since when @time counts. */
void topo_load_between(struct topo_load *ret, const struct load_moment *a,
		       const struct load_moment *b, u64 begin);
void topo_load_release(struct topo_load *l);
/* The share that is busy or used; below 0: not known. */
double topo_share(const struct topo_obj *o, const struct topo_load *load);

#endif
