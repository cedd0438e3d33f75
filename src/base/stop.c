/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stop.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

/*
 * One request to stop often comes as two signals: timeout(1) and sudo(8) pass a signal on to us
 * that the terminal or their own kill() of the group has brought us already. A person does not
 * type that fast.
 */
#define STOP_ECHO_NS (100 * NSEC_PER_MSEC)

static volatile sig_atomic_t stop_flag, stop_now;
static u64 stop_since;
static int stop_pipe[2] = { -1, -1 };

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
/* how they were set when we were started: launched programs get them like that */
static struct sigaction hangup_inherited, pipe_inherited;
static bool stop_installed, pipe_ignored;

static void on_signal(int sig)
{
	int saved = errno;

	if (stop_now)
		_exit(128 + sig);
	if (stop_flag) {
		u64 since = __atomic_load_n(&stop_since, __ATOMIC_RELAXED);

		if (sig != stop_flag || clock_mono_ns() - since >= STOP_ECHO_NS)
			_exit(128 + sig);
		errno = saved;
		return;
	}
	__atomic_store_n(&stop_since, clock_mono_ns(), __ATOMIC_RELAXED);
	stop_flag = sig;
	/* a full pipe means that the reader has already been notified */
	if (stop_pipe[1] >= 0 && write(stop_pipe[1], "", 1) < 0)
		errno = saved;
	errno = saved;
}

void stop_ignore_pipe(void)
{
	if (!pipe_ignored)
		sigaction(SIGPIPE, NULL, &pipe_inherited);
	pipe_ignored = true;
	signal(SIGPIPE, SIG_IGN);
}

int stop_install(struct err *e)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, errno, "cannot create the stop pipe");
	sigemptyset(&act.sa_mask);
	if (!stop_installed)
		sigaction(SIGHUP, NULL, &hangup_inherited);
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaction(stop_signals[i], &act, NULL);
	/* nohup: the end of the terminal is not ours */
	if (hangup_inherited.sa_handler == SIG_IGN)
		sigaction(SIGHUP, &hangup_inherited, NULL);
	stop_installed = true;
	stop_ignore_pipe();
	return 0;
}

void stop_at_once(void)
{
	stop_now = 1;
}

bool stop_requested(void)
{
	return stop_flag != 0;
}

int stop_fd(void)
{
	return stop_pipe[0];
}

int stop_signal(void)
{
	return stop_flag > 0 ? stop_flag : 0;
}

bool stop_wait(u64 ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
			      .tv_nsec = (long)(ns % NSEC_PER_SEC) };
	struct pollfd fd = { .fd = stop_pipe[0], .events = POLLIN };

	ppoll(&fd, 1, &t, NULL);
	return stop_requested();
}

void stop_reset_in_child(void)
{
	/* a shell ignores SIGINT in what it starts with '&'; but with it we end what we launched */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigaction(SIGHUP, &hangup_inherited, NULL);
	sigaction(SIGPIPE, &pipe_inherited, NULL);
}
