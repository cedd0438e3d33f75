/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deep DEPTH [--seconds S]
 *
 * Calls itself DEPTH times (main -> recurse x DEPTH -> bottom) and burns S seconds (1) of CPU time
 * in the deepest frame.
 */
#include "workload.h"

#define DEPTH_MAX 50000

static OWN_FRAME double bottom(double seconds)
{
	double begun = thread_cpu_s(), spent = 0;

	while (spent < seconds) {
		spin(100000);
		spent = thread_cpu_s() - begun;
	}
	return spent;
}

/* The addition after the call keeps the compiler from making a loop of it. */
static OWN_FRAME double recurse(unsigned int left, double seconds)
{
	double spent = left > 1 ? recurse(left - 1, seconds) : bottom(seconds);

	__asm__ volatile("" ::: "memory");
	return spent + 0.0;
}

int main(int argc, char **argv)
{
	double seconds = 1;

	if (argc != 2 && !(argc == 4 && !strcmp(argv[2], "--seconds")))
		die("usage: deep DEPTH [--seconds S]");
	unsigned int depth = (unsigned int)parse_number("depth", argv[1], 1, DEPTH_MAX);

	if (argc == 4)
		seconds = parse_number(argv[2], argv[3], 0, 1e6);
	double spent = recurse(depth, seconds);

	printf("pid=%d\ndepth=%u\ncpu=%.4f\nprocess_cpu=%.4f\n", (int)getpid(), depth, spent,
	       process_cpu_s());
	return 0;
}
