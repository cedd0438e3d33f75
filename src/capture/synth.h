/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records about what was there before the recording began, read from /proc in the form the kernel
 * would have sent: COMM, FORK, MMAP2, NAMESPACES, CGROUP, and MMAP of the kernel and its modules.
 * Every record ends with the sample_id fields that @sample_type asks for, all zero (as perf does).
 */
#ifndef CAPTURE_SYNTH_H
#define CAPTURE_SYNTH_H

#include <sys/types.h>

#include "base/err.h"
#include "capture/ring.h"
#include "capture/target.h"
#include "host/bpf_programs.h"

enum { SYNTH_MAPS_MOST = 1 << 20 }; /* executable mappings of one process */

struct synth {
	u64 sample_type; /* of the events: decides the trailer */
	u64 time;        /* of the records, 0: from the beginning */
	bool data_maps;  /* also mappings that are not executable */
	bool namespaces;
	bool build_ids;   /* of files where that is quick (PROCMAP_QUERY), of the kernel, of modules
			   */
	bool cgroups;     /* synth_target(): id and path of every control group */
	bool everybody;   /* and every process, whatever the target */
	const char *proc; /* NULL: /proc */
	const char *sys;  /* NULL: /sys */
	record_sink sink;
	void *ctx;
	/* What was done. */
	bool kernel_hidden; /* its addresses are not for this user */
	u64 processes;
	u64 threads;
	u64 maps;
	u64 failed; /* processes that vanished or could not be read: counted, not an error */
};

/*
 * All that a recording of @target needs: the kernel, its modules, and the processes of the target
 * but @skip.
 */
int synth_target(struct synth *s, const struct target *target, pid_t skip, struct err *e);

/* [kernel.kallsyms]_text and one per module. Hidden addresses are -EACCES with a hint. */
int synth_kernel(struct synth *s, struct err *e);
int synth_modules(struct synth *s, struct err *e);
/* The functions of BPF programs: what the kernel reports of those that are loaded later. */
int synth_bpf(struct synth *s, const struct bpf_programs *programs);
/* One process with its threads. ESRCH when it is gone. */
int synth_process(struct synth *s, pid_t pid, struct err *e);
/* All of them. */
int synth_processes(struct synth *s, struct err *e);
/* The control groups of version 2: id and path of each. */
int synth_cgroups(struct synth *s, struct err *e);
/* Losses that no record in the rings reported: LOST_SAMPLES. */
int synth_lost_samples(struct synth *s, u64 lost);

#endif
