/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debuginfod.h"

#include "base/clock.h"
#include "base/fmt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

enum { PATH_BYTES = 4096 };

/* Our environment with the servers, and a limit of their own for each of them. */
static char **make_env(const char *urls)
{
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 3, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (!starts_with(environ[i], "DEBUGINFOD_URLS=") &&
		    !starts_with(environ[i], "DEBUGINFOD_TIMEOUT="))
			env[kept++] = xstrdup(environ[i]);
	env[kept++] = xasprintf("DEBUGINFOD_URLS=%s", urls);
	env[kept] = xasprintf("DEBUGINFOD_TIMEOUT=%d", DEBUGINFOD_TIMEOUT_S / 2);
	return env;
}

static void free_env(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

/* The child's id or a negative errno; what it writes comes out of *@ret_fd. */
static pid_t start(const char *urls, char *id, int *ret_fd)
{
	char program[] = "debuginfod-find", what[] = "debuginfo";
	char *argv[] = { program, what, id, NULL };
	posix_spawn_file_actions_t actions;
	int pipes[2], r;
	char **env;
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	env = make_env(urls);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&child, program, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	free_env(env);
	close(pipes[1]);
	if (r) {
		close(pipes[0]);
		return -r;
	}
	*ret_fd = pipes[0];
	return child;
}

/* All that it writes, or -ETIMEDOUT. */
static int read_until(int fd, u64 deadline, struct buf *ret)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		const u64 now = clock_mono_ns();
		ssize_t n;

		if (now >= deadline)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((deadline - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		n = read(fd, buf_reserve(ret, PATH_BYTES), PATH_BYTES);
		if (n <= 0)
			return 0;
		buf_added(ret, (size_t)n);
		if (ret->len > PATH_BYTES)
			return -ENAMETOOLONG;
	}
}

static int finish(pid_t child, int r)
{
	int status;

	if (r < 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (r < 0)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOENT;
}

int debuginfod_find(struct debuginfod *d, const u8 *build_id, size_t len, struct buf *ret_path)
{
	_cleanup_buf_ struct buf id = BUF_INIT, out = BUF_INIT;
	_cleanup_close_ int fd = -1;
	pid_t child;
	int r;

	if (!d || !d->urls || !*d->urls || d->given_up || !len)
		return -ENOTSUP;
	fmt_hex(&id, build_id, len);
	child = start(d->urls, id.data, &fd);
	if (child < 0) {
		d->given_up = true;
		return child;
	}
	r = read_until(fd, clock_mono_ns() + DEBUGINFOD_TIMEOUT_S * NSEC_PER_SEC, &out);
	r = finish(child, r);
	d->given_up = r == -ETIMEDOUT;
	if (r < 0)
		return r;
	buf_truncate(&out, strcspn(buf_str(&out), "\n"));
	if (!out.len || out.data[0] != '/')
		return -ENOENT;
	buf_add(ret_path, out.data, out.len);
	return 0;
}
