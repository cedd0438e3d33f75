/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * burnchild [--seconds S]
 *
 * Waits for a child that burns S seconds (1) of CPU time and sleeps once, for 100 us, shortly
 * before it ends.
 */
#include "workload.h"

#include <sys/wait.h>

static OWN_FRAME void burn_child(double seconds)
{
	double end = thread_cpu_s() + seconds;
	volatile unsigned long turns = 0;

	while (thread_cpu_s() < end) {
		for (int i = 0; i < 100000; i++)
			turns += 1;
	}
}

static OWN_FRAME void wait_for_child(double seconds)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (!pid) {
		burn_child(0.95 * seconds);
		sleep_s(100e-6);
		burn_child(0.05 * seconds);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("the child failed");
}

int main(int argc, char **argv)
{
	double seconds = 0.2;
	unsigned int count = 5;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			seconds = option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--count"))
			count = (unsigned int)option_value(argv, &i, 1, 1e6);
		else
			die("usage: burnchild [--count N] [--seconds S]");
	}
	while (count--)
		wait_for_child(seconds);
	return 0;
}
