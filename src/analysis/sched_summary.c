/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole in a few tables: migrations, who preempts whom, and how long the woken wait to run. */
#include "analysis/sched.h"
#include "base/fmt.h"
#include "result/hist.h"

enum { HEAT_COLUMNS = 60, HEAT_LEAST = 20, HEAT_ROWS = 40, HEAT_LABEL = 10 };

struct task_sum {
	u32 tid;
	u64 migrations, preempted, preempts, wakeups, switches;
	u64 ready;
};

struct delay {
	u64 time;
	u64 ns;
};

struct sched_summary {
	struct sched_names *names;
	const struct sched_filter *filter;
	VEC(struct task_sum) tasks;
	struct map by_tid;
	struct map pairs; /* preempter << 32 | victim -> count */
	struct map moves; /* from << 32 | to -> count */
	VEC(struct delay) delays;
	u64 delays_dropped;
	u64 switches, wakeups;
};

enum { DELAYS_MOST = 8 << 20 };

struct sched_summary *sched_summary_new(struct sched_names *names,
					const struct sched_filter *filter)
{
	struct sched_summary *s = xcalloc(1, sizeof(*s));

	s->names = names;
	s->filter = filter;
	return s;
}

void sched_summary_free(struct sched_summary *s)
{
	if (!s)
		return;
	vec_release(&s->tasks);
	vec_release(&s->delays);
	map_release(&s->by_tid);
	map_release(&s->pairs);
	map_release(&s->moves);
	free(s);
}

static struct task_sum *sum_of(struct sched_summary *s, u32 tid)
{
	u64 *at = map_at(&s->by_tid, tid);

	if (!*at) {
		vec_new(&s->tasks)->tid = tid;
		*at = s->tasks.len;
	}
	return &s->tasks.items[*at - 1];
}

static void on_switch(struct sched_summary *s, const struct sched_event *ev)
{
	struct task_sum *next = sum_of(s, ev->next);

	(void)sched_follow(s->names, s->filter, ev);
	s->switches++;
	next->switches++;
	if (next->ready && ev->time >= next->ready && ev->next &&
	    sched_filter_task_at(s->filter, s->names, ev->next, ev->time)) {
		if (s->delays.len < DELAYS_MOST)
			vec_push(&s->delays, (struct delay){ ev->time, ev->time - next->ready });
		else
			s->delays_dropped++;
	}
	next->ready = 0;
	if (!ev->prev || sched_state_char(ev->state) != 'R' || !ev->next)
		return;
	next->preempts++;
	sum_of(s, ev->prev)->preempted++;
	*map_at(&s->pairs, (u64)ev->next << 32 | ev->prev) += 1;
}

static void take(struct sched_summary *s, const struct sched_event *ev)
{
	struct task_sum *t;

	if (!sched_filter_cpu(s->filter, ev->cpu))
		return;
	switch ((enum sched_type)ev->type) {
	case SCHED_SWITCH: on_switch(s, ev); break;
	case SCHED_MIGRATE:
		sum_of(s, ev->next)->migrations++;
		*map_at(&s->moves, (u64)ev->from << 32 | ev->to) += 1;
		break;
	case SCHED_WAKEUP:
		if (s->names->has[SCHED_WAKING])
			break;
		__attribute__((fallthrough));
	case SCHED_WAKING:
	case SCHED_WAKEUP_NEW:
		t = sum_of(s, ev->next);
		t->wakeups++;
		s->wakeups++;
		if (!t->ready)
			t->ready = ev->time;
		break;
	default: break;
	}
}

int sched_summary_events(void *summary, const struct sched_event *ev, size_t n)
{
	for (const struct sched_event *end = ev + n; ev < end; ev++)
		take(summary, ev);
	return 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

static int by_trouble(const void *a, const void *b)
{
	const struct task_sum *x = a, *y = b;
	u64 nx = x->migrations + x->preempted, ny = y->migrations + y->preempted;

	if (nx != ny)
		return nx < ny ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void add_tasks(struct sched_summary *s, u32 lines, struct result *ret)
{
	static const struct column columns[] = {
		{ "comm", "TASK", VALUE_TEXT, 0 },
		{ "tid", "TID", VALUE_PID, 0 },
		{ "switches", "TURNS", VALUE_COUNT, 0 },
		{ "wakeups", "WOKEN", VALUE_COUNT, 0 },
		{ "migrations", "MIGRATED", VALUE_COUNT, 0 },
		{ "preempted", "PREEMPTED", VALUE_COUNT, 0 },
		{ "preempts", "PREEMPTS", VALUE_COUNT, 0 },
	};
	struct table *t = result_table(ret, "tasks", "tasks, most moved and preempted first",
				       columns, ARRAY_SIZE(columns));
	u32 shown = 0;

	vec_sort(&s->tasks, by_trouble);
	vec_each(task, &s->tasks) {
		struct row *r;

		if (!task->tid || !sched_filter_task(s->filter, s->names, task->tid))
			continue;
		if (lines && shown++ >= lines)
			break;
		r = table_row(ret, t);
		r->cells[0] = value_text(ret, sched_comm(s->names, task->tid));
		r->cells[1] = value_u(VALUE_PID, task->tid);
		r->cells[2] = value_u(VALUE_COUNT, task->switches);
		r->cells[3] = value_u(VALUE_COUNT, task->wakeups);
		r->cells[4] = value_u(VALUE_COUNT, task->migrations);
		r->cells[5] = value_u(VALUE_COUNT, task->preempted);
		r->cells[6] = value_u(VALUE_COUNT, task->preempts);
	}
}

static void add_pairs(struct sched_summary *s, u32 lines, struct result *ret)
{
	static const struct column columns[] = {
		{ "count", "TIMES", VALUE_COUNT, 0 },
		{ "preempter", "RAN INSTEAD", VALUE_TEXT, 0 },
		{ "preempter_tid", "TID", VALUE_PID, 0 },
		{ "victim", "OF", VALUE_TEXT, 0 },
		{ "victim_tid", "TID", VALUE_PID, 0 },
	};
	struct table *t =
		result_table(ret, "preemptions", "preemptions", columns, ARRAY_SIZE(columns));

	map_each(slot, &s->pairs) {
		u32 preempter = (u32)(slot->key >> 32), victim = (u32)slot->key;
		struct row *r;

		if (!sched_filter_task(s->filter, s->names, victim))
			continue;
		r = table_row(ret, t);
		r->cells[0] = value_u(VALUE_COUNT, slot->value);
		r->cells[1] = value_text(ret, sched_comm(s->names, preempter));
		r->cells[2] = value_u(VALUE_PID, preempter);
		r->cells[3] = value_text(ret, sched_comm(s->names, victim));
		r->cells[4] = value_u(VALUE_PID, victim);
	}
	table_sort(t, "count", false);
	if (lines && t->rows.len > lines)
		t->rows.len = lines;
}

static void add_moves(const struct sched_summary *s, struct result *ret)
{
	static const struct column columns[] = {
		{ "count", "TIMES", VALUE_COUNT, 0 },
		{ "from", "FROM CPU", VALUE_PID, 0 },
		{ "to", "TO CPU", VALUE_PID, 0 },
	};
	struct table *t;

	if (!s->moves.len)
		return;
	t = result_table(ret, "migrations", "migrations", columns, ARRAY_SIZE(columns));
	map_each(slot, &s->moves) {
		struct row *r = table_row(ret, t);

		r->cells[0] = value_u(VALUE_COUNT, slot->value);
		r->cells[1] = value_u(VALUE_PID, slot->key >> 32);
		r->cells[2] = value_u(VALUE_PID, (u32)slot->key);
	}
	table_sort(t, "count", false);
}

/* --- the heat map: time to the right, delay upwards, by powers of two ------------------------- */

static u32 heat_row(u64 ns)
{
	u32 row = 0;

	for (ns /= 1000; ns && row < HEAT_ROWS - 1; ns >>= 1)
		row++;
	return row;
}

/* "0", and at the end how long all is. */
static void heat_axis(u64 length, u32 columns, struct buf *out)
{
	_cleanup_buf_ struct buf end = BUF_INIT;

	fmt_duration(&end, length);
	buf_fill(out, ' ', HEAT_LABEL);
	buf_addf(out, "0%*s\n", (int)columns - 1, buf_str(&end));
}

static void heat_text(u64 heat[HEAT_ROWS][HEAT_COLUMNS], u32 top, u32 columns, struct buf *out)
{
	static const char shades[] = " .:-=+*#%@";
	u64 most = 1;

	for (u32 r = 0; r <= top; r++)
		for (u32 c = 0; c < columns; c++)
			most = MAX(most, heat[r][c]);
	buf_addstr(out, "wake-up to run over time: delay upwards, darker is more\n");
	for (u32 r = top + 1; r--;) {
		_cleanup_buf_ struct buf label = BUF_INIT;

		fmt_duration(&label, r ? 1000ull << (r - 1) : 0);
		buf_addf(out, "%8s |", buf_str(&label));
		for (u32 c = 0; c < columns; c++) {
			u64 n = heat[r][c];
			u64 shade = n ? 1 + n * 8 / most : 0;

			buf_addch(out, shades[shade]);
		}
		buf_addch(out, '\n');
	}
}

static void add_heat(const struct sched_summary *s, int width, struct result *ret)
{
	static const struct column columns[] = {
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "delay_ns", "DELAY", VALUE_DURATION, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
	};
	u64 heat[HEAT_ROWS][HEAT_COLUMNS] = { 0 };
	u64 first = s->names->first, length = MAX(s->names->last - first, 1ull) + 1;
	struct histogram *h = result_hist_log2(ret, "wakeup_to_run", "wake-up to run", "usecs");
	_cleanup_buf_ struct buf text = BUF_INIT;
	u32 top = 0, n = HEAT_COLUMNS;
	struct table *t;

	if (width)
		n = (u32)MIN(MAX(width - HEAT_LABEL, (int)HEAT_LEAST), (int)HEAT_COLUMNS);
	vec_each(d, &s->delays) {
		u32 row = heat_row(d->ns);
		u64 column = (u64)((double)(d->time - first) / (double)length * n);

		heat[row][MIN(column, (u64)n - 1)]++;
		top = MAX(top, row);
		hist_add(h, d->ns / 1000, 1);
	}
	if (width) {
		heat_text(heat, top, n, &text);
		heat_axis(length, n, &text);
		result_text(ret, buf_str(&text));
		return;
	}
	t = result_table(ret, "heat", NULL, columns, ARRAY_SIZE(columns));
	for (u32 c = 0; c < HEAT_COLUMNS; c++) {
		for (u32 r = 0; r <= top; r++) {
			struct row *row;

			if (!heat[r][c])
				continue;
			row = table_row(ret, t);
			row->cells[0] = value_u(VALUE_DURATION, length / HEAT_COLUMNS * c);
			row->cells[1] = value_u(VALUE_DURATION, r ? 1000ull << (r - 1) : 0);
			row->cells[2] = value_u(VALUE_COUNT, heat[r][c]);
		}
	}
}

void sched_summary_result(struct sched_summary *s, u32 lines, int width, struct result *ret)
{
	result_fact(ret, "switches", "switches", value_u(VALUE_COUNT, s->switches));
	result_fact(ret, "wakeups", "wake-ups", value_u(VALUE_COUNT, s->wakeups));
	add_tasks(s, lines, ret);
	add_pairs(s, lines, ret);
	add_moves(s, ret);
	add_heat(s, width, ret);
	result_loss(ret, "delays_dropped", "delays beyond the limit", s->delays_dropped);
}
