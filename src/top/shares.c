/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/shares.h"

void shares_release(struct shares *s)
{
	vec_release(&s->rows);
	vec_release(&s->sums);
	map_release(&s->by_tid);
	map_release(&s->by_pid);
}

enum share share_of_state(enum thread_state s)
{
	static const u8 shares[STATE_COUNT] = {
		[STATE_USER] = SHARE_RUN,
		[STATE_KERNEL] = SHARE_RUN,
		[STATE_RUNNING] = SHARE_RUN,
		[STATE_RUNNABLE] = SHARE_RUNNABLE,
		[STATE_DISK] = SHARE_DISK,
		[STATE_FLUSH] = SHARE_DISK,
		[STATE_NETWORK] = SHARE_NET,
		[STATE_LOCK] = SHARE_LOCK,
		[STATE_RWLOCK] = SHARE_LOCK,
		[STATE_COND] = SHARE_LOCK,
		[STATE_SEMAPHORE] = SHARE_LOCK,
		[STATE_BARRIER] = SHARE_LOCK,
		[STATE_JOIN] = SHARE_LOCK,
		[STATE_FUTEX] = SHARE_LOCK,
		[STATE_PIPE] = SHARE_OTHER,
		[STATE_SLEEP] = SHARE_SLEEP,
		[STATE_FAULT] = SHARE_DISK,
		[STATE_RECLAIM] = SHARE_OTHER,
		[STATE_THROTTLED] = SHARE_OTHER,
		[STATE_FROZEN] = SHARE_OTHER,
		[STATE_STOPPED] = SHARE_OTHER,
		[STATE_CHILD] = SHARE_SLEEP,
		[STATE_OTHER] = SHARE_OTHER,
		[STATE_INTERRUPTIBLE] = SHARE_SLEEP,
		[STATE_UNINTERRUPTIBLE] = SHARE_DISK,
		[STATE_POLL] = SHARE_SLEEP,
		[STATE_WORK] = SHARE_SLEEP,
		[STATE_IDLE] = SHARE_SLEEP,
	};

	return s < STATE_COUNT ? (enum share)shares[s] : SHARE_OTHER;
}

const char *share_name(enum share s)
{
	static const char *const names[SHARE_COUNT] = { "run", "runnable", "disk", "lock",
							"net", "sleep",    "other" };

	return s < SHARE_COUNT ? names[s] : "";
}

static void add_to(struct share_row *to, const struct share_row *row)
{
	to->wall += row->wall;
	for (int i = 0; i < SHARE_COUNT; i++)
		to->ns[i] += row->ns[i];
}

static void add_words(struct share_row *to, const struct share_row *row)
{
	u64 waited = row->wall - row->ns[SHARE_RUN] - row->ns[SHARE_SLEEP];

	if (*to->waker && waited <= to->longest)
		return;
	to->longest = waited;
	to->waker = row->waker ? row->waker : "";
	to->place = row->place ? row->place : "";
}

void shares_add(struct shares *s, const struct share_row *row)
{
	u64 *at = map_at(&s->by_pid, row->pid);

	vec_push(&s->rows, *row);
	map_put(&s->by_tid, row->tid, s->rows.len);
	if (!*at) {
		struct share_row *sum = vec_new(&s->sums);

		sum->pid = row->pid;
		sum->waker = sum->place = "";
		*at = s->sums.len;
	}
	add_to(&s->sums.items[*at - 1], row);
	/* of a process that of the thread that waited longest for something */
	add_words(&s->sums.items[*at - 1], row);
}

const struct share_row *shares_get(const struct shares *s, u32 pid, u32 tid)
{
	u64 at = tid ? map_get(&s->by_tid, tid, 0) : map_get(&s->by_pid, pid, 0);

	if (!at)
		return NULL;
	return tid ? &s->rows.items[at - 1] : &s->sums.items[at - 1];
}
