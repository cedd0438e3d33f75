/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/count.h"

#include <sys/ioctl.h>

#include "capture/attr.h"
#include "host/bpf_sys.h"

/* How the kernel answers a read of a group: its size, two times, and an entry per member. */
enum { GROUP_HEAD = 3, GROUP_MEMBER = 2, GROUP_MOST = 256 };

struct cell {
	int fd; /* -1: not counted there */
	u64 id; /* of the kernel, to find it in what a group reads */
	struct count count;
};

struct counted {
	const struct event *event;
	struct perf_event_attr attr;
	range_list cpus; /* of its PMU; empty: all */
	u32 leader;
	u32 members; /* of the group that it leads, itself included */
	size_t open; /* how many descriptors */
	struct err failure;
};

struct counting {
	const struct target *target;
	struct count_opts opts;
	VEC(struct counted) events;
	VEC(struct count_place) places;
	struct cell *cells; /* by event, then by place */
	size_t vanished;
};

static struct cell *cell_at(const struct counting *c, size_t event, size_t place)
{
	return &c->cells[event * c->places.len + place];
}

/* --- what to open ----------------------------------------------------------------------------- */

static void add_places(struct counting *c, pid_t tid, s32 cgroup, bool by_cpu)
{
	struct count_place p = { .cpu = -1, .tid = tid, .cgroup = cgroup };

	if (!by_cpu) {
		vec_push(&c->places, p);
		return;
	}
	vec_each(cpu, &c->target->cpus) {
		p.cpu = (s32)*cpu;
		vec_push(&c->places, p);
	}
}

static void list_places(struct counting *c)
{
	const struct target *t = c->target;

	if (target_is_whole(t))
		add_places(c, -1, -1, true);
	for (size_t i = 0; i < t->cgroups.len; i++)
		add_places(c, -1, (s32)i, true);
	vec_each(tid, &t->threads)
		add_places(c, *tid, -1, c->opts.by_cpu);
}

static void set_attr(struct counted *k, const struct count_opts *o, bool member)
{
	struct perf_event_attr *a = &k->attr;

	*a = k->event->attr;
	a->size = PERF_ATTR_SIZE_VER7;
	a->sample_period = 0;
	a->freq = 0;
	a->sample_type = 0;
	a->precise_ip = 0;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a->inherit = k->event->inherit >= 0 ? k->event->inherit == 1 : !o->no_inherit;
	a->exclude_guest |= o->no_guest;
	if (o->user_only && a->type != PERF_TYPE_TRACEPOINT)
		a->exclude_kernel = a->exclude_hv = 1;
	if (o->kernel_only && a->type != PERF_TYPE_TRACEPOINT)
		a->exclude_user = 1;
	if (!member) {
		a->disabled = 1;
		a->enable_on_exec = o->on_exec;
	} else {
		a->disabled = a->pinned = a->exclusive = 0; /* the leader decides */
	}
}

static int add_event(struct counting *c, const struct event *ev, struct err *e)
{
	u32 index = (u32)c->events.len;
	struct counted *k = vec_new(&c->events);

	k->event = ev;
	k->leader = ev->leader;
	set_attr(k, &c->opts, ev->leader != index);
	c->events.items[ev->leader].members++;
	return ev->cpus ? parse_ranges(ev->cpus, TARGET_CPUS_MOST, &k->cpus, e) : 0;
}

/* Groups are read at one instant; a member finds its value by its id. */
static void set_groups(struct counting *c)
{
	vec_each(k, &c->events) {
		u32 members = c->events.items[k->leader].members;

		if (members > 1 && members <= GROUP_MOST)
			k->attr.read_format |= PERF_FORMAT_ID | PERF_FORMAT_GROUP;
	}
}

struct counting *counting_new(const struct event_list *events, const struct target *target,
			      const struct count_opts *opts)
{
	struct counting *c = xcalloc(1, sizeof(*c));

	c->target = target;
	c->opts = *opts;
	for (size_t i = 0; i < events->events.len; i++)
		(void)add_event(c, &events->events.items[i], NULL);
	set_groups(c);
	list_places(c);
	return c;
}

void counting_free(struct counting *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->cells && i < c->events.len * c->places.len; i++) {
		if (c->cells[i].fd >= 0)
			close(c->cells[i].fd);
	}
	free(c->cells);
	vec_each(k, &c->events) {
		vec_release(&k->cpus);
		err_release(&k->failure);
	}
	vec_release(&c->events);
	vec_release(&c->places);
	free(c);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The next thing that an older kernel or another PMU may refuse; false: nothing is left. */
static bool give_up(struct perf_event_attr *a, int error)
{
	const char *note;

	if (error == -EACCES || error == -EPERM) {
		if (a->exclude_kernel || a->type == PERF_TYPE_TRACEPOINT)
			return false;
		a->exclude_kernel = a->exclude_hv = 1;
		return true;
	}
	if (error != -EINVAL)
		return false;
	if (a->inherit && a->read_format & PERF_FORMAT_GROUP) {
		a->read_format &= ~(u64)(PERF_FORMAT_GROUP | PERF_FORMAT_ID);
		return true;
	}
	return attr_give_up(a, -error, &note);
}

static void stand_alone(const struct counting *c, struct perf_event_attr *attr)
{
	attr->disabled = 1;
	attr->enable_on_exec = c->opts.on_exec;
	attr->read_format &= ~(u64)(PERF_FORMAT_GROUP | PERF_FORMAT_ID);
}

static int open_cell(struct counting *c, size_t event, size_t place)
{
	struct counted *k = &c->events.items[event];
	const struct count_place *p = &c->places.items[place];
	struct perf_event_attr attr = k->attr;
	bool leads = k->leader == event;
	int group = leads ? -1 : cell_at(c, k->leader, place)->fd;
	int pid = p->cgroup >= 0 ? c->target->cgroups.items[p->cgroup].fd : p->tid;
	int fd;

	if (!leads && group < 0)
		stand_alone(c, &attr); /* its leader does not count here */
	for (;;) {
		fd = perfsys_open_late(&attr, k->event->late, pid, p->cpu, group,
				       p->cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0);
		if (fd == -EINVAL && group >= 0 && k->event->weak) {
			group = -1;
			stand_alone(c, &attr);
			continue;
		}
		if (fd >= 0 || k->open || !give_up(&attr, fd))
			break;
	}
	if (fd >= 0)
		k->attr = attr;
	return fd;
}

static int keep_fd(struct counting *c, size_t event, size_t place, int fd, struct err *e)
{
	struct counted *k = &c->events.items[event];
	struct cell *cell = cell_at(c, event, place);

	cell->fd = fd;
	k->open++;
	(void)ioctl(fd, PERF_EVENT_IOC_ID, &cell->id);
	if (k->event->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, k->event->filter) < 0)
		return err_sys(e, errno, "cannot set the filter '%s' on '%s'", k->event->filter,
			       k->event->name);
	return 0;
}

static int open_one(struct counting *c, size_t event, size_t place, struct err *e)
{
	struct counted *k = &c->events.items[event];
	const struct count_place *p = &c->places.items[place];
	int fd;

	if (k->failure.code ||
	    (k->cpus.len && p->cpu >= 0 && !ranges_contain(&k->cpus, (u64)p->cpu)))
		return 0;
	fd = open_cell(c, event, place);
	if (fd >= 0)
		return keep_fd(c, event, place, fd, e);
	if (fd == -ESRCH) { /* the thread has ended */
		c->vanished++;
		return 0;
	}
	if (fd == -EMFILE)
		return attr_open_error(EMFILE, k->event->name, &k->attr, false, e);
	if (!k->open)
		(void)attr_open_error(-fd, k->event->name, &k->attr, target_is_whole(c->target),
				      &k->failure);
	return 0;
}

/* All failed, and not because this machine lacks the events. */
static int check_opened(const struct counting *c, struct err *e)
{
	const struct err *worst = NULL;

	vec_each(k, &c->events) {
		if (k->open || k->failure.code == EOPNOTSUPP)
			return 0;
		if (k->failure.code)
			worst = &k->failure;
	}
	if (!c->events.len)
		return 0;
	if (!worst)
		return err_set(e, ESRCH, "the processes have ended already");
	err_set(e, worst->code, "%s", worst->what);
	if (worst->hint)
		err_hint(e, "%s", worst->hint);
	return -worst->code;
}

int counting_open(struct counting *c, struct err *e)
{
	size_t n = c->events.len * c->places.len;
	int r = 0;

	if (c->events.len && c->places.len > COUNT_CELLS_MOST / c->events.len)
		return err_set(e, E2BIG, "%zu events in %zu places are more than %d counters",
			       c->events.len, c->places.len, COUNT_CELLS_MOST);
	attr_raise_fd_limit();
	c->cells = xcalloc(n ? n : 1, sizeof(*c->cells));
	for (size_t i = 0; i < n; i++)
		c->cells[i].fd = -1;
	for (size_t place = 0; place < c->places.len; place++) {
		for (size_t event = 0; r >= 0 && event < c->events.len; event++)
			r = open_one(c, event, place, e);
	}
	return r < 0 ? r : check_opened(c, e);
}

/* --- running ---------------------------------------------------------------------------------- */

static void switch_all(struct counting *c, unsigned long request)
{
	for (size_t i = 0; i < c->events.len * c->places.len; i++) {
		if (c->cells[i].fd >= 0)
			(void)ioctl(c->cells[i].fd, request, 0);
	}
}

void counting_enable(struct counting *c)
{
	switch_all(c, PERF_EVENT_IOC_ENABLE);
}

void counting_disable(struct counting *c)
{
	switch_all(c, PERF_EVENT_IOC_DISABLE);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_alone(struct counting *c, size_t event, size_t place, struct err *e)
{
	struct cell *cell = cell_at(c, event, place);
	u64 words[3];
	ssize_t n = read(cell->fd, words, sizeof(words));

	if (n != (ssize_t)sizeof(words))
		return n < 0 ? err_sys(e, errno, "cannot read '%s'",
				       c->events.items[event].event->name)
			     : 0; /* a pinned event that lost its counter reads as nothing */
	cell->count = (struct count){ words[0], words[1], words[2] };
	return 0;
}

static void take_member(struct counting *c, size_t leader, size_t place, const u64 *words, u64 id)
{
	for (size_t i = leader; i < c->events.len; i++) {
		struct cell *cell = cell_at(c, i, place);

		if (c->events.items[i].leader != leader || cell->fd < 0 || cell->id != id)
			continue;
		cell->count = (struct count){ words[GROUP_HEAD], words[1], words[2] };
		return;
	}
}

static int read_group(struct counting *c, size_t leader, size_t place, struct err *e)
{
	u64 words[GROUP_HEAD + GROUP_MEMBER * GROUP_MOST];
	ssize_t n = read(cell_at(c, leader, place)->fd, words, sizeof(words));
	size_t got;

	if (n < 0)
		return err_sys(e, errno, "cannot read the group of '%s'",
			       c->events.items[leader].event->name);
	if ((size_t)n < GROUP_HEAD * sizeof(u64))
		return 0;
	got = ((size_t)n / sizeof(u64) - GROUP_HEAD) / GROUP_MEMBER;
	for (size_t i = 0; i < MIN(got, words[0]); i++) {
		const u64 *at = words + GROUP_HEAD + i * GROUP_MEMBER;
		u64 one[GROUP_HEAD + 1] = { 0, words[1], words[2], at[0] };

		take_member(c, leader, place, one, at[1]);
	}
	return 0;
}

/* A member whose leader's group read covers it. */
static bool read_by_leader(const struct counting *c, size_t event, size_t place)
{
	const struct counted *k = &c->events.items[event];

	return k->leader != event && cell_at(c, k->leader, place)->fd >= 0 &&
	       c->events.items[k->leader].attr.read_format & PERF_FORMAT_GROUP &&
	       k->attr.read_format & PERF_FORMAT_GROUP;
}

static int read_one(struct counting *c, size_t event, size_t place, struct err *e)
{
	if (cell_at(c, event, place)->fd < 0 || read_by_leader(c, event, place))
		return 0;
	if (c->events.items[event].attr.read_format & PERF_FORMAT_GROUP)
		return read_group(c, event, place, e);
	return read_alone(c, event, place, e);
}

int counting_read(struct counting *c, struct err *e)
{
	int r = 0;

	for (size_t event = 0; event < c->events.len; event++) {
		for (size_t place = 0; r >= 0 && place < c->places.len; place++)
			r = read_one(c, event, place, e);
	}
	return r;
}

const struct count_place *counting_places(const struct counting *c, size_t *ret_n)
{
	*ret_n = c->places.len;
	return c->places.items;
}

const struct count *counting_at(const struct counting *c, size_t event, size_t place)
{
	return &cell_at(c, event, place)->count;
}

bool counting_has(const struct counting *c, size_t event, size_t place)
{
	return cell_at(c, event, place)->fd >= 0;
}

bool counting_narrowed(const struct counting *c, size_t event)
{
	const struct counted *k = &c->events.items[event];

	return k->open && k->attr.exclude_kernel && !k->event->attr.exclude_kernel &&
	       !c->opts.user_only;
}

const struct err *counting_failure(const struct counting *c, size_t event)
{
	const struct counted *k = &c->events.items[event];

	return k->open ? NULL : &k->failure;
}
