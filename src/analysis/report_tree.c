/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of hottest paths, made to fit a screen. Programs get every node. People get the
 * heaviest ones. If these are too many lines, straight runs of calls, where the whole weight goes
 * down from one to the next, are cut to their telling parts; then the share from which on a node is
 * shown rises, so that one deep stack cannot push all others off the page:
 *
 *	47.36%  clang
 *	47.36%  main
 *	47.36%  ... 18 calls
 *	47.19%  PassManager::run
 *	19.76%  |--FunctionToLoopPassAdaptor::run
 *	 9.03%  `--InstCombinePass::run
 */
#include "analysis/report_tree.h"

#include "analysis/calltree.h"

enum {
	KEEP_MOST = 12,   /* calls shown at each end of a straight run, at first, */
	KEEP_LEAST = 2,   /* and when there is no more room; twice as many before the kernel */
	FOLD_LEAST = 3,   /* fewer calls than this are shown instead of counted */
	STRAIGHT = 95,    /* percent of its weight that a call hands down in a straight run */
	RAISE_STEPS = 24, /* halvings that find the share */
};

/* A node with visible siblings, and where it is drawn; what follows it straight down has none. */
struct head {
	u32 node;
	u32 depth;  /* of its line */
	u32 frames; /* above it, shown or not */
};

struct walk {
	const struct calltree *tree;
	const struct report_opts *opts;
	u64 least;        /* weight from which on a node is shown */
	size_t keep;      /* calls at each end of a straight run; 0: all */
	struct tree *out; /* NULL: lines are only counted */
	struct arena *arena;
	size_t lines;
};

static const struct calltree_node *node_at(const struct walk *w, u32 id)
{
	return &w->tree->nodes.items[id];
}

static bool is_shown(const struct walk *w, u32 id)
{
	return id && node_at(w, id)->total >= w->least;
}

static enum style style_of(const struct calltree *t, const struct calltree_node *node)
{
	enum frame_kind kind = t->profile->frames.items[node->frame].kind;

	if (!node->frame)
		return STYLE_STRONG;
	return kind == FRAME_KERNEL ? STYLE_KERNEL : kind == FRAME_INLINED ? STYLE_DIM : STYLE_NONE;
}

static void add_line(struct walk *w, u32 id, u32 depth, const char *label, enum style style)
{
	const struct calltree_node *n = node_at(w, id);
	u64 whole = node_at(w, 0)->total;

	w->lines++;
	if (!w->out)
		return;
	vec_push(&w->out->nodes,
		 (struct tree_node){ .depth = depth,
				     .percent =
					     whole ? 100.0 * (double)n->total / (double)whole : 0,
				     .value = n->total,
				     .self = n->self,
				     .label = label,
				     .style = style });
}

static void add_node(struct walk *w, u32 id, u32 depth)
{
	enum style style = style_of(w->tree, node_at(w, id));
	const char *name = calltree_name(w->tree, id);

	if (w->out)
		name = arena_printf(w->arena, "%s%s", name, style == STYLE_DIM ? " (inlined)" : "");
	add_line(w, id, depth, name, style);
}

static void add_folded(struct walk *w, u32 id, u32 depth, size_t n)
{
	add_line(w, id, depth, w->out ? arena_printf(w->arena, "... %zu calls", n) : NULL,
		 STYLE_DIM);
}

/* The only call of @id that is shown, when next to nothing of its weight remains; else 0. */
static u32 straight_on(const struct walk *w, u32 id)
{
	const struct calltree_node *n = node_at(w, id);
	u32 child = n->first_child;

	if (!is_shown(w, child) || is_shown(w, node_at(w, child)->next))
		return 0;
	return (double)node_at(w, child)->total * 100 >= (double)n->total * STRAIGHT ? child : 0;
}

typedef VEC(u32) run_nodes;

static bool is_kernel(const struct walk *w, u32 id)
{
	u32 frame = node_at(w, id)->frame;

	return frame && w->tree->profile->frames.items[frame].kind == FRAME_KERNEL;
}

/* Its ends, and the calls that led into the kernel, which are those that a wait is known by. */
static bool is_informative(const struct walk *w, const run_nodes *run, size_t i)
{
	size_t ahead = MIN(i + 2 * w->keep, run->len - 1);

	if (i < w->keep || i + w->keep >= run->len)
		return true;
	return !is_kernel(w, run->items[i]) && is_kernel(w, run->items[ahead]);
}

static size_t count_dull(const struct walk *w, const run_nodes *run, size_t from)
{
	size_t n = 0;

	while (from + n < run->len && !is_informative(w, run, from + n))
		n++;
	return n;
}

/* Lines for a straight run; returns the depth of its last one. */
static u32 add_run(struct walk *w, const run_nodes *run, u32 depth)
{
	for (size_t i = 0; i < run->len; i++) {
		size_t n = w->keep ? count_dull(w, run, i) : 0;

		if (n >= FOLD_LEAST) {
			add_folded(w, run->items[i], depth++, n);
			i += n;
		}
		add_node(w, run->items[i], depth++);
	}
	return depth - 1;
}

static void follow(struct walk *w, const struct head *from, run_nodes *run)
{
	u32 most = w->opts->max_depth ? w->opts->max_depth - from->frames : UINT32_MAX;

	vec_clear(run);
	for (u32 id = from->node; id && run->len < most; id = straight_on(w, id))
		vec_push(run, id);
}

/* Depth first without recursion: stacks are deep. Children are in order of weight. */
static void walk_tree(struct walk *w)
{
	VEC(struct head) heads = { 0 };
	run_nodes run = { 0 };
	u32 first = node_at(w, 0)->first_child;

	w->lines = 0;
	if (is_shown(w, first))
		vec_push(&heads, (struct head){ .node = first });
	while (heads.len) {
		struct head *head = vec_last(&heads), below;
		u32 child;

		follow(w, head, &run);
		below.depth = add_run(w, &run, head->depth) + 1;
		below.frames = head->frames + (u32)run.len;
		child = node_at(w, *vec_last(&run))->first_child;
		if (is_shown(w, child) &&
		    (!w->opts->max_depth || below.frames < w->opts->max_depth)) {
			below.node = child;
			vec_push(&heads, below);
			continue;
		}
		while (heads.len && !is_shown(w, node_at(w, vec_last(&heads)->node)->next))
			(void)vec_pop(&heads);
		if (heads.len)
			vec_last(&heads)->node = node_at(w, vec_last(&heads)->node)->next;
	}
	vec_release(&heads);
	vec_release(&run);
}

static bool fits(struct walk *w)
{
	walk_tree(w);
	return !w->opts->max_lines || w->lines <= w->opts->max_lines;
}

/* Folds if need be, then finds the smallest weight that leaves few enough lines. */
static void make_fit(struct walk *w)
{
	u64 low = w->least, high = node_at(w, 0)->total;

	if (fits(w))
		return;
	for (w->keep = KEEP_MOST; w->keep >= KEEP_LEAST; w->keep--)
		if (fits(w))
			return;
	w->keep = KEEP_LEAST;
	for (int i = 0; i < RAISE_STEPS && high - low > 1; i++) {
		w->least = low + (high - low) / 2;
		if (fits(w))
			high = w->least;
		else
			low = w->least;
	}
	w->least = high;
}

static char *title_of(const struct walk *w, bool inverted, bool raised)
{
	const char *what = inverted ? "Hottest functions and their callers" : "Hottest paths";
	u64 whole = node_at(w, 0)->total;

	if (!raised || !whole)
		return arena_printf(w->arena, "%s", what);
	return arena_printf(w->arena, "%s, of %.1f%% and more", what,
			    100.0 * (double)w->least / (double)whole);
}

void report_tree(const struct calltree *t, const struct report_opts *opts, enum value_type unit,
		 struct result *ret)
{
	struct walk w = { .tree = t, .opts = opts, .arena = &ret->arena };
	u64 least = (u64)(opts->percent_limit / 100 * (double)t->nodes.items[0].total);

	w.least = MAX(least, 1u);
	least = w.least;
	make_fit(&w);
	w.out = result_tree(ret, "tree", title_of(&w, opts->tree == TREE_CALLEE, w.least > least),
			    unit);
	walk_tree(&w);
	if (opts->max_lines && w.out->nodes.len > opts->max_lines)
		w.out->nodes.len = opts->max_lines;
}
