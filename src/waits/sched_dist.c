/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sched_dist.h"

#include "recording/recording.h"

/* Times are 0 where they are not known. */
struct task_dist {
	u64 ready; /* wants a CPU since */
	u64 in, out;
	u64 ran; /* ns of run time since it left */
	u32 cpu; /* whose queue it is on, or was last */
	bool waits;
};

struct key_hist {
	struct sched_hist_key key;
	struct sched_hist hist;
};

struct sched_dist {
	struct sched_names *names;
	const struct sched_filter *filter;
	struct sched_dist_opts opts;
	VEC(struct task_dist) tasks;
	struct sched_tids by_tid; /* -> index in tasks + 1 */
	VEC(struct key_hist) hists;
	struct map by_key; /* id or name -> index in hists + 1 */
	u64 due;           /* the interval's end; 0: none has begun */
	u64 tick;          /* RUNQLEN: the next look; 0: none yet */
	VEC(u32) waiting;  /* RUNQLEN: tasks on the queue of each CPU */
	u64 full, inferred, unknown;
};

struct sched_dist *sched_dist_new(struct sched_names *names, const struct sched_filter *filter,
				  const struct sched_dist_opts *opts)
{
	struct sched_dist *d = xcalloc(1, sizeof(*d));

	d->names = names;
	d->filter = filter;
	d->opts = *opts;
	return d;
}

void sched_dist_free(struct sched_dist *d)
{
	if (!d)
		return;
	vec_release(&d->tasks);
	sched_tids_release(&d->by_tid);
	vec_release(&d->hists);
	map_release(&d->by_key);
	vec_release(&d->waiting);
	free(d);
}

u64 sched_dist_full(const struct sched_dist *d)
{
	return d->full;
}

u64 sched_dist_inferred(const struct sched_dist *d)
{
	return d->inferred;
}

u64 sched_dist_unknown(const struct sched_dist *d)
{
	return d->unknown;
}

static struct task_dist *task_of(struct sched_dist *d, u32 tid, u32 cpu)
{
	u32 *at = sched_tids_at(&d->by_tid, tid);

	if (!*at) {
		vec_new(&d->tasks)->cpu = cpu;
		*at = (u32)d->tasks.len;
	}
	return &d->tasks.items[*at - 1];
}

/* --- histograms ------------------------------------------------------------------------------- */

static u64 key_of(struct sched_dist *d, u32 tid, u32 cpu, struct sched_hist_key *ret)
{
	u32 pid = sched_pid(d->names, tid);
	const char *comm = NULL;

	*ret = (struct sched_hist_key){ 0 };
	switch (d->opts.by) {
	case SCHED_HIST_CPU: ret->id = cpu; break;
	case SCHED_HIST_PID:
		ret->id = pid ? pid : tid;
		comm = sched_comm(d->names, (u32)ret->id);
		break;
	case SCHED_HIST_TID:
		ret->id = tid;
		comm = sched_comm(d->names, tid);
		break;
	case SCHED_HIST_COMM: comm = sched_comm(d->names, tid); break;
	default: break;
	}
	if (comm)
		snprintf(ret->comm, sizeof(ret->comm), "%s", comm);
	return d->opts.by == SCHED_HIST_COMM ? intern_str(&d->names->strings, ret->comm) : ret->id;
}

static struct sched_hist *hist_of(struct sched_dist *d, u32 tid, u32 cpu)
{
	struct sched_hist_key key;
	u64 *at = map_at(&d->by_key, key_of(d, tid, cpu, &key));

	if (!*at) {
		if (d->hists.len >= SCHED_HIST_KEYS) {
			d->full++;
			return NULL;
		}
		vec_new(&d->hists)->key = key;
		*at = d->hists.len;
	}
	return &d->hists.items[*at - 1].hist;
}

static void add(struct sched_dist *d, u32 tid, u32 cpu, u64 ns)
{
	struct sched_hist *h;
	u64 v = ns / d->opts.unit;

	if (!tid || !sched_filter_task(d->filter, d->names, tid))
		return;
	h = hist_of(d, tid, cpu);
	if (!h)
		return;
	/* slot 0 is below one unit, slot n from 2^(n-1) on */
	h->slots[v ? MIN(64u - (u32)__builtin_clzll(v), SCHED_HIST_SLOTS - 1u) : 0]++;
	h->count++;
	h->total += ns;
}

int sched_dist_take(struct sched_dist *d, waits_hist_fn fn, void *ctx)
{
	int rc = 0;

	vec_each(h, &d->hists)
		rc = rc < 0 ? rc : fn(ctx, &h->key, &h->hist);
	vec_clear(&d->hists);
	map_release(&d->by_key);
	d->by_key = (struct map)MAP_INIT;
	return rc;
}

/* --- times ------------------------------------------------------------------------------------ */

static void arrived(struct sched_dist *d, u32 tid, u32 cpu, u64 now)
{
	struct task_dist *t = task_of(d, tid, cpu);

	if (d->opts.what == SCHED_HIST_RUNQLAT && t->ready && now >= t->ready)
		add(d, tid, cpu, now - t->ready);
	if (d->opts.what == SCHED_HIST_OFFCPU && t->out && now >= t->out)
		add(d, tid, cpu, now - t->out);
	t->ready = t->out = t->ran = 0;
	t->in = now;
}

static void left(struct sched_dist *d, const struct sched_event *ev)
{
	struct task_dist *t = task_of(d, ev->prev, ev->cpu);
	u64 ran = t->ran;

	if (!t->in && t->out && ran && ev->time > ran && ev->time - ran >= t->out) {
		d->inferred++;
		arrived(d, ev->prev, ev->cpu, ev->time - ran);
	}
	if (d->opts.what == SCHED_HIST_ONCPU && t->in && ev->time >= t->in)
		add(d, ev->prev, ev->cpu, ev->time - t->in);
	d->unknown += !t->in && ev->prev;
	t->in = t->ran = 0;
	t->out = ev->time;
	t->ready = ev->state & SCHED_STATE_AWAY ? 0 : ev->time;
}

static void woken(struct sched_dist *d, const struct sched_event *ev)
{
	struct task_dist *t = task_of(d, ev->next, ev->cpu);

	if (!t->ready && !t->in)
		t->ready = ev->time;
}

/* The moment at which it is on the run queue is better, where there is one. */
static bool is_wakeup(const struct sched_dist *d, u8 type)
{
	return type == SCHED_WAKEUP || type == SCHED_WAKEUP_NEW ||
	       (type == SCHED_WAKING && !d->names->has[SCHED_WAKEUP]);
}

static void take_times(struct sched_dist *d, const struct sched_event *ev)
{
	if (ev->type == SCHED_SWITCH) {
		arrived(d, ev->next, ev->cpu, ev->time);
		left(d, ev);
	} else if (ev->type == SCHED_RUNTIME) {
		task_of(d, ev->next, ev->cpu)->ran += ev->runtime;
	} else if (is_wakeup(d, ev->type)) {
		woken(d, ev);
	}
}

/* --- lengths of queues ------------------------------------------------------------------------ */

static u32 *waiting_at(struct sched_dist *d, u32 cpu)
{
	while (d->waiting.len <= cpu)
		vec_push(&d->waiting, 0);
	return &d->waiting.items[cpu];
}

static void set_waiting(struct sched_dist *d, u32 tid, u32 cpu, bool waits)
{
	struct task_dist *t;

	if (!tid || cpu >= SCHED_CPUS_MOST)
		return;
	t = task_of(d, tid, cpu);
	if (t->waits)
		--*waiting_at(d, t->cpu);
	if (waits)
		++*waiting_at(d, cpu);
	t->waits = waits;
	t->cpu = cpu;
}

static void take_queues(struct sched_dist *d, const struct sched_event *ev)
{
	struct task_dist *t;

	(void)waiting_at(d, ev->cpu);
	if (ev->type == SCHED_SWITCH) {
		set_waiting(d, ev->next, ev->cpu, false);
		set_waiting(d, ev->prev, ev->cpu, !(ev->state & SCHED_STATE_AWAY));
		if (ev->next)
			task_of(d, ev->next, ev->cpu)->in = ev->time;
		if (ev->prev)
			task_of(d, ev->prev, ev->cpu)->in = 0;
	} else if (ev->type == SCHED_MIGRATE) {
		t = task_of(d, ev->next, ev->to);
		set_waiting(d, ev->next, ev->to, t->waits);
	} else if (is_wakeup(d, ev->type)) {
		t = task_of(d, ev->next, ev->cpu);
		if (!t->in)
			set_waiting(d, ev->next, t->cpu, true);
	}
}

/* What the queues are until @now, as many looks as fall into that time. */
static void look(struct sched_dist *d, u64 now)
{
	u64 step = NSEC_PER_SEC / (d->opts.frequency ? d->opts.frequency : 99), n;

	if (!d->tick)
		d->tick = now + step;
	if (now < d->tick)
		return;
	n = (now - d->tick) / step + 1;
	d->tick += n * step;
	for (u32 cpu = 0; cpu < d->waiting.len; cpu++) {
		u32 length = d->waiting.items[cpu];
		struct sched_hist *h = hist_of(d, 0, cpu);

		if (!h)
			continue;
		h->slots[MIN(length, SCHED_HIST_SLOTS - 1u)] += n;
		h->count += n;
		h->total += n * length;
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Intervals in which nothing happened are passed over. */
static int pass_time(struct sched_dist *d, u64 now)
{
	u64 step = d->opts.interval;
	int rc = 0;

	if (!step)
		return 0;
	if (!d->due)
		d->due = now + step;
	if (now < d->due)
		return 0;
	rc = d->opts.on_interval(d->opts.ctx);
	d->due += ((now - d->due) / step + 1) * step;
	return rc;
}

static int on_events(void *ctx, const struct sched_event *ev, size_t n)
{
	struct sched_dist *d = ctx;
	int rc = 0;

	for (const struct sched_event *end = ev + n; !rc && ev < end; ev++) {
		if (ev->type == SCHED_BORN) {
			/* its previous owner is gone */
			set_waiting(d, ev->next, ev->cpu, false);
			*sched_tids_at(&d->by_tid, ev->next) = 0;
			continue;
		}
		if (d->opts.what == SCHED_HIST_RUNQLEN)
			look(d, ev->time);
		rc = pass_time(d, ev->time);
		if (rc)
			break;
		if (d->opts.what == SCHED_HIST_RUNQLEN)
			take_queues(d, ev);
		else
			take_times(d, ev);
	}
	return rc;
}

/* Waits that were measured while recording. */
struct waits {
	struct sched_dist *dist;
	u32 event;
};

static int add_wait(struct sched_dist *d, const struct sample *s)
{
	struct sched_names *n = d->names;
	u64 from, to;
	int rc;

	n->first = n->first ? MIN(n->first, s->time) : s->time;
	n->last = MAX(n->last, s->time);
	n->events++;
	sched_filter_window(d->filter, n, &from, &to);
	if (s->time < from || s->time > to)
		return 0;
	rc = pass_time(d, s->time);
	*sched_tids_at(&n->pids, s->tid) = s->pid;
	add(d, s->tid, s->cpu, s->period);
	return rc;
}

static int on_record(const struct record *rec, void *ctx)
{
	const struct waits *w = ctx;
	struct sched_names *n = w->dist->names;
	struct record_comm c;

	if (rec->sample)
		return rec->event == w->event ? add_wait(w->dist, rec->sample) : 0;
	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &c) == 0) {
		*sched_tids_at(&n->by_tid, c.tid) = intern_str(&n->strings, c.comm);
		*sched_tids_at(&n->pids, c.tid) = c.pid;
	}
	return 0;
}

static u32 find_event(const struct recording *r, const char *name)
{
	u32 n = (u32)recording_n_events(r);

	for (u32 i = 0; i < n; i++) {
		if (streq(recording_event(r, i)->name, name))
			return i;
	}
	return RECORD_NO_EVENT;
}

static bool has_event(const struct recording *r, const char *name)
{
	return find_event(r, name) != RECORD_NO_EVENT;
}

static bool has_wakeups(const struct recording *r)
{
	return has_event(r, "sched:sched_waking") || has_event(r, "sched:sched_wakeup");
}

static int read_recording(struct sched_dist *d, struct recording *r, struct err *e)
{
	struct sched_filter filter = *d->filter;
	u32 waits = find_event(r, "runqueue-time");
	int rc;

	if (d->opts.what == SCHED_HIST_RUNQLAT && waits != RECORD_NO_EVENT &&
	    !has_event(r, "sched:sched_switch")) {
		rc = recording_replay(r, on_record, &(struct waits){ d, waits }, e);
		d->names->lost = recording_counts(r)->lost;
		return rc;
	}
	if (d->opts.what == SCHED_HIST_RUNQLEN && has_event(r, "sched:sched_switch") &&
	    !(has_wakeups(r) && has_event(r, "sched:sched_migrate_task"))) {
		err_set(e, ENODATA, "'%s' does not contain run queue membership",
			recording_name(r));
		err_hint(e, "record sched:sched_switch, sched:sched_waking and "
			    "sched:sched_migrate_task, as 'perf sched record' does");
		return -ENODATA;
	}
	if (d->opts.what == SCHED_HIST_RUNQLEN)
		filter.types = ~(1u << SCHED_RUNTIME);
	return sched_replay(r, &filter, d->names, on_events, d, e);
}

int sched_dist_read(struct sched_dist *d, const char *path, struct err *e)
{
	struct recording *r;
	int rc = recording_open(path, &r, e);

	if (rc < 0)
		return rc;
	rc = read_recording(d, r, e);
	if (rc >= 0 && d->opts.what == SCHED_HIST_RUNQLEN)
		look(d, d->names->last);
	recording_free(r);
	return rc;
}
