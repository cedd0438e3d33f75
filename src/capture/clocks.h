/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clocks of x86 CPUs: TSC counts always and at one rate, MPERF at that rate while the CPU is
 * not halted, APERF then at the rate at which it really runs. Read by the kernel's msr PMU, or from
 * the msr devices.
 */
#ifndef CAPTURE_CLOCKS_H
#define CAPTURE_CLOCKS_H

#include "base/err.h"
#include "base/vec.h"

struct cpu_clocks {
	u32 cpu;
	u64 tsc, mperf, aperf;
};

typedef VEC(struct cpu_clocks) cpu_clocks_list;

struct clocks;

/* -EOPNOTSUPP: this CPU, or its hypervisor, does not let them be read; @e says which. */
int clocks_new(struct clocks **ret, struct err *e);
void clocks_free(struct clocks *c);
/* Of each online CPU; empties @ret first. */
int clocks_read(struct clocks *c, cpu_clocks_list *ret, struct err *e);

/* What a CPU did between two readings. */
struct clock_rates {
	double mperf, aperf; /* cycles */
	double busy_percent; /* not halted */
	double ratio;        /* of real to nominal cycles; 0: it was never running */
	double mhz;          /* while it ran */
	double base_mhz;     /* of TSC and MPERF */
};

struct clock_rates clocks_between(const struct cpu_clocks *before, const struct cpu_clocks *after,
				  u64 ns);

#endif
