/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stop.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

static volatile sig_atomic_t stop_flag;
static int stop_pipe[2] = { -1, -1 };

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void on_signal(int sig)
{
	int saved = errno;

	if (stop_flag)
		_exit(128 + sig);
	stop_flag = sig;
	/* a full pipe means that the reader has been told already */
	if (stop_pipe[1] >= 0 && write(stop_pipe[1], "", 1) < 0)
		errno = saved;
	errno = saved;
}

int stop_install(struct err *e)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, errno, "cannot create the stop pipe");
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaction(stop_signals[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	return 0;
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
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++)
		signal(stop_signals[i], SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
}
