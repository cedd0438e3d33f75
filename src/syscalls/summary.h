/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of system calls as a table: by call, or by thread or process and call. */
#ifndef SYSCALLS_SUMMARY_H
#define SYSCALLS_SUMMARY_H

#include "base/map.h"
#include "base/vec.h"
#include "result/result.h"
#include "syscalls/stacks.h"
#include "syscalls/table.h"

enum summary_by { SUMMARY_CALL, SUMMARY_THREAD, SUMMARY_PROCESS };
/* Numbers: the largest first. */
enum summary_sort {
	SUMMARY_TIME,
	SUMMARY_CALLS,
	SUMMARY_ERRORS,
	SUMMARY_MIN,
	SUMMARY_AVG,
	SUMMARY_MAX,
	SUMMARY_NAME
};
extern const char *const summary_sorts[]; /* their names, with a NULL at the end */

struct summary_row {
	u32 pid, tid, nr;
	char comm[SYSCALLS_COMM];
	u64 count, errors, ns, min, max;
	double squares; /* of the durations, ns^2 */
	u64 buckets[SYSCALLS_BUCKETS];
};

struct summary {
	enum summary_by by;
	enum summary_sort sort;
	VEC(struct summary_row) rows;
	struct map index;
};

/* Calls by who called. */
struct summary_stack {
	u64 stack;
	u32 pid; /* of the first; of all, where the number means something only in a process */
	u32 nr;
	u64 count, errors, ns;
};

struct summary_stacks {
	VEC(struct summary_stack) rows;
	struct map index;
};

void summary_stacks_release(struct summary_stacks *s);
void summary_add_stack(struct summary_stacks *s, const struct syscalls_event *e);
/* Most time first; stacks as folded text. */
void summary_stacks_table(struct summary_stacks *s, const struct syscall_table *t,
			  struct call_stacks *stacks, struct result *r);

void summary_release(struct summary *s);
void summary_add(struct summary *s, const struct syscalls_key *key, const struct syscalls_sum *sum);
/* One call, where they come one by one. */
void summary_add_call(struct summary *s, const struct syscalls_event *e);
void summary_table(struct summary *s, const struct syscall_table *t, struct result *r);
/* As perf trace -s prints it; of sums by thread. */
void summary_perf(const struct summary *s, const struct syscall_table *t, struct buf *out);
void summary_histograms(const struct summary *s, const struct syscall_table *t, struct result *r);

#endif
