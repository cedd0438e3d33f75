// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long the kernel is in what others have attached to a tracepoint. It calls those in the order
 * in which they came: one program attached before them and one after them hold the time between.
 */
#include <linux/types.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct mark {
	__u64 begin; /* 0: not between the two */
	__u64 sum;
	__u64 count;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, struct mark);
} marks SEC(".maps");

static __always_inline int before(__u32 at)
{
	struct mark *m = bpf_map_lookup_elem(&marks, &at);

	if (m)
		m->begin = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int after(__u32 at)
{
	__u64 now = bpf_ktime_get_ns();
	struct mark *m = bpf_map_lookup_elem(&marks, &at);

	if (!m || !m->begin)
		return 0;
	m->sum += now - m->begin;
	m->count++;
	m->begin = 0;
	return 0;
}

/* In the order of TRACEPOINTS in ruler.py. */
#define RULER(at, tracepoint)              \
	SEC("raw_tp/" #tracepoint)         \
	int before_##tracepoint(void *ctx) \
	{                                  \
		return before(at);         \
	}                                  \
	SEC("raw_tp/" #tracepoint)         \
	int after_##tracepoint(void *ctx)  \
	{                                  \
		return after(at);          \
	}

RULER(0, sched_switch)
RULER(1, sched_waking)
RULER(2, sched_wakeup)
RULER(3, sched_wakeup_new)
RULER(4, sched_stat_runtime)
RULER(5, sched_migrate_task)
RULER(6, sched_process_fork)
RULER(7, sched_process_exec)
RULER(8, sched_process_exit)

char LICENSE[] SEC("license") = "GPL";
