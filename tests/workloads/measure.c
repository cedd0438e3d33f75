/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure COMMAND
 * measure -- PROGRAM [ARGUMENT...]
 *
 * Runs COMMAND with sh, or PROGRAM without one, its output thrown away, and prints what it took:
 * wall and CPU time (user and system, with children) in seconds, the largest resident set in kB,
 * and how it ended. A program of its own, and a small one, because a child starts with the peak
 * memory of whoever forked it; and without a shell, because a program that sh becomes starts with
 * the CPU time of sh.
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/wait.h>

static void __attribute__((noreturn)) run_child(char *const *argv)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		_exit(126);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *const by_shell[] = { shell, option, argc > 1 ? argv[1] : NULL, NULL };
	bool plain = argc > 2 && strcmp(argv[1], "--") == 0;
	struct rusage ru;
	int status;

	if (argc != 2 && !plain)
		die("usage: measure COMMAND, or measure -- PROGRAM [ARGUMENT...]");
	double begun = wall_s();
	pid_t pid = fork();

	if (pid == 0)
		run_child(plain ? argv + 2 : by_shell);
	if (pid < 0 || wait4(pid, &status, 0, &ru) < 0)
		die("cannot run a process: %s", strerror(errno));
	double wall = wall_s() - begun;

	printf("wall=%.6f\ncpu=%.6f\nrss=%ld\nstatus=%d\n", wall,
	       (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6,
	       ru.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
