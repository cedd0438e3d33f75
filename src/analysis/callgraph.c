/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/callgraph.h"

#include "analysis/flame_names.h"
#include "analysis/paths.h"

#include <fnmatch.h>

typedef VEC(u32) u32_list;

struct weighed {
	u64 self, total;
	u32 node; /* + 1; 0: left out */
};

struct maker {
	struct callgraph *graph;
	struct profile *profile;
	const struct callgraph_opts *opts;
	u32 *shown;             /* frame -> frame that stands for it */
	struct weighed *frames; /* by frame */
	size_t n_frames;
	u8 *focus;       /* by frame: 1 matches, 2 does not */
	u8 *in_focus;    /* by stack: it or a caller matches */
	u64 *weights;    /* by stack: of its samples, and of what it called */
	struct map arcs; /* from << 32 | to -> index + 1 */
};

/* All frames of a module are its first one. */
static u32 *shown_modules(struct profile *p)
{
	u32 *shown = xcalloc(p->frames.len, sizeof(*shown));
	_cleanup_map_ struct map first = MAP_INIT;

	for (u32 i = 1; i < p->frames.len; i++) {
		u64 *id = map_at(&first, p->frames.items[i].module);

		if (!*id)
			*id = i;
		shown[i] = (u32)*id;
	}
	return shown;
}

static bool matches(struct maker *m, u32 frame)
{
	u8 *known = &m->focus[frame];

	if (!*known) {
		const struct frame *f = &m->profile->frames.items[frame];

		*known = fnmatch(m->opts->focus, profile_str(m->profile, f->name), 0) ? 2 : 1;
	}
	return *known == 1;
}

static void find_focus(struct maker *m)
{
	const struct profile *p = m->profile;

	for (u32 i = 1; i < p->stacks.len; i++) {
		const struct stack *st = &p->stacks.items[i];

		m->in_focus[i] =
			!m->opts->focus || m->in_focus[st->parent] || matches(m, st->frame);
	}
	m->in_focus[0] = !m->opts->focus;
}

static void weigh(struct maker *m, const struct profile_sample *s)
{
	if (s->stack)
		m->frames[m->shown[m->profile->stacks.items[s->stack].frame]].self += s->weight;
	m->weights[s->stack] += s->weight;
	m->graph->whole += s->weight;
	m->graph->samples += s->count;
}

/* Recursion counts once. */
static void weigh_frames(struct maker *m)
{
	const struct profile *p = m->profile;
	_cleanup_free_ u32 *keys = xcalloc(MAX(p->stacks.len, (size_t)1), sizeof(*keys));
	_cleanup_free_ u8 *outermost = NULL;

	for (u32 i = 1; i < p->stacks.len; i++)
		keys[i] = m->shown[p->stacks.items[i].frame];
	outermost = paths_outermost(p, keys, m->n_frames);
	paths_sum(p, m->weights);
	for (u32 i = 1; i < p->stacks.len; i++)
		if (outermost[i])
			m->frames[keys[i]].total += m->weights[i];
}

/* --- nodes ---------------------------------------------------------------------------------- */

struct order {
	u32 frame;
	u64 total, self;
};

static int compare_total(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int compare_self(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return compare_total(a, b);
}

static u32 node_name(struct maker *m, const struct frame *f)
{
	const char *path = profile_str(m->profile, f->module), *slash = strrchr(path, '/');

	if (!m->opts->by_module)
		return f->name;
	return profile_string(m->profile, !*path ? "[unknown]" : slash ? slash + 1 : path);
}

static void add_node(struct maker *m, const struct order *o)
{
	struct weighed *w = &m->frames[o->frame];
	struct frame f = m->profile->frames.items[o->frame];

	vec_push(&m->graph->nodes, (struct callgraph_node){ .name = node_name(m, &f),
							    .module = f.module,
							    .kind = f.kind,
							    .self = w->self,
							    .total = w->total });
	w->node = (u32)m->graph->nodes.len;
}

typedef VEC(struct order) order_list;

/* The first half because much happens below them, the rest because much happens in them. */
static void choose_best(order_list *list, u32 most)
{
	struct order *rest;

	vec_sort(list, compare_total);
	if (list->len <= most)
		return;
	rest = list->items + most / 2;
	qsort(rest, list->len - most / 2, sizeof(*rest), compare_self);
	qsort(list->items, most, sizeof(*rest), compare_total);
}

static void hide_node(struct maker *m, const struct order *o)
{
	m->graph->hidden_nodes++;
	m->graph->hidden_self += o->self;
}

static void choose_nodes(struct maker *m)
{
	u32 most = m->opts->max_nodes ? MIN(m->opts->max_nodes, (u32)CALLGRAPH_NODES_MOST)
				      : CALLGRAPH_NODES_MOST;
	double least = m->opts->min_node * (double)m->graph->whole;
	order_list list = { 0 };

	for (u32 i = 1; i < m->n_frames; i++) {
		struct order o = { i, m->frames[i].total, m->frames[i].self };

		if (o.total && (double)o.total >= least)
			vec_push(&list, o);
		else if (o.total)
			hide_node(m, &o);
	}
	choose_best(&list, most);
	for (u32 i = 0; i < list.len; i++) {
		if (i < most)
			add_node(m, &list.items[i]);
		else
			hide_node(m, &list.items[i]);
	}
	vec_release(&list);
}

/* --- arcs ----------------------------------------------------------------------------------- */

/* The number of the arc, + 1. */
static u32 arc_of(struct maker *m, u32 from, u32 to)
{
	u64 *index = map_at(&m->arcs, (u64)from << 32 | to);

	if (!*index) {
		vec_push(&m->graph->arcs, (struct callgraph_arc){ .from = from, .to = to });
		*index = m->graph->arcs.len;
	}
	return (u32)*index;
}

/* By stack: the arc that leads to it, + 1; 0: none. @nearest: by stack, the next node upwards. */
static void find_arcs(struct maker *m, u32 *arcs, u32 *nearest)
{
	const struct profile *p = m->profile;

	for (u32 i = 1; i < p->stacks.len; i++) {
		const struct stack *st = &p->stacks.items[i];
		u32 node = m->frames[m->shown[st->frame]].node, caller = nearest[st->parent];

		nearest[i] = node ? node : caller;
		/* calls within a module are not arcs */
		if (node && caller && m->weights[i] && !(m->opts->by_module && node == caller))
			arcs[i] = arc_of(m, caller - 1, node - 1);
	}
}

static void connect(struct maker *m)
{
	const struct profile *p = m->profile;
	size_t n = MAX(p->stacks.len, (size_t)1);
	_cleanup_free_ u32 *arcs = xcalloc(n, sizeof(*arcs)),
			   *nearest = xcalloc(n, sizeof(*nearest));
	_cleanup_free_ u8 *outermost = NULL;

	find_arcs(m, arcs, nearest);
	outermost = paths_outermost(p, arcs, m->graph->arcs.len + 1);
	for (u32 i = 1; i < p->stacks.len; i++) {
		struct callgraph_arc *a = arcs[i] ? &m->graph->arcs.items[arcs[i] - 1] : NULL;
		u32 up = p->stacks.items[i].parent;

		if (a && outermost[i])
			a->weight += m->weights[i];
		if (a && m->frames[m->shown[p->stacks.items[up].frame]].node)
			a->direct += m->weights[i];
	}
}

static int compare_arcs(const void *a, const void *b)
{
	const struct callgraph_arc *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void prune_arcs(struct maker *m)
{
	struct callgraph *g = m->graph;
	double least = m->opts->min_arc * (double)g->whole;
	size_t kept = 0;

	for (size_t i = 0; i < g->arcs.len; i++) {
		struct callgraph_arc a = g->arcs.items[i];

		a.indirect = !a.direct;
		if ((double)a.weight >= least)
			g->arcs.items[kept++] = a;
		else
			g->hidden_arcs++;
	}
	g->arcs.len = kept;
	vec_sort(&g->arcs, compare_arcs);
}

/* --- thinning ------------------------------------------------------------------------------- */

/* Whether arcs lead from the start of arc @index to its end without it. */
static bool is_bridged(const struct callgraph *g, const u32_list *out, const u8 *gone, u32 index)
{
	const struct callgraph_arc *arcs = g->arcs.items;
	u8 *seen = xcalloc(g->nodes.len, 1);
	u32_list todo = { 0 };
	bool found = false;

	vec_push(&todo, arcs[index].from);
	seen[arcs[index].from] = 1;
	while (todo.len && !found) {
		u32 node = vec_pop(&todo);

		vec_each(i, &out[node]) {
			if (*i == index || gone[*i] || seen[arcs[*i].to])
				continue;
			seen[arcs[*i].to] = 1;
			found |= arcs[*i].to == arcs[index].to;
			vec_push(&todo, arcs[*i].to);
		}
	}
	vec_release(&todo);
	free(seen);
	return found;
}

void callgraph_thin(struct callgraph *g)
{
	u32_list *out = xcalloc(g->nodes.len, sizeof(*out));
	u8 *gone = xcalloc(g->arcs.len ? g->arcs.len : 1, 1);
	size_t kept = 0;

	for (u32 i = 0; i < g->arcs.len; i++)
		vec_push(&out[g->arcs.items[i].from], i);
	for (u32 i = (u32)g->arcs.len; i-- > 0;) {
		const struct callgraph_arc *a = &g->arcs.items[i];

		gone[i] = a->indirect && a->from != a->to && is_bridged(g, out, gone, i);
	}
	for (size_t i = 0; i < g->arcs.len; i++)
		if (!gone[i])
			g->arcs.items[kept++] = g->arcs.items[i];
	g->bridged_arcs += g->arcs.len - kept;
	g->arcs.len = kept;
	for (size_t i = 0; i < g->nodes.len; i++)
		vec_release(&out[i]);
	free(out);
	free(gone);
}

/* --- all ------------------------------------------------------------------------------------ */

static void maker_release(struct maker *m)
{
	free(m->shown);
	free(m->frames);
	free(m->focus);
	free(m->in_focus);
	free(m->weights);
	map_release(&m->arcs);
}

int callgraph_init(struct callgraph *g, struct profile *p, const struct callgraph_opts *opts,
		   struct err *e)
{
	struct maker m = { .graph = g, .profile = p, .opts = opts };

	*g = (struct callgraph){ .profile = p, .event = opts->event };
	m.shown = opts->by_module ? shown_modules(p) : flame_shown_frames(p);
	m.n_frames = p->frames.len;
	m.frames = xcalloc(m.n_frames, sizeof(*m.frames));
	m.focus = xcalloc(m.n_frames, 1);
	m.in_focus = xcalloc(MAX(p->stacks.len, (size_t)1), 1);
	m.weights = xcalloc(MAX(p->stacks.len, (size_t)1), sizeof(*m.weights));
	find_focus(&m);
	vec_each(sample, &p->samples) {
		if (sample->event != opts->event)
			continue;
		if (m.in_focus[sample->stack])
			weigh(&m, sample);
		else
			g->unfocused += sample->weight;
	}
	weigh_frames(&m);
	choose_nodes(&m);
	connect(&m);
	prune_arcs(&m);
	maker_release(&m);
	if (g->nodes.len)
		return 0;
	callgraph_release(g);
	if (opts->focus && g->unfocused)
		return err_set(e, ENODATA, "no stack has a function '%s'", opts->focus);
	return err_set(e, ENODATA, "nothing to draw: no sample has a stack and weight");
}

void callgraph_release(struct callgraph *g)
{
	vec_release(&g->nodes);
	vec_release(&g->arcs);
	vec_release(&g->points);
}

/* --- as tables ------------------------------------------------------------------------------ */

static const struct column node_columns[] = {
	{ "total", "TOTAL", VALUE_PERCENT, 0 },
	{ "self", "SELF", VALUE_PERCENT, 0 },
	{ "total_weight", "TOTAL WEIGHT", VALUE_COUNT, COLUMN_HIDDEN },
	{ "self_weight", "SELF WEIGHT", VALUE_COUNT, COLUMN_HIDDEN },
	{ "module", "MODULE", VALUE_TEXT, COLUMN_HIDDEN },
	{ "name", "FUNCTION", VALUE_TEXT, COLUMN_FILL },
};

static const struct column arc_columns[] = {
	{ "share", "SHARE", VALUE_PERCENT, 0 },
	{ "weight", "WEIGHT", VALUE_COUNT, COLUMN_HIDDEN },
	{ "indirect", "INDIRECT", VALUE_BOOL, COLUMN_HIDDEN },
	{ "caller", "CALLER", VALUE_TEXT, 0 },
	{ "arrow", "", VALUE_TEXT, 0 },
	{ "callee", "CALLEE", VALUE_TEXT, COLUMN_FILL },
};

static void nodes_table(const struct callgraph *g, u32 most, struct result *ret)
{
	struct table *t = result_table(ret, "nodes", NULL, node_columns, ARRAY_SIZE(node_columns));

	for (u32 i = 0; i < g->nodes.len && (!most || i < most); i++) {
		const struct callgraph_node *n = &g->nodes.items[i];
		struct row *row = table_row(ret, t);

		row->cells[0] = value_d(VALUE_PERCENT, callgraph_share(g, n->total));
		row->cells[1] = value_d(VALUE_PERCENT, callgraph_share(g, n->self));
		row->cells[2] = value_u(VALUE_COUNT, n->total);
		row->cells[3] = value_u(VALUE_COUNT, n->self);
		row->cells[4] = value_text(ret, profile_str(g->profile, n->module));
		row->cells[5] = value_text(ret, callgraph_name(g, i));
	}
}

static void arcs_table(const struct callgraph *g, u32 most, struct result *ret)
{
	struct table *t = result_table(ret, "arcs", "calls", arc_columns, ARRAY_SIZE(arc_columns));

	for (u32 i = 0; i < g->arcs.len && (!most || i < most); i++) {
		const struct callgraph_arc *a = &g->arcs.items[i];
		struct row *row = table_row(ret, t);

		row->cells[0] = value_d(VALUE_PERCENT, callgraph_share(g, a->weight));
		row->cells[1] = value_u(VALUE_COUNT, a->weight);
		row->cells[2] = value_u(VALUE_BOOL, a->indirect);
		row->cells[3] = value_text(ret, callgraph_name(g, a->from));
		row->cells[4] = value_text(ret, a->indirect ? "..>" : "-->");
		row->cells[5] = value_text(ret, callgraph_name(g, a->to));
	}
}

void callgraph_report(const struct callgraph *g, u32 max_lines, struct result *ret)
{
	nodes_table(g, max_lines, ret);
	arcs_table(g, max_lines, ret);
	result_fact(ret, "hidden_nodes", NULL, value_u(VALUE_COUNT, g->hidden_nodes));
	result_fact(ret, "hidden_arcs", NULL, value_u(VALUE_COUNT, g->hidden_arcs));
	if (g->hidden_nodes || g->hidden_arcs)
		result_note(
			ret, NOTE_INFO, "--min-node, --min-arc and --nodes say what is",
			"left out: %llu functions, which ran %.2f%% of the time, and %llu calls",
			(unsigned long long)g->hidden_nodes, callgraph_share(g, g->hidden_self),
			(unsigned long long)g->hidden_arcs);
	if (max_lines && (g->nodes.len > max_lines || g->arcs.len > max_lines))
		result_note(ret, NOTE_INFO, "--lines 0 shows all",
			    "%zu functions and %zu calls in "
			    "all",
			    g->nodes.len, g->arcs.len);
}

/* --- the trunk ------------------------------------------------------------------------------ */

/*
 * A trunk is what nearly all passes through: what is beside it, and the time of its own, is below
 * this share of the whole.
 */
#define BESIDE 0.1

/* The function that begins the trunk and hands nearly all on to @ret_next; SIZE_MAX: none. */
static size_t find_trunk(const struct callgraph *g, const u32 *callers, u32 *ret_next)
{
	double least = (1 - BESIDE) * (double)g->whole;
	size_t root = 0;

	while (root < g->nodes.len && callers[root])
		root++;
	if (root == g->nodes.len || (double)g->nodes.items[root].total < least)
		return SIZE_MAX;
	vec_each(a, &g->arcs) {
		if (a->from != root || a->to == root || (double)a->weight < least)
			continue;
		*ret_next = a->to;
		return root;
	}
	return SIZE_MAX;
}

static void drop_node(struct callgraph *g, u32 node)
{
	size_t n = 0;

	for (size_t i = 0; i < g->arcs.len; i++) {
		struct callgraph_arc a = g->arcs.items[i];

		if (a.from == node || a.to == node)
			continue;
		a.from -= a.from > node;
		a.to -= a.to > node;
		g->arcs.items[n++] = a;
	}
	g->arcs.len = n;
	memmove(&g->nodes.items[node], &g->nodes.items[node + 1],
		(g->nodes.len - node - 1) * sizeof(*g->nodes.items));
	g->nodes.len--;
}

/* What only the trunk leads to, except @next: twigs that end where it is cut. */
static void find_twigs(const struct callgraph *g, u32 root, u32 next, const u32 *callers, u8 *kept)
{
	bool more = true;

	memset(kept, 0, g->nodes.len);
	kept[next] = 1;
	for (u32 i = 0; i < g->nodes.len; i++)
		kept[i] |= i != root && !callers[i];
	while (more) {
		more = false;
		vec_each(a, &g->arcs) {
			if (a->from == root || !kept[a->from] || kept[a->to])
				continue;
			kept[a->to] = 1;
			more = true;
		}
	}
}

static void drop_twigs(struct callgraph *g, u32 root, const u8 *kept)
{
	size_t arcs = g->arcs.len;

	for (u32 i = (u32)g->nodes.len; i-- > 0;) {
		if (kept[i])
			continue;
		g->hidden_self += g->nodes.items[i].self;
		if (i == root)
			g->trimmed++;
		else
			g->hidden_nodes++;
		drop_node(g, i);
	}
	/* the arc along the trunk does not count as omitted */
	g->hidden_arcs += arcs - g->arcs.len - 1;
}

void callgraph_trim(struct callgraph *g)
{
	_cleanup_free_ u32 *callers = xcalloc(g->nodes.len + 1, sizeof(*callers));
	_cleanup_free_ u8 *kept = xcalloc(g->nodes.len + 1, 1);

	while (g->nodes.len > 2) {
		size_t trunk;
		u32 next;

		memset(callers, 0, g->nodes.len * sizeof(*callers));
		vec_each(a, &g->arcs)
			callers[a->to] += a->from != a->to;
		trunk = find_trunk(g, callers, &next);
		if (trunk == SIZE_MAX)
			return;
		find_twigs(g, (u32)trunk, next, callers, kept);
		drop_twigs(g, (u32)trunk, kept);
	}
}
