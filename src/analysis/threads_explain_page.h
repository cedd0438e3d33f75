/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the page of explain and its tables for machines are made of. */
#ifndef ANALYSIS_THREADS_EXPLAIN_PAGE_H
#define ANALYSIS_THREADS_EXPLAIN_PAGE_H

#include "analysis/threads_explain.h"
#include "analysis/threads_longest.h"

enum { EXPLAIN_FUNCTIONS = 5, EXPLAIN_LONGEST = 5 };

struct explain_page {
	const struct observed *seen;
	wait_list *parts; /* its waits by what their wakers did: blame.h */
	struct profile *profile;
	size_t width;
	struct thread_account sum; /* of all threads */
	account_list accounts;
	struct longest longest;
	const struct cpu_functions *cpu; /* NULL: nothing was sampled */
	const ran_list *culprits;        /* who had the CPU instead, longest first */
	u64 runq_waits, runq_longest;
	struct buf text;
	struct buf line; /* a statement that is being made */
};

double explain_share(u64 ns, u64 whole);
/* Are there samples enough to say in which functions it ran? */
bool explain_has_functions(const struct explain_page *p);
/* A function's part of the time on CPUs, which the scheduler knows exactly. */
u64 explain_time_of(const struct explain_page *p, const struct cpu_function *f);
u64 explain_time_on_cpu(const struct explain_page *p);

/* Facts and tables: states, waits, functions, who ran instead. */
void explain_tables(const struct explain_page *p, const struct explain_faults *f,
		    struct result *ret);

#endif
