/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did and waited for, out of a recording: of 'fathom record --off-cpu', or of the
 * scheduler's events ('perf sched record'), which have no stacks. What a recording does not hold is
 * worked out from what it does, and notes say how.
 */
#ifndef WAITS_RECORDED_H
#define WAITS_RECORDED_H

#include "waits/load.h"
#include "waits/sched.h"
#include "waits/observed.h"
#include "waits/turns.h"

/* Which threads. */
struct recorded_opts {
	const range_list *pids, *tids; /* both empty: all */
	const char *const *comms;
	size_t n_comms;
	bool no_kthreads;
	bool ran;      /* also who had the CPU instead, which needs all threads */
	bool all;      /* the others, too, for now: recorded_restrict() drops them */
	bool children; /* and processes that these started */
};

/* How the figures were obtained. */
enum recorded_how {
	RECORDED_SWITCHES = 1,      /* from the scheduler's events: no stacks */
	RECORDED_NO_ACCOUNTS = 2,   /* times are sums and gaps of waits */
	RECORDED_SPLIT_SAMPLED = 4, /* user and kernel, by samples */
	RECORDED_NO_WAKERS = 16,
	RECORDED_NO_CHAINS = 32,
	RECORDED_NO_FAULTS = 64,
	RECORDED_NO_CGROUPS = 128,
};

struct recorded {
	struct waits_load load;
	struct sched_names names; /* of the scheduler's events */
	VEC(struct offcpu_thread) threads;
	VEC(u32) cgroups;
	ran_list ran;
	u64 lacked;  /* time that threads waited for a CPU in, */
	u64 guessed; /* what of it was put down to those that ran last, who were not recorded */
	struct observed seen;
	u32 root;           /* the process that started all others; 0: none */
	struct map parents; /* process that was started meanwhile -> its parent */
	u32 how;            /* enum recorded_how */
};

/* -ENODATA when nothing is there that tells of waits. Release it also after a failure. */
int recorded_load(struct recorded *r, const char *path, const struct recorded_opts *opts,
		  struct err *e);
/* The same from a recording that is open, and not replayed yet. */
int recorded_load_from(struct recorded *r, struct recording *recording,
		       const struct recorded_opts *opts, struct err *e);
void recorded_release(struct recorded *r);
/* Keeps the threads and waits that @opts asks for, and of @parts those of such waits. */
void recorded_restrict(struct recorded *r, const struct recorded_opts *opts, wait_list *parts);

/* For the readers: whether a thread is requested. */
bool recorded_matches(const struct recorded_opts *o, u32 pid, u32 tid, const char *comm,
		      bool kthread);
/* The reader of the scheduler's events. */
int recorded_load_switches(struct recorded *r, struct recording *recording,
			   const struct recorded_opts *opts, struct err *e);

#endif
