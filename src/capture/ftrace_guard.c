/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ftrace.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/*
 * The guard: waits until the last writer of the pipe is gone, then puts tracefs back. A write of
 * one byte says that this was done already. It has a session of its own, so that a Ctrl-C or a
 * kill of our process group leaves it alone.
 */
NORETURN static void watch(const struct ftrace *f, int pipe)
{
	char byte;
	ssize_t n;

	(void)setsid();
	(void)prctl(PR_SET_NAME, "fathom-guard");
	for (int s = 1; s < 32; s++)
		(void)signal(s, SIG_IGN);
	while ((n = read(pipe, &byte, 1)) < 0 && errno == EINTR)
		;
	if (n == 0)
		ftrace_restore(f);
	_exit(0);
}

/* Standard streams would keep a pipeline waiting for the guard. */
static void close_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		(void)dup2(null, fd);
}

int ftrace_guard_start(struct ftrace *f, struct err *e)
{
	int pipe[2], status;
	pid_t pid;

	if (pipe2(pipe, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	pid = fork();
	if (pid == 0) {
		close(pipe[1]);
		close_streams();
		/* twice, so that it is reaped by init */
		if (fork() != 0)
			_exit(0);
		watch(f, pipe[0]);
	}
	close(pipe[0]);
	if (pid < 0) {
		close(pipe[1]);
		return err_sys(e, errno, "cannot start the guard process");
	}
	(void)waitpid(pid, &status, 0);
	f->guard = pipe[1];
	return 0;
}

void ftrace_guard_end(struct ftrace *f)
{
	ssize_t n = write(f->guard, "", 1);

	(void)n;
	close(f->guard);
	f->guard = -1;
}
