/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sums of waits: in a table of rows, and before that with the thread that waits.
 *
 * The table is custom: rows are in an array, at or shortly after the index that their number gives.
 * So adding a wait costs one cache line, where a hash map costs four, and with wakers nearly every
 * wait is of another row than the thread's last one. Rows are only taken out by user space, half of
 * the table at a time, while the programs fill the other half.
 */
#ifndef BPF_OFFCPU_ROWS_BPF_H
#define BPF_OFFCPU_ROWS_BPF_H

#include "bpf/offcpu_waker.bpf.h"

enum { OFFCPU_PROBES = 16 }; /* places for a row */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* also: begins with a page */
	__uint(max_entries, 1);            /* set before loading */
	__type(key, u32);
	__type(value, struct offcpu_row);
} offcpu_rows SEC(".maps");

/* The half of the table that is filled: 0 or 1. */
u32 offcpu_half = 0;

/* Never 0. */
static __always_inline u64 row_number(const struct offcpu_key *key)
{
	const u64 *word = (const u64 *)key;
	u64 h = offcpu_mix(word[0], word[1]);

	h = offcpu_mix(offcpu_mix(h, word[2]), word[3]);
	return offcpu_mix(offcpu_mix(offcpu_mix(h, word[4]), word[5]), word[6]) | 1;
}

static __always_inline u32 row_place(u64 id, u32 probe)
{
	u32 half = offcpu_half & 1;

	return half * offcpu_options.rows + (((u32)(id >> 32) + probe) & (offcpu_options.rows - 1));
}

static __always_inline struct offcpu_row *row_at(u32 at)
{
	return bpf_map_lookup_elem(&offcpu_rows, &at);
}

/* The row in one of its other places. */
static __attribute__((noinline)) struct offcpu_row *search_row(u64 id)
{
	u32 i;

	for (i = 1; i < OFFCPU_PROBES; i++) {
		struct offcpu_row *row = row_at(row_place(id, i));

		if (!row || !row->id)
			return 0;
		if (row->id == id)
			return row;
	}
	return 0;
}

/* The first free place becomes that of @key, or it has been given one meanwhile. */
static __attribute__((noinline)) struct offcpu_row *make_row(u64 id, const struct offcpu_key *key)
{
	u32 i;

	for (i = 0; i < OFFCPU_PROBES; i++) {
		struct offcpu_row *row = row_at(row_place(id, i));
		u64 have;

		if (!row)
			return 0;
		have = __sync_val_compare_and_swap(&row->id, 0, id);
		if (have == id)
			return row;
		if (!have) {
			row->key = *key;
			return row;
		}
	}
	return 0;
}

static __always_inline struct offcpu_row *find_row(u64 id)
{
	struct offcpu_row *row = row_at(row_place(id, 0));

	if (!row || row->id == id)
		return row;
	return row->id ? search_row(id) : 0;
}

/* @row: of @key, 0: it has to be made. */
static __always_inline void add_row(struct offcpu_row *row, const struct offcpu_key *key,
				    const struct offcpu_value *add)
{
	struct offcpu_value *v;

	if (!row)
		row = make_row(row_number(key), key);
	if (!row) {
		offcpu_count(OFFCPU_COUNT_MAP_FULL, add->count);
		offcpu_count(OFFCPU_COUNT_MAP_FULL_NS, add->blocked + add->runq);
		return;
	}
	v = &row->value;
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

	if (unlikely(!st || !st->summed))
		return 0;
	st->summed = 0;
	/* older kernels take no key from memory that was handed to a global function */
	__builtin_memcpy(&key, &st->row, sizeof(key));
	add_row(find_row(row_number(&key)), &key, &st->sum);
	__builtin_memset(&st->sum, 0, sizeof(st->sum));
	return 0;
}

/* Without the chain. */
static __always_inline bool same_wait(const struct offcpu_key *a, const struct offcpu_key *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;

	return !((x[0] ^ y[0]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]) | (x[5] ^ y[5]) |
		 (x[6] ^ y[6]));
}

static __always_inline void sum_up(struct offcpu_task *st, u64 blocked, u64 runq)
{
	st->sum.blocked += blocked;
	st->sum.runq += runq;
	st->sum.count++;
	st->summed = 1;
	if (blocked > st->sum.max_blocked)
		st->sum.max_blocked = blocked;
	if (runq > st->sum.max_runq)
		st->sum.max_runq = runq;
}

/*
 * The wait that begins is this one. Threads come back to the same wait over and over: as long as
 * they do, it is enough to add it up with the thread. Nothing else reads it while the programs
 * are attached.
 */
static __always_inline void choose_row(struct offcpu_task *st, const struct offcpu_key *key)
{
	if (same_wait(&st->row, key))
		return;
	if (st->summed)
		settle(st);
	st->row = *key;
}

/*
 * The wait that ends was ended by this chain of wakers. False: no wait of the thread before was
 * just like it. Then it goes into its row itself, and not with the next ones: the links of its
 * chain, which is sent when the row is made, are available only now.
 */
static __always_inline bool choose_chain(struct offcpu_task *st, u64 chain)
{
	if (st->row.chain == chain)
		return true;
	if (st->summed)
		settle(st);
	st->row.chain = chain;
	return false;
}

/* What ends now goes into its row. */
static __always_inline void add_wait(struct offcpu_task *st, struct offcpu_key *key, u64 blocked,
				     u64 runq)
{
	const struct offcpu_value one = { blocked, runq, 1, blocked, runq };
	struct offcpu_row *row = find_row(row_number(key));

	if (!row && key->chain && !offcpu_send_chain(st)) {
		offcpu_count(OFFCPU_COUNT_CHAINS_FULL, 1);
		key->chain = 0;
	}
	add_row(row, key, &one);
}

#endif
