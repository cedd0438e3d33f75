/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sums of waits: in the table of rows, and before that with the thread that waits. */
#ifndef BPF_OFFCPU_ROWS_BPF_H
#define BPF_OFFCPU_ROWS_BPF_H

#include "bpf/offcpu.bpf.h"

/*
 * The row that a wait belongs to is known when it begins: no waker is asked for. Then it is enough
 * to see that it is the one of the thread's last wait.
 */
static __always_inline bool rows_first(void)
{
	return offcpu_options.sums && offcpu_options.by_delay && !offcpu_options.threads &&
	       !offcpu_options.ran;
}

static __always_inline void add_row(const struct offcpu_key *key, const struct offcpu_value *add)
{
	struct offcpu_value *v = bpf_map_lookup_elem(&offcpu_rows, key);

	if (!v) {
		struct offcpu_value zero = {};

		bpf_map_update_elem(&offcpu_rows, key, &zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&offcpu_rows, key);
	}
	if (!v) {
		offcpu_count(OFFCPU_COUNT_MAP_FULL, add->count);
		offcpu_count(OFFCPU_COUNT_MAP_FULL_NS, add->blocked + add->runq);
		return;
	}
	__sync_fetch_and_add(&v->blocked, add->blocked);
	__sync_fetch_and_add(&v->runq, add->runq);
	__sync_fetch_and_add(&v->count, add->count);
	if (add->max_blocked > v->max_blocked)
		v->max_blocked = add->max_blocked;
	if (add->max_runq > v->max_runq)
		v->max_runq = add->max_runq;
}

/* What was summed up with the thread goes into its row. Global functions are verified once. */
__attribute__((noinline)) int settle(struct offcpu_task *st)
{
	struct offcpu_key key;

	if (!st || !st->sum.count)
		return 0;
	/* older kernels take no key from memory that was handed to a global function */
	__builtin_memcpy(&key, &st->row, sizeof(key));
	add_row(&key, &st->sum);
	__builtin_memset(&st->sum, 0, sizeof(st->sum));
	return 0;
}

static __always_inline bool same_row(const struct offcpu_key *a, const struct offcpu_key *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && x[4] == y[4] &&
	       x[5] == y[5] && x[6] == y[6];
}

static __always_inline void sum_up(struct offcpu_task *st, u64 blocked, u64 runq)
{
	st->sum.blocked += blocked;
	st->sum.runq += runq;
	st->sum.count++;
	if (blocked > st->sum.max_blocked)
		st->sum.max_blocked = blocked;
	if (runq > st->sum.max_runq)
		st->sum.max_runq = runq;
}

/* What is summed up with the thread from now on is of this row. */
static __always_inline void choose_row(struct offcpu_task *st, const struct offcpu_key *key)
{
	if (same_row(&st->row, key))
		return;
	settle(st);
	st->row = *key;
}

/*
 * Threads come back to the same wait over and over: as long as they do, it is enough to add it up
 * with the thread. Nobody else looks there while the programs are attached.
 */
static __always_inline void add_wait(struct offcpu_task *st, const struct offcpu_key *key,
				     u64 blocked, u64 runq)
{
	if (!offcpu_options.sums) {
		const struct offcpu_value one = { blocked, runq, 1, blocked, runq };

		add_row(key, &one);
		return;
	}
	choose_row(st, key);
	sum_up(st, blocked, runq);
}

#endif
