/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/python_lives.h"

void python_lives_release(struct python_lives *l)
{
	vec_release(&l->items);
	map_release(&l->by_pid);
	map_release(&l->by_process);
}

void python_lives_forget(struct python_lives *l)
{
	vec_clear(&l->items);
	map_clear(&l->by_pid);
	map_clear(&l->by_process);
}

static u32 begin(struct python_lives *l, const struct python_life *life)
{
	u64 before = map_get(&l->by_pid, life->pid, 0);
	u32 id;

	if (!l->items.len)
		vec_new(&l->items);
	if (before)
		l->items.items[before].over = true;
	id = (u32)l->items.len;
	map_put(&l->by_pid, life->pid, id);
	if (life->process)
		map_put(&l->by_process, life->process, id);
	vec_push(&l->items, *life);
	return id;
}

u32 python_lives_of(struct python_lives *l, u32 pid)
{
	u32 now = (u32)map_get(&l->by_pid, pid, 0);

	return now ? now : begin(l, &(struct python_life){ .pid = pid });
}

/* The life @at, or the next before it, that had the mark; 0: none. */
static u32 with_mark(const struct python_lives *l, u32 at, u32 program)
{
	for (int i = 0; at && i < PYTHON_LIFE_STEPS; i++) {
		if (l->items.items[at].program == program + 1)
			return at;
		at = l->items.items[at].from;
	}
	return 0;
}

/* One of the process itself. */
static u32 own_with_mark(const struct python_lives *l, u32 now, u32 program)
{
	u32 at = with_mark(l, now, program);

	return at && l->items.items[at].pid == l->items.items[now].pid ? at : 0;
}

/* What samples say: they may come late, and do not tell a child from its parent. */
static u32 find_by_pid(struct python_lives *l, const struct python_whose *w)
{
	u32 now = python_lives_of(l, w->pid), own = own_with_mark(l, now, w->program);

	if (!own && !l->items.items[now].process)
		l->items.items[now].program = w->program + 1;
	return own ? own : now;
}

static u32 find_process(struct python_lives *l, const struct python_whose *w, u32 from)
{
	u32 now = (u32)map_get(&l->by_process, w->process, 0), own;
	struct python_life life = {
		.process = w->process, .pid = w->pid, .from = from, .program = w->program + 1
	};

	if (now) {
		own = own_with_mark(l, now, w->program);
		if (own)
			return own;
		life.from = now;
		life.exec = true;
		return begin(l, &life);
	}
	now = (u32)map_get(&l->by_pid, w->pid, 0);
	if (!now || l->items.items[now].process || l->items.items[now].program != w->program + 1)
		return begin(l, &life);
	/* it had samples */
	l->items.items[now].process = w->process;
	l->items.items[now].from = from;
	map_put(&l->by_process, w->process, now);
	return now;
}

static u32 process_with_mark(const struct python_lives *l, u64 process, u32 program)
{
	return process ? with_mark(l, (u32)map_get(&l->by_process, process, 0), program) : 0;
}

/*
 * The life that the process was forked in: its parent's, made up if that had no stack. 0:
 * no such process is known.
 */
static u32 find_parent(struct python_lives *l, const struct python_whose *w)
{
	const struct python_whose parent = { .pid = w->parent_pid,
					     .program = w->program,
					     .process = w->parent };
	u32 known = process_with_mark(l, w->parent, w->program);

	if (known)
		return known;
	known = process_with_mark(l, w->origin, w->program);
	return w->parent_pid && w->parent ? find_process(l, &parent, known) : known;
}

u32 python_lives_find(struct python_lives *l, const struct python_whose *w)
{
	if (!w->process)
		return find_by_pid(l, w);
	if (map_find(&l->by_process, w->process))
		return find_process(l, w, 0);
	return find_process(l, w, find_parent(l, w));
}

u32 python_lives_origin(const struct python_lives *l, u32 life)
{
	const struct python_life *one = &l->items.items[life];

	return one->exec ? 0 : one->from;
}
