/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions in which the CPU time of some processes went, by samples. */
#ifndef ANALYSIS_THREADS_CPU_H
#define ANALYSIS_THREADS_CPU_H

#include "base/map.h"
#include "profile/profile.h"

/* Samples whose innermost function is the same. */
struct cpu_function {
	u32 name, module; /* strings of the profile */
	bool kernel;
	u64 weight;
};

struct cpu_functions {
	const struct profile *profile;
	VEC(struct cpu_function) list; /* the heaviest first */
	u64 weight, samples;
	double skid; /* percent of samples charged to callers: skid.h */
};

/* @pids: those that count. Of several events that sample CPUs, the first that has samples. */
void cpu_functions_build(const struct profile *p, const struct map *pids,
			 struct cpu_functions *ret);
void cpu_functions_release(struct cpu_functions *f);

#endif
