/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/counters.h"

#include "base/clock.h"
#include "base/stop.h"
#include "counters/reader.h"

#include <fcntl.h>
#include <poll.h>

struct source_state {
	bool wanted;
	int error;
};

struct counters {
	struct counter_set set;
	struct reader reader;
	struct source_state *sources;
	size_t n_sources;
	struct tasks *tasks; /* NULL: not wanted */
	bool meter, disk;    /* with them */
	char *root;
};

int counters_new(struct counters **ret, const char *root, struct err *e)
{
	struct counters *c = xcalloc(1, sizeof(*c));
	int fd, r;

	c->root = root ? xstrdup(root) : NULL;
	counter_set_init(&c->set);
	counter_set_add_tables(&c->set);
	(void)counter_sources(&c->n_sources);
	c->sources = xcalloc(c->n_sources, sizeof(*c->sources));
	reader_init(&c->reader, -1, &c->set);
	fd = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? err_sys(e, errno, "cannot open '%s'", root ? root : "/") : 0;
	c->reader.root = fd;
	if (!r)
		r = formula_prepare(&c->set, e);
	if (r < 0) {
		counters_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void counters_free(struct counters *c)
{
	if (!c)
		return;
	if (c->reader.root >= 0)
		close(c->reader.root);
	reader_release(&c->reader);
	counter_set_release(&c->set);
	tasks_free(c->tasks);
	free(c->root);
	free(c->sources);
	free(c);
}

struct counter_set *counters_set(struct counters *c)
{
	return &c->set;
}

/* --- what is read ----------------------------------------------------------------------------- */

static void want_formula(struct counters *c, const struct formula *f, int depth);

static void want_counter(struct counters *c, u32 counter, int depth)
{
	const struct set_counter *s = &c->set.counters.items[counter];

	if (s->formula && depth < FORMULA_DEPTH)
		want_formula(c, s->formula, depth + 1);
	else if (s->row->kind != RATIO && s->source != SET_NONE)
		c->sources[s->source].wanted = true;
}

static void want_formula(struct counters *c, const struct formula *f, int depth)
{
	for (u32 i = 0; i < f->n; i++)
		if (formula_names_counter(&f->steps[i]))
			want_counter(c, f->steps[i].counter, depth);
}

int counters_want(struct counters *c, const char *formula, struct err *e)
{
	struct formula f;
	int r = formula_parse(&f, &c->set, formula, e);

	if (!r)
		want_formula(c, &f, 0);
	return r;
}

void counters_want_all(struct counters *c, bool costly)
{
	const struct counter_source *const *sources = counter_sources(&c->n_sources);

	for (size_t i = 0; i < c->n_sources; i++)
		c->sources[i].wanted |= costly || !(sources[i]->flags & SOURCE_COSTLY);
}

void counters_want_meter(struct counters *c, bool meter, bool disk)
{
	c->meter |= meter;
	c->disk |= disk;
}

int counters_want_tasks(struct counters *c, bool per_thread, struct err *e)
{
	struct tasks_options o = {
		.root = c->root,
		.per_thread = per_thread,
		.meter = c->meter,
		.disk = c->disk,
	};

	/* tests ask for the slow way, too */
	o.no_bpf = getenv("FATHOM_NO_BPF_TASKS") != NULL;
	if (!c->tasks)
		return tasks_new(&c->tasks, &o, e);
	tasks_per_thread(c->tasks, per_thread);
	return 0;
}

bool counters_wait(struct counters *c, u64 ns)
{
	u64 end = clock_mono_ns() + ns, now;

	while (c->tasks && tasks_fd(c->tasks) >= 0 && !stop_requested() &&
	       (now = clock_mono_ns()) < end) {
		struct pollfd fds[] = {
			{ .fd = stop_fd(), .events = POLLIN },
			{ .fd = tasks_fd(c->tasks), .events = POLLIN },
		};
		struct timespec left = { (time_t)((end - now) / NSEC_PER_SEC),
					 (long)((end - now) % NSEC_PER_SEC) };

		if (ppoll(fds, ARRAY_SIZE(fds), &left, NULL) > 0 && fds[1].revents)
			tasks_drain(c->tasks);
	}
	now = clock_mono_ns();
	return stop_wait(end > now ? end - now : 0);
}

int counters_fd(const struct counters *c)
{
	return c->tasks ? tasks_fd(c->tasks) : -1;
}

void counters_drain(struct counters *c)
{
	if (c->tasks)
		tasks_drain(c->tasks);
}

bool counters_wanted(const struct counters *c, u32 source)
{
	return source < c->n_sources && c->sources[source].wanted;
}

int counters_why(const struct counters *c, u32 source)
{
	return source < c->n_sources ? c->sources[source].error : -ENOENT;
}

/* --- a sweep ---------------------------------------------------------------------------------- */

static int read_source(struct reader *r, const struct counter_source *s)
{
	const char *text;
	size_t len;
	int rc;

	if (s->read)
		return s->read(r);
	rc = reader_text(r, s->path, &text, &len);
	/* masked in a container, as a rule */
	if (!rc && !len)
		return -ENODATA;
	if (!rc)
		s->parse(r, text, len);
	return rc;
}

void counters_sweep(struct counters *c, struct snapshot *into)
{
	const struct counter_source *const *sources = counter_sources(&c->n_sources);
	u64 cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	snapshot_clear(into);
	into->mono = clock_ns(CLOCK_MONOTONIC);
	into->boot = clock_ns(CLOCK_BOOTTIME);
	into->wall = clock_ns(CLOCK_REALTIME);
	for (u32 i = 0; i < c->n_sources; i++) {
		if (!c->sources[i].wanted)
			continue;
		reader_begin(&c->reader, i, into);
		c->sources[i].error = read_source(&c->reader, sources[i]);
	}
	if (c->tasks)
		(void)tasks_sweep(c->tasks, &into->tasks);
	into->cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}
