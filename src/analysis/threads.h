/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thread states: every microsecond of a thread's wall time on an account. */
#ifndef ANALYSIS_THREADS_H
#define ANALYSIS_THREADS_H

#include "analysis/waits.h"
#include "waits/kinds.h"
#include "waits/observed.h"
#include "waits/recorded.h"

struct thread_account {
	u32 pid, tid;
	u32 comm;   /* string of the profile */
	u32 cgroup; /* string */
	u32 n;      /* threads that were put together */
	bool kthread;
	u64 wall;
	u64 ns[STATE_COUNT];
	u64 unknown;      /* off the CPU, switch-out not seen: part of STATE_OTHER */
	u64 minor, major; /* page faults */
	u64 switches, preemptions;
	u32 top_stack; /* of the longest wait in all */
	u64 top_ns;
	enum thread_state top_kind;
};
typedef VEC(struct thread_account) account_list;

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

/* What was lost, and what was derived and how. */
void recorded_notes(const struct recorded *r, struct result *ret);

#endif
