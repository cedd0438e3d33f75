/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outline of a machine. */
#include "view/topology_form.h"

#include "base/fmt.h"

enum { NODES_SHOWN = 16 };

struct outline {
	const struct topo_tree *tree;
	bool devices;
	struct buf *out;
};

/* Only children that are alone go on the line of their parent. */
static bool goes_on(const struct topo_obj *o)
{
	return o->children && !o->children->next && !o->children->memory &&
	       (o->type == TOPO_CACHE || o->type == TOPO_CORE) && !o->devices;
}

static void add_device(struct outline *l, const struct topo_obj *o, int depth)
{
	for (; o && depth < TOPO_DEPTH_MOST; o = o->next) {
		buf_fill(l->out, ' ', 2 * (size_t)depth);
		topo_label(o, l->out);
		buf_addch(l->out, '\n');
		add_device(l, o->devices, depth + 1);
	}
}

static void add_kind(struct outline *l, const struct topo_obj *o)
{
	if (o->type == TOPO_CPU && o->kind)
		buf_addf(l->out, " (%s)", o->kind);
	else if (o->type == TOPO_CPU && o->capacity && o->capacity != 1024)
		buf_addf(l->out, " (capacity %u)", o->capacity);
}

static void add_object(struct outline *l, const struct topo_obj *o, int depth)
{
	if (depth > TOPO_DEPTH_MOST)
		return;
	buf_fill(l->out, ' ', 2 * (size_t)depth);
	topo_label(o, l->out);
	while (goes_on(o)) {
		o = o->children;
		buf_addstr(l->out, " + ");
		topo_label(o, l->out);
	}
	add_kind(l, o);
	buf_addch(l->out, '\n');
	for (const struct topo_obj *m = o->memory; m; m = m->next) {
		buf_fill(l->out, ' ', 2 * (size_t)depth + 2);
		topo_label(m, l->out);
		buf_addch(l->out, '\n');
	}
	for (const struct topo_obj *c = o->children; c; c = c->next)
		add_object(l, c, depth + 1);
	if (l->devices)
		add_device(l, o->devices, depth + 1);
}

static void add_head(const struct topo_tree *t, struct buf *out)
{
	buf_addstr(out, "Machine");
	if (t->memory) {
		buf_addch(out, ' ');
		fmt_size(out, t->memory);
	}
	buf_addstr(out, ": ");
	topo_summary(t, out);
	if (t->n_offline)
		buf_addf(out, ", %zu offline", t->n_offline);
	if (t->model) {
		buf_addstr(out, "; ");
		fmt_clean(out, t->model, strlen(t->model));
	}
	buf_addch(out, '\n');
}

static void list_node(const struct topo_obj *o, int depth UNUSED, void *ctx)
{
	VEC(s32) *nodes = ctx;

	if (o->type == TOPO_NODE)
		vec_push(nodes, o->index);
}

static void add_distances(const struct topo_tree *t, struct buf *out)
{
	VEC(s32) nodes = { 0 };

	if (!t->distances)
		return;
	topo_walk(t->root, 0, list_node, &nodes);
	if (nodes.len > NODES_SHOWN) {
		buf_addf(out, "\nDistances of %zu nodes are in the XML form.\n", nodes.len);
		vec_release(&nodes);
		return;
	}
	buf_addstr(out, "\nDistances of memory nodes (10: local)\n  node");
	vec_each(n, &nodes)
		buf_addf(out, " %4d", *n);
	buf_addch(out, '\n');
	for (size_t i = 0; i < nodes.len; i++) {
		buf_addf(out, "  %4d", nodes.items[i]);
		for (size_t k = 0; k < nodes.len; k++)
			buf_addf(out, " %4u", t->distances[i * nodes.len + k]);
		buf_addch(out, '\n');
	}
	vec_release(&nodes);
}

void topology_form_text(const struct topo_tree *t, bool devices, struct buf *out)
{
	struct outline l = { .tree = t, .devices = devices, .out = out };

	add_head(t, out);
	for (const struct topo_obj *m = t->root->memory; m; m = m->next) {
		buf_addstr(out, "  ");
		topo_label(m, out);
		buf_addch(out, '\n');
	}
	for (const struct topo_obj *o = t->root->children; o; o = o->next)
		add_object(&l, o, 1);
	if (devices)
		add_device(&l, t->root->devices, 1);
	add_distances(t, out);
	if (t->contradictions)
		buf_addf(out,
			 "\n%zu objects cross others and were left out: the files contradict one "
			 "another\n",
			 t->contradictions);
}
