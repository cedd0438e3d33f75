/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording written again: with build ids, in order of time, compressed or not. */
#ifndef RECORDER_REWRITE_H
#define RECORDER_REWRITE_H

#include "base/err.h"

struct rewrite_opts {
	bool build_ids;  /* mappings without one get that of the file that is there now */
	bool jit;        /* the code of jitdumps becomes ELF files, and mappings of them */
	bool sched_stat; /* switches get the time of the sched_stat event that follows */
	bool force;      /* replace ELF files that are there */
	int compress;    /* zstd level, 0: none */
	bool pipe;       /* in the form for pipes */
};

struct rewrite_counts {
	u64 records, samples;
	u64 with_id;  /* mappings that had a build id */
	u64 given_id; /* that got one */
	u64 no_id;    /* whose file is gone or has none */
	u64 dumps;    /* jitdumps that became files */
	u64 functions;
	u64 gone;   /* jitdumps that are not there any more, or cannot be read */
	u64 merged; /* switches with the time of a sched_stat event */
	u64 alone;  /* sched_stat events without a switch before them */
};

/* From @in ("-": standard input) to @out ("-": standard output). */
int rewrite_recording(const char *in, const char *out, const struct rewrite_opts *opts,
		      struct rewrite_counts *ret, struct err *e);

#endif
