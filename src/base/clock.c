/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include "base/stop.h"

#include <time.h>

static u64 now(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

u64 clock_mono_ns(void)
{
	return now(CLOCK_MONOTONIC);
}

u64 clock_wall_ns(void)
{
	return now(CLOCK_REALTIME);
}

u64 clock_cpu_ns(void)
{
	return now(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_sleep_ns(u64 ns)
{
	u64 end = clock_mono_ns() + ns, left;

	while (!stop_requested() && (left = clock_mono_ns()) < end)
		stop_wait(end - left);
}
