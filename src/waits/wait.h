/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A wait: who, where, in which state, how long, and the chain of its wakers. */
#ifndef WAITS_WAIT_H
#define WAITS_WAIT_H

#include "bpf/offcpu_abi.h"
#include "profile/profile.h"

/* Who woke: a link of the chain, with names. */
struct wait_link {
	u32 stack;       /* of the profile */
	u32 sleep_stack; /* 0: it had not slept inside the sleep it ended */
	u32 pid, tid;
	u32 kind; /* enum offcpu_waker */
	u32 comm; /* string: thread name, or [timer], [irq] ... */
};

/* Waits of one kind. */
struct wait {
	u32 thread;  /* of the profile */
	u32 stack;   /* of the profile, 0: none */
	u32 state;   /* the kernel's */
	s32 syscall; /* -1: none or not known */
	u32 flags;   /* enum offcpu_flags */
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

/* "S", "D", "I", "R", "R+", "T" ...: as ps writes it. */
const char *wait_state_name(u32 state, u32 flags);
/* What an interrupt that wakes is called, by its stack: "[timer]", "[net]", "[irq]". */
const char *wait_irq_name(const struct profile *p, u32 stack, u32 kind);

/* The times and the number of waits that are alike. */
void wait_add(struct wait *into, const struct wait *w);
/* The same stack without the kernel's frames. */
u32 wait_user_stack(struct profile *p, u32 stack);
/* A frame that is not code. */
u32 wait_marker(struct profile *p, const char *name);
/* Between two intervals: forgets the samples, keeps names. */
void waits_forget(struct profile *p);

#endif
