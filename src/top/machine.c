/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/machine.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/stop.h"
#include "counters/ring.h"
#include "counters/track.h"
#include "recording/recording.h"
#include "top/machine_file.h"
#include "top/meters.h"
#include "top/names.h"

enum { SLICE_MS = 50, BACKOFF_MOST = 10, BUDGET_SECONDS = 20 };

struct machine_source {
	struct machine_opts o;
	struct counters *live; /* or */
	struct recording *recording;
	struct track_reader *replay;
	struct counter_set *set;
	struct counter_set empty; /* of a recording without counters */
	bool no_counters;
	struct top_formulas *formulas;
	struct counters_ring *ring;
	struct task_names names;
	struct map lives; /* process and start -> ns */
	struct snapshot before, now;
	u64 looks;
	u64 own_cpu, own_wall; /* at the last look */
	double own_percent;
	double overdrawn;          /* ns of CPU time beyond the budget, */
	double spent, since;       /* and all, in this time, with this pace */
	struct track_writer track; /* opts.record */
	char note[256];            /* for the next frame */
	bool note_bad;
	size_t own_known; /* of @own: those that @formulas have */
	u64 backoff;      /* the interval is this many times what was requested */

	pthread_t thread;
	bool runs;
	int fd;
	pthread_mutex_t lock; /* what follows */
	struct machine_frame *ready;
	bool threads, changed, quit;
	u64 children_cpu; /* ns */
	char *save;       /* a file to write the past to; NULL: none */
	char *own[FRAME_OWN];
	size_t n_own;
	size_t seek;
};

void machine_frame_free(struct machine_frame *f)
{
	if (!f)
		return;
	vec_release(&f->tasks);
	vec_release(&f->meters);
	for (size_t i = 0; i < TOP_SHEETS; i++)
		vec_release(&f->sheets[i].rows);
	arena_release(&f->arena);
	free(f);
}

/* --- making a frame --------------------------------------------------------------------------- */

/*
 * The CPU time of a whole life, as /proc has it: what the rows said so far. Children that came and
 * went are in the row, but not in the life.
 */
static void add_lives(struct machine_source *m, const struct task_rows *t)
{
	vec_each(row, &t->rows) {
		u64 key = hash_mix(row->pid, 0x70);
		u64 own = row->figures[TASK_EXEC] - MIN(row->folded_exec, row->figures[TASK_EXEC]) +
			  row->folded_own;

		/* a number that was given again begins a new life */
		if (row->tid == row->pid && m->looks > 1 && row->start > m->before.boot &&
		    row->start <= m->now.boot)
			map_put(&m->lives, key, 0);
		*map_at(&m->lives, key) += own;
	}
}

static const char *keep(struct machine_frame *f, const struct task_names *n, u32 string)
{
	return string ? arena_strdup(&f->arena, intern_get(&n->strings, string)) : "";
}

static void add_task(struct machine_source *m, struct machine_frame *f, const struct task_row *row)
{
	_cleanup_buf_ struct buf container = BUF_INIT;
	const struct task_name *name = task_names_get(&m->names, row);
	struct top_task *t = vec_new(&f->tasks);

	t->row = *row;
	t->user = keep(f, &m->names, task_names_user(&m->names, row->uid));
	t->command = name->command && row->tid == row->pid ? keep(f, &m->names, name->command)
							   : arena_strdup(&f->arena, row->comm);
	t->cgroup = keep(f, &m->names, name->cgroup);
	t->container = container_of_cgroup(t->cgroup, &container)
			       ? arena_strdup(&f->arena, buf_str(&container))
			       : "";
	t->time = f->past      ? UINT64_MAX
		  : f->threads ? row->life
			       : map_get(&m->lives, hash_mix(row->pid, 0x70), 0);
	f->n_running += row->state == 'R' && !row->ended;
	f->n_processes += row->tid == row->pid && !row->ended;
}

static void fill_account(struct machine_frame *f, const struct delta *d)
{
	const struct task_rows *t = &d->after->tasks;
	struct top_account *a = &f->account;

	a->meter = top_value(d, "cpu.total", "all") - top_value(d, "cpu.idle", "all") -
		   top_value(d, "cpu.iowait", "all");
	a->irq = top_value(d, "cpu.irq", "all") + top_value(d, "cpu.softirq", "all");
	a->steal = top_value(d, "cpu.steal", "all");
	a->orphans = (double)(t->orphans_exec + t->lost_exec);
	vec_each(row, &t->rows) {
		a->rows += (double)row->figures[TASK_EXEC];
		a->dead += (double)row->folded_exec;
	}
	a->unknown = a->meter - a->rows - a->irq - a->steal - a->orphans;
}

static u32 count_cpus(const struct machine_frame *f)
{
	u32 n = 0;

	vec_each(m, &f->meters)
		n += streq(m->group, "cpu") && !streq(m->label, "all");
	return MAX(n, 1u);
}

static struct machine_frame *make_frame(struct machine_source *m, const struct snapshot *before,
					const struct snapshot *after, bool past)
{
	struct machine_frame *f = xcalloc(1, sizeof(*f));
	struct delta d;

	delta_init(&d, m->set, before, after);
	f->past = past;
	f->mono = after->mono;
	f->boot = after->boot;
	f->wall = after->wall;
	f->seconds = d.seconds;
	f->by_bpf = after->tasks.by_bpf;
	f->n_tasks = after->tasks.n_tasks;
	f->lost = after->tasks.lost;
	f->memory = top_value(&d, "mem.total", NULL);
	f->uptime = top_value(&d, "system.uptime", NULL);
	f->load[0] = top_value(&d, "load.1", NULL);
	f->load[1] = top_value(&d, "load.5", NULL);
	f->load[2] = top_value(&d, "load.15", NULL);
	vec_each(row, &after->tasks.rows)
		f->threads |= row->tid != row->pid;
	vec_reserve(&f->tasks, after->tasks.rows.len);
	vec_each(row, &after->tasks.rows)
		add_task(m, f, row);
	top_meters_fill(m->formulas, &d, f);
	top_sheets_fill(m->formulas, &d, f);
	top_own_fill(m->formulas, &d, f);
	f->cpus = count_cpus(f);
	fill_account(f, &d);
	f->collect_ns = after->cost;
	return f;
}

/* --- the past --------------------------------------------------------------------------------- */

static void fill_past(struct machine_source *m, struct machine_frame *f, size_t at)
{
	struct snapshot first = SNAPSHOT_INIT;

	f->kept = counters_ring_len(m->ring);
	f->at = MIN(at, f->kept ? f->kept - 1 : 0);
	f->kept_bytes = counters_ring_bytes(m->ring);
	f->newest = m->now.wall;
	if (f->kept && !counters_ring_get(m->ring, 0, &first))
		f->oldest = first.wall;
	snapshot_release(&first);
	f->interval_ns = m->o.interval * m->backoff;
	f->pace = (u32)m->backoff;
	f->own_percent = m->own_percent;
	memcpy(f->note, m->note, sizeof(f->note));
	f->note_bad = m->note_bad;
	m->note[0] = '\0';
}

/* Formulas of the user that are new: their counters are read from now on. */
static void add_formulas(struct machine_source *m)
{
	_cleanup_err_ struct err e = ERR_INIT;

	pthread_mutex_lock(&m->lock);
	for (; m->own_known < m->n_own; m->own_known++) {
		if (m->live)
			(void)counters_want(m->live, m->own[m->own_known], &e);
		top_formulas_add(m->formulas, m->own[m->own_known]);
	}
	pthread_mutex_unlock(&m->lock);
}

static struct machine_frame *frame_at(struct machine_source *m, size_t at)
{
	struct snapshot before = SNAPSHOT_INIT, after = SNAPSHOT_INIT;
	struct machine_frame *f = NULL;

	add_formulas(m);
	at = MAX(at, (size_t)1);
	if (!counters_ring_get(m->ring, at - 1, &before) && !counters_ring_get(m->ring, at, &after))
		f = make_frame(m, &before, &after, true);
	snapshot_release(&before);
	snapshot_release(&after);
	if (f)
		fill_past(m, f, at);
	return f;
}

/* --- the loop --------------------------------------------------------------------------------- */

static void publish(struct machine_source *m, struct machine_frame *f)
{
	struct machine_frame *old;
	u64 one = 1;
	ssize_t r;

	if (!f)
		return;
	pthread_mutex_lock(&m->lock);
	old = m->ready;
	m->ready = f;
	pthread_mutex_unlock(&m->lock);
	machine_frame_free(old);
	r = write(m->fd, &one, sizeof(one));
	(void)r;
}

static u64 children_cpu(struct machine_source *m)
{
	u64 ns;

	pthread_mutex_lock(&m->lock);
	ns = m->children_cpu;
	pthread_mutex_unlock(&m->lock);
	return ns;
}

/*
 * Fathom's own cost is measured; where it stays too high, updates are less frequent. What is done
 * once, such as loading programs when a screen is opened, may use the budget of BUDGET_SECONDS.
 */
static void keep_budget(struct machine_source *m, double cpu, double wall)
{
	double budget = m->o.budget / 100, most = budget * BUDGET_SECONDS * 1e9;

	m->spent += cpu;
	m->since += wall;
	m->overdrawn = MAX(m->overdrawn + cpu - budget * wall, 0.0);
	if (m->overdrawn > most && m->backoff < BACKOFF_MOST)
		m->backoff = (u64)MIN(ceil((double)m->backoff * m->spent / (m->since * budget)),
				      (double)BACKOFF_MOST);
	else if (cpu < budget / 2 * wall && m->backoff > 1)
		m->backoff--;
	else
		return;
	m->overdrawn = m->spent = m->since = 0;
}

static void watch_cost(struct machine_source *m)
{
	u64 cpu = clock_cpu_ns() + children_cpu(m), wall = clock_mono_ns();

	cpu = MAX(cpu, m->own_cpu);
	if (m->own_wall && wall > m->own_wall) {
		double spent = (double)(cpu - m->own_cpu), passed = (double)(wall - m->own_wall);

		m->own_percent = 100 * spent / passed;
		if (m->o.budget > 0 && m->looks > 3)
			keep_budget(m, spent, passed);
	}
	m->own_cpu = cpu;
	m->own_wall = wall;
}

static void look(struct machine_source *m, bool threads)
{
	struct snapshot old = m->before;
	_cleanup_err_ struct err e = ERR_INIT;

	m->before = m->now;
	m->now = old;
	m->looks++;
	add_formulas(m);
	(void)counters_want_tasks(m->live, threads, &e);
	counters_sweep(m->live, &m->now);
	task_names_begin(&m->names);
	add_lives(m, &m->now.tasks);
	counters_ring_add(m->ring, &m->now);
	if (m->o.record)
		track_writer_add(&m->track, m->set, &m->now);
	watch_cost(m);
}

struct request {
	bool quit, changed, threads;
	size_t seek;
};

static struct request take_request(struct machine_source *m)
{
	struct request r;

	pthread_mutex_lock(&m->lock);
	r = (struct request){ m->quit, m->changed, m->threads, m->seek };
	m->changed = false;
	pthread_mutex_unlock(&m->lock);
	return r;
}

static void publish_now(struct machine_source *m, size_t seek)
{
	struct machine_frame *f;

	if (seek != SIZE_MAX) {
		publish(m, frame_at(m, seek));
		return;
	}
	f = make_frame(m, m->looks > 1 ? &m->before : NULL, &m->now, false);
	fill_past(m, f, SIZE_MAX);
	publish(m, f);
}

static int write_past(struct machine_source *m, const char *path, struct err *e)
{
	struct track_writer track = TRACK_WRITER_INIT;
	struct snapshot s = SNAPSHOT_INIT;
	size_t n = counters_ring_len(m->ring);
	int r = n > 1 ? 0 : err_set(e, ENODATA, "there is no past yet");

	for (size_t i = 0; !r && i < n; i++)
		if (!counters_ring_get(m->ring, i, &s))
			track_writer_add(&track, m->set, &s);
	if (!r)
		r = machine_file_write(path, &track, e);
	snapshot_release(&s);
	track_writer_release(&track);
	return r;
}

static bool save_past(struct machine_source *m)
{
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_free_ char *path = NULL;

	pthread_mutex_lock(&m->lock);
	path = TAKE_PTR(m->save);
	pthread_mutex_unlock(&m->lock);
	if (!path)
		return false;
	m->note_bad = write_past(m, path, &e) < 0;
	if (m->note_bad)
		snprintf(m->note, sizeof(m->note), "%s", e.what);
	else
		snprintf(m->note, sizeof(m->note), "written: %.100s; fathom top -i shows it", path);
	return true;
}

/* Until @due, unless something is requested: true then. */
static bool wait_until_due(struct machine_source *m, u64 due, struct request *ret)
{
	u64 now;

	while ((now = clock_mono_ns()) < due) {
		if (counters_wait(m->live, MIN(due - now, (u64)SLICE_MS * NSEC_PER_MSEC)))
			ret->quit = true;
		else
			*ret = take_request(m);
		if (ret->quit || ret->changed)
			return true;
	}
	*ret = take_request(m);
	return ret->quit || ret->changed;
}

static void *collect(void *arg)
{
	struct machine_source *m = arg;
	struct request r = take_request(m);
	/* the first interval is short: figures of life are no news */
	u64 due = clock_mono_ns() + MIN(m->o.interval, 200 * NSEC_PER_MSEC);

	look(m, r.threads);
	while (!r.quit) {
		if (wait_until_due(m, due, &r)) {
			if (save_past(m))
				due = clock_mono_ns();
			if (!r.quit && r.seek != SIZE_MAX)
				publish_now(m, r.seek);
			else if (!r.quit && m->now.mono + 200 * NSEC_PER_MSEC < clock_mono_ns())
				due = clock_mono_ns();
			if (clock_mono_ns() < due)
				continue;
		}
		if (r.quit)
			break;
		look(m, r.threads);
		/* while the past is shown, the present is only stored */
		if (r.seek == SIZE_MAX)
			publish_now(m, SIZE_MAX);
		due = MAX(due + m->o.interval * m->backoff,
			  clock_mono_ns() + SLICE_MS * NSEC_PER_MSEC);
	}
	return NULL;
}

/* --- from a recording ------------------------------------------------------------------------- */

static int open_recording(struct machine_source *m, struct err *e)
{
	const struct recording_blob *blob;
	int r = recording_open(m->o.input, &m->recording, e);

	if (r < 0)
		return r;
	blob = recording_info_blob(recording_info(m->recording), FEATURE_COUNTERS);
	if (!blob) {
		/* its samples are what there is to see */
		m->no_counters = true;
		m->set = &m->empty;
		counter_set_init(&m->empty);
		counter_set_add_tables(&m->empty);
		return formula_prepare(&m->empty, e);
	}
	m->replay = xcalloc(1, sizeof(*m->replay));
	r = track_reader_init(m->replay, blob->data, blob->size, e);
	if (r < 0)
		return err_prefix(e, "'%s'", m->o.input);
	m->set = &m->replay->set;
	return 0;
}

/* All snapshots go into the ring; what is broken ends it. */
static int read_recording(struct machine_source *m, struct err *e)
{
	struct snapshot next = SNAPSHOT_INIT;
	int r;

	m->ring = counters_ring_new(m->set, SIZE_MAX / 2);
	while ((r = track_reader_next(m->replay, &next, e)) > 0) {
		m->looks++;
		snapshot_copy(&m->before, &m->now);
		snapshot_copy(&m->now, &next);
		add_lives(m, &next.tasks);
		counters_ring_add(m->ring, &next);
	}
	snapshot_release(&next);
	if (m->looks < 2 && r >= 0) {
		err_set(e, ENODATA, "'%s' holds fewer than two looks at the counters", m->o.input);
		r = -ENODATA;
	}
	return MIN(r, 0);
}

/* --- life ------------------------------------------------------------------------------------- */

static int open_live(struct machine_source *m, struct err *e)
{
	int r = counters_new(&m->live, NULL, e);

	if (r < 0)
		return r;
	m->set = counters_set(m->live);
	r = top_formulas_want(m->live, e);
	if (!r && m->o.record)
		counters_want_all(m->live, false);
	if (!r)
		r = counters_want_tasks(m->live, false, e);
	m->ring = counters_ring_new(m->set, m->o.keep_bytes);
	return r;
}

int machine_source_new(struct machine_source **ret, const struct machine_opts *o, struct err *e)
{
	struct machine_source *m = xcalloc(1, sizeof(*m));
	int r;

	m->o = *o;
	m->seek = SIZE_MAX;
	m->backoff = 1;
	pthread_mutex_init(&m->lock, NULL);
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = m->fd < 0 ? err_sys(e, errno, "cannot make a descriptor") : 0;
	if (!r)
		r = o->input ? open_recording(m, e) : open_live(m, e);
	if (!r) {
		task_names_init(&m->names, !o->input);
		m->formulas = top_formulas_new(m->set);
		if (o->input && !m->no_counters)
			r = read_recording(m, e);
	}
	if (r < 0) {
		machine_source_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

int machine_source_start(struct machine_source *m, struct err *e)
{
	int r;

	if (m->no_counters) {
		publish(m, make_frame(m, NULL, &m->now, true));
		return 0;
	}
	if (!m->live) {
		publish(m, frame_at(m, 1));
		return 0;
	}
	r = pthread_create(&m->thread, NULL, collect, m);
	if (r)
		return err_sys(e, r, "cannot start a thread");
	m->runs = true;
	return 0;
}

static void stop(struct machine_source *m)
{
	if (!m->runs)
		return;
	pthread_mutex_lock(&m->lock);
	m->quit = true;
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	m->runs = false;
}

int machine_source_finish(struct machine_source *m, struct err *e)
{
	stop(m);
	if (!m->o.record)
		return 0;
	return machine_file_write(m->o.record, &m->track, e);
}

void machine_source_free(struct machine_source *m)
{
	if (!m)
		return;
	stop(m);
	track_writer_release(&m->track);
	machine_frame_free(m->ready);
	if (m->ring)
		counters_ring_free(m->ring);
	if (m->no_counters)
		counter_set_release(&m->empty);
	top_formulas_free(m->formulas);
	task_names_release(&m->names);
	map_release(&m->lives);
	snapshot_release(&m->before);
	snapshot_release(&m->now);
	counters_free(m->live);
	if (m->replay)
		track_reader_release(m->replay);
	free(m->replay);
	free(m->save);
	for (size_t i = 0; i < m->n_own; i++)
		free(m->own[i]);
	recording_free(m->recording);
	if (m->fd >= 0)
		close(m->fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

bool machine_source_has_counters(const struct machine_source *m)
{
	return !m->no_counters;
}

int machine_source_fd(const struct machine_source *m)
{
	return m->fd;
}

struct machine_frame *machine_source_take(struct machine_source *m)
{
	struct machine_frame *f;
	u64 count;
	ssize_t r = read(m->fd, &count, sizeof(count));

	(void)r;
	pthread_mutex_lock(&m->lock);
	f = TAKE_PTR(m->ready);
	pthread_mutex_unlock(&m->lock);
	return f;
}

struct machine_frame *machine_source_wait(struct machine_source *m, u64 ns)
{
	struct pollfd fds[] = { { .fd = m->fd, .events = POLLIN },
				{ .fd = stop_fd(), .events = POLLIN } };

	if (poll(fds, ARRAY_SIZE(fds), (int)(ns / NSEC_PER_MSEC)) <= 0)
		return NULL;
	return machine_source_take(m);
}

static void ask(struct machine_source *m)
{
	m->changed = true;
}

void machine_source_threads(struct machine_source *m, bool threads)
{
	pthread_mutex_lock(&m->lock);
	if (m->threads != threads) {
		m->threads = threads;
		ask(m);
	}
	pthread_mutex_unlock(&m->lock);
}

void machine_source_formulas(struct machine_source *m, const char *(*next)(size_t i))
{
	const char *text;

	pthread_mutex_lock(&m->lock);
	while (m->n_own < FRAME_OWN && (text = next(m->n_own)))
		m->own[m->n_own++] = xstrdup(text);
	pthread_mutex_unlock(&m->lock);
}

void machine_source_save(struct machine_source *m, const char *path)
{
	pthread_mutex_lock(&m->lock);
	free(m->save);
	m->save = xstrdup(path);
	ask(m);
	pthread_mutex_unlock(&m->lock);
}

void machine_source_children(struct machine_source *m, u64 cpu_ns)
{
	pthread_mutex_lock(&m->lock);
	m->children_cpu = MAX(m->children_cpu, cpu_ns);
	pthread_mutex_unlock(&m->lock);
}

void machine_source_interval(struct machine_source *m, u64 ns)
{
	pthread_mutex_lock(&m->lock);
	m->o.interval = ns;
	ask(m);
	pthread_mutex_unlock(&m->lock);
}

void machine_source_seek(struct machine_source *m, size_t at)
{
	if (!m->live) {
		if (m->ring)
			publish(m, frame_at(m, at));
		return;
	}
	pthread_mutex_lock(&m->lock);
	m->seek = at;
	ask(m);
	pthread_mutex_unlock(&m->lock);
}
