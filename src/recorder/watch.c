/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "profile/load.h"
#include "recorder/recorder.h"

struct recorder_watch {
	struct event_list events;
	struct target target;
	struct recorder *recorder;
	struct control control;
	int commands[2]; /* a pipe: what is written to [1] @control reads */
	char *path;
	u64 frequency;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool started; /* there is a thread */
	bool ready;   /* or failed */
	int rc;
	struct err e;
};

static void set_ready(struct recorder_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->ready = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void on_started(void *ctx)
{
	set_ready(ctx);
}

static int open_recorder(struct recorder_watch *w)
{
	const struct recorder_opts o = {
		.events = &w->events,
		.target = &w->target,
		.auto_stacks = true,
		.no_names = true,
		.control = &w->control,
		.session = { .frequency = w->frequency, .clock_id = CLOCK_MONOTONIC },
		.hooks = { .started = on_started, .ctx = w },
	};
	int rc = event_add_default(&w->events, NULL, &w->e);

	if (rc < 0)
		return rc;
	recorder_new(&w->recorder, &o);
	rc = recorder_open(w->recorder, &w->e);
	return rc < 0 ? rc : recorder_begin(w->recorder, w->path, &w->e);
}

static void *record(void *p)
{
	struct recorder_watch *w = p;

	w->rc = open_recorder(w);
	if (!w->rc)
		w->rc = recorder_run(w->recorder, 0, &w->e);
	if (!w->rc)
		w->rc = recorder_end(w->recorder, &w->e);
	set_ready(w);
	return NULL;
}

static int add_target(struct recorder_watch *w, const pid_list *pids)
{
	vec_each(p, pids) {
		range_list one = { 0 };
		int rc;

		vec_push(&one, ((struct range){ .first = (u64)*p, .last = (u64)*p }));
		rc = target_add_pids(&w->target, &one, &w->e);
		vec_release(&one);
		/* one that has ended meanwhile is not an error, unless it is the one */
		if (rc < 0 && pids->len == 1)
			return rc;
		if (rc < 0)
			err_release(&w->e);
	}
	return target_add_cpus(&w->target, NULL, &w->e);
}

static int make_file(struct recorder_watch *w)
{
	const char *dir = getenv("TMPDIR");
	_cleanup_free_ char *path =
		xasprintf("%s/fathom-samples-XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return err_sys(&w->e, errno, "cannot make a file for the samples");
	close(fd);
	w->path = TAKE_PTR(path);
	return 0;
}

static int open_control(struct recorder_watch *w)
{
	char text[32];

	if (pipe2(w->commands, O_CLOEXEC | O_NONBLOCK))
		return err_sys(&w->e, errno, "cannot make a pipe");
	snprintf(text, sizeof(text), "fd:%d", w->commands[0]);
	return recorder_control_open(&w->control, text, &w->e);
}

void recorder_watch_start(struct recorder_watch **ret, const struct recorder_watch_opts *opts)
{
	struct recorder_watch *w = *ret = xcalloc(1, sizeof(*w));
	int rc;

	*w = (struct recorder_watch){ .commands = { -1, -1 },
				      .frequency = opts->frequency,
				      .e = ERR_INIT };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->rc = open_control(w);
	if (!w->rc)
		w->rc = make_file(w);
	if (!w->rc)
		w->rc = add_target(w, opts->pids);
	if (w->rc)
		return;
	rc = pthread_create(&w->thread, NULL, record, w);
	w->started = rc == 0;
	if (rc)
		w->rc = err_sys(&w->e, rc, "cannot start a thread");
}

void recorder_watch_ready(struct recorder_watch *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->started && !w->ready)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void end_thread(struct recorder_watch *w)
{
	static const char stop[] = "stop\n";

	if (!w->started)
		return;
	while (write(w->commands[1], stop, sizeof(stop) - 1) < 0 && errno == EINTR)
		;
	pthread_join(w->thread, NULL);
	w->started = false;
}

int recorder_watch_stop(struct recorder_watch *w, struct profile *profile, struct err *e)
{
	end_thread(w);
	if (!w->rc)
		return profile_load(profile, w->path,
				    &(struct load_opts){ .merge = true, .inlines = true }, e);
	err_set(e, -w->rc, "%s", w->e.what ? w->e.what : "cannot take samples");
	return w->rc;
}

void recorder_watch_free(struct recorder_watch *w)
{
	if (!w)
		return;
	end_thread(w);
	recorder_free(w->recorder);
	recorder_control_release(&w->control);
	target_release(&w->target);
	event_list_release(&w->events);
	err_release(&w->e);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	for (int i = 0; i < 2; i++) {
		if (w->commands[i] >= 0)
			close(w->commands[i]);
	}
	if (w->path)
		(void)unlink(w->path);
	free(w->path);
	free(w);
}
