/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/feed.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

enum {
	CHUNK = 64 << 10,
	LINE_MOST = 8 << 20, /* of one result */
	ERRORS_MOST = 4 << 10,
	CHUNKS_AT_ONCE = 16,
};

struct feed {
	pid_t pid;
	int fd, error_fd;
	struct buf in;
	size_t at; /* in @in: what is before was given out */
	struct buf errors;
	bool closed, reaped;
	int status;
};

/* Between fork() and execve() only what may be called there: other threads have locks. */
static void become(const char *const *argv, int out, int errors)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(127);
}

static const char **make_words(const char *const *words)
{
	size_t n = 0;
	const char **argv;

	while (words[n])
		n++;
	argv = xcalloc(n + 2, sizeof(*argv));
	argv[0] = "fathom";
	memcpy(argv + 1, words, n * sizeof(*argv));
	return argv;
}

int feed_start(struct feed **ret, const char *const *words, struct err *e)
{
	_cleanup_free_ const char **argv = make_words(words);
	int out[2], errors[2];
	struct feed *c;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	if (pipe2(errors, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return err_sys(e, errno, "cannot make a pipe");
	}
	pid = fork();
	if (pid == 0)
		become(argv, out[1], errors[1]);
	close(out[1]);
	close(errors[1]);
	if (pid < 0) {
		int r = errno;

		close(out[0]);
		close(errors[0]);
		return err_sys(e, r, "cannot start a process");
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);
	c = xcalloc(1, sizeof(*c));
	c->pid = pid;
	c->fd = out[0];
	c->error_fd = errors[0];
	*ret = c;
	return 0;
}

static void reap(struct feed *c, bool wait)
{
	int status;
	pid_t r;

	while (!c->reaped && ((r = waitpid(c->pid, &status, wait ? 0 : WNOHANG)) > 0 ||
			      (r < 0 && errno != EINTR))) {
		c->reaped = true;
		c->status = r > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
}

void feed_free(struct feed *c)
{
	if (!c)
		return;
	if (!c->reaped)
		kill(c->pid, SIGKILL);
	reap(c, true);
	close(c->fd);
	close(c->error_fd);
	buf_release(&c->in);
	buf_release(&c->errors);
	free(c);
}

int feed_fd(const struct feed *c)
{
	/* at the end it would be readable forever */
	return c->closed ? -1 : c->fd;
}

static void take(struct feed *c)
{
	/* what was given out makes room */
	if (c->at) {
		memmove(c->in.data, c->in.data + c->at, c->in.len - c->at);
		buf_truncate(&c->in, c->in.len - c->at);
		c->at = 0;
	}
	for (int i = 0; i < CHUNKS_AT_ONCE && !c->closed; i++) {
		ssize_t n = read(c->fd, buf_reserve(&c->in, CHUNK), CHUNK);

		if (n > 0)
			buf_added(&c->in, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			c->closed = true;
		else
			break;
	}
	/* no line is that long */
	if (c->in.len > LINE_MOST && !memchr(c->in.data, '\n', c->in.len))
		buf_reset(&c->in);
}

bool feed_line(struct feed *c, struct buf *ret)
{
	const char *end;
	size_t n;

	if (!c->in.len || !memchr(c->in.data + c->at, '\n', c->in.len - c->at))
		take(c);
	if (c->in.len == c->at)
		return false;
	end = memchr(c->in.data + c->at, '\n', c->in.len - c->at);
	if (!end)
		return false;
	n = (size_t)(end - (c->in.data + c->at));
	buf_reset(ret);
	buf_add(ret, c->in.data + c->at, n);
	c->at += n + 1;
	return true;
}

bool feed_ended(struct feed *c, int *ret_status)
{
	if (!c->closed)
		return false;
	reap(c, false);
	*ret_status = c->reaped ? c->status : -1;
	return c->reaped;
}

const char *feed_errors(struct feed *c)
{
	ssize_t n;

	while ((n = read(c->error_fd, buf_reserve(&c->errors, CHUNK), CHUNK)) > 0)
		if (c->errors.len < ERRORS_MOST)
			buf_added(&c->errors, (size_t)MIN(n, (ssize_t)ERRORS_MOST));
	return buf_str(&c->errors);
}

u64 feed_cpu_ns(const struct feed *c)
{
	struct timespec used;
	clockid_t clock;

	/* of all its threads; ended, and not yet waited for, it has a clock still */
	if (c->reaped || clock_getcpuclockid(c->pid, &clock) || clock_gettime(clock, &used) < 0)
		return 0;
	return (u64)used.tv_sec * NSEC_PER_SEC + (u64)used.tv_nsec;
}

u64 feed_ended_cpu_ns(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used) < 0)
		return 0;
	return (u64)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u64)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}
