/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A wait: who, where, in which state, how long, and the chain of its wakers. */
#ifndef WAITS_WAIT_H
#define WAITS_WAIT_H

#include "bpf/offcpu_abi.h"
#include "profile/profile.h"

/* What a waker did in the span of the wait that it ended. */
enum wait_doing {
	LINK_UNKNOWN,  /* it was not observed */
	LINK_UNBORN,   /* it had not begun yet */
	LINK_RAN,      /* had a CPU */
	LINK_RUNNABLE, /* wanted one */
	LINK_BLOCKED,  /* in sleep_stack */
};

/* Who woke: a link of the chain, with names. */
struct wait_link {
	u32 stack;       /* of the profile */
	u32 sleep_stack; /* 0: it had not slept inside the sleep it ended */
	u32 pid, tid;
	u32 kind;      /* enum offcpu_waker */
	u32 comm;      /* string: thread name, or [timer], [irq] ... */
	u8 sleep_kind; /* enum thread_state of that sleep */
	u8 doing;      /* enum wait_doing; see blame.h */
	u16 zero;      /* no padding: links are compared and hashed as bytes */
};

/* Waits of one kind. */
struct wait {
	u32 thread;  /* of the profile */
	u32 stack;   /* of the profile, 0: none */
	u32 state;   /* the kernel's */
	s32 syscall; /* -1: none or not known; futex calls with their facts (offcpu_abi.h) */
	u32 flags;   /* enum offcpu_flags */
	u8 kind;     /* enum thread_state: what it is for */
	u32 n_links;
	u64 time; /* of a single one: its end */
	u64 blocked;
	u64 runq;
	u64 count;
	u64 max_blocked;
	u64 max_runq;
	struct wait_link links[OFFCPU_LINKS];
};
typedef VEC(struct wait) wait_list;

#define OFFCPU_EVENT  "offcpu-time"
#define RUNQ_EVENT    "runqueue-time"
#define OFFWAKE_EVENT "offwake-time" /* what sleeper and wakers make together */

/* Which waits by the thread's state when it left; bits of waits_opts.states. */
enum wait_in {
	WAIT_IN_SLEEP = 1,      /* S: can be interrupted */
	WAIT_IN_DISK = 2,       /* D: cannot */
	WAIT_IN_IDLE = 4,       /* I: kernel threads without work */
	WAIT_IN_RUNNABLE = 8,   /* R: gave the CPU up but wants it back */
	WAIT_IN_PREEMPTED = 16, /* R+: had to leave */
	WAIT_IN_OTHER = 32,     /* stopped, traced, parked */
};

/* "S", "D", "I", "R", "R+", "T" ...: as ps writes it. */
const char *wait_state_name(u32 state, u32 flags);
/* What an interrupt that wakes is called, by its stack: "[timer]", "[net]", "[irq]". */
const char *wait_irq_name(const struct profile *p, u32 stack, u32 kind);
/* A string: the task's name, marked where it is only likely that it was the task, or that. */
u32 wait_waker_name(struct profile *p, const char *comm, u32 stack, u32 kind);

/* The times and the number of waits that are alike. */
void wait_add(struct wait *into, const struct wait *w);
/* Leaves out the frames of the kernel. */
void wait_cut_kernel(struct profile *p, struct wait *w);
/* The function of the kernel in which an interrupt begins: what called it was only interrupted. */
bool wait_is_interrupt(const char *name, size_t n);
/* The part of an interrupt's stack that is its own: what is below was only interrupted. */
u32 wait_cut_interrupt(struct profile *p, u32 stack);
/* A frame that is not code. */
u32 wait_marker(struct profile *p, const char *name);
/* Between two intervals: forgets the samples, keeps names. */
void waits_forget(struct profile *p);

#endif
