/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of the running machine, by programs in the kernel at the begin and the end of each.
 *
 *	syscalls_new(&s, &opts, &table, e)	loads; nothing is attached yet
 *	syscalls_add_pid(s, pid, ...)		one more process
 *	syscalls_start(s, e)
 *	syscalls_read(s)			whenever syscalls_fd() is readable: calls on_call
 *	syscalls_stop(s)			then read once more
 *	syscalls_sums(s, fn, ctx)		with opts.sums: what was added up
 */
#ifndef SYSCALLS_ENGINE_H
#define SYSCALLS_ENGINE_H

#include "base/parse.h"
#include "syscalls/decode.h"
#include "syscalls/filter.h"
#include "syscalls/stacks.h"

struct syscalls_opts {
	const range_list *pids;    /* NULL or empty: all, unless @chosen */
	bool chosen;               /* only those of syscalls_add_pid() */
	bool follow;               /* children of these, too */
	const char *const *groups; /* directories of control groups; those below count */
	size_t n_groups;
	const bool *wanted; /* by number, SYSCALLS_MOST of them; NULL: every call */
	u64 min_ns;
	bool failed;                         /* only calls that failed */
	const struct syscall_filter *filter; /* NULL: none */
	bool sums;                           /* add up in the kernel instead of telling of each */
	bool major, minor;                   /* page faults, too */
	bool stacks; /* the user stack of each call: see syscalls_stacks() */
	u32 ring_bytes;
	/* A call, or a page fault: see enum syscalls_flags. A negative result ends the reading. */
	int (*on_call)(void *ctx, const struct decoded *d);
	void *ctx;
};

struct syscalls_stats {
	u64 counts[SYSCALLS_COUNTS];
};

struct syscalls;

int syscalls_new(struct syscalls **ret, const struct syscalls_opts *o,
		 const struct syscall_table *table, struct err *e);
void syscalls_free(struct syscalls *s);
/* @from_exec: what it does before its first execve() that succeeds is left out. */
int syscalls_add_pid(struct syscalls *s, u32 pid, bool from_exec, struct err *e);
int syscalls_start(struct syscalls *s, struct err *e);
void syscalls_stop(struct syscalls *s);
/* NULL unless they were requested; they stay the engine's. */
struct call_stacks *syscalls_stacks(const struct syscalls *s);
/* -1: there is nothing to wait for. */
int syscalls_fd(const struct syscalls *s);
/* 1: there may be more. Calls may come faster than they are shown, so it does not wait for the
 * last. */
int syscalls_read(struct syscalls *s);
typedef void (*syscalls_sum_fn)(void *ctx, const struct syscalls_key *key,
				const struct syscalls_sum *sum);
void syscalls_sums(struct syscalls *s, syscalls_sum_fn fn, void *ctx);
void syscalls_stats(const struct syscalls *s, struct syscalls_stats *ret);

#endif
