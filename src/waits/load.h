/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits out of a recording. */
#ifndef WAITS_LOAD_H
#define WAITS_LOAD_H

#include "base/parse.h"
#include "recording/recording.h"
#include "recording/wait.h"
#include "waits/wait.h"

struct waits_load {
	struct profile profile;
	wait_list waits;
	u64 links;      /* wakers that were recorded */
	u64 begin, end; /* of all samples, on the recording's clock; 0: none has a time */
};

/* Which waits. */
struct waits_load_opts {
	const range_list *pids, *tids; /* both empty: all */
	const char *const *comms;
	size_t n_comms;
	u32 states; /* enum wait_in, 0: all */
	u64 min_ns, max_ns;
	bool whole; /* only those whose start and end were seen */
	bool no_kthreads, no_users;
	bool no_kernel_stacks, no_user_stacks;
	bool by_thread; /* threads of a process are distinguished */
	/* Sees each record before it is taken in; may be NULL. */
	void (*tap)(void *ctx, const struct record *r);
	void *tap_ctx;
};

/* What the raw data of a sample says about a wait; false: not one of ours. */
bool waits_load_raw(const struct sample *s, struct wait_record *ret);

/* Call waits_load_release() also after a failure. */
int waits_load(struct waits_load *l, const char *path, const struct waits_load_opts *opts,
	       struct err *e);
/* The same from a recording that is open, and not replayed yet. */
int waits_load_from(struct waits_load *l, struct recording *r, const struct waits_load_opts *opts,
		    struct err *e);
void waits_load_release(struct waits_load *l);
/*
 * Keeps of waits that were loaded without options those that @opts lets pass by their state and
 * length, and leaves out of them what it asks for.
 */
void waits_load_filter(struct profile *p, wait_list *waits, const struct waits_load_opts *opts);

#endif
