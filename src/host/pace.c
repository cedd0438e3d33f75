/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/pace.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/vec.h"
#include "host/bpf_sys.h"
#include "host/machine.h"

enum {
	TRIAL_PERIOD_NS = 100 * 1000,
	TRIAL_MOST_NS = 50 * 1000 * 1000,
	TRIAL_GAPS = 65,
	TRIAL_GAPS_LEAST = 9,
	STEP_TRIES = 100,
	INTERRUPT_NS = 10 * 1000, /* taken for it where it cannot be measured */
	SAMPLE_NS = 10 * 1000,    /* walking a stack and writing it down, with room */
	PERCENT_USUAL = 25,       /* the kernel's own */
	PERCENT_MOST = 50,
};

bool pace_is_timer(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->sample_period &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static u64 shortest_step(void)
{
	u64 least = UINT64_MAX, last = clock_mono_ns();

	for (int i = 0; i < STEP_TRIES; i++) {
		u64 now = clock_mono_ns();

		least = MIN(least, now - last);
		last = now;
	}
	return least;
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/*
 * The median of the holes that interrupts leave in the time of a thread that only reads the clock:
 * being put off the CPU, by the kernel or a hypervisor, is longer, but rarer.
 */
static u64 median_hole(void)
{
	u64 hole = shortest_step() * 4 + 300, last = clock_mono_ns(), end = last + TRIAL_MOST_NS;
	VEC(u64) holes = { 0 };
	u64 median = 0;

	while (last < end && holes.len < TRIAL_GAPS) {
		u64 now = clock_mono_ns();

		if (now - last > hole)
			vec_push(&holes, now - last);
		last = now;
	}
	if (holes.len >= TRIAL_GAPS_LEAST) {
		vec_sort(&holes, compare_u64);
		median = holes.items[holes.len / 2];
	}
	vec_release(&holes);
	return median;
}

/* 0: it cannot be measured. */
static u64 interrupt_cost(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = TRIAL_PERIOD_NS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	_cleanup_close_ int fd = perfsys_open(&attr, 0, -1, -1, 0);

	return fd < 0 ? 0 : median_hole();
}

u64 pace_hz(u64 cost_ns, s64 percent, u64 timers)
{
	u64 share = percent > 0 ? (u64)MIN(percent, (s64)PERCENT_MOST) : PERCENT_MOST;
	u64 hz = NSEC_PER_SEC * share / 100 / MAX(cost_ns, (u64)1);

	return MAX(MAX(hz, (u64)PACE_FREE_HZ) / MAX(timers, (u64)1), (u64)1);
}

bool pace_limit(struct perf_event_attr *attr, u64 timers, struct pace *ret)
{
	s64 percent = PERCENT_USUAL;
	u64 asked;

	if (!pace_is_timer(attr))
		return false;
	asked = attr->freq ? attr->sample_freq : NSEC_PER_SEC / attr->sample_period;
	if (asked <= PACE_FREE_HZ / MAX(timers, (u64)1))
		return false;
	(void)machine_sysctl("kernel/perf_cpu_time_max_percent", &percent);
	ret->interrupt_ns = interrupt_cost();
	ret->asked_hz = asked;
	ret->hz = pace_hz((ret->interrupt_ns ? ret->interrupt_ns : INTERRUPT_NS) + SAMPLE_NS,
			  percent, timers);
	if (asked <= ret->hz)
		return false;
	if (attr->freq)
		attr->sample_freq = ret->hz;
	else
		attr->sample_period = NSEC_PER_SEC / ret->hz;
	return true;
}

void pace_say(const struct pace *p, const char *name, struct buf *out)
{
	buf_addf(out, "'%s' is sampled at ", name);
	fmt_count(out, p->hz);
	buf_addstr(out, " Hz and not at ");
	fmt_count(out, p->asked_hz);
	buf_addstr(out, " Hz, which would leave too little time for anything else");
	if (p->interrupt_ns) {
		buf_addstr(out, ": a timer's interrupt alone takes ");
		fmt_duration(out, p->interrupt_ns);
	}
}
