/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of waits: what a thread that is off the CPU waits for. Rules are data (tools/waits.tsv):
 * functions on the stack, the system call, the thread's name.
 */
#ifndef WAITS_KINDS_H
#define WAITS_KINDS_H

#include "base/err.h"
#include "waits/wait.h"

/* What a thread does or waits for. */
enum thread_state {
	STATE_USER,
	STATE_KERNEL,
	STATE_RUNNING, /* on a CPU, where of the two is not known */
	STATE_RUNNABLE,
	STATE_DISK, /* from here on: blocked */
	STATE_FLUSH,
	STATE_NETWORK,
	STATE_LOCK,
	STATE_RWLOCK,
	STATE_COND,
	STATE_SEMAPHORE,
	STATE_BARRIER,
	STATE_JOIN,
	STATE_FUTEX, /* one of the above, but nothing says which */
	STATE_PIPE,
	STATE_SLEEP, /* on a timer of its own */
	STATE_FAULT, /* for a page */
	STATE_RECLAIM,
	STATE_THROTTLED,
	STATE_FROZEN,
	STATE_STOPPED,
	STATE_CHILD,
	STATE_OTHER,
	STATE_INTERRUPTIBLE, /* the scheduler's state is all that is known; likewise: */
	STATE_UNINTERRUPTIBLE,
	STATE_POLL, /* from here on: nothing waits for the thread */
	STATE_WORK,
	STATE_IDLE, /* a kernel thread without work */
	STATE_COUNT
};

/* "disk", "disk_percent", "DISK", "waiting for a disk" */
const char *thread_state_name(enum thread_state s);
const char *thread_state_key(enum thread_state s);
const char *thread_state_title(enum thread_state s);
const char *thread_state_words(enum thread_state s);

/* The thread has nothing to do: set apart from waits that delay others. */
static inline bool wait_is_idle(enum thread_state kind)
{
	return kind >= STATE_POLL && kind < STATE_COUNT;
}

struct wait_kinds;

/* Rules for the waits of @profile: the user's, then our own. */
int wait_kinds_new(struct wait_kinds **ret, struct profile *profile, struct err *e);
void wait_kinds_free(struct wait_kinds *k);
/* More rules, to be tried after those so far; @name is for messages. */
int wait_kinds_parse(struct wait_kinds *k, const char *text, size_t n, const char *name,
		     struct err *e);
/* Where nothing but the state is known. */
enum thread_state wait_kind_of_state(u32 state);
/* Of a wait with thread, stack, state, system call and flags. */
enum thread_state wait_kinds_of(struct wait_kinds *k, const struct wait *w);
/* Of a wait of which only the stack is known; @comm may be 0. */
enum thread_state wait_kinds_stack(struct wait_kinds *k, u32 stack, u32 comm);
/* Sets the kinds of a wait and of the sleeps of its wakers. */
void wait_kinds_set(struct wait_kinds *k, struct wait *w);

#endif
