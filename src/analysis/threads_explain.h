/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page in plain words: where the wall time of a process went. Every statement has its figure.
 */
#ifndef ANALYSIS_THREADS_EXPLAIN_H
#define ANALYSIS_THREADS_EXPLAIN_H

#include "analysis/threads.h"
#include "waits/turns.h"

struct explain_faults {
	bool known;
	u64 minor; /* while we looked */
	u64 major;
};

/*
 * @seen has single waits with wakers and chains, @parts the same as parts (blame.h). @ran is
 * sorted.
 * @width: of the page, as far as people like to read; 0: tables instead of prose.
 */
void explain_result(const struct observed *seen, wait_list *parts, ran_list *ran, u32 pid,
		    const struct explain_faults *faults, int width, struct result *ret);

#endif
