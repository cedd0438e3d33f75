/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/python_lives.h"

void python_lives_release(struct python_lives *l)
{
	vec_release(&l->items);
	map_release(&l->by_pid);
	map_release(&l->programs);
}

void python_lives_forget(struct python_lives *l)
{
	vec_clear(&l->items);
	map_clear(&l->by_pid);
	map_clear(&l->programs);
}

static void begin(struct python_lives *l, const struct python_life *life)
{
	u64 before = map_get(&l->by_pid, life->pid, 0);

	if (!l->items.len)
		vec_new(&l->items);
	if (before)
		l->items.items[before].over = true;
	map_put(&l->by_pid, life->pid, l->items.len);
	vec_push(&l->items, *life);
}

static u32 present(const struct python_lives *l, u32 pid)
{
	return (u32)map_get(&l->by_pid, pid, 0);
}

void python_lives_fork(struct python_lives *l, u32 pid, u32 parent)
{
	u32 from = python_lives_of(l, parent);

	begin(l, &(struct python_life){ .pid = pid, .from = from });
}

void python_lives_exec(struct python_lives *l, u32 pid)
{
	u32 before = python_lives_of(l, pid);

	begin(l, &(struct python_life){ .pid = pid, .from = before, .exec = true });
}

u32 python_lives_of(struct python_lives *l, u32 pid)
{
	if (!present(l, pid))
		begin(l, &(struct python_life){ .pid = pid });
	return present(l, pid);
}

/* A mark that is the parent's is that of the child until its exec. */
u32 python_lives_find(struct python_lives *l, u32 pid, u32 program)
{
	u32 now = python_lives_of(l, pid), own = now, found = now, at = now;

	for (int i = 0; program && at && i < PYTHON_LIFE_STEPS; i++) {
		const struct python_life *life = &l->items.items[at];

		own = life->pid == pid ? at : own;
		if (life->program == program + 1) {
			found = own;
			break;
		}
		at = life->from;
	}
	if (program) {
		l->items.items[found].program = program + 1;
		map_put(&l->programs, program, 1);
	}
	return found;
}

u32 python_lives_origin(const struct python_lives *l, u32 life)
{
	const struct python_life *one = &l->items.items[life];

	return one->exec ? 0 : one->from;
}
