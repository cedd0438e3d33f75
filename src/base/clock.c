/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include "base/stop.h"

#include <stdio.h>

/* Of this process's time namespace; it never changes. */
static s64 mono_shift, boot_shift;

void clock_init(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	char name[16];
	long long seconds, ns;

	if (!f)
		return; /* a kernel without time namespaces */
	while (fscanf(f, "%15s %lld %lld", name, &seconds, &ns) == 3) {
		const s64 shift = seconds * (s64)NSEC_PER_SEC + ns;

		if (streq(name, "monotonic"))
			mono_shift = shift;
		else if (streq(name, "boottime"))
			boot_shift = shift;
	}
	fclose(f);
}

s64 clock_shift(clockid_t id)
{
	switch (id) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE: return mono_shift;
	case CLOCK_BOOTTIME: return boot_shift;
	default: return 0;
	}
}

u64 clock_ns(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec - (u64)clock_shift(id);
}

u64 clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

struct timespec clock_deadline(u64 mono_ns)
{
	const u64 here = mono_ns + (u64)mono_shift;

	return (struct timespec){ .tv_sec = (time_t)(here / NSEC_PER_SEC),
				  .tv_nsec = (long)(here % NSEC_PER_SEC) };
}

u64 clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

u64 clock_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_sleep_ns(u64 ns)
{
	u64 end = clock_mono_ns() + ns, left;

	while (!stop_requested() && (left = clock_mono_ns()) < end)
		stop_wait(end - left);
}
