/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads wait. The stack is taken when a thread leaves the CPU, the waker's when it is
 * woken; when it runs again the wait is added to its row, or sent.
 *
 * A thread that is about to sleep can be woken by another CPU before it has left its own, and
 * before or while we see that. So a waking is noted whether the thread is known to sleep or not,
 * and switches never touch what it notes: it is of the wait that ends if it came after the thread
 * had last begun to run.
 *
 * A wait is closed by the switch to its thread. Where that switch is not delivered, the thread's
 * next switch-out closes it: the CPU time that it used since tells when it had begun to run.
 */
#include "bpf/offcpu.bpf.h"
#include "bpf/offcpu_ran.bpf.h"
#include "bpf/offcpu_rows.bpf.h"
#include "bpf/offcpu_throttle.bpf.h"
#include "bpf/offcpu_waker.bpf.h"

/* --- filters: before any stack is walked ------------------------------------------------------ */

static __always_inline bool in_set(void *map, u32 key)
{
	return bpf_map_lookup_elem(map, &key) != 0;
}

static __always_inline bool cgroup_matches(void)
{
	u32 i;

	for (i = 0; i < OFFCPU_CGROUPS && i < offcpu_options.n_cgroups; i++) {
		if (bpf_current_task_under_cgroup(&offcpu_cgroups, i) == 1)
			return true;
	}
	return false;
}

/* The current thread is one of those that are considered. */
static __always_inline bool task_matches(struct task_struct *task, u64 id,
					 const struct offcpu_task *st)
{
	bool kthread = task_field(task, flags) & PF_KTHREAD;

	if (!id && unwind_pidns.ino)
		return false;
	if (unlikely(id >> 32 == offcpu_options.self))
		return false;
	if (kthread ? offcpu_options.no_kthreads : offcpu_options.no_users)
		return false;
	if (offcpu_options.by_pid && !(st && st->follow) && !in_set(&offcpu_pids, id >> 32) &&
	    !in_set(&offcpu_tids, id))
		return false;
	if (offcpu_options.by_uid && !in_set(&offcpu_uids, bpf_get_current_uid_gid()))
		return false;
	if (offcpu_options.n_cgroups && !cgroup_matches())
		return false;
	if (offcpu_options.by_comm) {
		char comm[OFFCPU_COMM];

		bpf_get_current_comm(comm, sizeof(comm));
		if (!bpf_map_lookup_elem(&offcpu_comms, comm))
			return false;
	}
	return true;
}

static __always_inline bool state_matches(u32 state, bool preempted)
{
	u32 bit = preempted                   ? OFFCPU_STATE_PREEMPTED
		  : state == 0                ? OFFCPU_STATE_RUNNABLE
		  : state & 0x400             ? OFFCPU_STATE_IDLE
		  : state & SCHED_STATE_DISK  ? OFFCPU_STATE_DISK
		  : state & SCHED_STATE_SLEEP ? OFFCPU_STATE_SLEEP
					      : OFFCPU_STATE_OTHER;

	return !offcpu_options.states || offcpu_options.states & bit;
}

/* --- the end of a wait ------------------------------------------------------------------------ */

static __always_inline void send_wait(struct offcpu_task *st, struct offcpu_key *key, u64 blocked,
				      u64 runq, u64 end)
{
	if (key->chain && !offcpu_send_chain(st)) {
		offcpu_count(OFFCPU_COUNT_CHAINS_FULL, 1);
		key->chain = 0;
	}
	struct offcpu_wait *w = bpf_ringbuf_reserve(&unwind_ring, sizeof(*w), 0);

	if (!w) {
		offcpu_count(OFFCPU_COUNT_LOST, 1);
		offcpu_count(OFFCPU_COUNT_LOST_NS, blocked + runq);
		return;
	}
	u64 ran = unwind_task_id();

	w->type = OFFCPU_RECORD_WAIT;
	w->cpu = bpf_get_smp_processor_id();
	w->time = end;
	w->blocked = blocked;
	w->runq = runq;
	w->next_pid = ran >> 32;
	w->next_tid = ran;
	__builtin_memcpy(&w->key, key, sizeof(*key));
	bpf_get_current_comm(w->ran_comm, sizeof(w->ran_comm));
	bpf_ringbuf_submit(w, offcpu_wake_flags());
}

/* Where in a period of @period ns the sample is taken. */
static __always_inline u64 random_point(u64 period)
{
	u64 r = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();

	return r % period;
}

/*
 * Weighs by time: the thread's time off the CPU is cut into periods, and the wait that covers a
 * random point of a period stands for the whole of it. At random, since waits that alternate would
 * otherwise keep step with the periods, and threads that end early would never be seen.
 */
static __always_inline bool thin_out(struct offcpu_task *st, u64 *blocked, u64 *runq)
{
	u64 period = offcpu_options.period, whole = *blocked + *runq, points = 0, end;

	if (!period)
		return true;
	if (!st->point)
		st->point = 1 + random_point(period);
	end = st->owed + whole;
	points = st->point > st->owed && st->point <= end;
	if (end >= period) {
		u64 rest = end % period;

		points += end / period - 1;
		st->point = 1 + random_point(period);
		points += st->point <= rest;
		end = rest;
	}
	st->owed = end;
	if (!points || !whole)
		return false;
	u64 weight = points * period;

	if (weight >> 32 || whole >> 32) {
		/* no 128-bit arithmetic here: treated as one kind */
		*blocked = *blocked > *runq ? weight : 0;
		*runq = weight - *blocked;
		return true;
	}
	*blocked = *blocked * weight / whole;
	*runq = weight - *blocked;
	return true;
}

/* The sleep that ended at @end was ended by a wakeup that was seen. */
static __always_inline bool was_woken(const struct offcpu_task *st, u64 end)
{
	return st->state && st->wake > st->in && st->wake <= end;
}

/* When the wait that ends now became a wait for a CPU. @delay: the thread's, by now. */
static __always_inline u64 woken_at(const struct offcpu_task *st, u64 end, u64 delay)
{
	u64 at = end;

	if (!st->state)
		return st->out;
	if (unlikely(st->state == OFFCPU_THROTTLED))
		at = was_woken(st, end) ? st->wake : end;
	else if (offcpu_options.by_delay)
		at = end - (delay > st->delay ? delay - st->delay : 0);
	else if (was_woken(st, end))
		at = st->wake;
	return at < st->out ? st->out : at > end ? end : at;
}

/* False: it is not to be counted. */
static __always_inline bool measure_wait(struct offcpu_task *st, u64 end, u64 delay, u32 flags,
					 u64 *blocked, u64 *runq)
{
	u64 woken;

	st->open = 0;
	if (unlikely(end < st->out)) {
		offcpu_count(OFFCPU_COUNT_BACKWARD, 1);
		return false;
	}
	woken = woken_at(st, end, delay);
	*blocked = woken - st->out;
	*runq = end - woken;
	if (offcpu_options.threads) {
		st->blocked += *blocked;
		st->runq += *runq;
	}
	if (!offcpu_options.by_delay && st->state) {
		bool seen = was_woken(st, end);

		if (!seen && !(flags & OFFCPU_OPEN))
			offcpu_count(OFFCPU_COUNT_NO_WAKER, 1);
		if (offcpu_options.chains)
			st->sleep_wake = seen ? st->wake : 0;
	}
	return st->wanted && *blocked + *runq >= offcpu_options.min_ns &&
	       (!offcpu_options.max_ns || *blocked + *runq <= offcpu_options.max_ns);
}

__attribute__((noinline)) int close_wait(struct offcpu_task *st, u64 end, u64 delay, u32 flags)
{
	struct offcpu_key key;
	u64 blocked, runq;

	if (!st || !measure_wait(st, end, delay, flags, &blocked, &runq))
		return 0;
	if (offcpu_options.ran && runq && !(flags & OFFCPU_OPEN))
		offcpu_share_out(end - runq, end);
	if (!thin_out(st, &blocked, &runq))
		return 0;
	if (offcpu_options.wakers)
		choose_chain(st, was_woken(st, end) ? st->chain : 0);
	__builtin_memcpy(&key, &st->row, sizeof(key));
	key.flags |= flags;
	if (offcpu_options.send)
		send_wait(st, &key, blocked, runq, end);
	else
		add_wait(st, &key, blocked, runq);
	return 0;
}

/* In a function of its own, for its room on the stack. */
__attribute__((noinline)) int add_other(struct offcpu_task *st, u64 blocked, u64 runq)
{
	struct offcpu_key key;

	if (!st)
		return 0;
	__builtin_memcpy(&key, &st->row, sizeof(key));
	add_wait(st, &key, blocked, runq);
	return 0;
}

/* The same where it only has to be summed up with its thread. */
static __always_inline void close_seen(struct offcpu_task *st, u64 end, u64 delay)
{
	u64 blocked, runq;

	if (!measure_wait(st, end, delay, 0, &blocked, &runq) || !thin_out(st, &blocked, &runq))
		return;
	if (!offcpu_options.wakers || choose_chain(st, was_woken(st, end) ? st->chain : 0))
		sum_up(st, blocked, runq);
	else
		add_other(st, blocked, runq);
}

enum { OFFCPU_SCHED_YIELD = 24 }; /* x86-64's number */

/* --- leaving the CPU -------------------------------------------------------------------------- */

static __always_inline u64 exec_runtime(struct task_struct *task)
{
	return task_field((struct task_struct___sched *)task, se.sum_exec_runtime);
}

/* The time since the last switch-in as CPU time; closes a wait whose end was not delivered. */
static __always_inline void account_run(struct offcpu_task *st, struct task_struct *prev, u64 now)
{
	u64 exec = exec_runtime(prev), ran = exec - st->exec;

	if (unlikely(st->open)) {
		u64 in = ran < now - st->out ? now - ran : st->out;

		offcpu_count(OFFCPU_COUNT_INFERRED, 1);
		close_wait(st, in, offcpu_delay(prev, now), OFFCPU_INFERRED);
		st->in = in;
	}
	if (offcpu_options.threads && st->in && now > st->in)
		st->oncpu += now - st->in;
	st->exec = exec;
}

static __always_inline void begin_account(struct offcpu_task *st, struct task_struct *task, u64 now)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;

	st->begin = now;
	st->exec = exec_runtime(task);
	if (!offcpu_options.threads)
		return;
	st->utime = BPF_CORE_READ(t, utime);
	st->stime = BPF_CORE_READ(t, stime);
	st->minor = BPF_CORE_READ(t, min_flt);
	st->major = BPF_CORE_READ(t, maj_flt);
}

static __always_inline void send_thread(struct offcpu_task *st, struct task_struct *task, u64 now,
					u32 flags)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;
	struct offcpu_thread *r = bpf_ringbuf_reserve(&unwind_ring, sizeof(*r), 0);

	if (!r) {
		offcpu_count(OFFCPU_COUNT_LOST, 1);
		return;
	}
	r->type = OFFCPU_RECORD_THREAD;
	r->pid = st->pid;
	r->tid = st->tid;
	r->flags = (task_field(task, flags) & PF_KTHREAD ? OFFCPU_KTHREAD : 0) | flags;
	r->begin = st->begin;
	r->end = now;
	r->oncpu = st->oncpu;
	r->blocked = st->blocked;
	r->runq = st->runq;
	r->unknown = st->unknown;
	r->utime = BPF_CORE_READ(t, utime) - st->utime;
	r->stime = BPF_CORE_READ(t, stime) - st->stime;
	r->switches = st->switches;
	r->preemptions = st->preemptions;
	r->minor = BPF_CORE_READ(t, min_flt) - st->minor;
	r->major = BPF_CORE_READ(t, maj_flt) - st->major;
	r->cgroup = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
	__builtin_memcpy(r->comm, st->comm, sizeof(r->comm));
	bpf_ringbuf_submit(r, offcpu_wake_flags());
}

/* What a wait belongs to that did not begin with a switch. */
static __always_inline void name_row(struct offcpu_task *st, u64 stack)
{
	st->row.stack = stack;
	st->row.chain = 0;
	st->row.pid = st->pid;
	st->row.tid = offcpu_options.by_thread ? st->tid : 0;
	st->row.state = st->state;
	st->row.syscall = offcpu_options.by_thread ? st->syscall : -1;
	st->row.flags = st->flags;
	__builtin_memcpy(st->row.comm, st->comm, sizeof(st->row.comm));
}

static __always_inline void name_thread(struct offcpu_task *st, struct task_struct *task, u64 id)
{
	st->pid = id >> 32;
	st->tid = id;
	offcpu_copy_comm(st->comm, task);
}

/* In a chain any thread's sleep may be needed. */
static __always_inline u64 take_stack(void *ctx, struct task_struct *prev, u64 id, bool wanted,
				      u32 state)
{
	if (!offcpu_options.sleeper_stacks || (!wanted && !(offcpu_options.chains && state)))
		return 0;
	if (!state && !offcpu_options.runnable_stacks)
		return 0;
	return offcpu_take_stack(ctx, prev, id,
				 state && state != OFFCPU_THROTTLED ? OFFCPU_AT_SWITCH
								    : OFFCPU_AT_PREEMPTION);
}

/* Of its caller: for the raw program 6.1 has hardly enough of it. */
#ifdef BPF_RAW
#define OFF_THE_STACK __attribute__((noinline))
#else
#define OFF_THE_STACK __always_inline
#endif

/* What the wait belongs to, and what chains are asked about. */
static OFF_THE_STACK void begin_wait(struct offcpu_task *st, struct task_struct *prev, u64 id,
				     u64 stack)
{
	struct offcpu_key key = { .stack = stack,
				  .pid = id >> 32,
				  .tid = offcpu_options.by_thread ? id : 0,
				  .state = st->state,
				  .syscall = st->syscall,
				  .flags = st->flags };

	offcpu_copy_comm(key.comm, prev);
	if (st->wanted)
		choose_row(st, &key);
	if (offcpu_options.chains && st->state) {
		st->sleep_stack = stack;
		st->sleep_wake = 0;
	}
}

static __always_inline void leave(void *ctx, struct task_struct *prev, bool preempted, u32 state,
				  u64 now)
{
	u64 id = offcpu_current_id(prev);
	struct offcpu_task *st = offcpu_task_of(prev, false);

	if (preempted)
		state = 0;
	if (unlikely(offcpu_options.sums && state & SCHED_STATE_DEAD))
		settle(st);
	bool mine = task_matches(prev, id, st);

	if (unlikely(!mine) && (!offcpu_options.chains || id >> 32 == offcpu_options.self))
		return;
	if (unlikely(!st)) {
		if (state & SCHED_STATE_DEAD)
			return;
		st = offcpu_task_of(prev, true);
		if (!st) {
			offcpu_count(OFFCPU_COUNT_NO_ROOM, 1);
			return;
		}
		begin_account(st, prev, now);
		if (mine && offcpu_options.threads)
			offcpu_count(OFFCPU_COUNT_OPENED, 1);
	}
	account_run(st, prev, now);
	if (offcpu_options.threads)
		name_thread(st, prev, id);
	if (unlikely(state & SCHED_STATE_DEAD)) {
		if (offcpu_options.threads && mine) {
			send_thread(st, prev, now, 0);
			offcpu_count(OFFCPU_COUNT_CLOSED, 1);
		}
		if (offcpu_options.sums)
			settle(st);
		offcpu_task_ends(prev, st);
		return;
	}
	/* everything known is stored at once: the verifier would track it through the unwinder
	 */
	st->wanted = mine && state_matches(state, preempted);
	st->flags = (preempted ? OFFCPU_PREEMPTED : 0) |
		    (task_field(prev, flags) & PF_KTHREAD ? OFFCPU_KTHREAD : 0);
	if (unlikely(!state && offcpu_is_throttled(prev))) {
		state = OFFCPU_THROTTLED;
		offcpu_throttle_begins(st, prev);
	} else {
		st->delay = offcpu_delay(prev, now);
	}
	st->state = state;
	st->syscall = offcpu_options.by_thread ? call_of(prev) : -1;
	st->mine = mine;
	if (offcpu_options.threads) {
		st->switches++;
		st->preemptions += preempted;
	}
	begin_wait(st, prev, id, take_stack(ctx, prev, id, st->wanted, state));
	st->out = now;
	st->open = 1;
}

static __always_inline void arrive(struct task_struct *next, u64 now)
{
	struct offcpu_task *st = offcpu_task_of(next, false);

	if (unlikely(!st)) {
		if (!offcpu_options.by_pid || in_set(&offcpu_pids, task_field(next, tgid)))
			offcpu_count(OFFCPU_COUNT_UNKNOWN_START, 1);
		return;
	}
	if (unlikely(st->state == OFFCPU_THROTTLED && st->open))
		offcpu_throttle_ends(st, now);
	if (likely(st->open && offcpu_options.sums && !offcpu_options.ran)) {
		close_seen(st, now, offcpu_delay(next, now));
	} else if (st->open) {
		close_wait(st, now, offcpu_delay(next, now), 0);
	} else if (st->in) {
		u64 exec = exec_runtime(next), ran = exec - st->exec, whole = now - st->in;

		/* it must have left in between: the time that it did not run, it was off the CPU */
		offcpu_count(OFFCPU_COUNT_MISSED_OUT, 1);
		if (ran > whole)
			ran = whole;
		st->oncpu += ran;
		st->unknown += whole - ran;
		st->exec = exec;
	}
	st->in = now;
}

/* Since when the thread that is leaving has run; 0: not known. */
static __always_inline u64 run_begin(struct task_struct *prev, u64 now)
{
	struct offcpu_task *st = offcpu_task_of(prev, false);

	if (!st || !st->open)
		return st ? st->in : 0;
	return now - (exec_runtime(prev) - st->exec);
}

/*
 * The kernel calls it preemption only when it happened in the kernel. A thread that is sent away
 * on its way back to user space had to leave just the same, unless it asked for that.
 */
static __always_inline bool had_to_leave(struct task_struct *prev)
{
	return !(task_field(prev, flags) & PF_KTHREAD) && syscall_of(prev) != OFFCPU_SCHED_YIELD;
}

SEC(TASK_TRACEPOINT "sched_switch")
int offcpu_switch(u64 *ctx)
{
	bool preempted = ctx[0] & 1;
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	u64 now = offcpu_switch_time(prev, next);
	u32 state, leaves = task_field(prev, pid);

	if (offcpu_options.ran)
		offcpu_note_run(leaves ? unwind_task_id() : 0, leaves ? run_begin(prev, now) : 0,
				now);
	/* a wait is closed first: who runs now is named by the one that ran before */
	if (likely(task_field(next, pid)))
		arrive(next, now);
	if (unlikely(!leaves))
		return 0;
	if (offcpu_options.has_prev_state)
		state = ctx[3];
	else if (bpf_core_field_exists(((struct task_struct___sched *)prev)->__state))
		state = BPF_CORE_READ((struct task_struct___sched *)prev, __state);
	else
		state = BPF_CORE_READ((struct task_struct___old *)prev, state);
	state &= 0xffff;
	if (!state && !preempted)
		preempted = had_to_leave(prev);
	leave(ctx, prev, preempted, state, now);
	return 0;
}

/* --- waking ----------------------------------------------------------------------------------- */

SEC(TASK_TRACEPOINT "sched_waking")
int offcpu_waking(u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct offcpu_task *st = offcpu_task_of(task, false);
	u64 now, out;

	/* one that wakes itself will not leave */
	if (!st || (st->open ? !st->state : task == task_current()))
		return 0;
	now = bpf_ktime_get_ns();
	out = st->open ? st->out : now;
	/* if it does not sleep after all, the links are not those of its last sleep */
	if (offcpu_options.chains)
		st->sleep_wake = 0;
	/* in chains a short sleep may be a link of a long one */
	if (offcpu_options.chains || (offcpu_options.wakers && (st->open ? st->wanted : st->mine) &&
				      now - out >= offcpu_options.min_ns))
		name_waker(ctx, st, out);
	else
		st->chain = 0;
	st->wake = now;
	return 0;
}

/* --- births ----------------------------------------------------------------------------------- */

SEC(TASK_TRACEPOINT "sched_process_fork")
int offcpu_fork(u64 *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	u64 id = unwind_task_id(), now = bpf_ktime_get_ns();
	struct offcpu_task *old = offcpu_task_of(parent, false), *st;
	bool follow =
		offcpu_options.follow && ((old && old->follow) || in_set(&offcpu_pids, id >> 32));

	if (!offcpu_options.threads && !follow)
		return 0;
	bool matches = task_matches(parent, id, old);

	/* a child may have the name requested where its parent has another */
	if (!matches && !follow)
		return 0;
	st = offcpu_task_of(child, true);
	if (!st) {
		offcpu_count(OFFCPU_COUNT_NO_ROOM, 1);
		return 0;
	}
	begin_account(st, child, now);
	st->follow = follow;
	/* until it runs it waits for its first turn, in its parent's name */
	offcpu_ids_of(child, &st->pid, &st->tid);
	bpf_get_current_comm(st->comm, sizeof(st->comm));
	st->mine = matches && st->tid &&
		   (follow || !offcpu_options.by_pid || in_set(&offcpu_pids, st->pid));
	if (st->mine && offcpu_options.threads)
		offcpu_count(OFFCPU_COUNT_OPENED, 1);
	st->wanted = st->mine && state_matches(0, false);
	st->syscall = -1;
	name_row(st, 0);
	st->open = 1;
	st->out = now;
	return 0;
}

/* --- all threads: at the start and at the end ------------------------------------------------- */

/* What the kernel's helper says of the current task. Deeper groups begin with their next switch. */
static __always_inline bool iter_in_cgroup(struct task_struct___sched *t)
{
	struct cgroup___sched *group = BPF_CORE_READ(t, cgroups, dfl_cgrp);

	for (u32 i = 0; group && i < OFFCPU_CGROUP_LEVELS; i++) {
		struct cgroup_subsys_state___sched *parent = BPF_CORE_READ(group, self.parent);
		u64 id = BPF_CORE_READ(group, kn, id);

		if (bpf_map_lookup_elem(&offcpu_cgroup_ids, &id))
			return true;
		group = parent ? BPF_CORE_READ(parent, cgroup) : 0;
	}
	return false;
}

/* The filters, for a task that is not the current one. */
static __always_inline bool iter_matches(struct task_struct *task, u32 pid, u32 tid)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;
	bool kthread = task_field(task, flags) & PF_KTHREAD;

	if (kthread ? offcpu_options.no_kthreads : offcpu_options.no_users)
		return false;
	if (BPF_CORE_READ(t, __state) & SCHED_STATE_DEAD)
		return false; /* its parent has not asked for its status yet */
	if (offcpu_options.by_uid && !in_set(&offcpu_uids, BPF_CORE_READ(t, real_cred, uid.val)))
		return false;
	if (offcpu_options.n_cgroups && !iter_in_cgroup(t))
		return false;
	if (offcpu_options.by_comm) {
		char comm[OFFCPU_COMM] = {};

		bpf_probe_read_kernel_str(comm, sizeof(comm), &t->comm);
		if (!bpf_map_lookup_elem(&offcpu_comms, comm))
			return false;
	}
	return !offcpu_options.by_pid || in_set(&offcpu_pids, pid) || in_set(&offcpu_tids, tid);
}

static __always_inline void open_account(struct offcpu_task *st, struct task_struct *task, u32 pid,
					 u32 tid, u64 now)
{
	struct task_struct___sched *t = (struct task_struct___sched *)task;

	begin_account(st, task, now);
	st->pid = pid;
	st->tid = tid;
	bpf_probe_read_kernel_str(st->comm, sizeof(st->comm), &t->comm);
	st->syscall = call_of(task);
	st->flags =
		OFFCPU_UNKNOWN_START | (task_field(task, flags) & PF_KTHREAD ? OFFCPU_KTHREAD : 0);
	st->state = BPF_CORE_READ(t, __state) & 0xffff;
	st->delay = offcpu_delay(task, now);
	st->wanted = st->mine = 1;
	offcpu_count(OFFCPU_COUNT_OPENED, 1);
	name_row(st, st->state ? offcpu_stack_of(task, pid, tid) : 0);
	/* a runnable one may be on a CPU: its next switch shows it by the CPU time used */
	st->out = now;
	st->open = 1;
}

/* Up to now; what continues, continues from here. */
static __always_inline void balance_account(struct offcpu_task *st, struct task_struct *task,
					    u64 now)
{
	u64 exec = exec_runtime(task), ran = exec - st->exec, delay = offcpu_delay(task, now);

	if (st->open && ran && now - st->out > ran) {
		/* it runs; its switch-in was not seen */
		close_wait(st, now - ran, delay, OFFCPU_INFERRED);
		st->in = now - ran;
	}
	if (st->open) {
		close_wait(st, now, delay, OFFCPU_OPEN);
		st->delay = delay;
		st->row.flags |= OFFCPU_UNKNOWN_START;
		st->out = now;
		st->open = 1;
	} else if (st->in && now > st->in) {
		st->oncpu += now - st->in;
		st->in = now;
	}
	st->exec = exec;
}

static __always_inline void each_thread(struct task_struct *task)
{
	struct offcpu_task *st;
	u64 now = bpf_ktime_get_ns();
	u32 pid, tid;

	if (!task_field(task, pid))
		return;
	if (offcpu_closing) {
		st = offcpu_task_of(task, false);
		if (!st || !st->begin || !st->tid || !st->mine || !offcpu_options.threads)
			return;
		if (offcpu_closing == OFFCPU_ACCOUNTS_CLOSE)
			balance_account(st, task, now);
		send_thread(st, task, now, st->open ? OFFCPU_OPEN : 0);
		return;
	}
	offcpu_ids_of(task, &pid, &tid);
	if (!tid || pid == offcpu_options.self || !iter_matches(task, pid, tid))
		return;
	st = offcpu_task_of(task, true);
	if (!st)
		offcpu_count(OFFCPU_COUNT_NO_ROOM, 1);
	else if (!st->begin)
		open_account(st, task, pid, tid, now);
}

/*
 * What a thread still names continues to be known: it may sleep for hours, and was sent when it
 * fell asleep.
 */
static __always_inline void hold(const struct offcpu_task *st)
{
	struct offcpu_held *r;

	if (!st || (!st->row.stack && !st->row.chain && !st->chain))
		return;
	r = bpf_ringbuf_reserve(&unwind_ring, sizeof(*r), 0);
	if (!r) {
		offcpu_count(OFFCPU_COUNT_HELD_LOST, 1);
		return;
	}
	r->type = OFFCPU_RECORD_HELD;
	r->pad = 0;
	r->stack = st->row.stack;
	r->chain = st->row.chain;
	__builtin_memset(r->links, 0, sizeof(r->links));
	r->sleep_stack = 0;
	r->links[0].waker = st->chain;
	if (offcpu_options.chains) {
		r->sleep_stack = st->sleep_stack;
		bpf_probe_read_kernel(r->links, sizeof(r->links), st->links);
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

#ifdef BPF_RAW
#include "bpf/offcpu_walk.bpf.h"
#else

SEC("iter/task")
int offcpu_hold(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid)
		hold(offcpu_task_of(task, false));
	return 0;
}

SEC("iter/task")
int offcpu_each(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		each_thread(task);
	return 0;
}

/* After the end: what is still with the threads. */
SEC("iter/task")
int offcpu_settle(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid)
		settle(offcpu_task_of(task, false));
	return 0;
}

#endif

char LICENSE[] SEC("license") = "GPL";
