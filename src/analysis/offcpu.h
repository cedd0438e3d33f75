/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits as a profile, and as tables: what off-CPU, wakeup, off-wake and chain graphs are made of.
 * Where the waits come from (the running kernel, a recording) makes no difference here.
 */
#ifndef ANALYSIS_OFFCPU_H
#define ANALYSIS_OFFCPU_H

#include "base/buf.h"
#include "base/err.h"
#include "bpf/offcpu_abi.h"
#include "profile/profile.h"
#include "result/result.h"

/* What the stacks of the profile show. */
enum offcpu_view {
	OFFCPU_VIEW_SLEEPER, /* the stack that waits */
	OFFCPU_VIEW_WAKER,   /* the stack that wakes, its target on top */
	OFFCPU_VIEW_BOTH,    /* sleeper, "--", waker upside down */
	OFFCPU_VIEW_CHAIN,   /* the same, on to the waker's waker */
};

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

/* "anon_pipe_read < read < wait_for_data < main": the innermost frames that tell something. */
void wait_place(const struct profile *p, u32 stack, struct buf *out);
/* The same stack without the kernel's frames. */
u32 wait_user_stack(struct profile *p, u32 stack);
/* The stack that a view shows for a wait. */
u32 wait_stack(struct profile *p, const struct wait *w, enum offcpu_view view);
/*
 * Adds samples of OFFCPU_EVENT (blocked time) and RUNQ_EVENT to @p, in whose frames and threads the
 * waits are written.
 */
void waits_to_profile(struct profile *p, const wait_list *waits, enum offcpu_view view);

/* Between two intervals: forgets the samples, keeps names. */
void waits_forget(struct profile *p);

/*
 * The waits of a recording whose wakers are known (profile.wakes) as samples of OFFWAKE_EVENT: the
 * stack that waited and on it, upside down, who ended that. False: there are none.
 */
bool wakes_to_profile(struct profile *p);
/* The same for waits that are at hand. */
bool waits_add_wakers(struct profile *p, const wait_list *waits);

/* The times and the number of waits that are alike. */
void wait_add(struct wait *into, const struct wait *w);
/* Waits that look the same in this view become one. */
void waits_merge(struct profile *p, wait_list *waits, enum offcpu_view view);
/*
 * Tables for people: the heaviest waits with their stacks. @runq: by run-queue time. At most
 * @lines of them, 0: all.
 */
void waits_to_result(struct profile *p, wait_list *waits, enum offcpu_view view, bool runq,
		     u32 lines, struct result *ret);
/* "root;...;leaf microseconds" lines, sorted. */
void waits_to_folded(struct profile *p, const wait_list *waits, enum offcpu_view view, bool runq,
		     struct buf *out);

#endif
