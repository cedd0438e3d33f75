/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks and their figures. An iterator writes all that live; two programs see each thread end: the
 * first when it begins to, while its parent is known, the second when the last reference to it goes
 * and its figures cannot change any more. Between these two a thread still runs for a while.
 *
 * Where they are requested, two more: at each switch the time that CPUs were busy is added up, by a
 * clock and not by ticks, and, with the wakeups, the time that tasks slept for disks.
 */
#include "bpf/ktypes.h"
#include "bpf/tasks_abi.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define barrier() asm volatile("" ::: "memory")

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_io_accounting {
	u64 rchar, wchar;
	u64 read_bytes, write_bytes, cancelled_write_bytes;
};

/* The second and third are of kernels whose run times leave something out. */
struct rq___tasks {
	u64 clock_task;
	u64 prev_irq_time;
	u64 prev_steal_time_rq;
};

struct cfs_rq___tasks {
	struct rq___tasks *rq;
};

struct sched_entity___tasks {
	u64 sum_exec_runtime;
	struct cfs_rq___tasks *cfs_rq;
};

struct sched_info___tasks {
	u64 run_delay;
};

struct signal_struct___tasks {
	int nr_threads;
	u64 utime, stime, gtime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct task_io_accounting ioac;
	unsigned long long sum_sched_runtime;
};

struct kernfs_node___tasks {
	u64 id;
};

struct cgroup___tasks {
	struct kernfs_node___tasks *kn;
};

struct css_set___tasks {
	struct cgroup___tasks *dfl_cgrp;
};

typedef struct {
	u32 val;
} kuid___tasks;

struct cred___tasks {
	kuid___tasks uid;
};

struct percpu_counter___tasks {
	s64 count;
};

/* Since 6.2; */
struct mm_struct___tasks {
	unsigned long total_vm;
	struct percpu_counter___tasks rss_stat[4];
};

/* before, */
struct atomic___tasks {
	s64 counter;
};

struct mm_rss_stat___old {
	struct atomic___tasks count[4];
};

struct mm_struct___rss {
	struct mm_rss_stat___old rss_stat;
};

struct upid___tasks {
	int nr;
};

struct pid___tasks {
	unsigned int level;
	struct upid___tasks numbers[1];
};

struct thread_info___tasks {
	u32 cpu;
};

struct task_struct___tasks {
	struct thread_info___tasks thread_info;
	unsigned int __state;
	unsigned int flags;
	int exit_state;
	int on_cpu;
	unsigned int in_iowait : 1;
	int static_prio;
	unsigned int rt_priority;
	unsigned int policy;
	struct sched_entity___tasks se;
	struct sched_info___tasks sched_info;
	int pid, tgid;
	struct task_struct___tasks *real_parent;
	struct task_struct___tasks *group_leader;
	struct pid___tasks *thread_pid;
	u64 utime, stime, gtime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	u64 start_boottime;
	struct mm_struct___tasks *mm;
	struct cred___tasks *real_cred;
	struct css_set___tasks *cgroups;
	struct signal_struct___tasks *signal;
	struct task_io_accounting ioac;
	char comm[TASKS_COMM];
};

/* Before 5.14. */
struct task_struct___state {
	long state;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* How deep our pid namespace lies: numbers are as we know them. */
const volatile u32 tasks_level = 0;
/* Room in the ring from which on user space is woken to empty it. */
const volatile u64 tasks_wake = 0;
/* Sleeps for disks are added up. */
const volatile bool tasks_disk = false;
/* When the programs were attached, CLOCK_MONOTONIC. */
u64 tasks_begin = 0;
/* Sums of threads that are gone are requested: only the first look needs them. */
bool tasks_groups = false;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} tasks_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TASKS_COUNTS);
	__type(key, u32);
	__type(value, u64);
} tasks_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tasks_meter);
} tasks_meters SEC(".maps");

struct disk_sleep {
	u64 sum;
	u64 since; /* 0: not sleeping for a disk */
};

/* By the address of the task; memory is had beforehand: none can be asked for in a switch. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct disk_sleep);
} tasks_sleeps SEC(".maps");

static __always_inline void count(u32 which, u64 n)
{
	u64 *at = bpf_map_lookup_elem(&tasks_counts, &which);

	if (at)
		*at += n;
}

static __always_inline u32 number_of(struct task_struct___tasks *t)
{
	struct pid___tasks *pid;
	int nr = 0;

	if (!tasks_level)
		return t->pid;
	pid = t->thread_pid;
	if (!pid || pid->level < tasks_level)
		return 0;
	bpf_core_read(&nr, sizeof(nr),
		      (void *)pid->numbers + tasks_level * bpf_core_type_size(struct upid___tasks));
	return nr;
}

static __always_inline void add_io(u64 *f, struct task_io_accounting *io)
{
	if (!bpf_core_field_exists(io->read_bytes))
		return;
	f[TASK_READ] = io->read_bytes;
	f[TASK_WRITE] = io->write_bytes;
	f[TASK_CANCELLED] = io->cancelled_write_bytes;
	f[TASK_RCHAR] = io->rchar;
	f[TASK_WCHAR] = io->wchar;
}

static __always_inline u64 disk_of(struct task_struct___tasks *t)
{
	u64 key = (u64)t, now = bpf_ktime_get_ns();
	struct disk_sleep *d = bpf_map_lookup_elem(&tasks_sleeps, &key);
	u64 since;

	if (!d)
		return 0;
	since = d->since;
	return d->sum + (since && now > since ? now - since : 0);
}

static __always_inline void fill(struct tasks_record *r, struct task_struct___tasks *t, u32 kind)
{
	u64 *f = r->figures;

	r->kind = kind;
	r->global = t->pid;
	r->start = t->start_boottime;
	f[TASK_EXEC] = t->se.sum_exec_runtime;
	f[TASK_USER] = t->utime;
	f[TASK_SYSTEM] = t->stime;
	f[TASK_GUEST] = t->gtime;
	if (tasks_disk)
		f[TASK_DISK] = disk_of(t);
	if (bpf_core_field_exists(t->sched_info.run_delay))
		f[TASK_DELAY] = t->sched_info.run_delay;
	f[TASK_VOLUNTARY] = t->nvcsw;
	f[TASK_FORCED] = t->nivcsw;
	f[TASK_MINOR] = t->min_flt;
	f[TASK_MAJOR] = t->maj_flt;
	if (bpf_core_field_exists(t->ioac))
		add_io(f, &t->ioac);
}

/* Verifiers before 6.2 do not follow a pointer into an array of structs. */
static __always_inline s64 old_pages(struct mm_struct___rss *mm, u32 which)
{
	s64 n = 0;

	bpf_core_read(&n, sizeof(n), (void *)&mm->rss_stat.count + which * sizeof(n));
	return n;
}

static __always_inline u64 pages_of(struct mm_struct___tasks *mm)
{
	struct mm_struct___rss *old = (void *)mm;
	s64 n;

	/* files, anonymous memory, shared memory; the third is swap */
	if (bpf_core_field_exists(old->rss_stat.count))
		n = old_pages(old, 0) + old_pages(old, 1) + old_pages(old, 3);
	else
		n = mm->rss_stat[0].count + mm->rss_stat[1].count + mm->rss_stat[3].count;
	return n > 0 ? n : 0;
}

static __always_inline void fill_thread(struct tasks_thread *out, struct task_struct___tasks *t,
					u32 kind)
{
	struct task_struct___state *old = (void *)t;
	struct task_struct___tasks *leader = t->group_leader;
	struct mm_struct___tasks *mm = t->mm;

	fill(&out->r, t, kind);
	out->r.tid = number_of(t);
	out->r.pid = number_of(leader);
	/* the parent is the thread that forked */
	out->r.ppid = number_of(leader->real_parent->group_leader);
	if (bpf_core_field_exists(t->on_cpu))
		out->r.running = t->on_cpu;
	out->flags = t->flags;
	out->state = t->exit_state;
	if (bpf_core_field_exists(t->__state))
		out->state |= t->__state;
	else
		out->state |= old->state;
	if (bpf_core_field_exists(t->thread_info.cpu))
		out->cpu = t->thread_info.cpu;
	out->nice = t->static_prio - 120;
	out->policy = t->policy;
	out->rt_priority = t->rt_priority;
	out->uid = t->real_cred->uid.val;
	out->cgroup = t->cgroups->dfl_cgrp->kn->id;
	out->threads = t->signal->nr_threads;
	if (mm) {
		out->vsize = mm->total_vm;
		out->rss = pages_of(mm);
	}
	bpf_core_read_str(out->comm, sizeof(out->comm), &t->comm);
}

/* What threads of the process did that are gone: the kernel keeps their sums. */
static __always_inline void fill_group(struct tasks_record *r, struct task_struct___tasks *t)
{
	struct signal_struct___tasks *s = t->signal;
	u64 *f = r->figures;

	r->kind = TASKS_GROUP;
	r->global = t->pid;
	r->tid = r->pid = number_of(t);
	r->start = t->start_boottime;
	f[TASK_EXEC] = s->sum_sched_runtime;
	f[TASK_USER] = s->utime;
	f[TASK_SYSTEM] = s->stime;
	f[TASK_GUEST] = s->gtime;
	f[TASK_VOLUNTARY] = s->nvcsw;
	f[TASK_FORCED] = s->nivcsw;
	f[TASK_MINOR] = s->min_flt;
	f[TASK_MAJOR] = s->maj_flt;
	if (bpf_core_field_exists(s->ioac))
		add_io(f, &s->ioac);
}

static __always_inline void fall_asleep(struct task_struct___tasks *t, u64 now)
{
	u64 key = (u64)t;
	struct disk_sleep *d = bpf_map_lookup_elem(&tasks_sleeps, &key);
	struct disk_sleep first = { .since = now };

	if (d)
		d->since = now;
	else if (bpf_map_update_elem(&tasks_sleeps, &key, &first, BPF_NOEXIST))
		count(TASKS_NO_ROOM, 1);
}

static __always_inline void awake(struct task_struct___tasks *t, u64 now)
{
	u64 key = (u64)t;
	struct disk_sleep *d = bpf_map_lookup_elem(&tasks_sleeps, &key);

	if (!d || !d->since)
		return;
	if (now > d->since)
		d->sum += now - d->since;
	d->since = 0;
}

/* It slept before the programs were there: counted from then on. */
static __always_inline void sleeps_already(struct task_struct___tasks *t)
{
	u64 key = (u64)t;

	if (BPF_CORE_READ_BITFIELD(t, in_iowait) && !t->on_cpu &&
	    !bpf_map_lookup_elem(&tasks_sleeps, &key))
		fall_asleep(t, tasks_begin);
}

SEC("iter/task")
int tasks_each(struct bpf_iter__task *ctx)
{
	struct task_struct___tasks *t = (void *)ctx->task;
	struct seq_file *seq = ctx->meta->seq;
	struct tasks_thread thread = {};
	struct tasks_record group;

	if (!t)
		return 0;
	if (tasks_disk)
		sleeps_already(t);
	fill_thread(&thread, t, TASKS_THREAD);
	bpf_seq_write(seq, &thread, sizeof(thread));
	if (!tasks_groups || thread.r.tid != thread.r.pid)
		return 0;
	__builtin_memset(&group, 0, sizeof(group));
	fill_group(&group, t);
	if (group.figures[TASK_EXEC])
		bpf_seq_write(seq, &group, sizeof(group));
	return 0;
}

static __always_inline u64 wake_flags(void)
{
	return bpf_ringbuf_query(&tasks_ring, BPF_RB_AVAIL_DATA) > tasks_wake ? BPF_RB_FORCE_WAKEUP
									      : BPF_RB_NO_WAKEUP;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(tasks_exit, struct task_struct *task)
{
	struct tasks_thread *out = bpf_ringbuf_reserve(&tasks_ring, sizeof(*out), 0);

	if (!out) {
		count(TASKS_LOST, 1);
		return 0;
	}
	__builtin_memset(out, 0, sizeof(*out));
	fill_thread(out, (void *)task, TASKS_EXIT);
	bpf_ringbuf_submit(out, wake_flags());
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(tasks_free, struct task_struct *task)
{
	struct task_struct___tasks *t = (void *)task;
	struct tasks_record *out = bpf_ringbuf_reserve(&tasks_ring, sizeof(*out), 0);
	u64 key = (u64)t;

	if (out) {
		__builtin_memset(out, 0, sizeof(*out));
		fill(out, t, TASKS_FREE);
		bpf_ringbuf_submit(out, wake_flags());
	} else {
		count(TASKS_LOST, 1);
		count(TASKS_LOST_EXEC, t->se.sum_exec_runtime);
	}
	/* the address may soon be that of another task */
	if (tasks_disk)
		bpf_map_delete_elem(&tasks_sleeps, &key);
	return 0;
}

/* The clock by which the scheduler charges tasks on this CPU; 0: it cannot be read. */
static __always_inline u64 charging_clock(struct task_struct___tasks *running)
{
	struct cfs_rq___tasks *q = 0;

	if (!bpf_core_field_exists(running->se.cfs_rq) || !bpf_core_field_exists(q->rq))
		return 0;
	q = running->se.cfs_rq;
	return q ? q->rq->clock_task : 0;
}

static __always_inline void meter_interval(struct tasks_meter *m, bool idle, u64 now, u64 clock)
{
	u64 begin = m->since ? m->since : tasks_begin;
	u64 length = now > begin ? now - begin : 0, charged = length;

	if (m->since_charged && clock)
		charged = clock > m->since_charged ? clock - m->since_charged : 0;
	if (!idle) {
		m->busy += length;
		m->charged += charged;
	} else if (length > charged) {
		m->leaving += length - charged;
	}
}

static __always_inline void meter_switch(struct task_struct___tasks *from, bool to_idle, u64 now)
{
	u32 zero = 0;
	struct tasks_meter *m = bpf_map_lookup_elem(&tasks_meters, &zero);
	struct rq___tasks *rq = 0;
	u64 clock = charging_clock(from);

	if (!m)
		return;
	m->sequence++;
	barrier();
	meter_interval(m, !from->pid, now, clock);
	m->since = now;
	m->since_charged = clock;
	m->idle = to_idle;
	m->flags = (bpf_core_field_exists(rq->prev_irq_time) ? TASKS_METER_IRQ : 0) |
		   (bpf_core_field_exists(rq->prev_steal_time_rq) ? TASKS_METER_STEAL : 0) |
		   (clock ? TASKS_METER_CLOCK : 0);
	barrier();
	m->sequence++;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(tasks_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct task_struct___tasks *from = (void *)prev;
	u64 now = bpf_ktime_get_ns();

	meter_switch(from, !next->pid, now);
	if (tasks_disk && from->pid && !preempt && BPF_CORE_READ_BITFIELD(from, in_iowait))
		fall_asleep(from, now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(tasks_waking, struct task_struct *task)
{
	struct task_struct___tasks *t = (void *)task;

	if (BPF_CORE_READ_BITFIELD(t, in_iowait))
		awake(t, bpf_ktime_get_ns());
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
