/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of system calls as a table: by call, or by thread or process and call. */
#ifndef SYSCALLS_SUMMARY_H
#define SYSCALLS_SUMMARY_H

#include "base/map.h"
#include "base/vec.h"
#include "result/result.h"
#include "syscalls/table.h"

enum summary_by { SUMMARY_CALL, SUMMARY_THREAD, SUMMARY_PROCESS };

struct summary_row {
	u32 pid, tid, nr;
	char comm[SYSCALLS_COMM];
	u64 count, errors, ns, min, max;
	double squares; /* of the durations, ns^2 */
	u64 buckets[SYSCALLS_BUCKETS];
};

struct summary {
	enum summary_by by;
	VEC(struct summary_row) rows;
	struct map index;
};

void summary_release(struct summary *s);
void summary_add(struct summary *s, const struct syscalls_key *key, const struct syscalls_sum *sum);
/* One call, where they come one by one. */
void summary_add_call(struct summary *s, const struct syscalls_event *e);
/* Most time first. */
void summary_table(struct summary *s, const struct syscall_table *t, struct result *r);
void summary_histograms(const struct summary *s, const struct syscall_table *t, struct result *r);

#endif
