/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/child.h"

#include "base/fmt.h"
#include "base/io.h"
#include "base/stop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { LOG_MOST = 64 << 10 };

void command_line_release(struct command_line *c)
{
	vec_each(word, &c->words)
		free(*word);
	vec_release(&c->words);
}

void command_line_add(struct command_line *c, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	vec_push(&c->words, buf_detach(&text));
}

/* Between fork and exec; never returns. */
NORETURN static void become(char *const *argv, int out, int log, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	stop_reset_in_child();
	/* whatever happens to the engine, nothing stays attached */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(125);
	dup2(null, STDIN_FILENO);
	dup2(out >= 0 ? out : null, STDOUT_FILENO);
	dup2(log >= 0 ? log : null, STDERR_FILENO);
	/* what others opened without the flag does not reach it either */
	(void)syscall(SYS_close_range, 3, ~0u, 0);
	execv("/proc/self/exe", argv);
	_exit(126);
}

static int open_new(int dir, const char *path)
{
	return openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* In memory: a full disk is among the causes that have to arrive. */
static int open_log(struct child *c, struct err *e)
{
	if (c->log >= 0)
		close(c->log);
	c->log = memfd_create("fathom-child", MFD_CLOEXEC);
	return c->log < 0 ? err_sys(e, errno, "cannot keep the words of a process") : 0;
}

int child_start_to(struct child *c, const struct command_line *line, int out, struct err *e)
{
	VEC(char *) argv = { 0 };
	pid_t parent = getpid(), pid;
	int r = open_log(c, e);

	if (r < 0)
		return r;
	vec_push(&argv, (char *)(uintptr_t) "fathom");
	vec_each(word, &line->words)
		vec_push(&argv, *word);
	vec_push(&argv, NULL);
	pid = fork();
	if (!pid)
		become(argv.items, out, c->log, parent);
	vec_release(&argv);
	if (pid < 0)
		return err_sys(e, errno, "cannot start a process");
	c->pid = pid;
	c->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (c->fd < 0) {
		int code = errno;

		child_kill(c);
		return err_sys(e, code, "cannot watch a process");
	}
	(void)fcntl(c->fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

int child_start(struct child *c, const struct command_line *line, int dir, const char *out_path,
		struct err *e)
{
	_cleanup_close_ int out = -1;

	if (out_path && (out = open_new(dir, out_path)) < 0)
		return err_sys(e, errno, "cannot create '%s'", out_path);
	return child_start_to(c, line, out, e);
}

int child_reap(struct child *c, u64 *ret_cpu)
{
	struct rusage usage = { 0 };
	int status = 0;

	while (wait4(c->pid, &status, 0, &usage) < 0 && errno == EINTR)
		continue;
	*ret_cpu += (u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
		    (u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
	if (c->fd >= 0)
		close(c->fd);
	c->pid = 0;
	c->fd = -1;
	return status;
}

char *child_text(const struct child *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct buf clean = BUF_INIT;

	if (c->log < 0 || lseek(c->log, 0, SEEK_SET) < 0 ||
	    io_read_fd(c->log, "log", LOG_MOST, &text, NULL) < 0 || !text.len)
		return NULL;
	fmt_clean_lines(&clean, text.data, text.len);
	return buf_detach(&clean);
}

static void take_line(const char *line, const char *prefix, char **ret)
{
	const char *text = starts_with(line, prefix);

	if (text && !starts_with(text, "note:") && !*ret)
		*ret = xstrdup(text);
}

void child_words(const struct child *c, char **ret_error, char **ret_hint)
{
	_cleanup_free_ char *text = child_text(c);
	char *save = NULL;

	if (!text)
		return;
	for (char *at = strtok_r(text, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		take_line(at, "fathom: ", ret_error);
		take_line(at, "hint: ", ret_hint);
	}
}

char *child_end_text(int status)
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (WIFSIGNALED(status))
		return xasprintf("it was ended by signal %d (SIG%s) without a result",
				 WTERMSIG(status), name ? name : "?");
	if (WEXITSTATUS(status) == CHILD_NOTHING)
		return xstrdup("nothing was recorded: the target did not run in this time, or too "
			       "briefly");
	return xasprintf("it ended with status %d, without a result and without a reason",
			 WEXITSTATUS(status));
}

void child_signal(const struct child *c, int signal)
{
	if (c->pid > 0)
		kill(c->pid, signal);
}

void child_kill(struct child *c)
{
	if (c->pid <= 0)
		return;
	child_signal(c, SIGKILL);
	(void)child_reap(c, &(u64){ 0 });
}

void child_release(struct child *c)
{
	child_kill(c);
	if (c->log >= 0)
		close(c->log);
	c->log = -1;
}

u64 child_cpu(const struct child *c)
{
	struct timespec t;
	clockid_t clock;

	if (c->pid <= 0 || clock_getcpuclockid(c->pid, &clock) || clock_gettime(clock, &t) < 0)
		return 0;
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}
