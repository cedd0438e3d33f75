/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long tasks wait for a CPU. A delay begins when a task is woken or loses its CPU while it
 * wants to continue, and ends when it gets one. The rules are those of 'perf sched latency'.
 */
#include "analysis/sched.h"

enum atom_state { ATOM_NONE, ATOM_SLEEPING, ATOM_WAIT, ATOM_RUNS, ATOM_VOID };

/* All that an event asks for, and no more: those of hundreds of tasks stay in the cache. */
struct task_delay {
	u32 tid;
	enum atom_state state;
	u64 out;
	u64 wake;
	u64 runtime;
	u64 switches; /* delays that ended */
	u64 total;
	u64 max;
	u64 max_begin;
};
_Static_assert(sizeof(struct task_delay) == 64, "a cache line");

/* A line of the table. */
struct task_row {
	struct task_delay d;
	const char *comm;
	u32 merged;
};

/* The name of a task whose number was given again. */
struct task_gone {
	size_t task; /* index in tasks */
	const char *comm;
};

struct sched_latency {
	struct sched_names *names;
	const struct sched_filter *filter;
	bool all_cpus;
	VEC(struct task_delay) tasks;
	VEC(struct task_gone) gone;
	VEC(struct task_row) rows; /* in the end */
	struct sched_tids by_tid;  /* -> index in tasks + 1 */
	u64 unordered;
};

struct sched_latency *sched_latency_new(struct sched_names *names,
					const struct sched_filter *filter)
{
	struct sched_latency *l = xcalloc(1, sizeof(*l));

	l->names = names;
	l->filter = filter;
	l->all_cpus = sched_filter_all_cpus(filter);
	return l;
}

void sched_latency_free(struct sched_latency *l)
{
	if (!l)
		return;
	vec_release(&l->tasks);
	vec_release(&l->gone);
	vec_release(&l->rows);
	sched_tids_release(&l->by_tid);
	free(l);
}

static __attribute__((noinline)) struct task_delay *new_task(struct sched_latency *l, u32 tid)
{
	struct task_delay *t = vec_new(&l->tasks);

	t->tid = tid;
	*sched_tids_at(&l->by_tid, tid) = (u32)l->tasks.len;
	return t;
}

static inline struct task_delay *task_of(struct sched_latency *l, u32 tid)
{
	u32 at = *sched_tids_at(&l->by_tid, tid);

	return likely(at) ? &l->tasks.items[at - 1] : new_task(l, tid);
}

/* The number is given again: its previous owner is gone, and keeps what was counted for him. */
static void task_born(struct sched_latency *l, u32 tid)
{
	u32 *at = sched_tids_at(&l->by_tid, tid);

	if (!*at)
		return;
	vec_push(&l->gone, (struct task_gone){ *at - 1, sched_comm(l->names, tid) });
	*at = 0;
}

static void task_out(struct task_delay *t, bool runnable, u64 time)
{
	t->out = time;
	t->wake = runnable ? time : 0;
	t->state = runnable ? ATOM_WAIT : ATOM_SLEEPING;
}

static void task_in(struct task_delay *t, u64 time)
{
	u64 delay;

	if (t->state == ATOM_NONE)
		task_out(t, true, time);
	if (t->state != ATOM_WAIT)
		return;
	if (time < t->wake) {
		t->state = ATOM_VOID;
		return;
	}
	t->state = ATOM_RUNS;
	delay = time - t->wake;
	t->total += delay;
	t->switches++;
	if (delay > t->max) {
		t->max = delay;
		t->max_begin = t->wake;
	}
}

static void task_woken(struct sched_latency *l, struct task_delay *t, u64 time)
{
	if (t->state == ATOM_NONE)
		task_out(t, false, time);
	/* a task that is still on the run queue only gets its state changed */
	if (t->state != ATOM_SLEEPING)
		return;
	if (t->out > time) {
		l->unordered++;
		return;
	}
	t->state = ATOM_WAIT;
	t->wake = time;
}

static void task_ran(struct task_delay *t, u64 runtime, u64 time)
{
	if (t->state == ATOM_NONE)
		task_out(t, true, time);
	t->runtime += runtime;
}

static inline void take(struct sched_latency *l, const struct sched_event *ev)
{
	struct task_delay *task;

	switch ((enum sched_type)ev->type) {
	case SCHED_BORN: task_born(l, ev->next); break;
	case SCHED_SWITCH:
		(void)sched_follow(l->names, l->filter, ev);
		task = task_of(l, ev->prev);
		task->runtime += ev->ran;
		task_out(task, !(ev->state & SCHED_STATE_AWAY), ev->time);
		task_in(task_of(l, ev->next), ev->time);
		break;
	case SCHED_WAKING:
		/* the moment at which it is on the run queue is better, where there is one */
		if (l->names->has[SCHED_WAKEUP])
			break;
		task_woken(l, task_of(l, ev->next), ev->time);
		break;
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW: task_woken(l, task_of(l, ev->next), ev->time); break;
	case SCHED_RUNTIME: task_ran(task_of(l, ev->next), ev->runtime, ev->time); break;
	default: break;
	}
}

int sched_latency_events(void *latency, const struct sched_event *ev, size_t n)
{
	struct sched_latency *l = latency;

	for (const struct sched_event *end = ev + n; ev < end; ev++)
		if (l->all_cpus || sched_filter_cpu(l->filter, ev->cpu))
			take(l, ev);
	return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

static double average(const struct task_delay *t)
{
	return t->switches ? (double)t->total / (double)t->switches : 0;
}

struct sort_key {
	const char *name;
	int (*compare)(const struct task_row *a, const struct task_row *b);
};

#define COMPARE(a, b) ((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

static int cmp_avg(const struct task_row *a, const struct task_row *b)
{
	return COMPARE(average(&a->d), average(&b->d));
}

static int cmp_max(const struct task_row *a, const struct task_row *b)
{
	return COMPARE(a->d.max, b->d.max);
}

static int cmp_switches(const struct task_row *a, const struct task_row *b)
{
	return COMPARE(a->d.switches, b->d.switches);
}

static int cmp_runtime(const struct task_row *a, const struct task_row *b)
{
	return COMPARE(a->d.runtime, b->d.runtime);
}

static int cmp_comm(const struct task_row *a, const struct task_row *b)
{
	return strcmp(a->comm, b->comm);
}

static int cmp_pid(const struct task_row *a, const struct task_row *b)
{
	return COMPARE(b->d.tid, a->d.tid);
}

static const struct sort_key sort_keys[] = {
	{ "avg", cmp_avg },         { "max", cmp_max },         { "switches", cmp_switches },
	{ "switch", cmp_switches }, { "runtime", cmp_runtime }, { "comm", cmp_comm },
	{ "pid", cmp_pid },
};

enum { KEYS_MOST = 8 };

struct sort_order {
	const struct sort_key *keys[KEYS_MOST];
	u32 n;
};

static int parse_sort(const char *text, struct sort_order *ret, struct err *e)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL;

	ret->n = 0;
	for (char *w = strtok_r(copy, ", ", &save); w; w = strtok_r(NULL, ", ", &save)) {
		const struct sort_key *found = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(sort_keys); i++)
			found = streq(sort_keys[i].name, w) ? &sort_keys[i] : found;
		if (!found) {
			err_set(e, EINVAL, "cannot sort by '%s'", w);
			err_hint(e, "sort keys are avg, max, switches, runtime, comm, pid");
			return -EINVAL;
		}
		if (ret->n < KEYS_MOST)
			ret->keys[ret->n++] = found;
	}
	return 0;
}

static int by_order(const void *a, const void *b, void *order)
{
	const struct sort_order *o = order;

	for (u32 i = 0; i < o->n; i++) {
		int c = o->keys[i]->compare(a, b);

		if (c)
			return c;
	}
	return cmp_pid(a, b);
}

/* Tasks of one name become one line. */
static void merge_names(struct sched_latency *l)
{
	struct map known = MAP_INIT;
	size_t n = 0;

	for (size_t i = 0; i < l->rows.len; i++) {
		const struct task_row t = l->rows.items[i];
		u64 *at = map_at(&known, intern_str(&l->names->strings, t.comm));
		struct task_row *into;

		if (!*at) {
			l->rows.items[n++] = t;
			*at = n;
			continue;
		}
		into = &l->rows.items[*at - 1];
		into->merged++;
		into->d.runtime += t.d.runtime;
		into->d.switches += t.d.switches;
		into->d.total += t.d.total;
		if (t.d.max > into->d.max) {
			into->d.max = t.d.max;
			into->d.max_begin = t.d.max_begin;
		}
	}
	l->rows.len = n;
	map_release(&known);
}

static int by_task(const void *a, const void *b)
{
	const struct task_gone *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

/* All but those that never ran while we watched, the idle tasks, and what was not requested. */
static void make_rows(struct sched_latency *l)
{
	size_t gone = 0;

	for (size_t i = 0; i < l->tasks.len; i++) {
		const struct task_delay *d = &l->tasks.items[i];
		struct task_row row = { *d, NULL, 1 };

		row.comm = gone < l->gone.len && l->gone.items[gone].task == i
				   ? l->gone.items[gone++].comm
				   : sched_comm(l->names, d->tid);
		if (d->tid && d->switches && !streq(row.comm, "swapper") &&
		    sched_filter_task(l->filter, l->names, d->tid))
			vec_push(&l->rows, row);
	}
}

static void add_row(const struct task_row *row, struct table *table, struct result *ret)
{
	const struct task_delay *t = &row->d;
	struct row *r = table_row(ret, table);

	r->cells[0] = value_text(ret, row->comm);
	if (row->merged == 1)
		r->cells[1] = value_u(VALUE_PID, t->tid);
	r->cells[2] = value_u(VALUE_COUNT, row->merged);
	r->cells[3] = value_u(VALUE_DURATION, t->runtime);
	r->cells[4] = value_u(VALUE_COUNT, t->switches);
	r->cells[5] = value_u(VALUE_DURATION, (u64)average(t));
	r->cells[6] = value_u(VALUE_DURATION, t->max);
	r->cells[7] = value_textf(ret, "%.6f", (double)t->max_begin / 1e9);
	r->cells[8] = value_textf(ret, "%.6f", (double)(t->max_begin + t->max) / 1e9);
	r->cells[9] = value_u(VALUE_DURATION, t->total);
}

int sched_latency_result(struct sched_latency *l, const char *sort, bool merge, u32 lines,
			 struct result *ret, struct err *e)
{
	static const struct column columns[] = {
		{ "comm", "TASK", VALUE_TEXT, 0 },
		{ "tid", "TID", VALUE_PID, 0 },
		{ "tasks", "TASKS", VALUE_COUNT, COLUMN_SPARE },
		{ "runtime_ns", "RUNTIME", VALUE_DURATION, 0 },
		{ "switches", "SWITCHES", VALUE_COUNT, 0 },
		{ "average_delay_ns", "AVG DELAY", VALUE_DURATION, 0 },
		{ "max_delay_ns", "MAX DELAY", VALUE_DURATION, 0 },
		{ "max_begin_s", "FROM", VALUE_TEXT, 0 },
		{ "max_end_s", "TO", VALUE_TEXT, COLUMN_SPARE },
		{ "total_delay_ns", "DELAY", VALUE_DURATION, COLUMN_HIDDEN },
	};
	struct sort_order order;
	struct table *t;
	u64 runtime = 0, switches = 0;
	int rc = parse_sort(sort ? sort : "avg,max,switches,runtime", &order, e);

	if (rc < 0)
		return rc;
	vec_sort(&l->gone, by_task);
	make_rows(l);
	if (merge)
		merge_names(l);
	if (l->rows.len > 1)
		qsort_r(l->rows.items, l->rows.len, sizeof(*l->rows.items), by_order, &order);
	t = result_table(ret, "tasks", NULL, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < l->rows.len; i++) {
		runtime += l->rows.items[i].d.runtime;
		switches += l->rows.items[i].d.switches;
		if (!lines || i < lines)
			add_row(&l->rows.items[i], t, ret);
	}
	result_fact(ret, "runtime_ns", "ran in all", value_u(VALUE_DURATION, runtime));
	result_fact(ret, "switches", "switches", value_u(VALUE_COUNT, switches));
	result_loss(ret, "unordered", "wake-ups before the task had left its CPU", l->unordered);
	if (!l->names->has[SCHED_RUNTIME])
		result_note(ret, NOTE_INFO, "record sched:sched_stat_runtime too",
			    "run times are not in this recording");
	return 0;
}
