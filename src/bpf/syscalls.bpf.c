/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls: their arguments when they begin, result and duration when they end. Added up for
 * each thread and call, or sent one by one. What is not asked for is left at the first question;
 * the settings are constants to the verifier, which removes what they exclude.
 */
#include "bpf/ktypes.h"
#include "bpf/syscalls_abi.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info___calls {
	u32 status;
};

struct task_struct___calls {
	struct thread_info___calls thread_info;
};

#pragma clang attribute pop

/* All processes, or those of syscalls_pids. */
const volatile bool syscalls_all = false;
const volatile bool syscalls_follow = false;
const volatile u32 syscalls_own = 0;       /* ours is left out */
const volatile u32 syscalls_n_groups = 0;  /* of syscalls_groups; 0: any */
const volatile bool syscalls_sums = false; /* add up, or send */
const volatile u64 syscalls_min = 0;
const volatile bool syscalls_failed = false; /* only calls that failed */
const volatile u64 syscalls_wake = 0;

/* TS_COMPAT of the kernel */
enum { STATUS_COMPAT = 2 };
/* of x86-64 */
enum { CALL_EXECVE = 59 };

struct pending {
	u64 begin;
	u64 args[SYSCALLS_ARGS];
	u32 nr;
	__s16 len[SYSCALLS_TAKEN];
	char bytes[SYSCALLS_TAKEN][SYSCALLS_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct pending);
} syscalls_pending SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSCALLS_MOST);
	__type(key, u32);
	__type(value, struct syscalls_call);
} syscalls_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u8);
} syscalls_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, SYSCALLS_GROUPS);
	__type(key, u32);
	__type(value, u32);
} syscalls_groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct syscalls_key);
	__type(value, struct syscalls_sum);
} syscalls_table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} syscalls_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SYSCALLS_COUNTS);
	__type(key, u32);
	__type(value, u64);
} syscalls_counts SEC(".maps");

static __always_inline void count(u32 which)
{
	u64 *at = bpf_map_lookup_elem(&syscalls_counts, &which);

	if (at)
		++*at;
}

static __always_inline bool is_in_group(void)
{
	for (u32 i = 0; i < SYSCALLS_GROUPS; i++)
		if (i < syscalls_n_groups &&
		    bpf_current_task_under_cgroup(&syscalls_groups, i) == 1)
			return true;
	return false;
}

/* 0, or enum syscalls_state. */
static __always_inline u32 is_asked(u32 pid)
{
	u8 *state;

	if (syscalls_own && pid == syscalls_own)
		return 0;
	if (syscalls_n_groups && !is_in_group())
		return 0;
	if (syscalls_all)
		return SYSCALLS_NOW;
	state = bpf_map_lookup_elem(&syscalls_pids, &pid);
	return state ? *state : 0;
}

static __always_inline u32 pid_of(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* --- the start -------------------------------------------------------------------------------- */

static __always_inline u64 argument(const u64 *args, u32 which)
{
	return which < SYSCALLS_ARGS ? args[which] : 0;
}

static __always_inline __s16 take_bytes(char *to, u64 from, u64 n)
{
	if (!from || !n)
		return 0;
	if (n > SYSCALLS_BYTES)
		n = SYSCALLS_BYTES;
	/* the verifier has to see what the compiler knows */
	asm volatile("" : "+r"(n));
	if (n > SYSCALLS_BYTES)
		return -1;
	return bpf_probe_read_user(to, n, (void *)from) ? -1 : (__s16)n;
}

static __always_inline void take_before(struct pending *p, const struct syscalls_call *call)
{
#pragma unroll
	for (u32 i = 0; i < SYSCALLS_TAKEN; i++) {
		const struct syscalls_taken *t = &call->taken[i];
		u64 from = argument(p->args, t->argument);

		p->len[i] = 0;
		if (t->take == SYSCALLS_TEXT)
			p->len[i] = from ? bpf_probe_read_user_str(p->bytes[i], SYSCALLS_BYTES,
								   (void *)from)
					 : 0;
		else if (t->take == SYSCALLS_IN)
			p->len[i] = take_bytes(p->bytes[i], from, argument(p->args, t->length));
		else if (t->take == SYSCALLS_IN_FIXED)
			p->len[i] = take_bytes(p->bytes[i], from, t->size);
	}
}

static __always_inline void fill(struct syscalls_event *e, const struct pending *p, s64 ret,
				 u64 now)
{
	u64 id = bpf_get_current_pid_tgid();

	e->end = now;
	e->ns = now - p->begin;
	e->ret = ret;
	__builtin_memcpy(e->args, p->args, sizeof(e->args));
	e->pid = id >> 32;
	e->tid = (u32)id;
	e->nr = p->nr;
	e->flags = 0;
	e->pad = 0;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	__builtin_memcpy(e->len, p->len, sizeof(e->len));
}

static __always_inline u64 wake_flags(void)
{
	return bpf_ringbuf_query(&syscalls_ring, BPF_RB_AVAIL_DATA) > syscalls_wake
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* The bytes that were taken travel only where there are any. */
static __always_inline void send(const struct pending *p, bool taken, u32 flags, s64 ret, u64 now)
{
	if (taken) {
		struct syscalls_long *e = bpf_ringbuf_reserve(&syscalls_ring, sizeof(*e), 0);

		if (!e) {
			count(SYSCALLS_LOST);
			return;
		}
		fill(&e->e, p, ret, now);
		e->e.flags = flags;
		__builtin_memcpy(e->bytes, p->bytes, sizeof(e->bytes));
		bpf_ringbuf_submit(e, wake_flags());
	} else {
		struct syscalls_event *e = bpf_ringbuf_reserve(&syscalls_ring, sizeof(*e), 0);

		if (!e) {
			count(SYSCALLS_LOST);
			return;
		}
		fill(e, p, ret, now);
		e->flags = flags;
		bpf_ringbuf_submit(e, wake_flags());
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(syscalls_enter, struct pt_regs *regs, long id)
{
	struct task_struct___calls *t = (void *)bpf_get_current_task_btf();
	struct syscalls_call *call;
	struct pending *p;
	u32 nr = id, state = is_asked(pid_of());

	if (!state || (state == SYSCALLS_FROM_EXEC && nr != CALL_EXECVE))
		return 0;
	if (t->thread_info.status & STATUS_COMPAT) {
		count(SYSCALLS_COMPAT);
		return 0;
	}
	call = bpf_map_lookup_elem(&syscalls_calls, &nr);
	if (!call) {
		count(SYSCALLS_UNKNOWN);
		return 0;
	}
	if (!call->wanted && state != SYSCALLS_FROM_EXEC)
		return 0;
	p = bpf_task_storage_get(&syscalls_pending, bpf_get_current_task_btf(), 0,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!p) {
		count(SYSCALLS_NO_ROOM);
		return 0;
	}
	p->nr = nr;
	if (!syscalls_sums) {
		p->args[0] = regs->di;
		p->args[1] = regs->si;
		p->args[2] = regs->dx;
		p->args[3] = regs->r10;
		p->args[4] = regs->r8;
		p->args[5] = regs->r9;
		if (call->taken[0].take)
			take_before(p, call);
		if (call->never_returns) {
			p->begin = bpf_ktime_get_ns();
			send(p, call->taken[0].take, SYSCALLS_UNFINISHED, 0, p->begin);
			p->begin = 0;
			return 0;
		}
	}
	p->begin = bpf_ktime_get_ns();
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

static __always_inline u32 log2_bucket(u64 v)
{
	u32 bucket = 0;

	if (v >> 32) {
		bucket += 32;
		v >>= 32;
	}
	if (v >> 16) {
		bucket += 16;
		v >>= 16;
	}
	if (v >> 8) {
		bucket += 8;
		v >>= 8;
	}
	if (v >> 4) {
		bucket += 4;
		v >>= 4;
	}
	if (v >> 2) {
		bucket += 2;
		v >>= 2;
	}
	if (v >> 1) {
		bucket += 1;
		v >>= 1;
	}
	return bucket + (u32)v;
}

static __always_inline void add_square(struct syscalls_sum *s, u64 ns)
{
	if (ns >> 32) {
		u64 part = ns >> 16;

		/* of calls that take longer than four seconds the lowest bits are left out */
		s->square_high += (part >> 16) * (part >> 16);
	} else {
		u64 square = ns * ns;

		s->square_low += square;
		s->square_high += s->square_low < square;
	}
}

static __always_inline struct syscalls_sum *sum_of(const struct syscalls_key *key)
{
	struct syscalls_sum *s = bpf_map_lookup_elem(&syscalls_table, key);
	static const struct syscalls_sum none;

	if (s)
		return s;
	bpf_map_update_elem(&syscalls_table, key, &none, BPF_NOEXIST);
	s = bpf_map_lookup_elem(&syscalls_table, key);
	if (s) {
		s->pid = pid_of();
		s->min = ~0ull;
		bpf_get_current_comm(s->comm, sizeof(s->comm));
	}
	return s;
}

/* A thread is in one call at a time: nobody else writes its sums. */
static __always_inline void add_up(u32 nr, s64 ret, u64 ns)
{
	struct syscalls_key key = { (u32)bpf_get_current_pid_tgid(), nr };
	struct syscalls_sum *s = sum_of(&key);
	u32 bucket = log2_bucket(ns);

	if (!s) {
		count(SYSCALLS_NO_SUM);
		return;
	}
	s->count++;
	s->errors += ret < 0 && ret >= -4095;
	s->ns += ns;
	add_square(s, ns);
	if (ns < s->min)
		s->min = ns;
	if (ns > s->max)
		s->max = ns;
	if (bucket >= SYSCALLS_BUCKETS)
		bucket = SYSCALLS_BUCKETS - 1;
	s->buckets[bucket]++;
}

static __always_inline void take_after(struct pending *p, const struct syscalls_call *call, s64 ret)
{
#pragma unroll
	for (u32 i = 0; i < SYSCALLS_TAKEN; i++) {
		const struct syscalls_taken *t = &call->taken[i];
		u64 from = argument(p->args, t->argument);

		/* what was not in memory before, the call itself has brought there */
		if (t->take == SYSCALLS_TEXT && p->len[i] < 0)
			p->len[i] =
				bpf_probe_read_user_str(p->bytes[i], SYSCALLS_BYTES, (void *)from);
		else if (t->take == SYSCALLS_IN && p->len[i] < 0)
			p->len[i] = take_bytes(p->bytes[i], from, argument(p->args, t->length));
		else if (t->take == SYSCALLS_IN_FIXED && p->len[i] < 0)
			p->len[i] = take_bytes(p->bytes[i], from, t->size);
		else if (t->take == SYSCALLS_OUT)
			p->len[i] = ret > 0 ? take_bytes(p->bytes[i], from, ret) : 0;
		else if (t->take == SYSCALLS_OUT_FIXED)
			p->len[i] = ret >= 0 ? take_bytes(p->bytes[i], from, t->size) : 0;
	}
}

/* The end of an execve(): false for those before the program that is asked for. */
static __always_inline bool is_begun(s64 ret)
{
	u32 pid = pid_of(), nr = CALL_EXECVE;
	u8 *state = syscalls_all ? 0 : bpf_map_lookup_elem(&syscalls_pids, &pid);
	const struct syscalls_call *call = bpf_map_lookup_elem(&syscalls_calls, &nr);

	if (!state || *state != SYSCALLS_FROM_EXEC)
		return true;
	if (ret < 0)
		return false;
	*state = SYSCALLS_NOW;
	return call && call->wanted;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(syscalls_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pending *p = bpf_task_storage_get(&syscalls_pending, task, 0, 0);
	const struct syscalls_call *call;
	u64 now, ns;
	u32 nr;

	if (!p || !p->begin)
		return 0;
	now = bpf_ktime_get_ns();
	ns = now - p->begin;
	nr = p->nr;
	if (nr == CALL_EXECVE && !is_begun(ret)) {
		p->begin = 0;
		return 0;
	}
	if (ns < syscalls_min || (syscalls_failed && !(ret < 0 && ret >= -4095))) {
		p->begin = 0;
		return 0;
	}
	if (syscalls_sums) {
		add_up(nr, ret, ns);
	} else {
		call = bpf_map_lookup_elem(&syscalls_calls, &nr);
		if (call) {
			if (call->taken[0].take)
				take_after(p, call, ret);
			send(p, call->taken[0].take, 0, ret, now);
		}
	}
	p->begin = 0;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(syscalls_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	u8 one = 1;

	if (from != to && bpf_map_lookup_elem(&syscalls_pids, &from))
		bpf_map_update_elem(&syscalls_pids, &to, &one, BPF_ANY);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
