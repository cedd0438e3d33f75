/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/topology_source.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "host/load.h"

struct topology_source {
	u64 interval;
	int fd;
	pthread_t thread;
	struct topo_tree tree;
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t changed;
	bool wanted, quit, built, fresh;
	struct topo_load load;
	char why[256];
};

static void publish(struct topology_source *s, struct topo_load *load)
{
	u64 one = 1;
	ssize_t r;

	pthread_mutex_lock(&s->lock);
	topo_load_release(&s->load);
	s->load = *load;
	s->built = s->fresh = true;
	pthread_mutex_unlock(&s->lock);
	r = write(s->fd, &one, sizeof(one));
	(void)r;
}

/* Until @due or a change; false: the thread must end. */
static bool sleep_until(struct topology_source *s, u64 due)
{
	const struct timespec at = clock_deadline(due);
	bool on;

	pthread_mutex_lock(&s->lock);
	while (!s->quit && clock_mono_ns() < due)
		pthread_cond_timedwait(&s->changed, &s->lock, &at);
	while (!s->quit && !s->wanted)
		pthread_cond_wait(&s->changed, &s->lock);
	on = !s->quit;
	pthread_mutex_unlock(&s->lock);
	return on;
}

static int build(struct topology_source *s)
{
	_cleanup_topology_ struct topology facts = TOPOLOGY_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	int r = topology_read(&facts, NULL, TOPOLOGY_ALL, &e);

	if (r >= 0) {
		topo_build(&s->tree, &facts);
		return 0;
	}
	pthread_mutex_lock(&s->lock);
	snprintf(s->why, sizeof(s->why), "%s", e.what ? e.what : "the topology cannot be read");
	pthread_mutex_unlock(&s->lock);
	return r;
}

static void *watch(void *arg)
{
	struct topology_source *s = arg;
	struct load_moment before = { 0 }, now;
	u64 begin = clock_mono_ns(), due = begin + MIN(s->interval, 200 * NSEC_PER_MSEC);

	if (build(s) < 0 || load_read(&before, NULL) < 0)
		return NULL;
	while (sleep_until(s, due)) {
		struct topo_load load;

		if (load_read(&now, NULL) < 0)
			break;
		topo_load_between(&load, &before, &now, begin);
		load_release(&before);
		before = now;
		publish(s, &load);
		due = clock_mono_ns() + s->interval;
	}
	load_release(&before);
	return NULL;
}

struct topology_source *topology_source_new(u64 interval)
{
	struct topology_source *s = xcalloc(1, sizeof(*s));
	pthread_condattr_t attr;
	sigset_t all, before;
	int r;

	s->interval = interval;
	s->wanted = true;
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	/* signals are for the main thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&s->thread, NULL, watch, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!r)
		return s;
	close(s->fd);
	free(s);
	return NULL;
}

void topology_source_free(struct topology_source *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	topo_load_release(&s->load);
	topo_release(&s->tree);
	close(s->fd);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void topology_source_want(struct topology_source *s, bool wanted)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->wanted = wanted;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

int topology_source_fd(const struct topology_source *s)
{
	return s ? s->fd : -1;
}

bool topology_source_take(struct topology_source *s, struct topo_load *ret)
{
	bool fresh;
	u64 count;
	ssize_t r;

	if (!s)
		return false;
	r = read(s->fd, &count, sizeof(count));
	(void)r;
	pthread_mutex_lock(&s->lock);
	fresh = s->fresh;
	if (fresh) {
		topo_load_release(ret);
		*ret = s->load;
		s->load = (struct topo_load){ 0 };
		s->fresh = false;
	}
	pthread_mutex_unlock(&s->lock);
	return fresh;
}

const struct topo_tree *topology_source_tree(struct topology_source *s, const char **ret_why)
{
	bool built;

	*ret_why = NULL;
	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	built = s->built;
	if (*s->why)
		*ret_why = s->why;
	pthread_mutex_unlock(&s->lock);
	return built ? &s->tree : NULL;
}
