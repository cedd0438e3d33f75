/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each turn of a task on a CPU: how long it had been away, how long it waited, how long it ran. */
#include "analysis/sched.h"

struct task_times {
	u32 tid;
	const char *comm; /* of those that are gone */
	u64 last;         /* it left then; 0: never seen */
	char state;
	u64 ready; /* woken then; 0: not */
	u64 turns;
	u64 run, wait, sleep, iowait, preempt, delay;
	u64 max_run, max_delay;
	u64 migrations;
};

struct cpu_last {
	u64 time;
	u32 idle; /* index of its idle task + 1 */
};

struct sched_timehist {
	struct sched_names *names;
	const struct sched_filter *filter;
	bool idle;
	bool all; /* no turn and no wake-up is left out */
	sched_turn_fn on_turn;
	sched_wake_fn on_wake;
	sched_move_fn on_move;
	void *ctx;
	VEC(struct task_times) tasks;
	struct sched_tids by_tid; /* -> index in tasks + 1 */
	struct cpu_last cpus[SCHED_CPUS_MOST];
};

struct sched_timehist *sched_timehist_new(struct sched_names *names,
					  const struct sched_filter *filter, bool idle,
					  sched_turn_fn on_turn, sched_wake_fn on_wake, void *ctx)
{
	struct sched_timehist *t = xcalloc(1, sizeof(*t));

	t->names = names;
	t->filter = filter;
	t->idle = idle;
	t->all = !idle &&
		 (!filter || (!filter->from && !filter->to && sched_filter_all_cpus(filter) &&
			      sched_filter_all_tasks(filter)));
	t->on_turn = on_turn;
	t->on_wake = on_wake;
	t->ctx = ctx;
	return t;
}

void sched_timehist_moves(struct sched_timehist *t, sched_move_fn on_move)
{
	t->on_move = on_move;
}

void sched_timehist_free(struct sched_timehist *t)
{
	if (!t)
		return;
	vec_release(&t->tasks);
	sched_tids_release(&t->by_tid);
	free(t);
}

/* The idle task of each CPU is a task of its own. */
static struct task_times *times_of(struct sched_timehist *t, u32 tid, u32 cpu)
{
	u32 *at = tid ? sched_tids_at(&t->by_tid, tid) : &t->cpus[cpu].idle;
	struct task_times *task;

	if (likely(*at))
		return &t->tasks.items[*at - 1];
	task = vec_new(&t->tasks);
	task->tid = tid;
	*at = (u32)t->tasks.len;
	return task;
}

/* The number is given again: its previous owner is gone. */
static void born(struct sched_timehist *t, u32 tid)
{
	u32 *at = sched_tids_at(&t->by_tid, tid);

	if (!*at)
		return;
	t->tasks.items[*at - 1].comm = sched_comm(t->names, tid);
	*at = 0;
}

static void measure(struct sched_turn *turn, const struct task_times *task, u64 came)
{
	if (!came)
		return;
	turn->run = turn->time - came;
	if (task->ready && task->ready <= came)
		turn->delay = came - task->ready;
	if (!task->last || task->last > came)
		return;
	turn->wait = came - task->last;
	if (task->state == 'R')
		turn->preempt = turn->wait;
	else if (task->state == 'D')
		turn->iowait = turn->wait;
	else
		turn->sleep = turn->wait;
}

static void sum_up(struct task_times *task, const struct sched_turn *turn)
{
	task->turns++;
	task->run += turn->run;
	task->wait += turn->wait;
	task->sleep += turn->sleep;
	task->iowait += turn->iowait;
	task->preempt += turn->preempt;
	task->delay += turn->delay;
	task->max_run = MAX(task->max_run, turn->run);
	task->max_delay = MAX(task->max_delay, turn->delay);
}

/* Cuts a turn to the time requested; false: nothing is left. */
static bool cut(const struct sched_timehist *t, u64 *came, u64 *left)
{
	u64 from, to;

	sched_filter_window(t->filter, t->names, &from, &to);
	if (*left < from || *came > to)
		return false;
	if (*came)
		*came = MAX(*came, from);
	*left = MIN(*left, to);
	return true;
}

static bool is_shown_turn(const struct sched_timehist *t, const struct sched_event *ev)
{
	if (t->idle && ev->prev && ev->next)
		return false;
	return sched_filter_task_at(t->filter, t->names, ev->prev, ev->time) &&
	       sched_filter_cpu(t->filter, ev->cpu);
}

static int on_switch(struct sched_timehist *t, const struct sched_event *ev)
{
	struct task_times *task = times_of(t, ev->prev, ev->cpu);
	struct cpu_last *cpu = &t->cpus[ev->cpu];
	u64 came = cpu->time;
	struct sched_turn turn = {
		.time = ev->time,
		.cpu = ev->cpu,
		.tid = ev->prev,
		.next = ev->next,
		.state = sched_state_char(ev->state),
		.gap = sched_follow(t->names, t->filter, ev),
	};
	int rc = 0;

	if (t->all || (cut(t, &came, &turn.time) && is_shown_turn(t, ev))) {
		measure(&turn, task, came);
		sum_up(task, &turn);
		if (t->on_turn)
			rc = t->on_turn(t->ctx, &turn);
	}
	task->last = ev->time;
	task->state = turn.state;
	task->ready = 0;
	cpu->time = ev->time;
	return rc;
}

/* What one task did to another: it is reported unless both are left out. */
static bool is_shown_wake(const struct sched_timehist *t, const struct sched_event *ev, u32 by)
{
	u64 from, to;

	if (t->all)
		return true;
	sched_filter_window(t->filter, t->names, &from, &to);
	return ev->time >= from && ev->time <= to && sched_filter_cpu(t->filter, ev->cpu) &&
	       (sched_filter_task_at(t->filter, t->names, ev->next, ev->time) ||
		sched_filter_task_at(t->filter, t->names, by, ev->time));
}

static int on_wake(struct sched_timehist *t, const struct sched_event *ev)
{
	struct task_times *task = times_of(t, ev->next, ev->cpu);

	if (!task->ready)
		task->ready = ev->time;
	if (!t->on_wake || !is_shown_wake(t, ev, ev->tid))
		return 0;
	return t->on_wake(t->ctx, &(struct sched_wake){ ev->time, ev->cpu, ev->tid, ev->next });
}

static int on_migrate(struct sched_timehist *t, const struct sched_event *ev)
{
	const struct sched_move move = {
		ev->time, ev->cpu, ev->mover, ev->next, ev->from, ev->to,
	};

	times_of(t, ev->next, ev->cpu)->migrations++;
	return t->on_move && is_shown_wake(t, ev, ev->mover) ? t->on_move(t->ctx, &move) : 0;
}

static inline int take(struct sched_timehist *t, const struct sched_event *ev)
{
	switch ((enum sched_type)ev->type) {
	case SCHED_BORN: born(t, ev->next); return 0;
	case SCHED_SWITCH: return on_switch(t, ev);
	case SCHED_WAKING:
	case SCHED_WAKEUP_NEW: return on_wake(t, ev);
	case SCHED_WAKEUP: return t->names->has[SCHED_WAKING] ? 0 : on_wake(t, ev);
	case SCHED_MIGRATE: return on_migrate(t, ev);
	default: return 0;
	}
}

int sched_timehist_events(void *timehist, const struct sched_event *ev, size_t n)
{
	int rc = 0;

	for (const struct sched_event *end = ev + n; !rc && ev < end; ev++)
		rc = take(timehist, ev);
	return rc;
}

static int by_run(const void *a, const void *b)
{
	const struct task_times *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void sched_timehist_result(struct sched_timehist *t, u32 lines, struct result *ret)
{
	static const struct column columns[] = {
		{ "comm", "TASK", VALUE_TEXT, 0 },
		{ "tid", "TID", VALUE_PID, 0 },
		{ "turns", "TURNS", VALUE_COUNT, 0 },
		{ "run_ns", "RUN", VALUE_DURATION, 0 },
		{ "max_run_ns", "MAX RUN", VALUE_DURATION, COLUMN_SPARE },
		{ "sleep_ns", "SLEEP", VALUE_DURATION, 0 },
		{ "iowait_ns", "IO", VALUE_DURATION, COLUMN_SPARE },
		{ "preempt_ns", "PREEMPT", VALUE_DURATION, 0 },
		{ "delay_ns", "DELAY", VALUE_DURATION, 0 },
		{ "max_delay_ns", "MAX DELAY", VALUE_DURATION, 0 },
		{ "migrations", "MIGR", VALUE_COUNT, COLUMN_SPARE },
	};
	struct table *table = result_table(ret, "tasks", NULL, columns, ARRAY_SIZE(columns));

	vec_sort(&t->tasks, by_run);
	for (size_t i = 0, shown = 0; i < t->tasks.len && (!lines || shown < lines); i++) {
		const struct task_times *task = &t->tasks.items[i];
		struct row *r;

		if (!task->turns || !task->tid != t->idle)
			continue;
		shown++;
		r = table_row(ret, table);
		r->cells[0] =
			value_text(ret, task->comm ? task->comm : sched_comm(t->names, task->tid));
		r->cells[1] = value_u(VALUE_PID, task->tid);
		r->cells[2] = value_u(VALUE_COUNT, task->turns);
		r->cells[3] = value_u(VALUE_DURATION, task->run);
		r->cells[4] = value_u(VALUE_DURATION, task->max_run);
		r->cells[5] = value_u(VALUE_DURATION, task->sleep);
		r->cells[6] = value_u(VALUE_DURATION, task->iowait);
		r->cells[7] = value_u(VALUE_DURATION, task->preempt);
		r->cells[8] = value_u(VALUE_DURATION, task->delay);
		r->cells[9] = value_u(VALUE_DURATION, task->max_delay);
		r->cells[10] = value_u(VALUE_COUNT, task->migrations);
	}
}
