/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening: every event on every thread (or cgroup, or none) and CPU, and a ring for each CPU. */
#include "capture/session_state.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "capture/attr.h"
#include "host/bpf_sys.h"
#include "host/machine.h"
#include "host/pace.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { PID_FDS_MOST = 1024, RING_PAGES_LEAST = 2 };

/* --- slots -------------------------------------------------------------------------------- */

static char *tracepoint_name_of(const struct event *ev)
{
	const char *colon = strchr(ev->name, ':');

	if (!ev->sysname || !colon)
		return NULL;
	return xstrndup(colon + 1, strcspn(colon + 1, ":"));
}

static void clamp_frequency(struct session *s, struct slot *slot)
{
	s64 most;

	if (!slot->attr.freq || machine_sysctl("kernel/perf_event_max_sample_rate", &most) < 0 ||
	    most <= 0 || slot->attr.sample_freq <= (u64)most)
		return;
	session_note(s, "sysctl kernel.perf_event_max_sample_rate sets the limit",
		     "'%s' is sampled at %lld Hz and not at %llu Hz, which is more than the kernel "
		     "allows",
		     slot->name, (long long)most, (unsigned long long)slot->attr.sample_freq);
	slot->attr.sample_freq = (u64)most;
}

/* Timers of one session interrupt the same CPUs. */
static void slow_timer(struct session *s, struct slot *slot, u64 timers)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct pace pace;

	if (!pace_limit(&slot->attr, timers, &pace))
		return;
	pace_say(&pace, slot->name, &text);
	session_note(s, PACE_HINT, "%s", buf_str(&text));
}

static u64 timers_of(const struct session *s)
{
	u64 n = 0;

	vec_each(slot, &s->slots)
		n += pace_is_timer(&slot->attr);
	return n;
}

static void limit_rates(struct session *s)
{
	u64 timers = timers_of(s);

	vec_each(slot, &s->slots) {
		slow_timer(s, slot, timers);
		clamp_frequency(s, slot);
	}
}

static int add_slot(struct session *s, const struct event *ev, struct err *e)
{
	u32 index = (u32)s->slots.len;
	bool member = ev->leader != index;
	struct slot *slot = vec_new(&s->slots);

	slot->event = ev;
	slot->name = xstrdup(ev->name);
	slot->tp_name = tracepoint_name_of(ev);
	slot->leader = ev->leader;
	slot->group_fd = -1;
	memcpy(slot->late, ev->late, sizeof(slot->late));
	attr_for_event(&slot->attr, ev, &s->opts, member, s->on_exec);
	return ev->cpus ? parse_ranges(ev->cpus, TARGET_CPUS_MOST, &slot->cpus, e) : 0;
}

static void add_side_band(struct session *s)
{
	struct slot *slot = vec_new(&s->slots);

	slot->name = xstrdup("dummy:HG");
	slot->leader = (u32)(s->slots.len - 1);
	slot->group_fd = -1;
	attr_for_side_band(&slot->attr, &s->opts);
}

/* --- rings -------------------------------------------------------------------------------- */

static int new_ring(struct session *s, int fd, u32 cpu, bool overwrite, struct err *e)
{
	u64 least = (u64)RING_PAGES_LEAST * (u64)sysconf(_SC_PAGESIZE);
	struct ring ring;
	int r;

	for (;;) {
		r = ring_map(&ring, fd, cpu, s->ring_bytes, overwrite, e);
		if (r != -EPERM && r != -ENOMEM)
			break;
		if (s->ring_bytes / 2 < least) {
			err_hint(e, "raise kernel.perf_event_mlock_kb or ulimit -l");
			break;
		}
		err_release(e ? e : &(struct err){ 0 });
		s->ring_bytes /= 2;
	}
	if (r < 0)
		return r;
	s->ring_bytes = ring.size;
	vec_push(&s->rings, ring);
	return 0;
}

static int attach_ring(struct session *s, const struct slot *slot, int fd, u32 cpu, struct err *e)
{
	bool overwrite = slot->attr.write_backward;

	vec_each(ring, &s->rings) {
		if (ring->cpu == cpu && ring->overwrite == overwrite &&
		    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0)
			return 0;
	}
	return new_ring(s, fd, cpu, overwrite, e);
}

/* --- one descriptor ------------------------------------------------------------------------- */

static bool cpu_is_online(u32 cpu)
{
	range_list online = { 0 };
	bool is = machine_online(&online, NULL) < 0 || ranges_contain(&online, cpu);

	vec_release(&online);
	return is;
}

static bool is_cycles(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_HARDWARE && a->config == PERF_COUNT_HW_CPU_CYCLES;
}

/* Event names pasted from other machines still work here, with a note on what is used instead. */
static bool replace_cycles(struct session *s, struct slot *slot, int error)
{
	if (!is_cycles(&slot->attr) ||
	    (error != ENOENT && error != ENODEV && error != EOPNOTSUPP && error != ENXIO))
		return false;
	const char *mods = strchr(slot->name, ':');
	char *name = xasprintf("cpu-clock%s", mods ? mods : "");

	session_note(s, NULL, "no hardware counters here: 'cpu-clock' stands in for '%s'",
		     slot->name);
	free(slot->name);
	slot->name = name;
	slot->attr.type = PERF_TYPE_SOFTWARE;
	slot->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	slot->attr.precise_ip = 0;
	slow_timer(s, slot, timers_of(s));
	return true;
}

int session_open_event(struct session *s, struct slot *slot, const struct unit *u, u32 cpu)
{
	int group = s->slots.items[slot->leader].group_fd;
	struct perf_event_attr attr = slot->attr;
	const char *note;
	int fd;

	if (&s->slots.items[slot->leader] == slot)
		group = -1;
	for (;;) {
		fd = perfsys_open_late(&attr, slot->late, u->pid, (int)cpu, group, u->flags);
		if (fd >= 0 || slot->fds.len || fd == -ESRCH || fd == -EMFILE)
			break;
		if (fd == -EINVAL && group >= 0 && slot->event && slot->event->weak) {
			group = -1;
			slot->leader = (u32)(slot - s->slots.items);
			attr.disabled = 1;
			continue;
		}
		if (!attr_give_up(&attr, -fd, &note))
			break;
		if (note)
			session_note(s, "run as root, or sysctl kernel.perf_event_paranoid=1", "%s",
				     note);
	}
	if (fd >= 0)
		slot->attr = attr;
	else if (!slot->fds.len && replace_cycles(s, slot, -fd))
		return session_open_event(s, slot, u, cpu);
	return fd;
}

static int set_filter(const struct session *s, const struct slot *slot, int fd, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *filter = slot->event ? slot->event->filter : NULL;
	bool self = s->opts.exclude_self && slot->event && slot->event->sysname;

	if (!filter && !self)
		return 0;
	if (filter && self)
		buf_addf(&text, "(%s) && ", filter);
	else if (filter)
		buf_addstr(&text, filter);
	if (self)
		buf_addf(&text, "common_pid != %d", (int)getpid());
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, buf_str(&text)) < 0)
		return err_sys(e, errno, "cannot set the filter '%s' on '%s'", buf_str(&text),
			       slot->name);
	return 0;
}

int session_attach_event(struct session *s, struct slot *slot, int fd, u32 cpu, struct err *e)
{
	int r = set_filter(s, slot, fd, e);

	return r < 0 || s->opts.counting ? r : attach_ring(s, slot, fd, cpu, e);
}

static int keep_fd(struct session *s, struct slot *slot, int fd, u32 cpu, struct err *e)
{
	u64 id = 0;

	slot->group_fd = fd;
	vec_push(&slot->fds, fd);
	vec_push(&slot->fd_cpus, cpu);
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return err_sys(e, errno, "cannot ask for the id of '%s'", slot->name);
	vec_push(&slot->ids, id);
	return session_attach_event(s, slot, fd, cpu, e);
}

/* An event that fails is out, with a note; -EMFILE and failures of rings end everything. */
static int open_one(struct session *s, struct slot *slot, const struct unit *u, u32 cpu,
		    struct err *e)
{
	int fd;

	slot->group_fd = -1;
	if (slot->dead || (slot->cpus.len && !ranges_contain(&slot->cpus, cpu)))
		return 0;
	fd = session_open_event(s, slot, u, cpu);
	if (fd >= 0)
		return keep_fd(s, slot, fd, cpu, e);
	if (fd == -ESRCH) {
		s->vanished++;
		return 0;
	}
	if (fd == -EMFILE)
		return attr_open_error(EMFILE, slot->name, &slot->attr, false, e);
	if (fd == -ENODEV && !cpu_is_online(cpu)) {
		session_note(s, NULL, "CPU %u went away and is left out", cpu);
		return 0;
	}
	slot->dead = slot->fds.len == 0;
	if (!slot->event) {
		session_note(s, NULL, "mappings and names of new processes are missing: %s",
			     err_words(-fd));
		return 0;
	}
	err_release(&s->last);
	attr_open_error(-fd, slot->name, &slot->attr, target_is_whole(s->target), &s->last);
	session_note(s, s->last.hint, "%s", s->last.what);
	return 0;
}

static int open_unit(struct session *s, const struct unit *u, u32 cpu, struct err *e)
{
	for (size_t i = 0; i < s->slots.len; i++) {
		int r = open_one(s, &s->slots.items[i], u, cpu, e);

		if (r < 0)
			return r;
	}
	return 0;
}

static int open_cpu(struct session *s, u32 cpu, struct err *e)
{
	const struct target *t = s->target;
	struct unit u = { .pid = -1 };
	int r = 0;

	if (target_is_whole(t))
		return open_unit(s, &u, cpu, e);
	for (size_t i = 0; r >= 0 && i < t->threads.len; i++) {
		u.pid = t->threads.items[i];
		r = open_unit(s, &u, cpu, e);
	}
	u.flags = PERF_FLAG_PID_CGROUP;
	for (size_t i = 0; r >= 0 && i < t->cgroups.len; i++) {
		u.pid = t->cgroups.items[i].fd;
		r = open_unit(s, &u, cpu, e);
	}
	return r;
}

/* --- after opening ---------------------------------------------------------------------------- */

static void publish(struct session *s)
{
	VEC(u32) new_index = { 0 };

	for (size_t i = 0; i < s->slots.len; i++) {
		const struct slot *slot = &s->slots.items[i];
		u32 index = (u32)s->public_events.len;

		vec_push(&new_index, index);
		if (slot->fds.len == 0)
			continue;
		u32 leader = slot->leader < i ? new_index.items[slot->leader] : index;
		bool leads = slot->leader == i || s->slots.items[slot->leader].fds.len == 0;

		vec_push(&s->public_events,
			 (struct session_event){
				 .name = slot->name,
				 .attr = slot->attr,
				 .late = slot->late,
				 .ids = slot->ids.items,
				 .n_ids = slot->ids.len,
				 .sysname = slot->event ? slot->event->sysname : NULL,
				 .tp_name = slot->tp_name,
				 .side_band = slot->event == NULL,
				 .leader = leads ? index : leader,
			 });
	}
	vec_release(&new_index);
}

static int check_opened(struct session *s, struct err *e)
{
	size_t live = 0;

	vec_each(slot, &s->slots)
		live += slot->event && slot->fds.len;
	if (live)
		return 0;
	if (s->last.code) {
		err_set(e, s->last.code, "%s", s->last.what);
		if (s->last.hint)
			err_hint(e, "%s", s->last.hint);
		return -s->last.code;
	}
	return err_set(e, ESRCH,
		       s->vanished ? "the processes have already ended"
				   : "no target to open events on");
}

static void watch_processes(struct session *s)
{
	if (s->launch)
		return;
	vec_each(pid, &s->target->processes) {
		if (s->pid_fds.len >= PID_FDS_MOST)
			break;
		int fd = (int)syscall(SYS_pidfd_open, *pid, 0);

		if (fd >= 0)
			vec_push(&s->pid_fds, fd);
	}
}

/* The side band runs from now on: nothing is missed between here and what is read from /proc. */
static void enable_side_band(struct session *s)
{
	vec_each(slot, &s->slots) {
		for (size_t i = 0; !slot->event && i < slot->fds.len; i++)
			(void)ioctl(slot->fds.items[i], PERF_EVENT_IOC_ENABLE, 0);
	}
}

int session_open(struct session *s, struct err *e)
{
	u64 wanted = s->ring_bytes;
	int r = 0;

	attr_raise_fd_limit();
	vec_each(ev, &s->events->events) {
		r = add_slot(s, ev, e);
		if (r < 0)
			return r;
	}
	limit_rates(s);
	if (!s->opts.counting)
		add_side_band(s);
	for (size_t i = 0; r >= 0 && i < s->target->cpus.len; i++)
		r = open_cpu(s, s->target->cpus.items[i], e);
	if (r >= 0)
		r = check_opened(s, e);
	if (r < 0)
		return r;
	if (s->ring_bytes < wanted && (s->ring_asked || s->ring_bytes < SESSION_RING_BYTES))
		session_note(s, "raise kernel.perf_event_mlock_kb or ulimit -l",
			     "rings have %llu KB per CPU: more memory may not be locked",
			     (unsigned long long)s->ring_bytes >> 10);
	publish(s);
	watch_processes(s);
	session_cpus_open(s);
	enable_side_band(s);
	return 0;
}
