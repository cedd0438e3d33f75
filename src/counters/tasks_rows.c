/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From threads to rows: each thread's share of the interval goes to exactly one row. */
#include "counters/tasks_state.h"

enum { CLIMB_MOST = 64, FLAG_KTHREAD = 0x00200000 };

/* Sums of a row at both ends of the interval: how ticks divide its time. */
struct row_ticks {
	u64 exec[2], user[2], system[2];
};

struct maker {
	const struct tasks *t;
	struct task_rows *out;
	VEC(struct row_ticks) ticks;
	struct map rows;    /* pid or tid -> row + 1 */
	struct map parents; /* pid of a process that came and went -> its parent */
	u64 page;
};

static char state_letter(const struct tasks_thread *s)
{
	static const struct {
		u32 bits;
		char letter;
	} letters[] = {
		{ 0x20, 'Z' }, { 0x90, 'X' }, { 0x400, 'I' }, { 0x1, 'S' },
		{ 0x2, 'D' },  { 0x4, 'T' },  { 0x8, 't' },
	};

	/* TASK_IDLE: not interruptible, and not counted as load */
	if ((s->state & 0x402) == 0x402)
		return 'I';
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (letters[i].letter != 'I' && (s->state & letters[i].bits))
			return letters[i].letter;
	return 'R';
}

static bool is_leader(const struct task *task)
{
	return task->now.r.tid == task->now.r.pid;
}

/* It existed neither before nor now. */
static bool is_short_lived(const struct task *task)
{
	return task->ended && !task->old;
}

static u64 grown(const struct task *task, u32 figure)
{
	u64 now = task->now.r.figures[figure], before = task->before[figure];

	return now > before ? now - before : 0;
}

static struct task_row *add_row(struct maker *m, const struct task *task, u32 number)
{
	const struct tasks_thread *s = &task->now;
	struct task_row *row = vec_new(&m->out->rows);

	(void)vec_new(&m->ticks);
	row->pid = s->r.pid;
	row->tid = s->r.tid;
	row->ppid = s->r.ppid;
	row->uid = s->uid;
	row->cpu = s->cpu;
	row->threads = s->threads;
	row->policy = s->policy;
	row->nice = s->nice;
	row->state = state_letter(s);
	row->ended = task->ended;
	row->kernel = s->flags & FLAG_KTHREAD;
	memcpy(row->comm, s->comm, sizeof(row->comm));
	row->comm[sizeof(row->comm) - 1] = '\0';
	row->start = s->r.start;
	row->cgroup = s->cgroup;
	row->vsize = s->vsize * m->page;
	row->rss = s->rss * m->page;
	map_put(&m->rows, number, m->out->rows.len);
	return row;
}

static void add_figures(struct maker *m, size_t row, const struct task *task)
{
	struct task_row *to = &m->out->rows.items[row];
	struct row_ticks *ticks = &m->ticks.items[row];

	for (u32 i = 0; i < TASK_FIGURES; i++)
		to->figures[i] += grown(task, i) + task->group[i];
	if (!task->ended)
		to->life += task->now.r.figures[TASK_EXEC];
	ticks->exec[0] += task->before[TASK_EXEC];
	ticks->user[0] += task->before[TASK_USER];
	ticks->system[0] += task->before[TASK_SYSTEM];
	ticks->exec[1] += task->now.r.figures[TASK_EXEC] + task->group[TASK_EXEC];
	ticks->user[1] += task->now.r.figures[TASK_USER] + task->group[TASK_USER];
	ticks->system[1] += task->now.r.figures[TASK_SYSTEM] + task->group[TASK_SYSTEM];
}

/* The row of a process, or of the nearest ancestor that has one; 0: none. */
static u64 row_of(const struct maker *m, u32 pid)
{
	for (int i = 0; i < CLIMB_MOST && pid; i++) {
		u64 row = map_get(&m->rows, pid, 0);

		if (row)
			return row;
		pid = (u32)map_get(&m->parents, pid, 0);
	}
	return 0;
}

static void fold(struct maker *m, const struct task *task)
{
	u64 row = row_of(m, is_leader(task) ? task->now.r.ppid : task->now.r.pid);

	if (!row) {
		m->out->orphans_exec += grown(task, TASK_EXEC);
		return;
	}
	add_figures(m, row - 1, task);
	m->out->rows.items[row - 1].folded++;
	m->out->rows.items[row - 1].folded_exec += grown(task, TASK_EXEC);
	if (!is_leader(task))
		m->out->rows.items[row - 1].folded_own += grown(task, TASK_EXEC);
}

/* Rows for what lives, or lived at the last sweep. A reused number belongs to the living task.
 */
static void make_rows(struct maker *m)
{
	bool threads = m->t->options.per_thread;

	for (int living = 0; living < 2; living++) {
		vec_each(task, &m->t->list) {
			if (task->ended == (bool)living || is_short_lived(task) ||
			    !(threads || is_leader(task)))
				continue;
			add_row(m, task, task->now.r.tid);
			add_figures(m, m->out->rows.len - 1, task);
		}
	}
}

/* The nearest ancestor that still lives; 0: none. */
static u32 living_ancestor(const struct map *leaders, const struct tasks *t, u32 pid)
{
	for (int i = 0; i < CLIMB_MOST && pid; i++) {
		u64 at = map_get(leaders, pid, 0);

		if (!at)
			return 0;
		if (!t->list.items[at - 1].gone)
			return pid;
		pid = t->list.items[at - 1].now.r.ppid;
	}
	return 0;
}

/*
 * Children that were waited for, by /proc. The kernel adds the whole life of a child, and all that
 * it waited for itself, to its parent: what earlier sweeps have seen of that is taken off.
 */
static void add_children(struct maker *m)
{
	_cleanup_map_ struct map known = MAP_INIT, leaders = MAP_INIT;
	const struct tasks *t = m->t;

	for (size_t i = 0; i < t->list.len; i++)
		if (is_leader(&t->list.items[i]) &&
		    (!t->list.items[i].gone || !map_find(&leaders, t->list.items[i].now.r.pid)))
			map_put(&leaders, t->list.items[i].now.r.pid, i + 1);
	vec_each(task, &t->list) {
		u32 pid = living_ancestor(&leaders, t, task->now.r.pid);

		/* a thread of a process that lives is not waited for */
		if (task->gone && task->old && pid && pid != task->now.r.pid)
			*map_at(&known, pid) += task->before[TASK_EXEC] + task->children_before;
	}
	vec_each(task, &t->list) {
		u64 row = map_get(&m->rows, task->now.r.tid, 0);
		u64 had = map_get(&known, task->now.r.tid, 0) + task->children_before;

		if (task->gone || !is_leader(task) || !row || task->children <= had)
			continue;
		m->out->rows.items[row - 1].figures[TASK_EXEC] += task->children - had;
		m->out->rows.items[row - 1].folded_exec += task->children - had;
	}
}

static u64 part(u64 whole, u64 a, u64 b)
{
	return a + b ? (u64)((double)whole * ((double)a / (double)(a + b))) : 0;
}

/* As the kernel does: ticks divide the exact time of a whole life; never back. */
static void divide(struct maker *m)
{
	for (size_t i = 0; i < m->out->rows.len; i++) {
		const struct row_ticks *k = &m->ticks.items[i];
		struct task_row *row = &m->out->rows.items[i];
		u64 before = part(k->exec[0], k->system[0], k->user[0]);
		u64 now = part(k->exec[1], k->system[1], k->user[1]);
		u64 system = now > before ? now - before : 0;

		row->system = MIN(system, row->figures[TASK_EXEC]);
		row->user = row->figures[TASK_EXEC] - row->system;
	}
}

static u64 since(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

static struct task_meter meter_of(const struct tasks *t)
{
	const struct tasks_meter *now = &t->meter, *before = &t->meter_before;
	struct task_meter m = {
		.known = now->flags || now->busy,
		.by_clock = now->flags & TASKS_METER_CLOCK,
		.irq_apart = now->flags & TASKS_METER_IRQ,
		.steal_apart = now->flags & TASKS_METER_STEAL,
		.busy = since(now->busy, before->busy),
		.charged = since(now->charged, before->charged),
	};

	m.leaving = m.by_clock ? since(now->leaving, before->leaving) : 0;
	return m;
}

void tasks_make_rows(const struct tasks *t, struct task_rows *ret)
{
	struct maker m = { .t = t, .out = ret, .page = (u64)sysconf(_SC_PAGESIZE) };

	vec_clear(&ret->rows);
	vec_reserve(&ret->rows, t->list.len);
	vec_reserve(&m.ticks, t->list.len);
	ret->orphans_exec = 0;
	ret->n_tasks = 0;
	ret->by_bpf = t->fd >= 0;
	ret->lost = t->lost - t->lost_before;
	ret->lost_exec = t->lost_exec - t->lost_exec_before;
	ret->no_room = t->no_room - t->no_room_before;
	ret->meter = meter_of(t);
	make_rows(&m);
	vec_each(task, &t->list) {
		ret->n_tasks += !task->ended;
		if (is_short_lived(task) && is_leader(task))
			map_put(&m.parents, task->now.r.pid, task->now.r.ppid);
	}
	vec_each(task, &t->list) {
		if (is_short_lived(task))
			fold(&m, task);
		else if (!t->options.per_thread && !is_leader(task)) {
			u64 row = row_of(&m, task->now.r.pid);

			if (row)
				add_figures(&m, row - 1, task);
			else
				ret->orphans_exec += grown(task, TASK_EXEC);
		}
	}
	if (t->fd < 0 && t->sweeps > 1)
		add_children(&m);
	divide(&m);
	tasks_fit(&ret->rows);
	map_release(&m.rows);
	map_release(&m.parents);
	vec_release(&m.ticks);
}
