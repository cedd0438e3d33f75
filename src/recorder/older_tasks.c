/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that was launched has made threads or children before the kernel's unwinder was
 * there: they inherited events without it, and nothing attaches to those. Events of whole CPUs
 * take their place, with the unwinder choosing the program's tasks.
 */
#include "recorder/state.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "base/io.h"
#include "host/bpf_sys.h"

static bool has_children(int pid)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return !io_read_file(path, IO_MAX_PROC, &b, NULL) && b.len;
}

static bool has_threads(int pid)
{
	char path[32];
	const struct dirent *d;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		n += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n > 1;
}

static int open_on_cpu(const struct source *src, const u64 *late, u32 cpu)
{
	struct perf_event_attr a = src->opened;

	a.sample_type &=
		~(u64)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN);
	a.sample_regs_user = 0;
	a.sample_stack_user = 0;
	a.exclude_callchain_user = 0;
	a.inherit = 0;
	a.enable_on_exec = 0;
	a.disabled = 1;
	return perfsys_open_late(&a, late, -1, (int)cpu, -1, 0);
}

static int open_all(struct recorder *r, struct sampler *s)
{
	size_t n;
	const struct session_event *events = session_events(r->session, &n);

	vec_each(src, &r->sources) {
		if (src->sampler < 0)
			continue;
		vec_each(cpu, &r->o.target->cpus) {
			int fd = open_on_cpu(src, events[src->index].late, *cpu), rc;

			if (fd < 0)
				return fd;
			vec_push(&r->kernel.adopted, fd);
			rc = sampler_attach(s, fd, (u32)src->sampler, NULL);
			if (rc < 0)
				return rc;
		}
	}
	return r->kernel.adopted.len ? 0 : -ENOENT;
}

/* Those of the session that the adopted ones replace. */
static void disable_replaced(const struct recorder *r)
{
	vec_each(src, &r->sources) {
		size_t n = 0;
		const int *fds =
			src->sampler >= 0 ? session_event_fds(r->session, src->index, &n) : NULL;

		for (size_t i = 0; i < n; i++)
			(void)ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0);
	}
}

static void switch_adopted(const struct recorder *r, bool on)
{
	vec_each(fd, &r->kernel.adopted)
		(void)ioctl(*fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void recorder_adopt_switch(struct recorder *r, bool on)
{
	pthread_mutex_lock(&r->kernel.lock);
	r->kernel.paused = !on;
	session_switch(r->session, on);
	if (on && r->kernel.adopted.len)
		disable_replaced(r);
	switch_adopted(r, on);
	pthread_mutex_unlock(&r->kernel.lock);
}

void recorder_adopt_tasks(struct recorder *r, struct sampler *s)
{
	int pid = r->o.launch->pid;

	if (r->o.delay || r->o.session.no_inherit || (!has_threads(pid) && !has_children(pid)))
		return;
	if (open_all(r, s) < 0 || sampler_only_tree(s, pid) < 0) {
		recorder_adopt_end(r);
		return;
	}
	disable_replaced(r);
	switch_adopted(r, !r->kernel.paused);
}

void recorder_adopt_spread(struct recorder *r)
{
	size_t per_source = r->o.target->cpus.len, at = 0;

	pthread_mutex_lock(&r->kernel.lock);
	if (r->kernel.adopted.len && spread_is_due(&r->kernel.spread)) {
		vec_each(src, &r->sources) {
			if (src->sampler < 0)
				continue;
			if (spread_applies(&src->opened))
				spread_timers(&r->kernel.spread, &src->opened,
					      r->kernel.adopted.items + at, per_source);
			at += per_source;
		}
	}
	pthread_mutex_unlock(&r->kernel.lock);
}

void recorder_adopt_end(struct recorder *r)
{
	/* closing alone does not end them: the sampler's links hold them, too */
	switch_adopted(r, false);
	vec_each(fd, &r->kernel.adopted)
		close(*fd);
	vec_clear(&r->kernel.adopted);
}
