/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/live_state.h"

#include <signal.h>
#include <sys/eventfd.h>

void profile_frame_free(struct profile_frame *f)
{
	if (!f)
		return;
	vec_release(&f->boxes);
	vec_release(&f->functions);
	vec_release(&f->callers);
	vec_release(&f->paths);
	vec_release(&f->lines);
	vec_release(&f->code);
	vec_release(&f->threads);
	vec_release(&f->hot);
	map_release(&f->hot_at);
	arena_release(&f->arena);
	free(f);
}

const char *profile_frame_hottest(const struct profile_frame *f, u32 pid, u32 tid)
{
	u64 at = map_get(&f->hot_at, tid ? tid : (u64)1 << 32 | pid, 0);

	return at ? f->hot.items[at - 1].name : "";
}

void waits_frame_free(struct waits_frame *f)
{
	if (!f)
		return;
	shares_release(&f->shares);
	vec_release(&f->waits);
	arena_release(&f->arena);
	free(f);
}

bool live_is_of(const struct live_of *of, u32 pid, u32 tid)
{
	if ((of->pid && pid != of->pid) || (of->tid && tid != of->tid))
		return false;
	for (u32 i = 0; i < of->n_marked; i++)
		if (of->marked[i] == (of->threads ? tid : pid))
			return true;
	return !of->n_marked;
}

struct live *live_new(u64 frequency, u64 keep_ns)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->frequency = frequency;
	l->keep_ns = keep_ns;
	l->pace = 1;
	l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->quit = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	if (l->samples_started)
		pthread_join(l->samples_thread, NULL);
	if (l->waits_started)
		pthread_join(l->waits_thread, NULL);
	profile_frame_free(l->profile);
	profile_frame_free(l->cold);
	waits_frame_free(l->waits);
	if (l->fd >= 0)
		close(l->fd);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* Signals are for the main thread, which has the terminal. */
static bool start(pthread_t *thread, void *(*fn)(void *), struct live *l)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(thread, NULL, fn, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r == 0;
}

u64 live_ask(struct live *l, const struct live_request *r)
{
	u64 serial;

	pthread_mutex_lock(&l->lock);
	if (memcmp(&l->request, r, sizeof(*r)) != 0) {
		l->request = *r;
		l->serial++;
		pthread_cond_broadcast(&l->changed);
	}
	serial = l->serial;
	pthread_mutex_unlock(&l->lock);
	if (r->samples && !l->samples_started)
		l->samples_started = start(&l->samples_thread, live_samples, l);
	if (r->waits && !l->waits_started)
		l->waits_started = start(&l->waits_thread, live_waits, l);
	return serial;
}

void live_pace(struct live *l, u32 times)
{
	pthread_mutex_lock(&l->lock);
	l->pace = MAX(times, 1u);
	pthread_mutex_unlock(&l->lock);
}

u32 live_pace_now(struct live *l)
{
	u32 pace;

	pthread_mutex_lock(&l->lock);
	pace = l->pace;
	pthread_mutex_unlock(&l->lock);
	return pace;
}

int live_fd(const struct live *l)
{
	return l->fd;
}

bool live_request(struct live *l, struct live_request *ret, u64 *ret_serial)
{
	bool on;

	pthread_mutex_lock(&l->lock);
	*ret = l->request;
	*ret_serial = l->serial;
	on = !l->quit;
	pthread_mutex_unlock(&l->lock);
	return on;
}

static bool wanted(const struct live *l, enum live_part part)
{
	return part == LIVE_SAMPLES ? l->request.samples : l->request.waits;
}

bool live_wait_for(struct live *l, enum live_part part)
{
	bool on;

	pthread_mutex_lock(&l->lock);
	while (!l->quit && !wanted(l, part))
		pthread_cond_wait(&l->changed, &l->lock);
	on = !l->quit;
	pthread_mutex_unlock(&l->lock);
	return on;
}

bool live_is_wanted(struct live *l, enum live_part part)
{
	bool on;

	pthread_mutex_lock(&l->lock);
	on = !l->quit && wanted(l, part);
	pthread_mutex_unlock(&l->lock);
	return on;
}

static void announce(struct live *l)
{
	u64 one = 1;
	ssize_t r = write(l->fd, &one, sizeof(one));

	(void)r;
}

void live_publish_profile(struct live *l, struct profile_frame *f)
{
	struct profile_frame *old, **to = f->cold ? &l->cold : &l->profile;

	pthread_mutex_lock(&l->lock);
	old = *to;
	*to = f;
	pthread_mutex_unlock(&l->lock);
	profile_frame_free(old);
	announce(l);
}

void live_publish_waits(struct live *l, struct waits_frame *f)
{
	struct waits_frame *old;

	pthread_mutex_lock(&l->lock);
	old = l->waits;
	l->waits = f;
	pthread_mutex_unlock(&l->lock);
	waits_frame_free(old);
	announce(l);
}

struct profile_frame *live_take_profile(struct live *l)
{
	struct profile_frame *f;
	u64 count;
	ssize_t r = read(l->fd, &count, sizeof(count));

	(void)r;
	pthread_mutex_lock(&l->lock);
	f = TAKE_PTR(l->profile);
	pthread_mutex_unlock(&l->lock);
	return f;
}

struct profile_frame *live_take_cold(struct live *l)
{
	struct profile_frame *f;

	pthread_mutex_lock(&l->lock);
	f = TAKE_PTR(l->cold);
	pthread_mutex_unlock(&l->lock);
	return f;
}

struct waits_frame *live_take_waits(struct live *l)
{
	struct waits_frame *f;

	pthread_mutex_lock(&l->lock);
	f = TAKE_PTR(l->waits);
	pthread_mutex_unlock(&l->lock);
	return f;
}
