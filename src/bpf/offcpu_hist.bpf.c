/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of the scheduler, counted in the kernel. */
#include "bpf/offcpu_hist_abi.h"
#include "bpf/sched_types.h"
#include "bpf/task.bpf.h"

/* Set before loading. */
const volatile struct {
	u64 unit; /* ns of the first slot's width */
	u32 what; /* enum sched_hist_what */
	u32 by;   /* enum sched_hist_by */
	u32 self;
	u8 by_pid;
	u8 has_prev_state;
	u8 pad[2];
} hist_options = { .unit = 1000 };

struct hist_task {
	u64 ready; /* wants a CPU since */
	u64 in;
	u64 out;
	u64 exec;
#ifdef BPF_RAW
	u64 born; /* numbers of threads are used again */
#endif
};

TASK_MAP(hist_tasks, struct hist_task);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCHED_HIST_KEYS);
	__type(key, struct sched_hist_key);
	__type(value, struct sched_hist);
} hists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u8);
} hist_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCHED_HIST_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} hist_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sched_hist);
} hist_zero SEC(".maps");

static __always_inline void count(u32 which)
{
	u64 *c = bpf_map_lookup_elem(&hist_counters, &which);

	if (c)
		*c += 1;
}

static __always_inline u32 log2_of(u64 v)
{
	u32 r, shift;

	r = (v > 0xffffffff) << 5;
	v >>= r;
	shift = (v > 0xffff) << 4;
	v >>= shift;
	r |= shift;
	shift = (v > 0xff) << 3;
	v >>= shift;
	r |= shift;
	shift = (v > 0xf) << 2;
	v >>= shift;
	r |= shift;
	shift = (v > 0x3) << 1;
	v >>= shift;
	r |= shift;
	return r | (v >> 1);
}

static __always_inline struct sched_hist *hist_of(struct task_struct *task)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;
	struct sched_hist_key key = {};
	struct sched_hist *h;
	u32 zero = 0;

	switch (hist_options.by) {
	case SCHED_HIST_CPU: key.id = bpf_get_smp_processor_id(); break;
	case SCHED_HIST_PID: key.id = task_field(task, tgid); break;
	case SCHED_HIST_TID: key.id = task_field(task, pid); break;
	case SCHED_HIST_CGROUP: key.id = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id); break;
	default: break;
	}
	if (hist_options.by == SCHED_HIST_COMM || hist_options.by == SCHED_HIST_TID)
		bpf_probe_read_kernel_str(key.comm, sizeof(key.comm), &t->comm);
	h = bpf_map_lookup_elem(&hists, &key);
	if (!h) {
		struct sched_hist *empty = bpf_map_lookup_elem(&hist_zero, &zero);

		if (empty)
			bpf_map_update_elem(&hists, &key, empty, BPF_NOEXIST);
		h = bpf_map_lookup_elem(&hists, &key);
	}
	if (!h)
		count(SCHED_HIST_COUNT_FULL);
	return h;
}

static __always_inline bool wanted(struct task_struct *task)
{
	u32 pid = task_field(task, tgid);

	if (!task_field(task, pid) || pid == hist_options.self)
		return false;
	return !hist_options.by_pid || bpf_map_lookup_elem(&hist_pids, &pid);
}

static __always_inline void add(struct task_struct *task, u64 ns)
{
	struct sched_hist *h = hist_of(task);
	u64 v = ns / hist_options.unit;

	if (!h)
		return;
	/* slot 0 is below one unit, slot n from 2^(n-1) on */
	u32 slot = v ? log2_of(v) + 1 : 0;

	if (slot < SCHED_HIST_SLOTS)
		__sync_fetch_and_add(&h->slots[slot], 1);
	__sync_fetch_and_add(&h->count, 1);
	__sync_fetch_and_add(&h->total, ns);
}

#ifdef BPF_RAW

/* NULL: the thread is not known, or there is no room for it. */
static __always_inline struct hist_task *task_of(struct task_struct *task, bool create)
{
	struct hist_task new = { .born = BPF_CORE_READ(task, start_time) }, *t;
	u32 pid = BPF_CORE_READ(task, pid);

	t = bpf_map_lookup_elem(&hist_tasks, &pid);
	if (t && t->born == new.born)
		return t;
	if (!create)
		return 0;
	bpf_map_update_elem(&hist_tasks, &pid, &new, BPF_ANY);
	t = bpf_map_lookup_elem(&hist_tasks, &pid);
	if (!t)
		count(SCHED_HIST_COUNT_NO_ROOM);
	return t;
}

static __always_inline void forget(struct task_struct *task)
{
	u32 pid = BPF_CORE_READ(task, pid);

	bpf_map_delete_elem(&hist_tasks, &pid);
}

#else

static __always_inline struct hist_task *task_of(struct task_struct *task, bool create)
{
	return bpf_task_storage_get(&hist_tasks, task, 0,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* It goes with the task. */
static __always_inline void forget(struct task_struct *task)
{
}

#endif

static __always_inline u64 exec_of(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___sched *)task, se.sum_exec_runtime);
}

static __always_inline void arrived(struct task_struct *task, struct hist_task *t, u64 now)
{
	if (hist_options.what == SCHED_HIST_RUNQLAT && t->ready && now >= t->ready)
		add(task, now - t->ready);
	if (hist_options.what == SCHED_HIST_OFFCPU && t->out && now >= t->out)
		add(task, now - t->out);
	t->ready = 0;
	t->out = 0;
	t->in = now;
}

static __always_inline void left(struct task_struct *task, struct hist_task *t, u32 state, u64 now)
{
	u64 exec = exec_of(task), ran = exec - t->exec;

	/* its switch-in was not delivered: the CPU time that it used shows when it was */
	if (!t->in && t->exec && ran < now) {
		count(SCHED_HIST_COUNT_INFERRED);
		arrived(task, t, now - ran);
	}
	if (hist_options.what == SCHED_HIST_ONCPU && t->in && now >= t->in)
		add(task, now - t->in);
	t->in = 0;
	t->out = now;
	t->exec = exec;
	t->ready = state ? 0 : now;
}

SEC(TASK_TRACEPOINT "sched_switch")
int hist_switch(u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	u64 now = bpf_ktime_get_ns();
	struct hist_task *t;
	u32 state = 0;

	if (wanted(next)) {
		t = task_of(next, false);
		if (t)
			arrived(next, t, now);
	}
	if (!wanted(prev))
		return 0;
	if (!(ctx[0] & 1)) {
		if (hist_options.has_prev_state)
			state = ctx[3];
		else if (bpf_core_field_exists(((struct task_struct___sched *)prev)->__state))
			state = BPF_CORE_READ((struct task_struct___sched *)prev, __state);
		else
			state = BPF_CORE_READ((struct task_struct___old *)prev, state);
	}
	t = task_of(prev, true);
	if (t)
		left(prev, t, state & 0xffff, now);
	if (state & SCHED_STATE_DEAD)
		forget(prev);
	return 0;
}

static __always_inline int woken(struct task_struct *task)
{
	struct hist_task *t;

	if (!wanted(task))
		return 0;
	t = task_of(task, true);
	if (t && !t->ready && !t->in)
		t->ready = bpf_ktime_get_ns();
	return 0;
}

SEC(TASK_TRACEPOINT "sched_wakeup")
int hist_wakeup(u64 *ctx)
{
	return woken((struct task_struct *)ctx[0]);
}

SEC(TASK_TRACEPOINT "sched_wakeup_new")
int hist_wakeup_new(u64 *ctx)
{
	return woken((struct task_struct *)ctx[0]);
}

SEC("perf_event")
int hist_length(void *ctx)
{
	struct task_struct *task = task_current();
	struct rq___sched *rq = BPF_CORE_READ((struct task_struct___sched *)task, se.cfs_rq, rq);
	u32 n = BPF_CORE_READ(rq, nr_running);
	struct sched_hist *h = hist_of(task);

	/* the one that runs does not wait */
	if (n && task_field(task, pid))
		n--;
	if (!h)
		return 0;
	u32 at = n < SCHED_HIST_SLOTS ? n : SCHED_HIST_SLOTS - 1;

	/* older verifiers follow only the register that is used */
	asm volatile("" : "+r"(at));
	__sync_fetch_and_add(&h->slots[at & (SCHED_HIST_SLOTS - 1)], 1);
	__sync_fetch_and_add(&h->count, 1);
	__sync_fetch_and_add(&h->total, n);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
