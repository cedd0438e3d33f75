// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The least that anybody has to do who tells how long each thread was off the CPU: one program at
 * the switch, what it knows of a thread kept at the thread itself, and no stack.
 */
#include <linux/types.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct off {
	__u64 left; /* when it left the CPU */
	__u64 count;
	__u64 sum;
	__u64 max;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off);
} threads SEC(".maps");

static __always_inline void came(struct off *off, __u64 now)
{
	__u64 away = now - off->left;

	off->count++;
	off->sum += away;
	if (away > off->max)
		off->max = away;
}

/* Idle threads, whose pid is 0, wait for nothing. */
SEC("tp_btf/sched_switch")
int least_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct off *off;

	if (next->pid) {
		off = bpf_task_storage_get(&threads, next, 0, 0);
		if (off)
			came(off, now);
	}
	if (prev->pid) {
		off = bpf_task_storage_get(&threads, prev, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (off)
			off->left = now;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
