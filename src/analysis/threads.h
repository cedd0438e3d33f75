/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thread states: every microsecond of a thread's wall time on an account. */
#ifndef ANALYSIS_THREADS_H
#define ANALYSIS_THREADS_H

#include "analysis/offcpu.h"

/* What a thread does or waits for. */
enum thread_state {
	STATE_USER,
	STATE_KERNEL,
	STATE_RUNNING, /* on a CPU, where of the two is not known */
	STATE_RUNNABLE,
	STATE_DISK,
	STATE_NETWORK,
	STATE_LOCK,
	STATE_PIPE,
	STATE_SLEEP, /* on a timer of its own */
	STATE_FAULT, /* for a page */
	STATE_POLL,  /* idle: for any of many things */
	STATE_CHILD,
	STATE_IDLE, /* a kernel thread without work */
	STATE_OTHER,
	STATE_INTERRUPTIBLE, /* the scheduler's state is all that is known; likewise: */
	STATE_UNINTERRUPTIBLE,
	STATE_COUNT
};

/* Of a wait's syscall: there is nothing to tell what it was for but its state. */
enum { WAIT_ONLY_STATE = -2 };

/* "disk": key, title and words. */
const char *thread_state_name(enum thread_state s);
const char *thread_state_words(enum thread_state s);

/* What the wait is for, by the kernel's functions on its stack and the system call. */
enum thread_state wait_kind(const struct profile *p, const struct wait *w);

struct thread_account {
	u32 pid, tid;
	u32 comm;   /* string of the profile */
	u32 cgroup; /* string */
	u32 n;      /* threads that were put together */
	bool kthread;
	u64 wall;
	u64 ns[STATE_COUNT];
	u64 unknown;      /* off the CPU without our having seen it leave: part of STATE_OTHER */
	u64 minor, major; /* page faults */
	u64 switches, preemptions;
	u32 top_stack; /* of the longest wait in all */
	u64 top_ns;
	enum thread_state top_kind;
};
typedef VEC(struct thread_account) account_list;

/* Who was there and what they waited for: on the running machine, or in a recording. */
struct observed {
	struct profile *profile;
	wait_list *waits;
	const struct offcpu_thread
		*threads; /* with ticks, or as many samples, in user and kernel */
	size_t n_threads;
	const u32 *cgroups; /* of the threads: strings; NULL: their numbers stand in the threads */
	u64 begin, end;
	bool waits_sampled; /* only how waits divide is true, not their sum */
	bool unsplit;       /* user and kernel are not told apart */
	bool no_wakers;     /* who ended waits was not looked at; likewise: */
	bool no_chains;     /* what those had been doing */
};

/*
 * Joins what the kernel counted with the waits of the same threads. The times of an account sum to
 * its wall time.
 */
void accounts_build(const struct observed *o, account_list *ret);

enum account_by { BY_THREAD, BY_PROCESS, BY_COMM, BY_CGROUP };
/* Puts accounts together; wall times add up. */
void accounts_group(account_list *list, enum account_by by);
/* @machine: all in one table, with columns that are too wide for people. */
void accounts_to_result(const struct profile *p, account_list *list, enum account_by by, u32 lines,
			bool machine, struct result *ret);

#endif
