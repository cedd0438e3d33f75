/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of waits: what a thread that is off the CPU waits for. */
#ifndef WAITS_KINDS_H
#define WAITS_KINDS_H

#include "waits/wait.h"

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

#endif
