/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idlers N: N processes that do nothing, until the first one is ended. Prints a line when all are
 * there.
 */
#include "workload.h"

#include <signal.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	long n;

	if (argc != 2 || (n = strtol(argv[1], NULL, 10)) < 1 || n > 100000)
		die("usage: idlers N");
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
