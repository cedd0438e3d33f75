/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes and threads. */
#include "top/screens.h"

#include <math.h>

#include "base/fmt.h"

/* Columns as they are shown: those of threads only where rows are threads. */
struct shown {
	struct top *t;
	struct table_column columns[COLUMNS_MOST];
	int which[COLUMNS_MOST];
	int n;
};

static void choose_columns(struct top *t, struct shown *ret)
{
	size_t n;
	const struct top_column *all = top_columns(&n);
	bool narrow = top_scope(t)->of.pid && t->frame->threads;

	*ret = (struct shown){ .t = t };
	for (int i = 0; i < t->tasks.n_columns && ret->n < COLUMNS_MOST - 8; i++) {
		const struct top_column *c = &all[t->tasks.columns[i]];

		/* of one process, its number and user say nothing */
		if (narrow &&
		    (streq(c->key, "pid") || streq(c->key, "user") || streq(c->key, "virt") ||
		     streq(c->key, "res") || streq(c->key, "mem")))
			continue;
		if (t->frame->threads && streq(c->key, "pid")) {
			ret->which[ret->n] = t->tasks.columns[i];
			ret->columns[ret->n++] = (struct table_column){ c->title, c->width, true };
			ret->which[ret->n] = top_column_find("tid", 3);
			ret->columns[ret->n++] = (struct table_column){ "TID", 7, true };
			continue;
		}
		ret->which[ret->n] = t->tasks.columns[i];
		ret->columns[ret->n++] =
			(struct table_column){ c->title, c->width, c->kind != KIND_TEXT };
	}
	if (!narrow)
		return;
	memmove(ret->which + 1, ret->which, (size_t)ret->n * sizeof(*ret->which));
	memmove(ret->columns + 1, ret->columns, (size_t)ret->n * sizeof(*ret->columns));
	ret->which[0] = top_column_find("tid", 3);
	ret->columns[0] = (struct table_column){ "TID", 7, true };
	ret->n++;
}

static void add_guides(const struct top *t, const struct task_line *l, struct buf *out)
{
	for (u32 i = 0; t->tasks.tree && i < l->depth && i < 20; i++)
		buf_addstr(out, i + 1 == l->depth  ? (l->last ? "\xe2\x94\x94\xe2\x94\x80"
							      : "\xe2\x94\x9c\xe2\x94\x80")
				: l->more >> i & 1 ? "\xe2\x94\x82 "
						   : "  ");
	if (l->closed)
		buf_addstr(out, "+ ");
}

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct shown *s = ctx;
	size_t n;
	const struct top_column *c = &top_columns(&n)[s->which[column]];
	const struct task_line *l = &s->t->tasks.lines.items[row];
	const struct top_task *task = &s->t->frame->tasks.items[l->task];
	double value;

	if (c->kind == KIND_TEXT) {
		const struct top_context context = top_context(s->t);

		if (streq(c->key, "command"))
			add_guides(s->t, l, out);
		buf_addstr(out, c->text(task, &context));
		if (streq(c->key, "command") && task->row.folded)
			buf_addf(out, "  (+%u short-lived)", task->row.folded);
		return task->row.kernel && streq(c->key, "command") ? ROLE_DIM : ROLE_TEXT;
	}
	value = tasks_line_value(s->t, l, c);
	top_column_format(c, value, out);
	if (c->bad > 0 && value >= c->bad)
		return ROLE_BAD;
	if (c->warn > 0 && value >= c->warn)
		return ROLE_WARN;
	return c->kind == KIND_PERCENT && !(value >= 0.05) ? ROLE_DIM : ROLE_TEXT;
}

static enum role line_role(void *ctx, int row)
{
	const struct shown *s = ctx;
	const struct top_task *task = tasks_at(s->t, row);

	if (map_get(&s->t->tasks.tagged, task->row.tid, 0))
		return ROLE_TAGGED;
	return task->row.ended ? ROLE_DIM : ROLE_TEXT;
}

static int sorted_column(const struct shown *s)
{
	for (int i = 0; i < s->n; i++)
		if (s->which[i] == s->t->tasks.sort)
			return i;
	return -1;
}

static struct table_view view_of(struct shown *s)
{
	return (struct table_view){ .columns = s->columns,
				    .n_columns = (size_t)s->n,
				    .sorted = sorted_column(s),
				    .ascending = s->t->tasks.ascending,
				    .shift = s->t->tasks.shift,
				    .cell = cell,
				    .line = line_role,
				    .ctx = s };
}

static void draw(struct top *t, struct rect r)
{
	struct shown s;
	struct table_view view;
	const struct top_task *task;

	tasks_arrange(t);
	choose_columns(t, &s);
	view = view_of(&s);
	t->tasks.place = r;
	table_draw(&t->grid, r, &view, &t->tasks.list, (int)t->tasks.lines.len);
	task = tasks_at(t, t->tasks.list.cursor);
	t->tasks.cursor_tid = task ? task->row.tid : 0;
	if (!t->tasks.lines.len && r.h > 1)
		grid_text(&t->grid, r.x, r.y + 1, r.w,
			  t->tasks.filter.n || t->tasks.filter.words
				  ? "no process matches the filter"
			  : top_scope(t)->of.pid ? "the process has ended"
						 : "no process",
			  ROLE_DIM);
}

/* A click on a heading sorts by it. */
static bool click_heading(struct top *t, const struct input *in)
{
	struct shown s;
	struct table_view view;
	int column;

	if (in->key != TUI_CLICK || in->y != t->tasks.place.y)
		return false;
	choose_columns(t, &s);
	view = view_of(&s);
	column = table_column_at(&view, t->tasks.place, in->x);
	if (column < 0)
		return false;
	if (t->tasks.sort == s.which[column])
		t->tasks.ascending = !t->tasks.ascending;
	t->tasks.sort = s.which[column];
	return true;
}

/* To all that are tagged. */
static void go_down_tagged(struct top *t)
{
	struct live_of of = { .threads = t->frame->threads };
	int more = 0;

	for (int i = 0; i < (int)t->tasks.lines.len; i++) {
		const struct task_row *row = &tasks_at(t, i)->row;

		if (!map_get(&t->tasks.tagged, row->tid, 0))
			continue;
		if (of.n_marked < MARKED_MOST)
			of.marked[of.n_marked++] = row->tid;
		else
			more++;
	}
	map_clear(&t->tasks.tagged);
	if (!of.n_marked) {
		top_complain(t, "what was tagged is not in the list: the tags are gone");
		return;
	}
	if (more)
		top_complain(t, "%d of the tagged ones are left out: at most %d", more,
			     MARKED_MOST);
	top_narrow(t, "%u tagged", of.n_marked)->of = of;
	t->tasks.list.cursor = 0;
	top_ask(t);
}

static void go_down(struct top *t)
{
	const struct top_task *task = tasks_at(t, t->tasks.list.cursor);
	const struct live_of *now = &top_scope(t)->of;
	struct scope *s;

	if (t->tasks.tagged.len) {
		go_down_tagged(t);
		return;
	}
	if (!task)
		return;
	if (now->tid || (now->pid && task->row.pid == task->row.tid && task->row.threads < 2)) {
		top_go(t, top_screen_find("flame"));
		return;
	}
	if (now->pid) {
		s = top_narrow(t, "thread %u %s", task->row.tid, task->row.comm);
		s->of.tid = task->row.tid;
		top_go(t, top_screen_find("flame"));
		return;
	}
	s = top_narrow(t, "%u %s", task->row.pid, task->row.comm);
	s->of = (struct live_of){ .pid = task->row.pid };
	t->tasks.list.cursor = 0;
	top_ask(t);
}

/* What the process does now: instead of the stack of a moment, all of the last seconds. */
static void show_stacks(struct top *t)
{
	if (!top_scope(t)->of.pid)
		go_down(t);
	top_go(t, top_screen_find("flame"));
}

static void show_syscalls(struct top *t)
{
	const struct top_task *task = tasks_at(t, t->tasks.list.cursor);
	char words[64];

	if (!task || t->o.input)
		return;
	snprintf(words, sizeof(words), "syscount 1 -p %u", task->row.pid);
	if (!top_scope(t)->of.pid)
		top_narrow(t, "%u %s", task->row.pid, task->row.comm)->of =
			(struct live_of){ .pid = task->row.pid };
	tools_run(t, words);
}

static bool move(struct top *t, const struct input *in)
{
	const struct top_task *task;

	if (!list_key(&t->tasks.list, in))
		return false;
	/* from now on it follows this one */
	task = tasks_at(t, t->tasks.list.cursor);
	t->tasks.cursor_tid = task ? task->row.tid : 0;
	return true;
}

static bool key_pressed(struct top *t, const struct input *in)
{
	if (click_heading(t, in))
		return true;
	if (in->key == TUI_ENTER || in->key == TUI_DOUBLE_CLICK) {
		go_down(t);
		return true;
	}
	if (in->key == 'b') {
		show_stacks(t);
		return true;
	}
	if (in->key == 'y') {
		show_syscalls(t);
		return true;
	}
	if (in->key == TUI_LEFT || in->key == TUI_RIGHT) {
		t->tasks.shift = MAX(t->tasks.shift + (in->key == TUI_RIGHT ? 1 : -1), 0);
		t->tasks.shift = MIN(t->tasks.shift, MAX(t->tasks.n_columns - 2, 0));
		return true;
	}
	return tasks_action(t, in) || move(t, in);
}

static const char *unit_of(const struct top_column *c)
{
	size_t n = strlen(c->title);

	switch (c->kind) {
	case KIND_BYTES: return "bytes; K, M, G are powers of 1024";
	case KIND_RATE: return "bytes a second; K, M, G are powers of 1024";
	case KIND_PERCENT: return "%";
	case KIND_TIME: return "minutes:seconds, hours or days";
	case KIND_NUMBER: return n > 2 && streq(c->title + n - 2, "/s") ? "a second" : NULL;
	default: return NULL;
	}
}

static void explain_column(const struct top_column *c, const struct top_task *task,
			   const struct top_context *ctx, struct buf *out)
{
	buf_addf(out, "%s", c->title);
	if (task) {
		buf_addf(out, " of %u %s: ", task->row.tid, task->row.comm);
		if (c->text)
			buf_addstr(out, c->text(task, ctx));
		else
			top_column_format(c, top_column_value(c, task, ctx), out);
	}
	buf_addf(out, "\n%s\nfrom: %s\n", c->meaning, c->from);
	if (unit_of(c))
		buf_addf(out, "unit: %s\n", unit_of(c));
	if (c->deeper)
		buf_addf(out, "high: %s\n", c->deeper);
}

/* The column that is sorted by: that is the figure which the list is about; then the others. */
static void explain(struct top *t, struct buf *out)
{
	size_t n;
	const struct top_column *c = &top_columns(&n)[t->tasks.sort];
	const struct top_task *task = tasks_at(t, t->tasks.list.cursor);
	const struct top_context ctx = top_context(t);

	explain_column(c, task, &ctx, out);
	buf_addstr(out, "\nF6 or a click on a heading chooses another column. The others:\n\n");
	for (int i = 0; i < t->tasks.n_columns; i++)
		if (t->tasks.columns[i] != t->tasks.sort)
			explain_column(&top_columns(&n)[t->tasks.columns[i]], task, &ctx, out);
	buf_addstr(out, "\nAbove:\n\n");
	meters_explain(t, out, false);
}

static struct value value_of(struct result *r, const struct top_column *c,
			     const struct top_task *task, const struct top_context *ctx)
{
	double v;

	if (c->text)
		return value_text(r, c->text(task, ctx));
	v = top_column_value(c, task, ctx);
	if (!isfinite(v))
		return (struct value){ 0 };
	switch (c->kind) {
	case KIND_BYTES: return value_u(VALUE_BYTES, (u64)v);
	case KIND_TIME: return value_u(VALUE_DURATION, (u64)v);
	case KIND_PERCENT: return value_d(VALUE_PERCENT, v);
	default: return value_d(VALUE_NUMBER, v);
	}
}

/* Machines get every column. */
static void result(struct top *t, struct result *r)
{
	size_t n;
	const struct top_column *all = top_columns(&n);
	struct top_context ctx = top_context(t);
	struct column columns[COLUMNS_MOST];
	const struct top_task *selected;
	struct table *table;

	for (size_t i = 0; i < n; i++)
		columns[i] = (struct column){
			.key = all[i].key,
			.title = all[i].title,
			.type = all[i].kind == KIND_TEXT      ? VALUE_TEXT
				: all[i].kind == KIND_BYTES   ? VALUE_BYTES
				: all[i].kind == KIND_TIME    ? VALUE_DURATION
				: all[i].kind == KIND_PERCENT ? VALUE_PERCENT
							      : VALUE_NUMBER,
		};
	table = result_table(r, "processes", NULL, columns, n);
	tasks_arrange(t);
	selected = tasks_at(t, t->tasks.list.cursor);
	ctx.selected = selected ? selected->row.tid : 0;
	for (int i = 0; i < (int)t->tasks.lines.len; i++) {
		struct row *row = table_row(r, table);

		for (size_t k = 0; k < n; k++)
			row->cells[k] = value_of(r, &all[k], tasks_at(t, i), &ctx);
	}
}

const struct screen screen_tasks = {
	.key = "processes",
	.title = "Processes",
	.brief = "Proc",
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
	.result = result,
};
