/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/count_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/stop.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { PID_FDS_MOST = 1024, LOOK_MS = 100, FIXED_FDS = 3 };

struct watch {
	VEC(struct pollfd) fds; /* stop, control, program, then the processes */
	size_t alive;           /* processes that are watched and have not ended */
	bool stopped;           /* --control said so */
};

/* --- who is waited for ------------------------------------------------------------------------ */

static void watch_fd(struct watch *w, int fd)
{
	vec_push(&w->fds, (struct pollfd){ .fd = fd, .events = POLLIN });
}

static void watch_init(struct watch *w, const struct count_run *r)
{
	bool program = r->launch->pid > 0;

	*w = (struct watch){ 0 };
	watch_fd(w, stop_fd());
	watch_fd(w, r->control && r->control->fd ? r->control->fd : -1);
	watch_fd(w, program ? r->launch->pid_fd : -1);
	for (size_t i = 0; !program && i < MIN(r->target->processes.len, PID_FDS_MOST); i++) {
		int fd = (int)syscall(SYS_pidfd_open, r->target->processes.items[i], 0);

		if (fd >= 0)
			watch_fd(w, fd);
		w->alive += fd >= 0;
	}
}

static void watch_release(struct watch *w)
{
	for (size_t i = FIXED_FDS; i < w->fds.len; i++) {
		if (w->fds.items[i].fd >= 0)
			close(w->fds.items[i].fd);
	}
	vec_release(&w->fds);
}

/* A process that has ended keeps its times until it is waited for. */
static bool program_gone(struct count_run *r)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	if (!r->launch->reaped &&
	    waitid(P_PID, (id_t)r->launch->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == r->launch->pid && delay_of_thread((u32)r->launch->pid, &r->main) == 0 &&
	    r->held.known) {
		r->main.running -= MIN(r->main.running, r->held.running);
		r->main.waiting -= MIN(r->main.waiting, r->held.waiting);
	}
	return launch_ended(r->launch);
}

/* True: all that was watched is gone. */
static bool all_gone(struct watch *w, struct count_run *r)
{
	if (r->launch->pid > 0)
		return program_gone(r);
	if (w->fds.len == FIXED_FDS)
		return r->target->by_thread; /* they ended before they could be watched */
	for (size_t i = FIXED_FDS; i < w->fds.len; i++) {
		if (w->fds.items[i].fd < 0 || !(w->fds.items[i].revents & POLLIN))
			continue;
		close(w->fds.items[i].fd);
		w->fds.items[i].fd = -1;
		w->alive--;
	}
	return w->alive == 0;
}

/* --- what is requested meanwhile -------------------------------------------------------------- */

static int obey(struct count_run *r, struct watch *w)
{
	enum control_command what;
	int rc = 0;

	while (rc >= 0 && r->control &&
	       (what = recorder_control_next(r->control)) != CONTROL_NONE) {
		switch (what) {
		case CONTROL_ENABLE: counting_enable(r->counting); break;
		case CONTROL_DISABLE: counting_disable(r->counting); break;
		case CONTROL_STOP: w->stopped = true; break;
		default: break;
		}
		recorder_control_answer(r->control,
					what != CONTROL_UNKNOWN && what != CONTROL_SNAPSHOT);
	}
	w->fds.items[1].fd = r->control && r->control->fd ? r->control->fd : -1;
	return rc;
}

/* --- the loop --------------------------------------------------------------------------------- */

static int end_interval(struct count_run *r, u64 now)
{
	u64 length = now - r->last;

	r->last = now;
	return r->on_interval(r->ctx, now - r->since, length);
}

static int wait_ms(const struct count_run *r, u64 now, u64 next, u64 end)
{
	u64 until = MIN(next, end), left = until > now ? until - now : 0;
	bool blind = r->launch->pid > 0 && r->launch->pid_fd < 0;
	u64 ms = until == UINT64_MAX ? UINT64_MAX : DIV_ROUND_UP(left, NSEC_PER_MSEC);

	if (blind)
		ms = MIN(ms, (u64)LOOK_MS);
	return ms > INT32_MAX ? -1 : (int)ms;
}

static int loop(struct count_run *r, struct watch *w)
{
	u64 end = r->timeout ? r->since + r->timeout : UINT64_MAX, done = 0;
	int rc = 0;

	while (rc >= 0 && !stop_requested() && !w->stopped && !all_gone(w, r)) {
		u64 now = clock_mono_ns();
		u64 next = r->interval ? r->since + (done + 1) * r->interval : UINT64_MAX;

		if (now >= end)
			break;
		if (now >= next) {
			done = (now - r->since) / r->interval; /* late ones are not made up for */
			rc = end_interval(r, now);
			if (r->intervals_most && done >= r->intervals_most)
				break;
			continue;
		}
		(void)poll(w->fds.items, w->fds.len, wait_ms(r, now, next, end));
		rc = obey(r, w);
	}
	return rc;
}

/* Lets the program go and the counters begin, in the order requested. */
static int begin(struct count_run *r, struct err *e)
{
	int rc = 0;

	if (!r->on_exec && !r->paused && !r->delay)
		counting_enable(r->counting);
	if (r->launch->pid > 0)
		(void)delay_of_thread((u32)r->launch->pid, &r->held);
	r->since = clock_mono_ns();
	if (r->launch->pid > 0)
		rc = launch_go(r->launch, e);
	if (rc >= 0 && r->delay) {
		(void)stop_wait(r->delay);
		counting_enable(r->counting);
		r->since = clock_mono_ns();
	}
	r->last = r->since;
	return rc;
}

struct watched {
	struct count_run *run;
	struct watch *watch;
};

/* Asked by a loop that is not ours. */
static bool is_done(void *ctx)
{
	struct watched *w = ctx;

	(void)poll(w->watch->fds.items, w->watch->fds.len, 0);
	return all_gone(w->watch, w->run);
}

int recorder_count_run(struct count_run *r, struct err *e)
{
	struct watch w;
	struct watched watched = { r, &w };
	int rc = begin(r, e);

	if (rc < 0)
		return rc;
	watch_init(&w, r);
	if (r->beside)
		rc = r->beside(r->ctx, r->timeout ? r->since + r->timeout : 0, is_done, &watched);
	else
		rc = loop(r, &w);
	r->wall = clock_mono_ns() - r->since;
	counting_disable(r->counting);
	watch_release(&w);
	return rc;
}
