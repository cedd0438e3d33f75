/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of a thread or of the machine went, from sums that the kernel keeps anyway: on a
 * CPU, waiting for one. The rest of a thread's time it was blocked.
 */
#ifndef HOST_DELAY_H
#define HOST_DELAY_H

#include "base/base.h"

struct delay {
	bool known;
	u64 running; /* ns on a CPU */
	u64 waiting; /* ns runnable without one */
	u64 turns;
};

/* "running waiting turns", as /proc/PID/schedstat has it. */
bool delay_parse(const char *text, struct delay *ret);
int delay_of_thread(u32 tid, struct delay *ret);
/* The sum over the threads that a process has now, and how many they are. */
int delay_of_process(u32 pid, struct delay *ret, u32 *ret_threads);

/* Pressure: for how long tasks had to wait for a resource, ns since boot. */
struct pressure {
	bool known;
	u64 cpu, io, memory;
};

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234": microseconds. */
bool pressure_parse(const char *text, u64 *ret_ns);
void pressure_read(struct pressure *ret);

#endif
