// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long the kernel is in what others have attached to a tracepoint. It calls those in the order
 * in which they came: one program attached before them and one after them hold the time between.
 *
 * Where anybody has a perf event that asks for mappings, each mmap of everybody pays for it, and no
 * tracepoint leads there. But who tells of a mapped file (between TELLER_BEGIN and TELLER_END)
 * takes room for the path first and gives it back at last, and those are tracepoints: the time
 * between them is what there is to spell the path and to look for all who want to know. That
 * kmalloc and kfree themselves are outside of it makes up for the two programs that are inside.
 */
#include <linux/types.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct mark {
	__u64 begin; /* 0: not between the two */
	__u64 sum;
	__u64 count;
	__u64 room; /* of the path */
};

/* In the order of TRACEPOINTS in ruler.py. */
enum {
	AT_SWITCH,
	AT_WAKING,
	AT_WAKEUP,
	AT_WAKEUP_NEW,
	AT_STAT_RUNTIME,
	AT_MIGRATE,
	AT_FORK,
	AT_EXEC,
	AT_EXIT,
	AT_MAPPED,
	AT_COUNT,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, AT_COUNT);
	__type(key, __u32);
	__type(value, struct mark);
} marks SEC(".maps");

static __always_inline struct mark *get_mark(__u32 at)
{
	return bpf_map_lookup_elem(&marks, &at);
}

static __always_inline int before(__u32 at)
{
	/* Somebody else's time is not the teller's. */
	struct mark *m = at == AT_SWITCH ? get_mark(AT_MAPPED) : (void *)0;

	if (m)
		m->begin = 0;
	m = get_mark(at);
	if (m)
		m->begin = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void end(struct mark *m, __u64 now)
{
	if (!m || !m->begin)
		return;
	m->sum += now - m->begin;
	m->count++;
	m->begin = 0;
}

static __always_inline int after(__u32 at)
{
	__u64 now = bpf_ktime_get_ns();

	end(get_mark(at), now);
	return 0;
}

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

RULER(AT_SWITCH, sched_switch)
RULER(AT_WAKING, sched_waking)
RULER(AT_WAKEUP, sched_wakeup)
RULER(AT_WAKEUP_NEW, sched_wakeup_new)
RULER(AT_STAT_RUNTIME, sched_stat_runtime)
RULER(AT_MIGRATE, sched_migrate_task)
RULER(AT_FORK, sched_process_fork)
RULER(AT_EXEC, sched_process_exec)
RULER(AT_EXIT, sched_process_exit)

static __always_inline int is_synthesised(__u64 site)
{
	return site >= TELLER_BEGIN && site < TELLER_END;
}

/* Both tracepoints begin with who calls, and the room. */
SEC("raw_tp/kmalloc")
int tell_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct mark *m;

	if (!is_synthesised(ctx->args[0]))
		return 0;
	m = get_mark(AT_MAPPED);
	if (!m)
		return 0;
	m->room = ctx->args[1];
	m->begin = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/kfree")
int tell_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct mark *m;

	if (!is_synthesised(ctx->args[0]))
		return 0;
	m = get_mark(AT_MAPPED);
	if (m && m->room == ctx->args[1])
		end(m, now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
