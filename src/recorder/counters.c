/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the machine beside the samples: a thread looks again and again until the end. */
#include "recorder/counters.h"

#include "base/clock.h"
#include "counters/counters.h"
#include "counters/track.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

struct recorder_counters {
	struct counters *live;
	struct track_writer track;
	u64 interval;
	pthread_t thread;
	bool runs;
	int stop; /* eventfd */
};

static void look(struct recorder_counters *c, struct snapshot *now)
{
	counters_sweep(c->live, now);
	track_writer_add(&c->track, counters_set(c->live), now);
}

static void *watch(void *arg)
{
	struct recorder_counters *c = arg;
	_cleanup_snapshot_ struct snapshot now = SNAPSHOT_INIT;
	u64 start = clock_mono_ns();

	look(c, &now);
	for (u64 i = 1;; i++) {
		u64 due = start + i * c->interval, at = clock_mono_ns(), left;
		struct pollfd fd = { .fd = c->stop, .events = POLLIN };
		struct timespec wait;

		if (due < at) {
			i = (at - start) / c->interval + 1;
			due = start + i * c->interval;
		}
		left = due - at;
		wait = (struct timespec){ (time_t)(left / NSEC_PER_SEC),
					  (long)(left % NSEC_PER_SEC) };
		if (ppoll(&fd, 1, &wait, NULL) > 0)
			break;
		look(c, &now);
	}
	/* the rest of the last interval */
	look(c, &now);
	return NULL;
}

int recorder_counters_new(struct recorder_counters **ret, u64 interval, struct err *e)
{
	struct recorder_counters *c = xcalloc(1, sizeof(*c));
	int r = counters_new(&c->live, NULL, e);

	c->interval = interval;
	c->stop = eventfd(0, EFD_CLOEXEC);
	if (!r && c->stop < 0)
		r = err_sys(e, errno, "cannot make a descriptor");
	if (!r) {
		counters_want_all(c->live, false);
		r = counters_want_tasks(c->live, false, e);
	}
	if (!r && (r = -pthread_create(&c->thread, NULL, watch, c)) < 0)
		err_sys(e, -r, "cannot start a thread");
	c->runs = !r;
	if (r < 0) {
		recorder_counters_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void recorder_counters_finish(struct recorder_counters *c, struct buf *ret)
{
	u64 one = 1;

	if (c->runs && write(c->stop, &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(c->thread, NULL);
	c->runs = false;
	buf_reset(ret);
	buf_add(ret, buf_str(&c->track.bytes), c->track.bytes.len);
}

void recorder_counters_free(struct recorder_counters *c)
{
	struct buf unused = BUF_INIT;

	if (!c)
		return;
	recorder_counters_finish(c, &unused);
	buf_release(&unused);
	if (c->stop >= 0)
		close(c->stop);
	track_writer_release(&c->track);
	counters_free(c->live);
	free(c);
}
