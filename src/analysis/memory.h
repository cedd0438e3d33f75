/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of memory accesses: what level answered, and which cache lines are fought over. */
#ifndef ANALYSIS_MEMORY_H
#define ANALYSIS_MEMORY_H

#include "base/map.h"
#include "base/vec.h"
#include "recording/record.h"
#include "result/result.h"

enum { MEMORY_LINE_BITS = 6 }; /* 64 bytes */

struct memory_kind {
	u64 source; /* union perf_mem_data_src, without what is not shown */
	u64 samples, weighed, weight, max;
};

struct memory_line {
	u64 address;
	u64 samples, loads, stores;
	u64 hitm_local, hitm_remote; /* the line was modified in another cache */
	u64 weight;
	u64 places; /* bytes that were accessed, by bit */
	u32 threads, cpus;
	u32 pid; /* of the first */
};

struct memory {
	VEC(struct memory_kind) kinds;
	VEC(struct memory_line) lines;
	struct map kind_index, line_index, seen;
	u64 samples, without; /* samples that say nothing of memory */
};

void memory_release(struct memory *m);
void memory_add(struct memory *m, const struct sample *s);
void memory_kinds(struct memory *m, struct result *r);
/* Lines that were modified in another cache; @all: every line. */
void memory_lines(struct memory *m, bool all, struct result *r);

#endif
