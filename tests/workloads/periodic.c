/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * periodic [--seconds S] [--period MS]
 *
 * Burns S seconds (2) of CPU time in steps of MS milliseconds (10) of its own CPU time: the first
 * 70 % of each in a, the rest in b. A timer with a fixed period samples it in step.
 */
#include "workload.h"

static OWN_FRAME uint64_t a(uint64_t turns)
{
	spin(turns);
	return turns + 1;
}

static OWN_FRAME uint64_t b(uint64_t turns)
{
	spin(turns);
	return turns + 2;
}

int main(int argc, char **argv)
{
	double seconds = 2, period = 10;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			seconds = option_value(argv, &i, 0.01, 3600);
		else if (!strcmp(argv[i], "--period"))
			period = option_value(argv, &i, 0.1, 1000);
		else
			die("unknown option '%s'", argv[i]);
	}
	period /= 1000;
	for (double now = thread_cpu_s(); now < seconds; now = thread_cpu_s()) {
		double phase = now / period - (double)(uint64_t)(now / period);

		if (phase < 0.7)
			a(2000);
		else
			b(2000);
	}
	return 0;
}
