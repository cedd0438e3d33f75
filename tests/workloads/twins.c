/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * twins [--seconds S]
 *
 * Burns S seconds (2) of CPU time in the same function, called the same way by near and by next,
 * which are alike to the byte: by turns, three quarters of it under near. Only one return address
 * in the middle of the stack tells the two apart. Prints the CPU time of each.
 */
#include "workload.h"

static OWN_FRAME void burn(uint64_t turns)
{
	spin(turns);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void work(uint64_t turns)
{
	burn(turns);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void near(uint64_t turns)
{
	work(turns);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void next(uint64_t turns)
{
	work(turns);
	__asm__ volatile("" ::: "memory");
}

/* Not in registers: the callers' would differ from turn to turn, and tell the stacks apart too. */
static double seconds = 2, spent[2];
static unsigned int turn;
static uint64_t turns = 100000;

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--seconds") != 0)
			die("usage: twins [--seconds S]");
		seconds = option_value(argv, &i, 0.1, 60);
	}
	/* about a millisecond */
	for (double took = 0; took < 0.001; turns *= 2) {
		took = -thread_cpu_s();
		spin(turns);
		took += thread_cpu_s();
	}
	for (; spent[0] + spent[1] < seconds; turn++) {
		spent[turn % 2] -= thread_cpu_s();
		if (turn % 2)
			next(turns);
		else
			near(3 * turns);
		spent[turn % 2] += thread_cpu_s();
	}
	printf("near=%.4f\nnext=%.4f\n", spent[0], spent[1]);
	return 0;
}
