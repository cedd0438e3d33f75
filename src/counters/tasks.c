/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/tasks_state.h"

#include "base/hash.h"

static u64 key_of(const struct tasks_record *r)
{
	return hash_mix(r->start, r->global);
}

struct task *tasks_find(struct tasks *t, const struct tasks_record *r, bool create)
{
	u64 key = key_of(r), at = map_get(&t->by_key, key, 0);
	struct task *task;

	if (at)
		return &t->list.items[at - 1];
	if (!create || t->list.len >= TASKS_MOST)
		return NULL;
	task = vec_new(&t->list);
	map_put(&t->by_key, key, t->list.len);
	return task;
}

void tasks_take(struct tasks *t, const struct tasks_thread *seen)
{
	struct task *task = tasks_find(t, &seen->r, true);

	if (!task) {
		t->lost++;
		return;
	}
	task->now = *seen;
	task->sweep = t->sweeps;
}

static void forget(struct tasks *t, size_t i)
{
	struct task *last = vec_last(&t->list);

	map_del(&t->by_key, key_of(&t->list.items[i].now.r));
	if (&t->list.items[i] != last) {
		t->list.items[i] = *last;
		map_put(&t->by_key, key_of(&last->now.r), i + 1);
	}
	t->list.len--;
}

/* All ended tasks were handed over: the next interval begins. */
static void next_interval(struct tasks *t)
{
	for (size_t i = 0; i < t->list.len;) {
		struct task *task = &t->list.items[i];

		if (task->gone) {
			forget(t, i);
			continue;
		}
		memcpy(task->before, task->now.r.figures, sizeof(task->before));
		memset(task->group, 0, sizeof(task->group));
		task->children_before = task->children;
		task->old = true;
		i++;
	}
	tasks_fit(&t->list);
	t->lost_before = t->lost;
	t->lost_exec_before = t->lost_exec;
	t->no_room_before = t->no_room;
	t->meter_before = t->meter;
}

/* Seen neither alive nor ending: its end was lost, or ends are not reported. */
static void find_vanished(struct tasks *t)
{
	vec_each(task, &t->list) {
		if (task->sweep == t->sweeps || task->gone)
			continue;
		/* one that has ended waits for its last figures, but not forever */
		if (task->ended && t->sweeps - task->sweep < 3)
			continue;
		task->ended = task->gone = true;
	}
}

int tasks_sweep(struct tasks *t, struct task_rows *ret)
{
	int r;

	t->sweeps++;
	r = t->source->sweep(t);
	if (r < 0)
		return r;
	tasks_drain(t);
	find_vanished(t);
	tasks_make_rows(t, ret);
	/* from here on, ends of tasks may be taken in before the next sweep */
	next_interval(t);
	return 0;
}

void tasks_drain(struct tasks *t)
{
	if (t->source->drain)
		t->source->drain(t);
}

void tasks_per_thread(struct tasks *t, bool per_thread)
{
	t->options.per_thread = per_thread;
}

int tasks_fd(const struct tasks *t)
{
	return t->fd;
}

int tasks_new(struct tasks **ret, const struct tasks_options *o, struct err *e)
{
	struct tasks *t = xcalloc(1, sizeof(*t));
	int r = -ENOENT;

	t->options = *o;
	t->fd = -1;
	if (!o->root && !o->no_bpf)
		r = tasks_open_bpf(t, NULL);
	if (r < 0)
		r = tasks_open_proc(t, e);
	if (r < 0) {
		tasks_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	if (t->source)
		t->source->release(t);
	vec_release(&t->list);
	map_release(&t->by_key);
	free(t);
}

void task_rows_release(struct task_rows *r)
{
	vec_release(&r->rows);
}

void task_rows_copy(struct task_rows *to, const struct task_rows *from)
{
	vec_clear(&to->rows);
	vec_reserve(&to->rows, from->rows.len);
	if (from->rows.len)
		memcpy(to->rows.items, from->rows.items,
		       from->rows.len * sizeof(*from->rows.items));
	to->rows.len = from->rows.len;
	tasks_fit(&to->rows);
	to->orphans_exec = from->orphans_exec;
	to->lost_exec = from->lost_exec;
	to->lost = from->lost;
	to->n_tasks = from->n_tasks;
	to->by_bpf = from->by_bpf;
	to->meter = from->meter;
	to->no_room = from->no_room;
}
