/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forkstorm RATE PERCENT SECONDS: that many children each second, which together burn that share of
 * one CPU; each ends at once. Prints what they and their parent used, as the kernel counts it.
 */
#include "workload.h"

#include <sys/wait.h>

static void burn(double seconds)
{
	double end = thread_cpu_s() + seconds;

	while (thread_cpu_s() < end)
		continue;
}

int main(int argc, char **argv)
{
	double rate, each, start, seconds;
	struct rusage used;
	long n = 0;

	if (argc != 4)
		die("usage: forkstorm RATE PERCENT SECONDS");
	rate = strtod(argv[1], NULL);
	each = strtod(argv[2], NULL) / 100 / rate;
	seconds = strtod(argv[3], NULL);
	start = wall_s();
	while (wall_s() - start < seconds) {
		double due = start + (double)n / rate, wait = due - wall_s();
		pid_t pid;

		if (wait > 0)
			usleep((useconds_t)(wait * 1e6));
		pid = fork();
		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			burn(each);
			_exit(0);
		}
		n++;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
	}
	while (wait(NULL) > 0)
		continue;
	getrusage(RUSAGE_CHILDREN, &used);
	printf("children=%ld\n", n);
	printf("children_cpu=%.6f\n",
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	return 0;
}
