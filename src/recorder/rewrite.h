/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording written again: with build ids, in order of time, compressed or not. */
#ifndef RECORDER_REWRITE_H
#define RECORDER_REWRITE_H

#include "base/err.h"

struct rewrite_opts {
	bool build_ids; /* mappings without one get that of the file that is there now */
	int compress;   /* zstd level, 0: none */
	bool pipe;      /* in the form for pipes */
};

struct rewrite_counts {
	u64 records, samples;
	u64 with_id;  /* mappings that had a build id */
	u64 given_id; /* that got one */
	u64 no_id;    /* whose file is gone or has none */
};

/* From @in ("-": standard input) to @out ("-": standard output). */
int rewrite_recording(const char *in, const char *out, const struct rewrite_opts *opts,
		      struct rewrite_counts *ret, struct err *e);

#endif
