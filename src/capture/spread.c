/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/spread.h"

#include <sys/ioctl.h>

#include "base/clock.h"

enum { CHANGES_MOST = 64, WIDTH = 16 };
#define EVERY_NS (250 * NSEC_PER_MSEC)

bool spread_applies(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->freq && attr->sample_freq &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool spread_is_due(struct spread *s)
{
	u64 now = clock_mono_ns();

	if (now < s->next)
		return false;
	if (!s->state)
		s->state = now | 1;
	s->next = now + EVERY_NS;
	return true;
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static u64 next_random(struct spread *s)
{
	s->state ^= s->state >> 12;
	s->state ^= s->state << 25;
	s->state ^= s->state >> 27;
	return s->state * 0x2545f4914f6cdd1dull;
}

/*
 * A change restarts the timer, and half a period is lost on average. Shorter periods make up for
 * it, so that the number of samples is the nominal one.
 */
u64 spread_period(struct spread *s, u64 nominal, u64 every)
{
	u64 width = nominal / WIDTH * 2, lost = nominal * MIN(nominal, every) / 2 / every;
	u64 period = nominal - width / 2 - lost;

	return MAX(period + (width ? next_random(s) % (width + 1) : 0), 1ull);
}

void spread_timers(struct spread *s, const struct perf_event_attr *attr, const int *fds, size_t n)
{
	u64 nominal = NSEC_PER_SEC / attr->sample_freq;
	size_t turns = MIN(n, (size_t)CHANGES_MOST);
	u64 every = EVERY_NS * (n / CHANGES_MOST + 1);

	for (size_t i = 0; i < turns; i++) {
		u64 period = spread_period(s, nominal, every);

		s->at = (s->at + 1) % n;
		(void)ioctl(fds[s->at], PERF_EVENT_IOC_PERIOD, &period);
	}
}
