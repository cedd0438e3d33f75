/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * started near|next US [BYTES]
 *
 * Naps once, for US microseconds, under near or under next, which are alike to the byte: only one
 * return address in the middle of the stack tells the two apart. BYTES (0) more of the stack are
 * between them and main. Meant to be started over and over; prints how long it was away.
 */
#include "workload.h"

#include <alloca.h>

static OWN_FRAME void nap(double s)
{
	sleep_s(s);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void near(double s)
{
	nap(s);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void next(double s)
{
	nap(s);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	double s, began;

	if (argc < 3 || argc > 4 || (strcmp(argv[1], "near") && strcmp(argv[1], "next")))
		die("usage: started near|next US [BYTES]");
	s = strtod(argv[2], NULL) / 1e6;
	if (argc > 3) {
		volatile char *room = alloca(strtoul(argv[3], NULL, 10));

		room[0] = 0;
	}
	began = wall_s();
	if (!strcmp(argv[1], "near"))
		near(s);
	else
		next(s);
	printf("%s=%.6f\n", argv[1], wall_s() - began);
	return 0;
}
