/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had the CPU while a thread wanted it. Each CPU remembers who ran there recently; when a
 * thread gets it at last, they share the time since it was woken, each as long as it ran.
 */
#ifndef BPF_OFFCPU_RAN_BPF_H
#define BPF_OFFCPU_RAN_BPF_H

#include "bpf/offcpu.bpf.h"

enum { OFFCPU_RUNS = 64 }; /* that a CPU remembers */

struct offcpu_run {
	u64 begin;
	u64 end;
	struct offcpu_ran_key who;
};

struct offcpu_runs {
	u64 last; /* switch of this CPU */
	u64 next;
	struct offcpu_run run[OFFCPU_RUNS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct offcpu_runs);
} offcpu_runs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFFCPU_RAN_MOST);
	__type(key, struct offcpu_ran_key);
	__type(value, struct offcpu_ran_value);
} offcpu_ran SEC(".maps");

static __always_inline struct offcpu_runs *offcpu_runs_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&offcpu_runs, &zero);
}

/* The current thread leaves, having run since @begin; 0: since the last switch, as far as is seen.
 */
static __always_inline void offcpu_note_run(u64 id, u64 begin, u64 now)
{
	struct offcpu_runs *runs = offcpu_runs_here();

	if (!runs)
		return;
	if (id) {
		struct offcpu_run *r = &runs->run[runs->next++ % OFFCPU_RUNS];

		r->begin = begin ? begin : runs->last ? runs->last : now;
		r->end = now;
		r->who.pid = id >> 32;
		r->who.tid = id;
		bpf_get_current_comm(r->who.comm, sizeof(r->who.comm));
	}
	runs->last = now;
}

struct offcpu_share {
	struct offcpu_runs *runs;
	u64 from;
	u64 to;
};

/* The @i-th run from the last one back. */
static long offcpu_share_one(u32 i, void *ctx)
{
	struct offcpu_share *c = ctx;
	struct offcpu_run *r = &c->runs->run[(c->runs->next - 1 - i) % OFFCPU_RUNS];
	struct offcpu_ran_value zero = {}, *v;
	u64 begin = r->begin > c->from ? r->begin : c->from;
	u64 end = r->end < c->to ? r->end : c->to;

	if (r->end <= c->from)
		return 1; /* also those that are not there yet */
	if (begin >= end)
		return 0;
	v = bpf_map_lookup_elem(&offcpu_ran, &r->who);
	if (!v) {
		bpf_map_update_elem(&offcpu_ran, &r->who, &zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&offcpu_ran, &r->who);
	}
	if (!v) {
		offcpu_count(OFFCPU_COUNT_RAN_FULL, 1);
		return 1;
	}
	__sync_fetch_and_add(&v->ns, end - begin);
	__sync_fetch_and_add(&v->count, 1);
	return 0;
}

/* A thread wanted this CPU in between, and has it now. */
static __always_inline void offcpu_share_out(u64 from, u64 to)
{
	struct offcpu_share c = { .runs = offcpu_runs_here(), .from = from, .to = to };

	if (c.runs)
		bpf_loop(OFFCPU_RUNS, offcpu_share_one, &c, 0);
}

#endif
