/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes are shown, in which order. */
#include "top/top.h"

#include <math.h>
#include <strings.h>

enum { DEPTH_MOST = 60 };

struct sort_item {
	u32 task;
	u32 tid;
	double number;
	const char *text;
	bool ascending;
};

static int compare(const void *a, const void *b)
{
	const struct sort_item *x = a, *y = b;
	int sign = x->ascending ? 1 : -1, r = 0;

	if (x->text)
		/* texts begin with a when numbers begin with the largest */
		r = -strcasecmp(x->text, y->text);
	else if (isnan(x->number) || isnan(y->number))
		return isnan(x->number) - isnan(y->number);
	else if (x->number < y->number || x->number > y->number)
		r = x->number < y->number ? -1 : 1;
	if (r)
		return sign * r;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool is_shown(const struct top *t, const struct top_task *task,
		     const struct top_context *ctx)
{
	const struct tasks_state *s = &t->tasks;

	if (!live_is_of(&top_scope(t)->of, task->row.pid, task->row.tid))
		return false;
	if (s->no_kernel && task->row.kernel)
		return false;
	if (*s->user && !streq(s->user, task->user))
		return false;
	return filter_match(&s->filter, task, ctx);
}

/* --- the tree --------------------------------------------------------------------------------- */

static double subtree(const struct top *t, u32 task, const struct top_column *c,
		      const struct top_context *ctx, int depth)
{
	const struct tasks_state *s = &t->tasks;
	double sum = top_column_value(c, &t->frame->tasks.items[task], ctx);

	/* what is not known of one is not known of all */
	if (isnan(sum))
		return sum;
	for (u32 child = s->first_child.items[task]; child && depth < DEPTH_MOST;
	     child = s->next_sibling.items[child - 1])
		sum += subtree(t, child - 1, c, ctx, depth + 1);
	return sum;
}

double tasks_line_value(const struct top *t, const struct task_line *l, const struct top_column *c)
{
	const struct top_context ctx = top_context(t);

	if (l->closed && c->flags & TOP_SUMS)
		return subtree(t, l->task, c, &ctx, 0);
	return top_column_value(c, &t->frame->tasks.items[l->task], &ctx);
}

static struct sort_item item_of(const struct top *t, u32 task)
{
	size_t n;
	const struct top_column *c = &top_columns(&n)[t->tasks.sort];
	const struct top_context ctx = top_context(t);
	const struct top_task *row = &t->frame->tasks.items[task];

	return (struct sort_item){
		.task = task,
		.tid = row->row.tid,
		.text = c->text ? c->text(row, &ctx) : NULL,
		.number = c->text                                ? 0
			  : t->tasks.tree && c->flags & TOP_SUMS ? subtree(t, task, c, &ctx, 0)
								 : top_column_value(c, row, &ctx),
		.ascending = t->tasks.ascending,
	};
}

/* Children by parent; of those whose parent is not shown, the roots. */
static void link_children(struct top *t, const u8 *shown)
{
	struct tasks_state *s = &t->tasks;
	size_t n = t->frame->tasks.len;
	_cleanup_map_ struct map by_pid = MAP_INIT;

	vec_clear(&s->first_child);
	vec_clear(&s->next_sibling);
	for (size_t i = 0; i <= n; i++) {
		vec_push(&s->first_child, 0);
		vec_push(&s->next_sibling, 0);
	}
	for (u32 i = 0; i < n; i++)
		if (shown[i] &&
		    t->frame->tasks.items[i].row.tid == t->frame->tasks.items[i].row.pid)
			map_put(&by_pid, t->frame->tasks.items[i].row.pid, i + 1);
	for (u32 i = 0; i < n; i++) {
		const struct task_row *row = &t->frame->tasks.items[i].row;
		u32 parent = (u32)map_get(&by_pid, row->tid == row->pid ? row->ppid : row->pid, 0);

		/* the last entry is the parent of roots */
		if (!shown[i])
			continue;
		parent = parent && parent != i + 1 ? parent - 1 : (u32)n;
		s->next_sibling.items[i] = s->first_child.items[parent];
		s->first_child.items[parent] = i + 1;
	}
}

static void add_subtree(struct top *t, u32 parent, u32 depth, u64 more)
{
	struct tasks_state *s = &t->tasks;
	VEC(struct sort_item) children = { 0 };

	if (depth >= DEPTH_MOST)
		return;
	for (u32 c = s->first_child.items[parent]; c; c = s->next_sibling.items[c - 1])
		vec_push(&children, item_of(t, c - 1));
	vec_sort(&children, compare);
	for (size_t i = 0; i < children.len; i++) {
		u32 task = children.items[i].task;
		bool last = i + 1 == children.len;
		struct task_line line = { .task = task,
					  .depth = depth,
					  .more = more,
					  .last = last,
					  .parent = s->first_child.items[task] != 0 };

		line.closed = line.parent && map_get(&s->closed, children.items[i].tid, 0);
		vec_push(&s->lines, line);
		if (!line.closed)
			add_subtree(t, task, depth + 1, more | (last ? 0 : 1ull << depth));
	}
	vec_release(&children);
}

static void add_flat(struct top *t, const u8 *shown)
{
	VEC(struct sort_item) items = { 0 };

	for (u32 i = 0; i < t->frame->tasks.len; i++)
		if (shown[i])
			vec_push(&items, item_of(t, i));
	vec_sort(&items, compare);
	vec_each(item, &items)
		vec_push(&t->tasks.lines, (struct task_line){ .task = item->task });
	vec_release(&items);
}

/* --- the cursor ------------------------------------------------------------------------------- */

const struct top_task *tasks_at(const struct top *t, int line)
{
	const struct tasks_state *s = &t->tasks;

	if (line < 0 || (size_t)line >= s->lines.len)
		return NULL;
	return &t->frame->tasks.items[s->lines.items[line].task];
}

/* Follows its task; otherwise it stays where it is on the screen, as the first line does. */
static void keep_cursor(struct top *t)
{
	struct tasks_state *s = &t->tasks;

	s->list.n = (int)s->lines.len;
	if (!s->cursor_tid || !(s->follow || s->tree))
		return;
	for (int i = 0; i < s->list.n; i++)
		if (tasks_at(t, i)->row.tid == s->cursor_tid) {
			s->list.cursor = i;
			return;
		}
}

void tasks_arrange(struct top *t)
{
	struct tasks_state *s = &t->tasks;
	const struct top_context ctx = top_context(t);
	size_t n = t->frame->tasks.len;
	_cleanup_free_ u8 *shown = xcalloc(n + 1, 1);

	for (size_t i = 0; i < n; i++)
		shown[i] = is_shown(t, &t->frame->tasks.items[i], &ctx);
	vec_clear(&s->lines);
	if (s->tree) {
		link_children(t, shown);
		add_subtree(t, (u32)n, 0, 0);
	} else {
		add_flat(t, shown);
	}
	keep_cursor(t);
}

int tasks_set_columns(struct tasks_state *s, const char *list, struct err *e)
{
	int chosen[COLUMNS_MOST], n = 0;

	while (*list && n < COLUMNS_MOST) {
		size_t len = strcspn(list, ", ");
		int column = top_column_find(list, len);

		if (column < 0) {
			err_set(e, EINVAL, "'%.*s' is not a column", (int)MIN(len, (size_t)40),
				list);
			err_hint(e, "press C in fathom top for the list");
			return -EINVAL;
		}
		chosen[n++] = column;
		list += len + strspn(list + len, ", ");
	}
	if (!n)
		return err_set(e, EINVAL, "no column is named");
	memcpy(s->columns, chosen, sizeof(chosen));
	s->n_columns = n;
	return 0;
}
