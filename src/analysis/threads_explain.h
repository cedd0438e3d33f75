/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page in plain words: where the wall time of a process went. Every statement has its figure.
 */
#ifndef ANALYSIS_THREADS_EXPLAIN_H
#define ANALYSIS_THREADS_EXPLAIN_H

#include "analysis/threads.h"
#include "analysis/threads_cpu.h"
#include "waits/turns.h"

struct explain_faults {
	bool known;
	u64 minor; /* while we looked */
	u64 major;
};

struct explain_input {
	const struct observed *seen; /* single waits with wakers */
	wait_list *parts;            /* the same as parts: blame.h */
	ran_list *ran;               /* gets sorted */
	u32 pid;
	struct explain_faults faults;
	const struct cpu_functions *cpu; /* NULL: nothing was sampled */
	int width;                       /* of the page; 0: tables instead of prose */
};

void explain_result(const struct explain_input *in, struct result *ret);

#endif
