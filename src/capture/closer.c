/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/closer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static int fd_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static bool close_between(unsigned int first, unsigned int end)
{
	return first >= end || syscall(SYS_close_range, first, end - 1, 0) == 0;
}

/*
 * Keeps the sorted @fds and @wait. Pipes and files must not stay open here: a reader may wait for
 * their end.
 */
static bool close_others(const int *fds, size_t n, int wait)
{
	unsigned int next = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int fd = (unsigned int)fds[i], w = (unsigned int)wait;

		if (w >= next && w < fd) {
			if (!close_between(next, w))
				return false;
			next = w + 1;
		}
		if (!close_between(next, fd))
			return false;
		next = fd + 1;
	}
	if ((unsigned int)wait >= next) {
		if (!close_between(next, (unsigned int)wait))
			return false;
		next = (unsigned int)wait + 1;
	}
	return syscall(SYS_close_range, next, ~0u, 0) == 0;
}

/* The other process: waits until it has the last references, and ends with them. */
NORETURN static void hold(const int *fds, size_t n, int wait)
{
	char byte;

	/* Twice, so that init is its parent and it leaves no zombie. */
	if (!close_others(fds, n, wait) || fork() != 0)
		_exit(0);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "fathom-close");
	while (read(wait, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

void closer_close(int *fds, size_t n)
{
	int gate[2] = { -1, -1 }, status;
	pid_t pid = -1;

	qsort(fds, n, sizeof(*fds), fd_order);
	if (pipe2(gate, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		hold(fds, n, gate[0]);
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	if (gate[0] >= 0) {
		close(gate[0]);
		close(gate[1]);
	}
}
