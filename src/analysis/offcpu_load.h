/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits out of a recording. */
#ifndef ANALYSIS_OFFCPU_LOAD_H
#define ANALYSIS_OFFCPU_LOAD_H

#include "analysis/offcpu.h"
#include "base/parse.h"
#include "recording/recording.h"

struct offcpu_load {
	struct profile profile;
	wait_list waits;
	u64 links;      /* wakers that were told */
	u64 begin, end; /* of all samples, on the recording's clock; 0: none has a time */
};

/* Which waits. */
struct offcpu_load_opts {
	const range_list *pids, *tids; /* both empty: all */
	const char *const *comms;
	size_t n_comms;
	u32 states; /* enum offcpu_state_bit, 0: all */
	u64 min_ns, max_ns;
	bool whole; /* only those whose begin and end were seen */
	bool no_kthreads, no_users;
	bool no_kernel_stacks, no_user_stacks;
	bool by_thread; /* threads of a process are told apart */
	/* Sees each record before it is taken in; may be NULL. */
	void (*tap)(void *ctx, const struct record *r);
	void *tap_ctx;
};

/* What the raw data of a sample says about a wait; false: it is none of ours. */
struct offcpu_raw;
bool offcpu_load_raw(const struct sample *s, struct offcpu_raw *ret);

/* Call offcpu_load_release() also after a failure. */
int offcpu_load(struct offcpu_load *l, const char *path, const struct offcpu_load_opts *opts,
		struct err *e);
/* The same from a recording that is open, and not replayed yet. */
int offcpu_load_from(struct offcpu_load *l, struct recording *r,
		     const struct offcpu_load_opts *opts, struct err *e);
void offcpu_load_release(struct offcpu_load *l);

#endif
