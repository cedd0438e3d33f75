/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All threads, where there are no iterators: by the kernel's own lists. The programs are run by the
 * one that loads them, in its name; the kernel frees no task while they do.
 */
#ifndef BPF_OFFCPU_WALK_BPF_H
#define BPF_OFFCPU_WALK_BPF_H

enum { OFFCPU_WALK_MOST = 1 << 20 }; /* threads */

struct offcpu_walk {
	u64 first;   /* process, ... */
	u64 process; /* ... and the one that is being gone through */
	u64 thread;
};

#define walk_offset(field) bpf_core_field_offset(struct task_struct___sched, field)

static __always_inline u64 walk_word(u64 address)
{
	u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (const void *)address);
	return word;
}

/* The list of the threads of a process begins and ends here. */
static __always_inline u64 walk_threads(u64 process)
{
	return walk_word(process + walk_offset(signal)) +
	       bpf_core_field_offset(struct signal_struct___sched, thread_head);
}

static long walk_one(u32 i, void *ctx)
{
	struct offcpu_walk *w = ctx;
	u64 next;

	each_thread((struct task_struct *)w->thread);
	next = walk_word(w->thread + walk_offset(thread_node));
	if (next != walk_threads(w->process)) {
		w->thread = next - walk_offset(thread_node);
		return !next;
	}
	w->process = walk_word(w->process + walk_offset(tasks)) - walk_offset(tasks);
	if (w->process == w->first)
		return 1;
	next = walk_word(walk_threads(w->process));
	w->thread = next - walk_offset(thread_node);
	return !next;
}

SEC("raw_tp")
int offcpu_each(void *ctx)
{
	u64 task = (u64)BPF_CORE_READ(task_current(), group_leader);
	struct offcpu_walk w = { .first = task, .process = task };

	w.thread = walk_word(walk_threads(task)) - walk_offset(thread_node);
	bpf_loop(OFFCPU_WALK_MOST, walk_one, &w, 0);
	return 0;
}

static long hold_one(void *map, const void *key, struct offcpu_task *st, void *ctx)
{
	hold(st);
	return 0;
}

SEC("raw_tp")
int offcpu_hold(void *ctx)
{
	bpf_for_each_map_elem(&offcpu_tasks, hold_one, 0, 0);
	return 0;
}

static long settle_one(void *map, const void *key, struct offcpu_task *st, void *ctx)
{
	settle(st);
	return 0;
}

/* After the end: what is still with the threads. */
SEC("raw_tp")
int offcpu_settle(void *ctx)
{
	bpf_for_each_map_elem(&offcpu_tasks, settle_one, 0, 0);
	return 0;
}

#endif
