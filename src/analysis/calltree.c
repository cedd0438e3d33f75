/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/calltree.h"

#include "base/hash.h"

struct maker {
	struct calltree *tree;
	struct profile *profile;
	const struct calltree_opts *opts;
	struct map children; /* parent << 32 | frame or label -> node */
	struct map stacks;   /* label node and stack -> node, caller order only */
	struct map labels;   /* thread -> node of its label */
};

static u32 child_of(struct maker *m, u32 parent, u32 frame, u32 name)
{
	/* labels and frames are told apart by the highest bit: ids never get there */
	u64 key = (u64)parent << 32 | (frame ? frame : name | 1u << 31);
	u64 *id = map_at(&m->children, key);
	struct calltree_node *nodes;

	if (*id)
		return (u32)*id;
	*id = m->tree->nodes.len;
	vec_push(&m->tree->nodes, (struct calltree_node){ .parent = parent,
							  .frame = frame,
							  .name = name,
							  .next = 0,
							  .first_time = UINT64_MAX });
	nodes = m->tree->nodes.items;
	nodes[*id].next = nodes[parent].first_child;
	nodes[parent].first_child = (u32)*id;
	return (u32)*id;
}

static u32 label_name(struct maker *m, const struct profile_thread *t)
{
	char text[64];

	if (m->opts->group == GROUP_COMM)
		return t->comm;
	snprintf(text, sizeof(text), "%.40s-%d", profile_str(m->profile, t->comm),
		 m->opts->group == GROUP_PID ? t->pid : t->tid);
	return profile_string(m->profile, text);
}

static u32 label_of(struct maker *m, u32 thread)
{
	u64 *id;

	if (m->opts->group == GROUP_NONE)
		return 0;
	id = map_at(&m->labels, thread);
	if (!*id)
		*id = child_of(m, 0, 0, label_name(m, &m->profile->threads.items[thread])) + 1ull;
	return (u32)(*id - 1);
}

static u32 frame_child(struct maker *m, u32 parent, u32 stack)
{
	u32 frame = m->profile->stacks.items[stack].frame;

	return child_of(m, parent, frame, m->profile->frames.items[frame].name);
}

/*
 * Caller order: the profile's stacks are that tree already, so a stack's node is found once and
 * remembered. Stacks are as deep as a program made them: no recursion.
 */
static u32 place_caller(struct maker *m, u32 label, u32 stack)
{
	VEC(u32) todo = { 0 };
	u32 node = label;
	u64 *known;

	for (; stack; stack = m->profile->stacks.items[stack].parent) {
		known = map_find(&m->stacks, (u64)label << 32 | stack);
		if (known) {
			node = (u32)*known;
			break;
		}
		vec_push(&todo, stack);
	}
	while (todo.len) {
		u32 s = vec_pop(&todo);

		node = frame_child(m, node, s);
		map_put(&m->stacks, (u64)label << 32 | s, node);
	}
	vec_release(&todo);
	return node;
}

static u32 place_inverted(struct maker *m, u32 label, u32 stack)
{
	u32 node = label, depth = 0;

	for (; stack; stack = m->profile->stacks.items[stack].parent) {
		if (m->opts->max_depth && depth++ == m->opts->max_depth)
			break;
		node = frame_child(m, node, stack);
	}
	return node;
}

static u32 limited(struct maker *m, u32 stack)
{
	size_t depth;

	if (!m->opts->max_depth)
		return stack;
	for (depth = profile_depth(m->profile, stack); depth > m->opts->max_depth; depth--)
		stack = m->profile->stacks.items[stack].parent;
	return stack;
}

static void add_sample(struct maker *m, const struct profile_sample *s)
{
	u32 label = label_of(m, s->thread);
	u32 id = m->opts->inverted ? place_inverted(m, label, s->stack)
				   : place_caller(m, label, limited(m, s->stack));
	struct calltree_node *node = &m->tree->nodes.items[id];

	node->self += m->opts->by_count ? s->count : s->weight;
	node->count += s->count;
	node->first_time = MIN(node->first_time, s->time);
}

/* Children come after their parents: one pass from the end sums everything up. */
static void sum_up(struct calltree *t)
{
	struct calltree_node *nodes = t->nodes.items;

	for (size_t i = t->nodes.len; i--;) {
		nodes[i].total += nodes[i].self;
		if (!i)
			break;
		nodes[nodes[i].parent].total += nodes[i].total;
		nodes[nodes[i].parent].count += nodes[i].count;
		nodes[nodes[i].parent].first_time =
			MIN(nodes[nodes[i].parent].first_time, nodes[i].first_time);
	}
}

void calltree_init(struct calltree *t, struct profile *p, const struct calltree_opts *opts)
{
	struct maker m = { .tree = t, .profile = p, .opts = opts };

	*t = (struct calltree){ .profile = p };
	vec_push(&t->nodes, (struct calltree_node){ .first_time = UINT64_MAX });
	vec_each(s, &p->samples)
		if (opts->event == CALLTREE_ALL_EVENTS || s->event == opts->event)
			add_sample(&m, s);
	sum_up(t);
	map_release(&m.children);
	map_release(&m.stacks);
	map_release(&m.labels);
}

void calltree_release(struct calltree *t)
{
	vec_release(&t->nodes);
}

/* --- order --------------------------------------------------------------------------------- */

struct sorter {
	const struct calltree *tree;
	enum calltree_order order;
};

static int compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	const struct calltree_node *m = &s->tree->nodes.items[x], *n = &s->tree->nodes.items[y];
	int by_name;

	if (s->order == ORDER_WEIGHT && m->total != n->total)
		return m->total > n->total ? -1 : 1;
	if (s->order == ORDER_TIME && m->first_time != n->first_time)
		return m->first_time < n->first_time ? -1 : 1;
	by_name = strcmp(calltree_name(s->tree, x), calltree_name(s->tree, y));
	return by_name ? by_name : x < y ? -1 : x > y;
}

static void sort_children(struct calltree *t, struct sorter *s, u32 parent, u32 *room)
{
	struct calltree_node *nodes = t->nodes.items;
	size_t n = 0;

	for (u32 c = nodes[parent].first_child; c; c = nodes[c].next)
		room[n++] = c;
	if (n < 2)
		return;
	qsort_r(room, n, sizeof(*room), compare_nodes, s);
	nodes[parent].first_child = room[0];
	for (size_t i = 0; i < n; i++)
		nodes[room[i]].next = i + 1 < n ? room[i + 1] : 0;
}

void calltree_sort(struct calltree *t, enum calltree_order order)
{
	struct sorter s = { .tree = t, .order = order };
	u32 *room = xreallocarray(NULL, t->nodes.len, sizeof(*room));

	for (u32 i = 0; i < t->nodes.len; i++)
		sort_children(t, &s, i, room);
	free(room);
}

size_t calltree_depth(const struct calltree *t)
{
	u32 *depth = xcalloc(t->nodes.len, sizeof(*depth));
	u32 most = 0;

	for (size_t i = 1; i < t->nodes.len; i++) {
		depth[i] = depth[t->nodes.items[i].parent] + 1;
		most = MAX(most, depth[i]);
	}
	free(depth);
	return most;
}
