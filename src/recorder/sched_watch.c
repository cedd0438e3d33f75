/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/sched_watch.h"

#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "capture/session.h"
#include "capture/synth.h"
#include "recording/writer.h"

static const char *const live_events[] = {
	"sched:sched_switch",     "sched:sched_stat_runtime", "sched:sched_process_fork",
	"sched:sched_wakeup_new", "sched:sched_migrate_task", "sched:sched_waking",
};

struct capture {
	struct event_list events;
	struct target target;
	struct session *session;
	struct recording_writer *writer;
	struct err *e;
};

static int on_bytes(void *ctx, const void *bytes, size_t n)
{
	struct capture *c = ctx;

	return recording_writer_add(c->writer, bytes, n, c->e);
}

static int on_round(void *ctx)
{
	struct capture *c = ctx;

	return recording_writer_round(c->writer, c->e);
}

static int add_events(struct capture *c)
{
	size_t n;
	const struct session_event *events = session_events(c->session, &n);
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = recording_writer_event(c->writer,
					    &(struct writer_event){ .attr = events[i].attr,
								    .name = events[i].name,
								    .ids = events[i].ids,
								    .n_ids = events[i].n_ids },
					    c->e);
	return rc;
}

/* Without them less is shown; that is not an error. */
static void add_power(struct capture *c)
{
	static const char *const names[] = { "power:cpu_idle", "power:cpu_frequency" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)event_parse(&c->events, names[i], NULL);
}

static int open_capture(struct capture *c, u64 ring_bytes, u32 what, int fd)
{
	struct session_opts opts = { .stack = STACK_NONE,
				     .clock_id = CLOCK_MONOTONIC,
				     .ring_bytes = ring_bytes,
				     .cgroup_ids = what & SCHED_WATCH_GROUPS,
				     .exclude_self = true };
	struct writer_options w = { .fd = fd, .version = "fathom " FATHOM_VERSION };
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(live_events); i++)
		rc = event_parse(&c->events, live_events[i], c->e);
	if (rc >= 0 && what & SCHED_WATCH_POWER)
		add_power(c);
	if (rc >= 0 && what & SCHED_WATCH_STACKS) /* the first is the switch */
		c->events.events.items[0].stack = STACK_FP;
	if (rc >= 0)
		rc = target_add_cpus(&c->target, NULL, c->e);
	if (rc < 0)
		return rc;
	c->session = session_new(&c->events, &c->target, NULL, &opts);
	rc = session_open(c->session, c->e);
	if (rc >= 0)
		rc = recording_writer_new(&w, &c->writer, c->e);
	if (rc >= 0)
		rc = add_events(c);
	if (rc >= 0)
		rc = recording_writer_start(c->writer, c->e);
	return rc;
}

static int run_capture(struct capture *c, u64 duration, u32 what)
{
	struct session_sinks sinks = { .records = on_bytes, .round = on_round, .ctx = c };
	size_t n;
	struct synth synth = {
		.sample_type = session_events(c->session, &n)[0].attr.sample_type,
		.sink = on_bytes,
		.ctx = c,
	};
	int rc = what & SCHED_WATCH_GROUPS ? synth_cgroups(&synth, c->e) : 0;

	if (rc >= 0)
		rc = synth_processes(&synth, c->e);
	if (rc >= 0)
		rc = session_enable(c->session, c->e);
	if (rc >= 0)
		rc = session_run(c->session, duration ? clock_mono_ns() + duration : 0, &sinks,
				 c->e);
	session_disable(c->session);
	if (rc >= 0)
		rc = session_drain(c->session, &sinks, c->e);
	if (rc >= 0)
		rc = recording_writer_finish(c->writer, c->e);
	return rc;
}

int sched_watch(u64 duration, u64 ring_bytes, u32 what, int *ret_fd, struct err *e)
{
	struct capture c = { .e = e };
	_cleanup_close_ int fd = memfd_create("sched", MFD_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_sys(e, errno, "cannot make a file in memory");
	rc = open_capture(&c, ring_bytes, what, fd);
	if (rc >= 0)
		rc = run_capture(&c, duration, what);
	recording_writer_free(c.writer);
	session_free(c.session);
	event_list_release(&c.events);
	target_release(&c.target);
	if (rc < 0)
		return rc;
	lseek(fd, 0, SEEK_SET);
	*ret_fd = TAKE_FD(fd);
	return 0;
}
