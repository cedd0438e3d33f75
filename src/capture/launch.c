/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/parse.h"
#include "base/stop.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { NOT_FOUND_STATUS = 127 };

/*
 * The program gets what the user had: not the user id of a set-uid fathom, nor capabilities that
 * pass through exec. Only async-signal-safe calls.
 */
static void drop_privileges(void)
{
	const uid_t uid = getuid();
	const gid_t gid = getgid();

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (uid == geteuid() && gid == getegid())
		return;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		_exit(NOT_FOUND_STATUS);
}

/* The child: waits for the byte, then becomes the program. Only async-signal-safe calls. */
NORETURN static void child_run(int go_fd, int error_fd, char *const *argv)
{
	char byte;
	ssize_t n;
	int code;

	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1) {
		execvp(argv[0], argv);
		code = errno;
		if (write(error_fd, &code, sizeof(code)) < 0)
			_exit(NOT_FOUND_STATUS);
	}
	_exit(NOT_FOUND_STATUS);
}

/* Folders have the right, too, but nothing runs them. */
static int may_run(const char *path)
{
	struct stat st;

	if (access(path, X_OK) < 0)
		return errno;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : 0;
}

/* 0 if execvp() would find something it may run. */
static int find_program(const char *name)
{
	const char *path = getenv("PATH");
	int code = ENOENT;

	if (strchr(name, '/'))
		return may_run(name);
	for (const char *p = path ? path : "/bin:/usr/bin"; *name && *p;) {
		size_t n = strcspn(p, ":");
		_cleanup_free_ char *file = xasprintf("%.*s/%s", n ? (int)n : 1, n ? p : ".", name);

		int why = may_run(file);

		if (!why)
			return 0;
		if (why == EACCES)
			code = EACCES;
		p += n + (p[n] == ':');
	}
	return code;
}

static int cannot_run(int code, const char *name, struct err *e)
{
	u64 ns;

	if (code == ENOENT && !strchr(name, '/')) {
		err_set(e, code, "command not found: '%s'", name);
		if (streq(name, "dwarf") || streq(name, "fp") || streq(name, "lbr"))
			err_hint(e, "-g takes no value: --call-graph %s says how", name);
		else if (parse_duration(name, &ns, NULL) >= 0)
			err_hint(e, "for a time write --duration %s", name);
		else
			err_hint(e, "what follows the options is the program to run; it is "
				    "looked for in $PATH");
		return -code;
	}
	err_sys(e, code, "cannot run '%s'", name);
	if (code == EACCES)
		err_hint(e, "chmod +x makes a file a program");
	return code == EISDIR ? -EACCES : -code;
}

int launch_prepare(struct launch *l, char *const *argv, struct err *e)
{
	int go[2], error[2], missing = find_program(argv[0]);
	pid_t pid;

	if (missing)
		return cannot_run(missing, argv[0], e);

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	if (pipe2(error, O_CLOEXEC) < 0) {
		int code = errno;

		close(go[0]);
		close(go[1]);
		return err_sys(e, code, "cannot make a pipe");
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		stop_reset_in_child();
		if (l->out_to_err)
			(void)dup2(STDERR_FILENO, STDOUT_FILENO);
		drop_privileges();
		child_run(go[0], error[1], argv);
	}
	int code = errno;

	close(go[0]);
	close(error[1]);
	if (pid < 0) {
		close(go[1]);
		close(error[0]);
		return err_sys(e, code, "cannot start '%s'", argv[0]);
	}
	*l = (struct launch){
		.pid = pid,
		.go_fd = go[1],
		.exec_fd = error[0],
		.pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
		.name = xstrdup(argv[0]),
	};
	return 0;
}

int launch_go(struct launch *l, struct err *e)
{
	int code = 0;
	ssize_t n;

	if (write(l->go_fd, "", 1) != 1)
		return err_sys(e, errno, "cannot start '%s'", l->name);
	close(l->go_fd);
	l->go_fd = -1;
	/* The other end is closed by a successful exec: then there is nothing to read. */
	do
		n = read(l->exec_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	l->running = true;
	if (n != sizeof(code))
		return 0;
	launch_wait(l);
	return cannot_run(code, l->name, e);
}

static bool reap(struct launch *l, int flags)
{
	pid_t pid;

	if (l->reaped || l->pid <= 0)
		return true;
	do
		pid = waitpid(l->pid, &l->status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	l->reaped = true;
	return true;
}

bool launch_ended(struct launch *l)
{
	return reap(l, WNOHANG);
}

int launch_wait(struct launch *l)
{
	reap(l, 0);
	if (WIFSIGNALED(l->status))
		return 128 + WTERMSIG(l->status);
	return WEXITSTATUS(l->status);
}

void launch_signal(struct launch *l, int sig)
{
	if (l->pid > 0 && !reap(l, WNOHANG))
		kill(l->pid, sig);
}

void launch_release(struct launch *l)
{
	if (l->pid > 0 && !l->running && !l->reaped) {
		kill(l->pid, SIGKILL);
		reap(l, 0);
	}
	if (l->go_fd >= 0)
		close(l->go_fd);
	if (l->pid_fd >= 0)
		close(l->pid_fd);
	if (l->exec_fd >= 0)
		close(l->exec_fd);
	free(l->name);
	*l = (struct launch)LAUNCH_INIT;
}
