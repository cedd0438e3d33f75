/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a profile to what is drawn, by the analyses that the commands use. */
#include "analysis/flame.h"
#include "analysis/report.h"
#include "base/hash.h"
#include "tui/grid.h"
#include "top/live_state.h"
#include "view/svg_colors.h"

enum { FUNCTIONS_MOST = 500, DETAILS_MOST = 200, PATHS_MOST = 5 /* of a function */ };

/* --- functions -------------------------------------------------------------------------------- */

static int column_of(const struct table *t, const char *key)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (streq(t->columns[i].key, key))
			return (int)i;
	return -1;
}

static const struct table *first_table(const struct result *r)
{
	vec_each(s, &r->sections)
		if (s->type == SECTION_TABLE)
			return s->table;
	return NULL;
}

static u64 weight_of(const struct row *row, int column, u64 whole)
{
	return column < 0 || !row->cells[column].type
		       ? 0
		       : (u64)(row->cells[column].d / 100 * (double)whole + 0.5);
}

static const char *text_of(const struct row *row, int column)
{
	return column < 0 || row->cells[column].type != VALUE_TEXT ? "" : row->cells[column].s;
}

/* The report writes "[k] name", as perf does. */
static const char *skip_kind(const char *name, u8 *ret_kind)
{
	*ret_kind = FRAME_USER;
	if (name[0] != '[' || !name[1] || name[2] != ']' || name[3] != ' ')
		return name;
	if (name[1] == 'k')
		*ret_kind = FRAME_KERNEL;
	else if (name[1] == 'j')
		*ret_kind = FRAME_JIT;
	return name + 4;
}

static void fill_functions(struct profile_frame *f, struct profile *p)
{
	const struct report_opts opts = { .sort = "symbol,dso",
					  .tree = TREE_NONE,
					  .max_lines = FUNCTIONS_MOST };
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_result_ struct result r = { 0 };
	const struct table *t;

	result_init(&r, "report");
	t = report_build(p, &opts, &r, &e) < 0 ? NULL : first_table(&r);
	if (!t)
		return;
	int self = column_of(t, "self"), total = column_of(t, "children"),
	    name = column_of(t, "symbol"), module = column_of(t, "dso");

	vec_each(row, &t->rows) {
		struct live_function *to = vec_new(&f->functions);

		to->name = arena_strdup(&f->arena, skip_kind(text_of(row, name), &to->kind));
		to->module = arena_strdup(&f->arena, text_of(row, module));
		to->self = weight_of(row, self, f->weight);
		to->total = total < 0 ? to->self : weight_of(row, total, f->weight);
	}
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void fill_boxes(struct profile_frame *f, struct profile *p, u16 event, bool inverted)
{
	const struct flame_opts opts = { .event = event,
					 .order = ORDER_NAME,
					 .reverse = inverted,
					 .group = GROUP_COMM,
					 .min_share = 0.0005 };
	const struct svg_colors_opts look = { .by = f->cold ? COLOR_BY_WAITS : COLOR_BY_AUTO,
					      .palette = PALETTE_BLUE };
	_cleanup_err_ struct err e = ERR_INIT;
	struct svg_colors colors;
	struct flame flame;

	if (flame_init(&flame, p, &opts, &e) < 0)
		return;
	svg_colors_init(&colors, &flame, &look);
	f->rows = flame.rows;
	vec_reserve(&f->boxes, flame.boxes.len);
	vec_each(b, &flame.boxes) {
		const struct frame *frame = flame_frame(&flame, b);
		const struct calltree_node *node = flame_node(&flame, b);
		struct rgb color = svg_color(&colors, b);
		struct live_box *to = vec_new(&f->boxes);
		size_t len;
		const char *name = flame_name(&flame, b, &len);

		*to = (struct live_box){
			.parent = b->parent,
			.depth = b->depth,
			.start = b->start,
			.weight = node->total,
			.self = node->self,
			.name = arena_strndup(&f->arena, name, len),
			.module =
				frame ? arena_strdup(&f->arena, profile_str(p, frame->module)) : "",
			.kind = frame ? frame->kind : FRAME_MARKER,
			.color = color_of_rgb(color.r, color.g, color.b),
		};
	}
	flame_release(&flame);
}

/* --- who calls a function --------------------------------------------------------------------- */

/* The name of a file without its folders; the kernel's modules have names of several forms. */
static const char *short_module(const char *module)
{
	const char *slash = strrchr(module, '/');

	if (*module == '[')
		return "[";
	return slash ? slash + 1 : module;
}

bool live_is_function(const struct profile *p, u32 stack, const struct live_request *r)
{
	const struct frame *f = profile_frame_of(p, stack);

	return streq(profile_str(p, f->name), r->function) &&
	       (!*r->module ||
		streq(short_module(profile_str(p, f->module)), short_module(r->module)));
}

bool live_has_asked(const struct profile *p, u32 stack, const struct live_request *r)
{
	if (!*r->function) {
		const struct frame *f = stack ? profile_frame_of(p, stack) : NULL;

		if (!*r->module)
			return true;
		if (f && streq(r->module, LIVE_KERNEL))
			return f->kind == FRAME_KERNEL;
		return f && streq(short_module(profile_str(p, f->module)), short_module(r->module));
	}
	for (; stack; stack = p->stacks.items[stack].parent)
		if (live_is_function(p, stack, r))
			return true;
	return false;
}

static int by_weight(const void *a, const void *b)
{
	const struct live_detail *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* The path from a caller up, in one line: "caller < its caller < main". */
static void add_path(const struct profile *p, u32 stack, struct buf *out)
{
	bool first = true;

	for (int n = 0; stack && n < 64; stack = p->stacks.items[stack].parent, n++) {
		buf_addf(out, "%s%s", first ? "" : " < ",
			 profile_str(p, profile_frame_of(p, stack)->name));
		first = false;
	}
}

static void fill_callers(struct profile_frame *f, const struct profile *p,
			 const struct live_request *r)
{
	_cleanup_map_ struct map known = MAP_INIT; /* caller's stack -> place + 1 */

	vec_each(s, &p->samples) {
		u32 stack = s->stack;
		_cleanup_buf_ struct buf text = BUF_INIT;
		u64 *at;

		/* the outermost of a recursion is what others called */
		for (u32 up = stack, found = 0;; up = p->stacks.items[up].parent) {
			if (up && live_is_function(p, up, r))
				found = up;
			if (!up) {
				stack = found;
				break;
			}
		}
		if (!stack)
			continue;
		at = map_at(&known, p->stacks.items[stack].parent);
		if (!*at) {
			add_path(p, p->stacks.items[stack].parent, &text);
			vec_push(&f->callers,
				 (struct live_detail){
					 text.len ? arena_strdup(&f->arena, buf_str(&text))
						  : "[not called: a root]",
					 0 });
			*at = f->callers.len;
		}
		f->callers.items[*at - 1].weight += s->weight;
	}
	vec_sort(&f->callers, by_weight);
	if (f->callers.len > DETAILS_MOST)
		f->callers.len = DETAILS_MOST;
}

/* What was inlined belongs to the function that it is in. */
static u32 outer_of_inlined(const struct profile *p, u32 stack)
{
	while (stack && profile_frame_of(p, stack)->kind == FRAME_INLINED)
		stack = p->stacks.items[stack].parent;
	return stack;
}

/* --- the paths to all functions --------------------------------------------------------------- */

struct path {
	u32 function, caller; /* stack of the caller */
	u64 weight;
};

static int path_order(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static u64 function_key(const char *name, const char *module)
{
	const char *in = short_module(module);

	return hash_mix(hash_bytes(name, strlen(name)), hash_bytes(in, strlen(in)));
}

/* By the callers of what samples hit: a few of the heaviest for each function that is listed. */
static void fill_paths(struct profile_frame *f, const struct profile *p)
{
	_cleanup_map_ struct map functions = MAP_INIT, known = MAP_INIT;
	VEC(struct path) paths = { 0 };

	for (size_t i = 0; i < f->functions.len; i++)
		map_put(&functions,
			function_key(f->functions.items[i].name, f->functions.items[i].module),
			i + 1);
	vec_each(s, &p->samples) {
		u32 stack = outer_of_inlined(p, s->stack);
		const struct frame *hit = stack ? profile_frame_of(p, stack) : NULL;
		u32 caller = stack ? p->stacks.items[stack].parent : 0;
		u64 at = hit ? map_get(&functions,
				       function_key(profile_str(p, hit->name),
						    profile_str(p, hit->module)),
				       0)
			     : 0;
		u64 *place = at && caller ? map_at(&known, at << 32 | caller) : NULL;

		if (!place)
			continue;
		if (!*place) {
			vec_push(&paths, (struct path){ (u32)at - 1, caller, 0 });
			*place = paths.len;
		}
		paths.items[*place - 1].weight += s->weight;
	}
	vec_sort(&paths, path_order);
	vec_each(path, &paths) {
		struct live_function *to = &f->functions.items[path->function];
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (to->n_paths == PATHS_MOST)
			continue;
		add_path(p, path->caller, &text);
		if (!to->n_paths++)
			to->first_path = (u32)f->paths.len;
		vec_push(&f->paths, (struct live_detail){ arena_strdup(&f->arena, buf_str(&text)),
							  path->weight });
	}
	vec_release(&paths);
}

static int most_hit(const void *a, const void *b)
{
	const struct live_thread *x = a, *y = b;

	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static void fill_threads(struct profile_frame *f, const struct profile *p)
{
	_cleanup_map_ struct map known = MAP_INIT;

	vec_each(s, &p->samples) {
		const struct profile_thread *t = &p->threads.items[s->thread];
		u64 *at = map_at(&known, s->thread);

		if (!*at) {
			vec_push(&f->threads,
				 (struct live_thread){
					 (u32)t->pid, (u32)t->tid,
					 arena_strdup(&f->arena, profile_str(p, t->comm)), 0 });
			*at = f->threads.len;
		}
		f->threads.items[*at - 1].weight += s->weight;
	}
	vec_sort(&f->threads, most_hit);
	f->threads.len = MIN(f->threads.len, (size_t)DETAILS_MOST);
}

/* Of @key: adds to the weight of its function, and keeps the heaviest. */
static void add_hot(struct profile_frame *f, const struct profile *p, struct map *sums, u64 key,
		    u32 stack, u64 weight)
{
	u32 name = profile_frame_of(p, stack)->name;
	u64 *sum = map_at(sums, hash_mix(key, name)), *at = map_at(&f->hot_at, key);

	*sum += weight;
	if (!*at) {
		vec_push(&f->hot, (struct live_hot){ "", 0 });
		*at = f->hot.len;
	}
	if (*sum > f->hot.items[*at - 1].weight)
		f->hot.items[*at - 1] =
			(struct live_hot){ arena_strdup(&f->arena, profile_str(p, name)), *sum };
}

static void fill_hot(struct profile_frame *f, const struct profile *p)
{
	_cleanup_map_ struct map sums = MAP_INIT;

	vec_each(s, &p->samples) {
		const struct profile_thread *t = &p->threads.items[s->thread];
		u32 stack = outer_of_inlined(p, s->stack);

		if (!stack)
			continue;
		add_hot(f, p, &sums, (u32)t->tid, stack, s->weight);
		add_hot(f, p, &sums, (u64)1 << 32 | (u32)t->pid, stack, s->weight);
	}
}

void profile_frame_fill(struct profile_frame *f, struct profile *p, u16 event,
			const struct live_request *r)
{
	f->weight = p->events.items[event].weight;
	f->samples = p->events.items[event].samples;
	f->event = arena_strdup(&f->arena, profile_str(p, p->events.items[event].name));
	if (!f->samples)
		return;
	fill_functions(f, p);
	fill_paths(f, p);
	fill_threads(f, p);
	fill_hot(f, p);
	fill_boxes(f, p, event, r->inverted);
	if (*r->function)
		fill_callers(f, p, r);
}
