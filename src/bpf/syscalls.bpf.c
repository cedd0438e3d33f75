/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls: their arguments when they begin, result and duration when they end. Added up for
 * each thread and call, or sent one by one. What is not asked for is left at the first question;
 * the settings are constants to the verifier, which removes what they exclude.
 */
#include "bpf/ktypes.h"
#include "bpf/syscalls_pending.bpf.h"
#include <bpf/bpf_core_read.h>
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
const volatile bool syscalls_stacks =
	false;                          /* syscalls_stack.bpf.c notes them before they are sent */
const volatile u32 syscalls_n_rows = 0; /* of the filter; 0: everything passes */
const volatile bool syscalls_row_args = false; /* it looks at arguments */
const volatile struct syscalls_filter_row syscalls_rows[SYSCALLS_FILTER_ROWS] = {};

/* TS_COMPAT of the kernel */
enum { STATUS_COMPAT = 2 };
/* of x86-64; the size of struct user_msghdr */
enum { CALL_EXECVE = 59, SYSCALLS_MESSAGE = 56 };

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

static __always_inline u64 taken_size(const struct pending *p, const struct syscalls_taken *t)
{
	u64 n = argument(p->args, t->length);

	return t->size ? n * t->size : n;
}

static __always_inline __s16 take_text(char *to, u64 from)
{
	return from ? bpf_probe_read_user_str(to, SYSCALLS_BYTES, (void *)from) : 0;
}

/* A list that ends with NULL: each string has its room in the pieces after the first. */
static __noinline int take_texts(struct pending *p, u64 from)
{
	u32 read = 0, n = 0;

	for (u32 i = 0; i < SYSCALLS_TEXTS; i++) {
		char *to = &p->bytes[1][i * SYSCALLS_TEXT_ROOM];
		u64 text = 0;

		if (bpf_probe_read_user(&text, sizeof(text), (void *)(from + i * sizeof(text))))
			break;
		if (!text)
			break;
		if (bpf_probe_read_user_str(to, SYSCALLS_TEXT_ROOM, (void *)text) > 0)
			read |= 1u << i;
		n++;
	}
	p->len[1] = (__s16)read;
	p->len[2] = (__s16)n;
	p->len[3] = 0;
	return 0;
}

struct vector {
	u64 base;
	u64 len;
};

/* @at: the piece with the vector; the one after it gets the beginnings of its buffers. */
static __always_inline void take_vector(struct pending *p, u32 at, u64 from, u64 n, u64 most)
{
	u32 read = 0;

	if (n > SYSCALLS_BYTES / sizeof(struct vector))
		n = SYSCALLS_BYTES / sizeof(struct vector);
	p->len[at] = take_bytes(p->bytes[at], from, n * sizeof(struct vector));
	for (u32 i = 0; i < SYSCALLS_PARTS && i < n && p->len[at] > 0; i++) {
		const struct vector *v = (void *)&p->bytes[at][i * sizeof(*v)];
		char *to = &p->bytes[at + 1][i * SYSCALLS_PART_ROOM];
		u64 len = v->len < most ? v->len : most;

		most -= len;
		if (len > SYSCALLS_PART_ROOM)
			len = SYSCALLS_PART_ROOM;
		asm volatile("" : "+r"(len));
		if (len > SYSCALLS_PART_ROOM)
			break;
		if (!len || !bpf_probe_read_user(to, len, (void *)v->base))
			read |= 1u << i;
	}
	p->len[at + 1] = (__s16)read;
}

struct message {
	u64 name;
	u32 name_len;
	u32 pad;
	u64 vector;
	u64 vectors;
};

static __noinline int take_message(struct pending *p, u64 from, u64 most)
{
	const struct message *m = (void *)p->bytes[0];

	p->len[1] = p->len[2] = p->len[3] = 0;
	p->len[0] = take_bytes(p->bytes[0], from, SYSCALLS_MESSAGE);
	if (p->len[0] <= 0)
		return 0;
	take_vector(p, 1, m->vector, m->vectors, most);
	p->len[3] = take_bytes(p->bytes[3], m->name, m->name_len);
	return 0;
}

static __noinline int take_buffers(struct pending *p, u64 from, u64 n, u64 most)
{
	take_vector(p, 0, from, n, most);
	return 0;
}

static __always_inline void take_special(struct pending *p, const struct syscalls_call *call,
					 bool end, s64 ret)
{
	u64 from = argument(p->args, call->of.argument), n = argument(p->args, call->of.length);

	if (call->special == SYSCALLS_LIST_TEXTS && !end)
		take_texts(p, from);
	else if (call->special == (end ? SYSCALLS_VECTOR_OUT : SYSCALLS_VECTOR_IN) && ret >= 0)
		take_buffers(p, from, n, end ? ret : ~0ull);
	else if (call->special == (end ? SYSCALLS_MESSAGE_OUT : SYSCALLS_MESSAGE_IN) && ret >= 0)
		take_message(p, from, end ? ret : ~0ull);
}

static __always_inline void take_before(struct pending *p, const struct syscalls_call *call)
{
#pragma unroll
	for (u32 i = 0; i < SYSCALLS_TAKEN; i++) {
		const struct syscalls_taken *t = &call->taken[i];
		u64 from = argument(p->args, t->argument);

		p->len[i] = 0;
		if (t->take == SYSCALLS_TEXT)
			p->len[i] = take_text(p->bytes[i], from);
		else if (t->take == SYSCALLS_IN)
			p->len[i] = take_bytes(p->bytes[i], from, taken_size(p, t));
		else if (t->take == SYSCALLS_IN_FIXED)
			p->len[i] = take_bytes(p->bytes[i], from, t->size);
	}
	if (call->special)
		take_special(p, call, false, 0);
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
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	__builtin_memcpy(e->len, p->len, sizeof(e->len));
	e->stack = p->stack;
}

static __always_inline u64 wake_flags(void)
{
	return bpf_ringbuf_query(&syscalls_ring, BPF_RB_AVAIL_DATA) > syscalls_wake
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

#define SEND(type_, copy_)                                                            \
	do {                                                                          \
		struct type_ *r = bpf_ringbuf_reserve(&syscalls_ring, sizeof(*r), 0); \
                                                                                      \
		if (!r) {                                                             \
			count(SYSCALLS_LOST);                                         \
			return;                                                       \
		}                                                                     \
		fill((void *)r, p, ret, now);                                         \
		((struct syscalls_event *)r)->flags = flags;                          \
		copy_;                                                                \
		bpf_ringbuf_submit(r, wake_flags());                                  \
	} while (0)

/* What was taken travels only where there is any. */
static __always_inline void send(const struct pending *p, u8 pieces, u32 flags, s64 ret, u64 now)
{
	if (pieces > SYSCALLS_FEW)
		SEND(syscalls_long, __builtin_memcpy(r->bytes, p->bytes, sizeof(r->bytes)));
	else if (pieces)
		SEND(syscalls_some, __builtin_memcpy(r->bytes, p->bytes, sizeof(r->bytes)));
	else
		SEND(syscalls_event, (void)0);
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
	p->stack = 0;
	if (!syscalls_sums || syscalls_row_args) {
		p->args[0] = regs->di;
		p->args[1] = regs->si;
		p->args[2] = regs->dx;
		p->args[3] = regs->r10;
		p->args[4] = regs->r8;
		p->args[5] = regs->r9;
	}
	if (!syscalls_sums) {
		if (call->pieces)
			take_before(p, call);
		/* without an end it has neither a result nor a duration */
		if (call->never_returns && syscalls_n_rows) {
			p->begin = 0;
			return 0;
		}
		if (call->never_returns && !syscalls_stacks) {
			p->begin = bpf_ktime_get_ns();
			send(p, call->pieces, SYSCALLS_UNFINISHED, 0, p->begin);
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

/* A thread is in one call at a time: no other thread writes its sums. */
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

static __always_inline __s16 take_again(struct pending *p, const struct syscalls_taken *t, u32 i)
{
	u64 from = argument(p->args, t->argument);

	if (t->take == SYSCALLS_TEXT)
		return take_text(p->bytes[i], from);
	return take_bytes(p->bytes[i], from,
			  t->take == SYSCALLS_IN_FIXED ? t->size : taken_size(p, t));
}

static __always_inline void take_after(struct pending *p, const struct syscalls_call *call, s64 ret)
{
#pragma unroll
	for (u32 i = 0; i < SYSCALLS_TAKEN; i++) {
		const struct syscalls_taken *t = &call->taken[i];
		u64 from = argument(p->args, t->argument);

		/* what was not in memory before, the call itself has brought there */
		if (t->take && t->take <= SYSCALLS_IN_FIXED && p->len[i] < 0)
			p->len[i] = take_again(p, t, i);
		else if (t->take == SYSCALLS_OUT)
			p->len[i] = ret > 0 ? take_bytes(p->bytes[i], from,
							 t->size ? ret * t->size : ret)
					    : 0;
		else if (t->take == SYSCALLS_OUT_FIXED)
			p->len[i] = ret >= 0 ? take_bytes(p->bytes[i], from, t->size) : 0;
		else if (t->take == SYSCALLS_OUT_TEXT)
			p->len[i] = ret >= 0 ? take_text(p->bytes[i], from) : 0;
		else if (t->take == SYSCALLS_AFTER)
			p->len[i] = ret > 0 ? take_bytes(p->bytes[i], from, taken_size(p, t)) : 0;
	}
	if (call->special)
		take_special(p, call, true, ret);
}

/* The end of an execve(): false for those before the program requested. */
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

/* --- conditions ------------------------------------------------------------------------------- */

static __always_inline bool compare(u8 op, s64 a, s64 b)
{
	switch (op) {
	case SYSCALLS_OP_EQ: return a == b;
	case SYSCALLS_OP_NE: return a != b;
	case SYSCALLS_OP_LT: return a < b;
	case SYSCALLS_OP_LE: return a <= b;
	case SYSCALLS_OP_GT: return a > b;
	case SYSCALLS_OP_GE: return a >= b;
	default: return a & b;
	}
}

static __always_inline bool compare_comm(const volatile struct syscalls_filter_row *row)
{
	u64 comm[2] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return (comm[0] == row->value && comm[1] == row->more) == (row->op == SYSCALLS_OP_EQ);
}

/* Errors are those that programs see. */
static __always_inline s64 errno_of(s64 ret)
{
	return ret < 0 && ret >= -4095 ? -ret : 0;
}

static __always_inline bool row_holds(const volatile struct syscalls_filter_row *row,
				      const struct pending *p, s64 ret, u64 ns)
{
	u64 id = bpf_get_current_pid_tgid();
	const struct syscalls_call *call;
	u32 which, nr = p->nr;

	switch (row->field) {
	case SYSCALLS_FIELD_RET: return compare(row->op, ret, row->value);
	case SYSCALLS_FIELD_DUR: return compare(row->op, ns, row->value);
	case SYSCALLS_FIELD_ERRNO: return compare(row->op, errno_of(ret), row->value);
	case SYSCALLS_FIELD_PID: return compare(row->op, id >> 32, row->value);
	case SYSCALLS_FIELD_TID: return compare(row->op, (u32)id, row->value);
	case SYSCALLS_FIELD_NR: return compare(row->op, nr, row->value);
	case SYSCALLS_FIELD_COMM: return compare_comm(row);
	}
	which = row->field - SYSCALLS_FIELD_ARG;
	if (row->field >= SYSCALLS_FIELD_NAMED) {
		call = bpf_map_lookup_elem(&syscalls_calls, &nr);
		which = row->field - SYSCALLS_FIELD_NAMED;
		if (!call || which >= SYSCALLS_FILTER_NAMED)
			return false;
		which = call->named[which];
	}
	return which < SYSCALLS_ARGS && compare(row->op, p->args[which], row->value);
}

/* Rows are constants: what is left is the comparisons requested. */
static __always_inline bool passes(const struct pending *p, s64 ret, u64 ns)
{
	u32 at = 0;

#pragma unroll
	for (u32 i = 0; i < SYSCALLS_FILTER_ROWS; i++)
		if (i < syscalls_n_rows && i == at)
			at = row_holds(&syscalls_rows[i], p, ret, ns) ? syscalls_rows[i].yes
								      : syscalls_rows[i].no;
	return !syscalls_n_rows || at == SYSCALLS_FILTER_YES;
}

/* What never returns, after its stack was noted: attached after the program that does that. */
SEC("tp_btf/sys_enter")
int BPF_PROG(syscalls_leave, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pending *p = bpf_task_storage_get(&syscalls_pending, task, 0, 0);
	struct syscalls_call *call;
	u32 nr = id;

	call = bpf_map_lookup_elem(&syscalls_calls, &nr);
	if (!p || !p->begin || p->nr != nr || !call || !call->never_returns)
		return 0;
	send(p, call->pieces, SYSCALLS_UNFINISHED, 0, p->begin);
	p->begin = 0;
	return 0;
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
	if (ns < syscalls_min || (syscalls_failed && !errno_of(ret)) || !passes(p, ret, ns)) {
		p->begin = 0;
		return 0;
	}
	if (syscalls_sums) {
		add_up(nr, ret, ns);
	} else {
		call = bpf_map_lookup_elem(&syscalls_calls, &nr);
		if (call) {
			if (call->pieces)
				take_after(p, call, ret);
			send(p, call->pieces, 0, ret, now);
		}
	}
	p->begin = 0;
	return 0;
}

/* --- page faults ------------------------------------------------------------------------------ */

static __always_inline int fault(struct bpf_perf_event_data *ctx, u32 flags)
{
	u64 id = bpf_get_current_pid_tgid();
	struct syscalls_event *e;

	/* what the launched process does before its program begins is left out */
	if (is_asked(id >> 32) != SYSCALLS_NOW)
		return 0;
	count(flags == SYSCALLS_MAJOR ? SYSCALLS_MAJORS : SYSCALLS_MINORS);
	if (syscalls_sums)
		return 0;
	e = bpf_ringbuf_reserve(&syscalls_ring, sizeof(*e), 0);
	if (!e) {
		count(SYSCALLS_LOST);
		return 0;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->end = bpf_ktime_get_ns();
	e->args[0] = ctx->regs.ip;
	e->args[1] = ctx->addr;
	e->pid = id >> 32;
	e->tid = (u32)id;
	e->flags = flags;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, wake_flags());
	return 0;
}

SEC("perf_event")
int syscalls_major(struct bpf_perf_event_data *ctx)
{
	return fault(ctx, SYSCALLS_MAJOR);
}

SEC("perf_event")
int syscalls_minor(struct bpf_perf_event_data *ctx)
{
	return fault(ctx, SYSCALLS_MINOR);
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
