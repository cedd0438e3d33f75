/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of the off-CPU engine, and how its stacks and chains are taken and numbered. */
#ifndef BPF_OFFCPU_BPF_H
#define BPF_OFFCPU_BPF_H

#include "bpf/offcpu_abi.h"
#include "bpf/sched_types.h"
#include "bpf/unwind.bpf.h"
#include "bpf/unwind_list.bpf.h"

/* Bits of offcpu_options.states. */
enum {
	OFFCPU_STATE_SLEEP = 1,
	OFFCPU_STATE_DISK = 2,
	OFFCPU_STATE_IDLE = 4,
	OFFCPU_STATE_RUNNABLE = 8,
	OFFCPU_STATE_PREEMPTED = 16,
	OFFCPU_STATE_OTHER = 32,
};

/* Set before loading. */
const volatile struct {
	u64 min_ns; /* waits outside of these are left out; max_ns 0: no limit */
	u64 max_ns;
	u64 period;                /* 0: every wait; otherwise one sample for this many ns */
	s64 preempt_distance;      /* from a run queue to its CPU's preempt count, 0: not known */
	struct offcpu_range entry; /* kernel entry code, not a function: interrupts begin here */
	struct offcpu_range bh;    /* runs softirqs for the task itself */
	struct offcpu_range receiver;                /* the softirq of packets that arrive */
	struct offcpu_range senders[OFFCPU_SENDERS]; /* call @bh when they have sent something */
	u32 self;                                    /* our own process */
	u32 states;                                  /* 0: all */
	u32 n_cgroups;
	u32 rows; /* a power of 2: places in a half of the table */
	u32 wake_bytes;
	u32 max_user;
	u32 word_type; /* the kernel's number of pt_regs, see offcpu_direct.bpf.h */
	u8 by_pid, by_uid, by_comm, follow;
	u8 no_kthreads, no_users;
	u8 has_prev_state, has_cast; /* of the kernel */
	u8 queue_clock;              /* waits are measured by the clock of the run queue */
	u8 by_delay; /* it sums up the time in run queues: wakeups need not be traced */
	u8 sleeper_stacks, wakers, chains;
	u8 runnable_stacks; /* also of those that wait for nothing but a CPU */
	u8 user_stacks, kernel_stacks;
	u8 by_thread;  /* rows and links are distinguished by thread */
	u8 waker_pids; /* wakers are distinguished by process, not only by name */
	u8 send;       /* each wait goes to the ring, none into the rows */
	u8 sums;       /* rows are only asked for at the end */
	u8 threads;    /* accounts are kept from birth to death and sent */
	u8 ran;        /* who had the CPU while others waited for it */
	u8 rescue;
} offcpu_options = { .max_user = UNWIND_MAX_FRAMES };

u32 offcpu_closing = OFFCPU_ACCOUNTS_OPEN;

/* It asks what the kernel has. */
#include "bpf/offcpu_direct.bpf.h"
#include "bpf/offcpu_tasks.bpf.h"

enum { OFFCPU_MEMOS = 256 };

/* By a hash of where the thread is. Whatever is found is checked, so any collision will do. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPU_MEMOS);
	__type(key, u32);
	__type(value, struct unwind_stack_memo);
} offcpu_memos SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPU_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} offcpu_counters SEC(".maps");

#define OFFCPU_SET(name, key_type)               \
	struct {                                 \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(max_entries, 4096);       \
		__type(key, key_type);           \
		__type(value, u8);               \
	} name SEC(".maps")

typedef char offcpu_comm_t[OFFCPU_COMM];
OFFCPU_SET(offcpu_pids, u32);
OFFCPU_SET(offcpu_tids, u32);
OFFCPU_SET(offcpu_uids, u32);
OFFCPU_SET(offcpu_comms, offcpu_comm_t);

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, OFFCPU_CGROUPS);
	__type(key, u32);
	__type(value, u32);
} offcpu_cgroups SEC(".maps");

OFFCPU_SET(offcpu_cgroup_ids, u64); /* the same ones */

static __always_inline void offcpu_count(u32 which, u64 n)
{
	u64 *c = bpf_map_lookup_elem(&offcpu_counters, &which);

	if (c)
		*c += n;
}

static __always_inline u64 offcpu_wake_flags(void)
{
	u64 waiting = bpf_ringbuf_query(&unwind_ring, BPF_RB_AVAIL_DATA);

	return waiting > offcpu_options.wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* The number of the current task, as our pid namespace counts. */
static __always_inline u64 offcpu_current_id(struct task_struct *current)
{
#ifdef BPF_RAW
	return unwind_task_id();
#else
	return unwind_pidns.ino ? unwind_task_id() : (u64)current->tgid << 32 | (u32)current->pid;
#endif
}

static __always_inline void offcpu_copy_comm(char *to, struct task_struct *task)
{
	const char *comm = ((struct task_struct___sched *)task)->comm;

#ifdef BPF_RAW
	bpf_probe_read_kernel(to, OFFCPU_COMM, comm);
#else
	((u64 *)to)[0] = ((const u64 *)comm)[0];
	((u64 *)to)[1] = ((const u64 *)comm)[1];
#endif
}

/* --- in whose name do we run? ----------------------------------------------------------------- */

/*
 * The kernel's count of interrupts that it is in. It is at a fixed distance from the run queue
 * of the CPU, to which every task points; the distance is known from BTF.
 */
static __always_inline u32 offcpu_context(struct task_struct *task)
{
	u64 rq = offcpu_queue_of(task), at = rq + offcpu_options.preempt_distance;
	u32 count = 0;

	if (!offcpu_options.preempt_distance || !rq)
		return OFFCPU_WAKER_TASK;
	if (OFFCPU_CAST)
		count = offcpu_word(at);
	else
		bpf_probe_read_kernel(&count, sizeof(count), (void *)at);
	if (count & PREEMPT_NMI)
		return OFFCPU_WAKER_NMI;
	if (count & PREEMPT_HARDIRQ)
		return OFFCPU_WAKER_IRQ;
	if (count & PREEMPT_SOFTIRQ_SERVED)
		return OFFCPU_WAKER_SOFTIRQ;
	return OFFCPU_WAKER_TASK;
}

/* --- numbers ---------------------------------------------------------------------------------- */

#define offcpu_mix unwind_mix

#include "bpf/offcpu_sent.bpf.h"

/* What holds for the stack of the current task. False: it has no user space. */
static __always_inline bool offcpu_validate(struct task_struct *task, struct unwind_slot *slot)
{
	if (task_field(task, flags) & PF_KTHREAD)
		return false;
	if (OFFCPU_CAST) {
		u64 mm = offcpu_mm_of(task);

		if (mm)
			unwind_valid_read(mm, offcpu_word, &slot->scratch.valid);
		return mm;
	}
	struct mm_struct *mm = unwind_mm(task);

	if (mm)
		unwind_valid_now(mm, &slot->scratch.valid);
	return mm;
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* A stack with a file that has no table yet: its registers and memory, to be unwound in user space.
 */
static __always_inline u64 offcpu_rescue(struct unwind_slot *slot, struct task_struct *task)
{
	struct unwind_sample *out = &slot->out;
	struct pt_regs *regs = unwind_regs_of(task, slot);
	struct unwind_rescue *r;
	u64 id;

	/* copies are large: they get half of the ring at most */
	if (bpf_ringbuf_query(&unwind_ring, BPF_RB_AVAIL_DATA) > 2ull * offcpu_options.wake_bytes) {
		unwind_count(UNWIND_COUNT_RESCUES_LOST, 1);
		return 0;
	}
	unwind_list_vmas(slot);
	r = bpf_ringbuf_reserve(&unwind_ring, sizeof(*r), 0);
	if (!r) {
		unwind_count(UNWIND_COUNT_RESCUES_LOST, 1);
		return 0;
	}
	unwind_from_regs(slot, regs);
	id = offcpu_mix(bpf_ktime_get_ns(), (u64)out->pid << 32 | out->tid) | 1;
	r->type = UNWIND_RECORD_RESCUE;
	r->pid = out->pid;
	r->tid = out->tid;
	r->cpu = 0;
	r->time = 0;
	r->period = 0;
	r->addr = id;
	r->event = 0;
	r->user_ip = 0;
	r->n_kernel = out->n_kernel;
	r->n_user = 0;
	r->python = 0;
	__builtin_memset(r->comm, 0, sizeof(r->comm));
	__builtin_memcpy(r->regs, slot->s.reg, sizeof(r->regs));
	bpf_probe_read_kernel(r->kernel, sizeof(r->kernel), out->ip);
	bpf_probe_read_kernel(r->vmas, sizeof(r->vmas), slot->vmas);
	r->n_vmas = slot->n_vmas;
	r->stack_bytes = unwind_copy_stack(r);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	/* functions of Python are not among what is copied */
	unwind_python_unsent += slot->python.fresh;
	unwind_count(UNWIND_COUNT_RESCUES, 1);
	return id;
}

/* @pid: 0 if the user's part means the same in every process. */
static __always_inline u64 offcpu_stack_number(u64 kernel_hash, u32 n_kernel, u64 user_hash,
					       u32 n_user, u32 pid)
{
	u64 id = offcpu_mix(kernel_hash, n_user ? pid : 0);

	return offcpu_mix(offcpu_mix(id, (u64)n_kernel << 16 | n_user), user_hash) | 1;
}

/* Where in the kernel a stack is taken. */
enum offcpu_how {
	OFFCPU_AT_SWITCH, /* to sleep */
	OFFCPU_AT_PREEMPTION,
	OFFCPU_AT_WAKING,
	OFFCPU_IN_SOFTIRQ, /* by the task itself; the kernel's part is in the slot already */
};

#include "bpf/offcpu_python.bpf.h"

/* The stack being identified. The kernel's part is in the slot. */
struct offcpu_taking {
	struct unwind_slot *slot;
	struct unwind_stack_memo *user;
	bool user_known; /* as its memo has it, and not in the slot */
};

/* Sends the stack in the slot under @id. 0: there was no room. */
static __always_inline u64 offcpu_send_stack(struct unwind_slot *slot, u64 id)
{
	struct unwind_sample *out = &slot->out;
	u64 size = UNWIND_SAMPLE_HEADER + 8 * (u64)(out->n_kernel + out->n_user);
	u64 flags = offcpu_wake_flags();

	out->type = OFFCPU_RECORD_STACK;
	out->addr = id;
	if (out->python) {
		offcpu_note_process(slot);
		/* new code, or that of a new process, has to be read while the process exists */
		if (slot->python.fresh)
			flags = BPF_RB_FORCE_WAKEUP;
	}
	/* checked on the very register that is used: older verifiers follow no other */
	asm volatile("" : "+r"(size));
	if (size > sizeof(*out))
		return 0;
	if (bpf_ringbuf_output(&unwind_ring, out, size, flags)) {
		offcpu_sent_invalidate(id);
		offcpu_count(OFFCPU_COUNT_STACKS_FULL, 1);
		return 0;
	}
	offcpu_count(OFFCPU_COUNT_STACKS, 1);
	return id;
}

/* The number of the stack; it is sent if it is new. */
static __always_inline u64 offcpu_keep_stack(const struct offcpu_taking *t)
{
	struct unwind_slot *slot = t->slot;
	struct unwind_sample *out = &slot->out;
	u32 n = out->n_kernel + out->n_user;

	if (!n || n > UNWIND_RECORD_IPS)
		return 0;
	u64 id = offcpu_stack_number(slot->kernel_hash, out->n_kernel, slot->user_hash, out->n_user,
				     slot->bare ? out->pid : 0);

	if (!offcpu_sent_insert(id))
		return id;
	if (t->user_known) {
		slot->first = out->n_kernel;
		slot->n = 0;
		slot->max = offcpu_options.max_user;
		slot->at = t->user->first;
		unwind_push_memo(slot, t->user);
	}
	return offcpu_send_stack(slot, id);
}

/*
 * Walks the user stack. Non-zero: it is on its way under this number, to be finished in user space.
 */
static __always_inline u64 offcpu_walk_user(struct offcpu_taking *t, struct task_struct *task)
{
	struct unwind_slot *slot = t->slot;
	struct unwind_sample *out = &slot->out;

	slot->pid = out->pid;
	slot->first = out->n_kernel;
	slot->leaves = 0;
	out->n_user = unwind_run(slot, offcpu_options.max_user, t->user_known ? 0 : t->user);
	out->end = slot->s.end;
	out->fp_steps = slot->s.fp_steps;
	out->python = slot->python.python;
	out->program = python_program(&slot->python);
	slot->user_hash = unwind_hash_frames(slot, slot->first, slot->n);
	if (out->python) {
		slot->bare = 1;
		slot->user_hash = unwind_mix(slot->user_hash, slot->python.names);
		/* if all of them have found their place */
		if (slot->s.end == UNWIND_END_ROOT &&
		    !slot->python.py[slot->python.at & (UNWIND_PYTHON_WORDS - 1)])
			out->event = unwind_python_names(slot->python.names);
	}
	if (slot->remembered)
		t->user->hash = slot->user_hash;
	if (out->end == UNWIND_END_NO_MAP && out->n_user == 1) {
		out->end = UNWIND_END_EXEC;
		out->n_user = 0;
	}
	if (out->end == UNWIND_END_NO_TABLE && offcpu_options.rescue)
		return offcpu_rescue(slot, task);
	return 0;
}

/* Non-zero: the stack is on its way under this number. */
static __always_inline u64 offcpu_user_stack(struct offcpu_taking *t, struct task_struct *task,
					     struct pt_regs *regs)
{
	struct unwind_slot *slot = t->slot;
	struct unwind_sample *out = &slot->out;
	u64 rescued;

	if (!offcpu_validate(task, slot)) {
		out->end = UNWIND_END_NO_REGS;
		return 0;
	}
	t->user_known = t->user->hash && unwind_same(&slot->window, t->user, &slot->scratch.valid,
						     regs->ip, regs->sp, regs->bp);
	if (t->user_known && !unwind_check_due()) {
		slot->user_hash = t->user->hash;
		slot->bare = t->user->bare;
		out->n_user = UNWIND_MEMO_FRAMES - t->user->first;
		out->end = UNWIND_END_ROOT;
	} else if (!unwind_from_task(slot)) {
		out->end = UNWIND_END_NO_REGS;
		t->user_known = false;
		return 0;
	} else {
		/* a recognised stack is walked all the same, as a check */
		if (t->user_known)
			slot->scratch.valid.mm = 0;
		rescued = offcpu_walk_user(t, task);
		if (t->user_known)
			unwind_checked(t->user, slot->user_hash == t->user->hash);
		t->user_known = false;
		if (rescued)
			return rescued;
		unwind_count(UNWIND_COUNT_FP_FRAMES, out->fp_steps);
	}
	unwind_count(out->end < UNWIND_END_COUNT ? out->end : 0, 1);
	unwind_count(UNWIND_COUNT_FRAMES, out->n_user);
	return 0;
}

/* Processes that were forked may be at the same place, on the same stack or not: a few for all. */
static __always_inline struct unwind_stack_memo *offcpu_user_memo_of(struct task_struct *task,
								     struct pt_regs *regs, u32 how)
{
	u64 place = offcpu_mix(regs->ip, regs->sp ^ (task_field(task, pid) & 6));
	/* neither the sleep and the waking of a thread share one, nor threads that wake each other
	 */
	u32 kind = (how == OFFCPU_AT_WAKING) << 1 | (task_field(task, pid) & 1);
	u32 at = kind * (OFFCPU_MEMOS / 4) + ((u32)(place >> 40) & (OFFCPU_MEMOS / 4 - 1));

	return bpf_map_lookup_elem(&offcpu_memos, &at);
}

static __always_inline void offcpu_take_kernel(struct unwind_slot *slot, void *ctx, u32 how)
{
	long bytes = slot->kept * 8;

	/* otherwise it was just checked, to find out that */
	if (how != OFFCPU_IN_SOFTIRQ)
		bytes = bpf_get_stack(ctx, slot->out.ip, OFFCPU_KERNEL_FRAMES * 8, 0);
	if (bytes < 0)
		unwind_count(UNWIND_COUNT_KERNEL_CUT, 1);
	slot->out.n_kernel = bytes > 0 ? (u32)bytes / 8 : 0;
	slot->kernel_hash = unwind_hash_frames(slot, 0, slot->out.n_kernel);
}

static __always_inline void offcpu_begin_stack(struct unwind_slot *slot, u64 id)
{
	struct unwind_sample *out = &slot->out;

	out->pid = id >> 32;
	out->tid = id;
	out->n_kernel = 0;
	out->n_user = 0;
	out->end = UNWIND_END_NONE;
	out->fp_steps = 0;
	out->python = 0;
	out->event = 0;
	slot->kernel_hash = 0;
	slot->user_hash = 0;
	unwind_count(UNWIND_COUNT_SAMPLES, 1);
}

/* The number of the stack of the current task, which has the number @id. */
static __attribute__((noinline)) u64 offcpu_take_stack(void *ctx, struct task_struct *task, u64 id,
						       u32 how)
{
	struct offcpu_taking t = { .slot = unwind_slot_take() };
	struct pt_regs *regs;
	u64 stack = 0;

	if (!t.slot)
		return 0;
	regs = unwind_regs_of(task, t.slot);
	offcpu_begin_stack(t.slot, id);
	t.user = offcpu_user_memo_of(task, regs, how);
	if (!t.user)
		goto out;
	if (offcpu_options.kernel_stacks)
		offcpu_take_kernel(t.slot, ctx, how);
	if (offcpu_options.user_stacks)
		stack = offcpu_user_stack(&t, task, regs);
	if (!stack)
		stack = offcpu_keep_stack(&t);
out:
	unwind_slot_give(t.slot);
	return stack;
}

/* The registers with which the thread entered the kernel. 0: they could not be sent. */
static __always_inline u64 offcpu_send_sleeper(struct unwind_slot *slot, struct task_struct *task)
{
	struct pt_regs *regs = unwind_regs_of(task, slot);
	struct offcpu_sleeper *r = bpf_ringbuf_reserve(&unwind_ring, sizeof(*r), 0);

	if (!r)
		return 0;
	unwind_from_regs(slot, regs);
	r->type = OFFCPU_RECORD_SLEEPER;
	r->pid = slot->out.pid;
	r->tid = slot->out.tid;
	r->n_kernel = slot->out.n_kernel;
	r->id = offcpu_mix(bpf_ktime_get_ns(), (u64)r->pid << 32 | r->tid) | 1;
	__builtin_memcpy(r->regs, slot->s.reg, sizeof(r->regs));
	bpf_probe_read_kernel(r->kernel, sizeof(r->kernel), slot->out.ip);
	u64 id = r->id;

	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return id;
}

#ifdef BPF_RAW
/* There is no helper for those that have no type. */
#define offcpu_kernel_stack_of(task, slot) 0
#else
#define offcpu_kernel_stack_of(task, slot) \
	bpf_get_task_stack(task, (slot)->out.ip, OFFCPU_KERNEL_FRAMES * 8, 0)
#endif

/* The stack of a thread that sleeps. */
static __always_inline u64 offcpu_stack_of(struct task_struct *task, u32 pid, u32 tid)
{
	struct unwind_slot *slot = unwind_slot_take();
	u64 stack = 0;
	long bytes;

	if (!slot)
		return 0;
	bytes = offcpu_kernel_stack_of(task, slot);
	slot->out.pid = pid;
	slot->out.tid = tid;
	slot->out.n_user = 0;
	slot->out.python = 0;
	slot->out.end = UNWIND_END_NONE;
	slot->out.n_kernel = bytes > 0 ? (u32)bytes / 8 : 0;
	if (offcpu_options.user_stacks && !(task_field(task, flags) & PF_KTHREAD))
		stack = offcpu_send_sleeper(slot, task);
	if (!stack) {
		struct offcpu_taking t = { .slot = slot };

		slot->user_hash = 0;
		slot->kernel_hash = unwind_hash_frames(slot, 0, slot->out.n_kernel);
		stack = offcpu_keep_stack(&t);
	}
	unwind_slot_give(slot);
	return stack;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* In a pid namespace other than the first, a task that is not the current one cannot be named. */
static __always_inline void offcpu_ids_of(struct task_struct *task, u32 *pid, u32 *tid)
{
	*pid = unwind_pidns.ino ? 0 : task_field(task, tgid);
	*tid = unwind_pidns.ino ? 0 : task_field(task, pid);
}

/* -1: it is in none. */
static __always_inline s32 syscall_of(struct task_struct *task)
{
	s64 nr;

	if (task_field(task, flags) & PF_KTHREAD)
		return -1;
	nr = unwind_syscall_of(task);
	return nr < 0 || nr > 0x7fff ? -1 : (s32)nr;
}

/* With what it was called for, as far as that tells what it waits for. */
static __always_inline s32 call_of(struct task_struct *task)
{
	s32 nr = syscall_of(task);
	u64 args[2] = {};

	if (nr != OFFCPU_CALL_FUTEX)
		return nr;
	unwind_call_args(task, args);
	return offcpu_futex_call(args[0], args[1]);
}

#endif
