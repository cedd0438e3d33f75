/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session.h"

#include <poll.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/stop.h"
#include "capture/closer.h"
#include "capture/session_state.h"

enum { SWEEP_NS = 250 * 1000 * 1000, NOTES_MOST = 64 };

/* What one event writes on a CPU in a second, roughly; every hit of a tracepoint: no limit. */
static u64 bytes_per_second(const struct event *ev, const struct session_opts *opts)
{
	enum stack_mode stack = ev->stack != STACK_UNSET ? ev->stack : opts->stack;
	u64 size = stack == STACK_DWARF ? MAX(opts->stack_size, SESSION_STACK_BYTES) : 400;
	u64 rate = ev->frequency_set ? ev->attr.sample_freq : opts->frequency;

	if (ev->attr.type == PERF_TYPE_TRACEPOINT && stack == STACK_DWARF)
		return SESSION_RING_COPIES;
	if (ev->attr.type == PERF_TYPE_TRACEPOINT || opts->period || ev->period_set)
		return SESSION_RING_MOST;
	return MIN(MIN(rate, 100000) * size, SESSION_RING_MOST);
}

/* Room for a second: on a busy machine it may take a while until we get to run. */
static u64 default_ring(const struct event_list *events, const struct target *target,
			const struct session_opts *opts)
{
	u64 bytes = SESSION_RING_BYTES, cpus = MAX(target->cpus.len, (size_t)1), rate = 0;

	vec_each(ev, &events->events)
		rate += bytes_per_second(ev, opts);
	rate = MIN(rate, SESSION_RING_COPIES);
	while (bytes < rate && bytes * 2 * cpus <= SESSION_RINGS_MOST)
		bytes *= 2;
	return bytes;
}

struct session *session_new(const struct event_list *events, const struct target *target,
			    struct launch *launch, const struct session_opts *opts)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->events = events;
	s->target = target;
	s->launch = launch;
	s->opts = *opts;
	s->cpus = (struct cpuwatch)CPUWATCH_INIT;
	vec_each(tid, &target->threads)
		s->on_exec |= launch && *tid == launch->pid && !opts->late_enable;
	s->ring_bytes = opts->ring_bytes ? opts->ring_bytes : default_ring(events, target, opts);
	s->opts.ring_bytes = s->ring_bytes;
	s->ring_asked = opts->ring_bytes != 0;
	s->opts.data_maps |= opts->addresses || opts->stack == STACK_DWARF;
	vec_each(ev, &events->events)
		s->opts.data_maps |= ev->stack == STACK_DWARF;
	if (!s->opts.sweep_ns)
		s->opts.sweep_ns = SWEEP_NS;
	return s;
}

static void slot_release(struct slot *slot)
{
	vec_each(fd, &slot->fds)
		close(*fd);
	vec_release(&slot->fds);
	vec_release(&slot->ids);
	vec_release(&slot->fd_cpus);
	vec_release(&slot->cpus);
	free(slot->name);
	free(slot->tp_name);
}

static void close_tracepoints_aside(struct session *s)
{
	VEC(int) fds = { 0 };

	vec_each(slot, &s->slots) {
		for (size_t i = 0; slot->tp_name && i < slot->fds.len; i++)
			vec_push(&fds, slot->fds.items[i]);
		if (slot->tp_name)
			vec_clear(&slot->fds);
	}
	if (fds.len)
		closer_close(fds.items, fds.len);
	vec_release(&fds);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	vec_each(ring, &s->rings)
		ring_unmap(ring);
	vec_release(&s->rings);
	close_tracepoints_aside(s);
	vec_each(slot, &s->slots)
		slot_release(slot);
	vec_release(&s->slots);
	vec_each(note, &s->notes) {
		free(note->text);
		free(note->hint);
	}
	vec_release(&s->notes);
	vec_each(fd, &s->pid_fds)
		close(*fd);
	vec_release(&s->pid_fds);
	session_cpus_release(s);
	vec_release(&s->public_events);
	err_release(&s->last);
	free(s);
}

void session_note(struct session *s, const char *hint, const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	vec_each(note, &s->notes) {
		if (streq(note->text, buf_str(&text)))
			return;
	}
	if (s->notes.len >= NOTES_MOST)
		return;
	vec_push(&s->notes, (struct session_note){ .text = buf_detach(&text),
						   .hint = hint ? xstrdup(hint) : NULL });
}

/* Members follow their leader. The side band is only asked @with_side_band. */
static void for_each_leader(const struct session *s, unsigned long request, bool with_side_band)
{
	for (size_t i = 0; i < s->slots.len; i++) {
		const struct slot *slot = &s->slots.items[i];

		if (!slot->event && !with_side_band)
			continue;
		if (slot->leader != i && s->slots.items[slot->leader].fds.len)
			continue;
		vec_each(fd, &slot->fds)
			(void)ioctl(*fd, request, 0);
	}
}

/* Sampling by timers must not keep step with the work that is sampled. */
static void spread(struct session *s)
{
	if (s->opts.counting || !spread_is_due(&s->spread))
		return;
	vec_each(slot, &s->slots) {
		if (slot->event && slot->fds.len && spread_applies(&slot->attr))
			spread_timers(&s->spread, &slot->attr, slot->fds.items, slot->fds.len);
	}
}

int session_enable(struct session *s, struct err *e UNUSED)
{
	s->enabled = true;
	spread(s);
	/* The program's exec enables them: what runs before is ours. */
	if (!s->on_exec)
		for_each_leader(s, PERF_EVENT_IOC_ENABLE, true);
	return 0;
}

int session_disable(struct session *s)
{
	s->enabled = false;
	for_each_leader(s, PERF_EVENT_IOC_DISABLE, true);
	return 0;
}

void session_switch(struct session *s, bool on)
{
	s->enabled = on;
	for_each_leader(s, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, false);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* All rings of one kind; events that were opened again are known by their first ids. */
static int read_rings(struct session *s, bool overwrite, const struct session_sinks *sinks,
		      struct err *e)
{
	struct session_translation t = { .session = s, .sinks = sinks, .bytes = BUF_INIT };
	record_sink sink = s->ids.len ? session_translate : sinks->records;
	void *ctx = s->ids.len ? &t : sinks->ctx;
	int r = 0;

	vec_each(ring, &s->rings) {
		if (ring->overwrite != overwrite || r < 0)
			continue;
		if (!overwrite) {
			r = ring_read(ring, &s->stats, sink, ctx, e);
			continue;
		}
		(void)ring_pause(ring, true);
		r = ring_read_backward(ring, &s->stats, sink, ctx, e);
		(void)ring_pause(ring, false);
	}
	buf_release(&t.bytes);
	return r;
}

static int sweep(struct session *s, const struct session_sinks *sinks, struct err *e)
{
	int r = read_rings(s, false, sinks, e);

	return r >= 0 && sinks->round ? sinks->round(sinks->ctx) : r;
}

static bool process_is_gone(int pid_fd)
{
	struct pollfd p = { .fd = pid_fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* True when nothing that is watched can run any more. Stops asking at the first that can. */
static bool target_is_gone(struct session *s)
{
	const struct target *t = s->target;

	if (s->launch)
		return launch_ended(s->launch);
	if (!t->by_thread || t->cgroups.len)
		return false;
	while (s->pid_fds.len) {
		if (!process_is_gone(*vec_last(&s->pid_fds)))
			break;
		close(vec_pop(&s->pid_fds));
	}
	if (s->pid_fds.len == 0 && t->processes.len)
		return true;
	if (t->threads.len > t->processes.len * 4 || t->threads.len == 0)
		return false;
	/* Single threads may end while their process continues; children do not count then. */
	vec_each(tid, &t->threads) {
		if (syscall(SYS_tkill, *tid, 0) == 0 || errno != ESRCH)
			return false;
	}
	return s->opts.no_inherit;
}

/* A descriptor on the ring's CPU whose task still lives: polling a dead one never sleeps. */
static int next_poll_fd(const struct session *s, const struct ring *ring, int after)
{
	bool passed = false;

	vec_each(slot, &s->slots) {
		for (size_t i = 0; i < slot->fds.len; i++) {
			if (passed && slot->fd_cpus.items[i] == ring->cpu &&
			    slot->attr.write_backward == ring->overwrite)
				return slot->fds.items[i];
			passed |= slot->fds.items[i] == after;
		}
	}
	return -1;
}

struct poll_set {
	VEC(struct pollfd) fds; /* per ring that is read, stop, the caller's, then the program */
	size_t n_rings;
};

/* After the rings. */
enum { POLL_STOP, POLL_CALLER, POLL_CPUS, POLL_PROCESS };

static int caller_fd(const struct session_sinks *sinks)
{
	return sinks->wake_fd && *sinks->wake_fd > 0 ? *sinks->wake_fd : -1;
}

static void poll_set_fill(struct poll_set *p, const struct session *s)
{
	vec_clear(&p->fds);
	vec_each(ring, &s->rings) {
		if (!ring->overwrite)
			vec_push(&p->fds, (struct pollfd){ .fd = ring->fd, .events = POLLIN });
	}
	p->n_rings = p->fds.len;
	vec_push(&p->fds, (struct pollfd){ .fd = stop_fd(), .events = POLLIN });
	vec_push(&p->fds, (struct pollfd){ .fd = -1, .events = POLLIN });
	vec_push(&p->fds, (struct pollfd){ .fd = s->cpus.fd, .events = POLLIN });
	if (s->launch && s->launch->pid_fd >= 0)
		vec_push(&p->fds, (struct pollfd){ .fd = s->launch->pid_fd, .events = POLLIN });
	else if (s->pid_fds.len)
		vec_push(&p->fds,
			 (struct pollfd){ .fd = *vec_last(&s->pid_fds), .events = POLLIN });
}

/* Replaces descriptors whose task has ended. */
static void poll_set_renew(struct poll_set *p, const struct session *s)
{
	size_t i = 0;

	vec_each(ring, &s->rings) {
		if (ring->overwrite)
			continue;
		struct pollfd *f = &p->fds.items[i++];

		if (f->fd >= 0 && (f->revents & (POLLHUP | POLLERR | POLLNVAL)))
			f->fd = next_poll_fd(s, ring, f->fd);
	}
	if (!s->launch && p->fds.len > p->n_rings + POLL_PROCESS)
		vec_last(&p->fds)->fd = s->pid_fds.len ? *vec_last(&s->pid_fds) : -1;
}

static int wait_for_data(struct session *s, struct poll_set *p, u64 until)
{
	u64 now = clock_mono_ns(), ns = s->opts.sweep_ns;
	struct timespec t;

	if (until)
		ns = until > now ? MIN(ns, until - now) : 0;
	t = (struct timespec){ (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };
	return ppoll(p->fds.items, p->fds.len, &t, NULL) < 0 && errno != EINTR ? -errno : 0;
}

int session_run(struct session *s, u64 until, const struct session_sinks *sinks, struct err *e)
{
	struct poll_set p = { 0 };
	bool over = false;
	int r = 0;

	poll_set_fill(&p, s);
	while (r == 0 && !over) {
		p.fds.items[p.n_rings + POLL_CALLER].fd = caller_fd(sinks);
		r = wait_for_data(s, &p, until);
		if (r < 0) {
			err_sys(e, r, "cannot wait for the rings");
			break;
		}
		/* Asked before the sweep, which so reads what came until then. */
		if (session_cpus_look(s, sinks))
			poll_set_fill(&p, s);
		over = stop_requested() || target_is_gone(s) || (until && clock_mono_ns() >= until);
		r = sweep(s, sinks, e);
		spread(s);
		poll_set_renew(&p, s);
	}
	vec_release(&p.fds);
	return MIN(r, 0);
}

int session_dump(struct session *s, const struct session_sinks *sinks, struct err *e)
{
	int r = read_rings(s, true, sinks, e);

	if (r >= 0 && sinks->round)
		r = sinks->round(sinks->ctx);
	return MIN(r, 0);
}

int session_drain(struct session *s, const struct session_sinks *sinks, struct err *e)
{
	int r = sweep(s, sinks, e);

	return r >= 0 && s->opts.overwrite ? session_dump(s, sinks, e) : MIN(r, 0);
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct session_event *session_events(const struct session *s, size_t *ret_n)
{
	*ret_n = s->public_events.len;
	return s->public_events.items;
}

const struct session_note *session_notes(const struct session *s, size_t *ret_n)
{
	*ret_n = s->notes.len;
	return s->notes.items;
}

const struct ring_stats *session_stats(const struct session *s)
{
	return &s->stats;
}

u64 session_ring_bytes(const struct session *s)
{
	return s->ring_bytes;
}

/* read_format is ID | LOST: value, id, lost. */
u64 session_lost_of(const struct slot *slot, int fd)
{
	u64 values[3];

	if (slot->attr.read_format != (PERF_FORMAT_ID | 1 << 4) ||
	    read(fd, values, sizeof(values)) != (ssize_t)sizeof(values))
		return 0;
	return values[2];
}

u64 session_lost_exact(const struct session *s)
{
	u64 lost = s->lost_before;

	vec_each(slot, &s->slots) {
		vec_each(fd, &slot->fds)
			lost += session_lost_of(slot, *fd);
	}
	return lost;
}

const int *session_event_fds(const struct session *s, size_t index, size_t *ret_n)
{
	size_t live = 0;

	vec_each(slot, &s->slots) {
		if (slot->fds.len == 0 || live++ != index)
			continue;
		*ret_n = slot->fds.len;
		return slot->fds.items;
	}
	*ret_n = 0;
	return NULL;
}
