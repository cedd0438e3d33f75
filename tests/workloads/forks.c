/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forks N [--parallel P]
 *
 * Starts N short processes (fork, exec of this program with --child, exit), P at a time (1). Prints
 * how many ran, how many of them ended well, and the rate.
 */
#include "workload.h"

#include <sys/wait.h>

static OWN_FRAME pid_t start_one(char *self)
{
	char child_arg[] = "--child";
	char *const argv[] = { self, child_arg, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	return pid;
}

static unsigned int reap_one(void)
{
	int status;

	if (wait(&status) < 0)
		die("cannot wait: %s", strerror(errno));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
	unsigned int parallel = 1, running = 0, good = 0;

	if (argc == 2 && !strcmp(argv[1], "--child"))
		return 0;
	if (argc != 2 && !(argc == 4 && !strcmp(argv[2], "--parallel")))
		die("usage: forks N [--parallel P]");
	unsigned int count = (unsigned int)parse_number("count", argv[1], 1, 1e6);

	if (argc == 4)
		parallel = (unsigned int)parse_number(argv[2], argv[3], 1, 256);
	double begun = wall_s();

	for (unsigned int i = 0; i < count; i++) {
		if (running == parallel) {
			good += reap_one();
			running--;
		}
		start_one(argv[0]);
		running++;
	}
	while (running--)
		good += reap_one();
	printf("pid=%d\ncount=%u\ngood=%u\nper_second=%.1f\n", (int)getpid(), count, good,
	       count / (wall_s() - begun));
	return good == count ? 0 : 1;
}
