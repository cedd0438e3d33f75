/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idlers [--threads] N: N processes, or threads of one, that do nothing, until the first one is
 * ended. Prints a line when all are there.
 */
#include "workload.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void make_threads(long n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (long i = 0; i < n; i++) {
		int r = pthread_create(&thread, &small, idle, NULL);

		if (r)
			die("thread %ld: %s", i, strerror(r));
	}
}

static void make_processes(long n)
{
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
}

int main(int argc, char **argv)
{
	bool threads = argc == 3 && !strcmp(argv[1], "--threads");
	long n;

	if (argc != 2 + threads || (n = strtol(argv[argc - 1], NULL, 10)) < 1 || n > 100000)
		die("usage: idlers [--threads] N");
	if (threads)
		make_threads(n);
	else
		make_processes(n);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
