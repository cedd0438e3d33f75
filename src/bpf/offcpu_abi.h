/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the off-CPU engine in the kernel and its user-space half share. Stacks and chains of wakers
 * are sent once, at first sight, under a number; everything else names them by it.
 */
#ifndef BPF_OFFCPU_ABI_H
#define BPF_OFFCPU_ABI_H

#include "bpf/unwind_abi.h"

enum {
	OFFCPU_LINKS = 8, /* wakers that are followed */
	OFFCPU_COMM = 16,
	OFFCPU_CGROUPS = 16, /* that a filter may name */
	OFFCPU_CGROUP_LEVELS = 16,
	OFFCPU_IRQ_FRAMES =
		32, /* of the stack of an interrupt: frames below are of the interrupted task */
	OFFCPU_IRQ_FEW = 16,       /* nearly always enough */
	OFFCPU_KERNEL_FRAMES = 64, /* of a kernel stack */
	OFFCPU_SENT = 1 << 15,     /* numbers that are remembered as sent */
	OFFCPU_RAN_MOST = 4096,    /* threads that are counted as having the CPU instead */
};

/* A function of the kernel; 0: not known. */
struct offcpu_range {
	__u64 begin;
	__u64 end;
};

enum { OFFCPU_SENDERS = 3 };

/* Records in the ring, in addition to those of the unwinder. */
enum offcpu_record_type {
	OFFCPU_RECORD_STACK = 16,   /* struct unwind_sample; addr is the number of the stack */
	OFFCPU_RECORD_CHAIN = 17,   /* struct offcpu_chain */
	OFFCPU_RECORD_WAIT = 18,    /* struct offcpu_wait */
	OFFCPU_RECORD_THREAD = 19,  /* struct offcpu_thread */
	OFFCPU_RECORD_SLEEPER = 20, /* struct offcpu_sleeper */
	OFFCPU_RECORD_WAKER = 21,   /* struct offcpu_who */
	OFFCPU_RECORD_HELD = 22,    /* struct offcpu_held */
};

/* What the program that goes through all threads does with their accounts. */
enum offcpu_accounts {
	OFFCPU_ACCOUNTS_OPEN,
	OFFCPU_ACCOUNTS_CLOSE, /* sends them, with the waits that continue */
	OFFCPU_ACCOUNTS_COPY,  /* sends them as they are, without those */
};

/* The waker of a thread. */
enum offcpu_waker {
	OFFCPU_WAKER_TASK = 0,
	OFFCPU_WAKER_SOFTIRQ = 1,
	OFFCPU_WAKER_IRQ = 2,
	OFFCPU_WAKER_NMI = 3,
	OFFCPU_WAKER_LIKELY = 4, /* a task that ran softirqs right after it had sent something */
};

/* A thread, and not an interrupt. */
static inline int waker_is_task(__u32 kind)
{
	return kind == OFFCPU_WAKER_TASK || kind == OFFCPU_WAKER_LIKELY;
}

/* A waker: sent before the first chain that it is in. */
struct offcpu_who {
	__u32 type;
	__u32 kind; /* enum offcpu_waker */
	__u64 id;
	__u64 stack;
	__u32 pid;
	__u32 tid;
	char comm[OFFCPU_COMM];
};
_Static_assert(sizeof(struct offcpu_who) == 48, "shared with BPF");

/* A waker, and the sleep that it had come out of when that is inside the sleep it ended. */
struct offcpu_link {
	__u64 waker;
	__u64 sleep_stack; /* 0: it had not slept */
	__u64 sleep_end;   /* when it was woken itself; not part of the chain's number */
};

struct offcpu_chain {
	__u32 type;
	__u32 n;
	__u64 id;
	struct offcpu_link links[OFFCPU_LINKS];
};

/* Numbers that a thread still has, though they may have been sent long ago; 0: none. */
struct offcpu_held {
	__u32 type;
	__u32 pad;
	__u64 stack;
	__u64 chain;
	__u64 sleep_stack;
	struct offcpu_link links[OFFCPU_LINKS];
};

/* A thread that slept before us: its registers, for user space to unwind by. */
struct offcpu_sleeper {
	__u32 type;
	__u32 pid;
	__u32 tid;
	__u32 n_kernel;
	__u64 id; /* number of the stack */
	__u64 regs[UNWIND_REGS];
	__u64 kernel[OFFCPU_KERNEL_FRAMES];
};

/* How a wait began. */
enum offcpu_flags {
	OFFCPU_PREEMPTED = 1,     /* wanted to continue running */
	OFFCPU_UNKNOWN_START = 2, /* existed before tracing: its time counts from the start */
	OFFCPU_OPEN = 4,          /* not over yet */
	OFFCPU_KTHREAD = 8,
	OFFCPU_INFERRED = 16, /* its end was not seen, but derived from the CPU time used */
};

/* A state that the kernel has no bit for: runnable, but its group has used up its CPU time. */
enum { OFFCPU_THROTTLED = 1 << 16 };

/*
 * What is known of a futex call, above the number of the system call: the operation, two of its
 * flags, and of the expected value what tells locks apart (the value itself may be any thread's
 * id).
 */
enum offcpu_futex_value {
	OFFCPU_FUTEX_0,
	OFFCPU_FUTEX_1,
	OFFCPU_FUTEX_2,
	OFFCPU_FUTEX_MINUS_1,
	OFFCPU_FUTEX_WAITERS, /* the bit of a lock with waiters, beside others */
	OFFCPU_FUTEX_OTHER,
};
enum {
	OFFCPU_SYSCALL_BITS = 16,
	OFFCPU_CALL_FUTEX = 202,
	OFFCPU_FUTEX_OPERATION = 0xf, /* bits of the facts */
	OFFCPU_FUTEX_PRIVATE = 1 << 4,
	OFFCPU_FUTEX_REALTIME = 1 << 5,
	OFFCPU_FUTEX_VALUE_SHIFT = 6,
	OFFCPU_FUTEX_KNOWN = 1 << 14,
};

static inline __s32 offcpu_futex_call(__u32 op, __u32 value)
{
	__u32 facts = OFFCPU_FUTEX_KNOWN | (op & OFFCPU_FUTEX_OPERATION);
	__u32 what = value <= 2             ? value
		     : value == 0xffffffffu ? OFFCPU_FUTEX_MINUS_1
		     : value & 0x80000000u  ? OFFCPU_FUTEX_WAITERS
					    : OFFCPU_FUTEX_OTHER;

	facts |= op & 128 ? OFFCPU_FUTEX_PRIVATE : 0;
	facts |= op & 256 ? OFFCPU_FUTEX_REALTIME : 0;
	facts |= what << OFFCPU_FUTEX_VALUE_SHIFT;
	return (__s32)(facts << OFFCPU_SYSCALL_BITS | OFFCPU_CALL_FUTEX);
}

struct offcpu_key {
	__u64 stack; /* 0: none was taken */
	__u64 chain; /* 0: no waker is known */
	__u32 pid;
	__u32 tid;     /* 0: all threads together */
	__u32 state;   /* the kernel's task state at switch-out, 0: runnable */
	__s32 syscall; /* -1: not in one; a futex call with what is known of it */
	__u32 flags;   /* enum offcpu_flags */
	__u32 pad;
	char comm[OFFCPU_COMM];
};
_Static_assert(sizeof(struct offcpu_key) == 56, "shared with BPF");

struct offcpu_value {
	__u64 blocked; /* ns until woken */
	__u64 runq;    /* ns from then until it ran */
	__u64 count;
	__u64 max_blocked;
	__u64 max_runq;
};

/* A sum, in one cache line. What it belongs to is looked up at the end. */
struct offcpu_row {
	__u64 id; /* made of its key; 0: none */
	struct offcpu_value value;
	__u64 pad[2];
	struct offcpu_key key;
	__u64 more;
};
_Static_assert(sizeof(struct offcpu_row) == 128, "shared with BPF");

/* One wait, when each is sent instead of summed up. */
struct offcpu_wait {
	__u32 type;
	__u32 cpu;
	__u64 time; /* its end */
	__u64 blocked;
	__u64 runq;
	__u32 next_pid; /* who ran while it waited for a CPU: the last one there */
	__u32 next_tid;
	struct offcpu_key key;
	char ran_comm[OFFCPU_COMM];
};

/* Who had a CPU while those that are considered waited for it. */
struct offcpu_ran_key {
	__u32 pid;
	__u32 tid;
	char comm[OFFCPU_COMM];
};

struct offcpu_ran_value {
	__u64 ns;
	__u64 count; /* turns */
};

/* The account of a thread: sent when it ends, and when asked for. */
struct offcpu_thread {
	__u32 type;
	__u32 pid;
	__u32 tid;
	__u32 flags;
	__u64 begin; /* when its account was opened */
	__u64 end;
	__u64 oncpu;
	__u64 blocked;
	__u64 runq;
	__u64 unknown; /* off CPU, but its switch-out was not seen */
	__u64 utime;   /* by the kernel's clock ticks, since begin */
	__u64 stime;
	__u64 switches;
	__u64 preemptions;
	__u64 minor; /* page faults since begin: without reading */
	__u64 major; /* and with */
	__u64 cgroup;
	char comm[OFFCPU_COMM];
};

enum offcpu_count {
	OFFCPU_COUNT_UNKNOWN_START, /* waits that began before us: not counted in */
	OFFCPU_COUNT_NO_WAKER,      /* sleeps whose waking was not seen */
	OFFCPU_COUNT_MAP_FULL,      /* waits that found no room ... */
	OFFCPU_COUNT_MAP_FULL_NS,   /* ... and their time */
	OFFCPU_COUNT_STACKS,
	OFFCPU_COUNT_STACKS_FULL, /* stacks that could not be kept */
	OFFCPU_COUNT_CHAINS_FULL,
	OFFCPU_COUNT_LOST,       /* waits that did not fit into the ring ... */
	OFFCPU_COUNT_LOST_NS,    /* ... and their time */
	OFFCPU_COUNT_INFERRED,   /* waits whose end was not seen */
	OFFCPU_COUNT_BACKWARD,   /* waits with an end before their begin: clocks differ; left out */
	OFFCPU_COUNT_NO_ROOM,    /* threads for which the kernel had no memory */
	OFFCPU_COUNT_MISSED_OUT, /* switch-ins of threads that never left */
	OFFCPU_COUNT_HELD_LOST,  /* threads whose stacks may be forgotten: the ring was full */
	OFFCPU_COUNT_RAN_FULL,   /* runs of others that found no room in their table */
	OFFCPU_COUNT_OPENED,     /* accounts of threads requested ... */
	OFFCPU_COUNT_CLOSED, /* ... and those of threads that have left their CPU for the last time
			      */
	OFFCPU_COUNTERS,
};

#endif
