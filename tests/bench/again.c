/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * again COMMAND [ARGS]: runs the command once for each line that it reads, and prints what that
 * took: microseconds of user and of kernel time, switches, and how it ended. The one who measures
 * would otherwise be part of what is measured: a program that an interpreter starts is, until its
 * exec, that interpreter once more, with all of its stack.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static long long microseconds(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static void run(char **argv)
{
	posix_spawn_file_actions_t files;
	struct rusage used;
	int status = 0;
	pid_t pid;

	/* what it prints is none of our answers */
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ) ||
	    wait4(pid, &status, 0, &used) < 0) {
		perror(argv[0]);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&files);
	printf("%lld %lld %ld %d\n", microseconds(used.ru_utime), microseconds(used.ru_stime),
	       used.ru_nvcsw + used.ru_nivcsw, status);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[8];

	if (argc < 2)
		return 2;
	while (fgets(line, sizeof(line), stdin))
		run(argv + 1);
	return 0;
}
