/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads and their waits in a span of time: of the running machine, or of a recording. */
#ifndef WAITS_OBSERVED_H
#define WAITS_OBSERVED_H

#include "waits/wait.h"

/* Who was there and what they waited for: on the running machine, or in a recording. */
struct observed {
	struct profile *profile;
	wait_list *waits;
	const struct offcpu_thread
		*threads; /* with ticks, or as many samples, in user and kernel */
	size_t n_threads;
	const u32 *cgroups; /* of the threads: strings; NULL: their numbers are in the threads */
	u64 begin, end;
	u64 known;          /* waits that ended before are not there; 0: all are */
	bool waits_sampled; /* only how waits divide is true, not their sum */
	bool unsplit;       /* user and kernel are not separated */
	bool no_wakers;     /* wakers was not checked; likewise: */
	bool no_chains;     /* what those had been doing */
	bool idle;          /* waiting for work is a wait like others */
};

#endif
