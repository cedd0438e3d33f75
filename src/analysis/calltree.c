/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/calltree.h"

#include "base/hash.h"

struct maker {
	struct calltree *tree;
	struct profile *profile;
	const struct calltree_opts *opts;
	struct map children; /* parent << 32 | frame or label -> node */
	u32 *at;             /* stack -> node below the present root; caller order only */
	VEC(u32) touched;    /* stacks that have an entry there */
	u32 root;            /* node of the label that they hang on, 0: none */
	u32 *labels;         /* thread -> string; NULL: no labels are wanted */
	u32 last_label;      /* and its node: samples come label by label */
	u32 last_node;
	VEC(u64) base; /* weights of the baseline by node, as far as there are any */
	VEC(u64) base_count;
	VEC(u32) todo;
	bool distinct; /* no two frames are shown as one: stacks and nodes correspond */
};

/* --- nodes --------------------------------------------------------------------------------- */

static u32 new_node(struct maker *m, u32 parent, u32 frame, u32 name)
{
	u32 id = (u32)m->tree->nodes.len;
	struct calltree_node *nodes;

	vec_push(&m->tree->nodes, (struct calltree_node){ .parent = parent,
							  .frame = frame,
							  .name = name,
							  .first_time = UINT64_MAX });
	nodes = m->tree->nodes.items;
	nodes[id].next = nodes[parent].first_child;
	nodes[parent].first_child = id;
	return id;
}

static u32 child_of(struct maker *m, u32 parent, u32 frame, u32 name)
{
	/* labels and frames are distinguished by the highest bit: ids never get there */
	u64 key = (u64)parent << 32 | (frame ? frame : name | 1u << 31);
	u64 *id = map_at(&m->children, key);

	if (!*id)
		*id = new_node(m, parent, frame, name);
	return (u32)*id;
}

static u32 shown_frame(const struct maker *m, u32 stack)
{
	u32 frame = m->profile->stacks.items[stack].frame;

	return m->opts->shown_as ? m->opts->shown_as[frame] : frame;
}

static u32 frame_child(struct maker *m, u32 parent, u32 stack)
{
	u32 frame = shown_frame(m, stack);

	if (m->opts->join && parent && m->tree->nodes.items[parent].frame == frame &&
	    m->profile->frames.items[frame].kind == FRAME_MARKER)
		return parent;
	return child_of(m, parent, frame, m->profile->frames.items[frame].name);
}

/* --- labels -------------------------------------------------------------------------------- */

static u32 label_name(struct maker *m, const struct profile_thread *t)
{
	char text[64];

	if (m->opts->group == GROUP_COMM || (!t->comm && !t->pid && !t->tid))
		return t->comm;
	snprintf(text, sizeof(text), "%.40s-%d", profile_str(m->profile, t->comm),
		 m->opts->group == GROUP_PID ? t->pid : t->tid);
	return profile_string(m->profile, text);
}

/* Threads are few and samples many: all labels are made before. */
static void make_labels(struct maker *m)
{
	const struct calltree_opts *o = m->opts;
	size_t n = m->profile->threads.len;

	if (o->group == GROUP_NONE)
		return;
	m->labels = xcalloc(n, sizeof(*m->labels));
	for (size_t i = 0; i < n; i++)
		m->labels[i] =
			o->labels ? o->labels[i] : label_name(m, &m->profile->threads.items[i]);
}

/* 0: none is wanted, or nothing is known of the thread. */
static u32 label_of(const struct maker *m, u32 thread)
{
	return m->labels ? m->labels[thread] : 0;
}

static u32 label_node(struct maker *m, u32 label)
{
	if (m->last_label != label) {
		m->last_node = child_of(m, 0, 0, label);
		m->last_label = label;
	}
	return m->last_node;
}

/* --- placing ------------------------------------------------------------------------------- */

/* Another label, another root: what was cached for the stacks does not apply below it. */
static void begin_root(struct maker *m, u32 root)
{
	if (root == m->root)
		return;
	vec_each(stack, &m->touched)
		m->at[*stack] = 0;
	vec_clear(&m->touched);
	m->root = root;
}

/*
 * Caller order: the profile's stacks are the tree already. An array remembers the node of each,
 * and nothing has to be looked up unless some frames are shown as one. No recursion: stacks are
 * deep.
 */
static u32 place_caller(struct maker *m, u32 root, u32 stack)
{
	const struct stack *stacks = m->profile->stacks.items;
	u32 node = 0;

	begin_root(m, root);
	for (; stack && !(node = m->at[stack]); stack = stacks[stack].parent)
		vec_push(&m->todo, stack);
	if (!stack)
		node = root;
	while (m->todo.len) {
		u32 s = vec_pop(&m->todo), frame = shown_frame(m, s);

		node = m->distinct ? new_node(m, node, frame, m->profile->frames.items[frame].name)
				   : frame_child(m, node, s);
		m->at[s] = node;
		vec_push(&m->touched, s);
	}
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

static u32 limited(const struct maker *m, u32 stack)
{
	size_t depth;

	if (!m->opts->max_depth)
		return stack;
	for (depth = profile_depth(m->profile, stack); depth > m->opts->max_depth; depth--)
		stack = m->profile->stacks.items[stack].parent;
	return stack;
}

static u32 place(struct maker *m, const struct profile_sample *s)
{
	u32 label = label_of(m, s->thread), first = 0, id;

	if (label && !m->opts->label_last)
		first = label_node(m, label);
	id = m->opts->inverted ? place_inverted(m, first, s->stack)
			       : place_caller(m, first, limited(m, s->stack));
	return label && m->opts->label_last ? child_of(m, id, 0, label) : id;
}

/* --- weights ------------------------------------------------------------------------------- */

static void add_base(struct maker *m, u32 id, u64 weight, u64 count)
{
	while (m->base.len <= id) {
		vec_push(&m->base, 0);
		vec_push(&m->base_count, 0);
	}
	m->base.items[id] += weight;
	m->base_count.items[id] += count;
}

static void weigh(struct maker *m, u32 id, const struct profile_sample *s)
{
	struct calltree_node *node = &m->tree->nodes.items[id];
	u64 weight = m->opts->by_count ? s->count : s->weight;

	if (m->opts->has_baseline && s->event == m->opts->baseline) {
		add_base(m, id, weight, s->count);
		return;
	}
	node->self += weight;
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
		if (t->base) {
			t->base[nodes[i].parent] += t->base[i];
			t->base_count[nodes[i].parent] += t->base_count[i];
		}
	}
}

static bool is_wanted(const struct calltree_opts *o, const struct profile_sample *s)
{
	return o->event == CALLTREE_ALL_EVENTS || s->event == o->event ||
	       (o->has_baseline && s->event == o->baseline);
}

static void maker_init(struct maker *m, struct calltree *t, struct profile *p,
		       const struct calltree_opts *opts)
{
	*m = (struct maker){ .tree = t, .profile = p, .opts = opts };
	*t = (struct calltree){ .profile = p };
	vec_push(&t->nodes, (struct calltree_node){ .first_time = UINT64_MAX });
}

static void maker_finish(struct maker *m)
{
	if (m->opts->has_baseline) {
		add_base(m, (u32)m->tree->nodes.len - 1, 0, 0);
		m->tree->base = m->base.items;
		m->tree->base_count = m->base_count.items;
	}
	sum_up(m->tree);
	map_release(&m->children);
	free(m->labels);
	vec_release(&m->todo);
	vec_release(&m->touched);
	free(m->at);
}

static bool all_distinct(const struct profile *p, const u32 *shown_as)
{
	for (u32 i = 1; shown_as && i < p->frames.len; i++)
		if (shown_as[i] != i)
			return false;
	return true;
}

/*
 * Indexes of the samples, those of one label after those of another: each root is visited once.
 * A counting sort, so that samples of a label keep their order.
 */
static u32 *by_label(const struct maker *m)
{
	const struct profile *p = m->profile;
	u32 *order = xreallocarray(NULL, p->samples.len, sizeof(*order)), sum = 0;
	_cleanup_free_ u32 *starts = xcalloc(p->strings.len + 1, sizeof(*starts));

	vec_each(s, &p->samples)
		starts[label_of(m, s->thread)]++;
	for (size_t i = 0; i <= p->strings.len; i++) {
		u32 n = starts[i];

		starts[i] = sum;
		sum += n;
	}
	for (u32 i = 0; i < p->samples.len; i++)
		order[starts[label_of(m, p->samples.items[i].thread)]++] = i;
	return order;
}

void calltree_init(struct calltree *t, struct profile *p, const struct calltree_opts *opts)
{
	_cleanup_free_ u32 *order = NULL;
	struct maker m;

	maker_init(&m, t, p, opts);
	make_labels(&m);
	m.distinct = all_distinct(p, opts->shown_as) && !opts->label_last;
	if (!opts->inverted)
		m.at = xcalloc(p->stacks.len, sizeof(*m.at));
	if (!opts->inverted && opts->group != GROUP_NONE && !opts->label_last)
		order = by_label(&m);
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *s = &p->samples.items[order ? order[i] : i];

		if (is_wanted(opts, s))
			weigh(&m, place(&m, s), s);
	}
	maker_finish(&m);
}

void calltree_release(struct calltree *t)
{
	vec_release(&t->nodes);
	free(t->base);
	free(t->base_count);
	t->base = t->base_count = NULL;
}

/* --- in order of time ---------------------------------------------------------------------- */

struct moment {
	u32 label;
	u32 index; /* of the sample */
	u64 time;
};

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The nodes from below the root to the leaf of the sample before. */
typedef VEC(u32) node_path;

static void place_next(struct maker *m, node_path *path, u32 label, u32 stack)
{
	const struct calltree *t = m->tree;
	size_t depth = 0;
	u32 node = 0;

	for (; stack; stack = m->profile->stacks.items[stack].parent)
		vec_push(&m->todo, shown_frame(m, stack));
	if (label)
		vec_push(&m->todo, label | 1u << 31);
	while (m->todo.len && depth < path->len) {
		const struct calltree_node *n = &t->nodes.items[path->items[depth]];

		if ((n->frame ? n->frame : n->name | 1u << 31) != *vec_last(&m->todo))
			break;
		node = path->items[depth++];
		(void)vec_pop(&m->todo);
	}
	path->len = depth;
	while (m->todo.len) {
		u32 key = vec_pop(&m->todo), frame = key >> 31 ? 0 : key;

		node = new_node(m, node, frame,
				frame ? m->profile->frames.items[frame].name : key & ~(1u << 31));
		vec_push(path, node);
	}
}

/* New children were put first; they belong last. */
static void reverse_children(struct calltree *t)
{
	struct calltree_node *nodes = t->nodes.items;

	for (size_t i = 0; i < t->nodes.len; i++) {
		u32 done = 0, next;

		for (u32 c = nodes[i].first_child; c; c = next) {
			next = nodes[c].next;
			nodes[c].next = done;
			done = c;
		}
		nodes[i].first_child = done;
	}
}

void calltree_init_chart(struct calltree *t, struct profile *p, const struct calltree_opts *opts)
{
	VEC(struct moment) moments = { 0 };
	node_path path = { 0 };
	struct maker m;

	maker_init(&m, t, p, opts);
	for (u32 i = 0; i < p->samples.len; i++) {
		const struct profile_sample *s = &p->samples.items[i];

		if (is_wanted(opts, s))
			vec_push(&moments, (struct moment){ label_of(&m, s->thread), i, s->time });
	}
	vec_sort(&moments, compare_moments);
	vec_each(at, &moments) {
		const struct profile_sample *s = &p->samples.items[at->index];

		place_next(&m, &path, at->label, limited(&m, s->stack));
		weigh(&m, path.len ? *vec_last(&path) : 0, s);
	}
	reverse_children(t);
	maker_finish(&m);
	vec_release(&moments);
	vec_release(&path);
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

void calltree_sort_children(struct calltree *t, enum calltree_order order, u32 node)
{
	struct calltree_node *nodes = t->nodes.items;
	struct sorter s = { .tree = t, .order = order };
	VEC(u32) room = { 0 };

	if (!nodes[node].first_child || !nodes[nodes[node].first_child].next)
		return;
	for (u32 c = nodes[node].first_child; c; c = nodes[c].next)
		vec_push(&room, c);
	qsort_r(room.items, room.len, sizeof(*room.items), compare_nodes, &s);
	nodes[node].first_child = room.items[0];
	for (size_t i = 0; i < room.len; i++)
		nodes[room.items[i]].next = i + 1 < room.len ? room.items[i + 1] : 0;
	vec_release(&room);
}

void calltree_sort(struct calltree *t, enum calltree_order order)
{
	for (u32 i = 0; i < t->nodes.len; i++)
		calltree_sort_children(t, order, i);
}
