/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/recorded.h"

/* What the records say about a thread. */
struct noted {
	u32 pid, tid;
	u32 comm; /* string */
	u32 flags;
	u64 born, died; /* 0: not in the recording */
	u64 last;       /* nothing is known of what it did later */
	u64 blocked, runq;
	u64 switches, preemptions;
	u64 user, kernel; /* samples */
	/* since when it runs, and where */
	u64 in;
	u32 cpu;
	bool running;
};

enum { GENERATIONS_MOST = 64 };

struct reader {
	struct recorded *r;
	const struct recorded_opts *opts;
	struct recording *recording;
	VEC(struct noted) noted;
	struct map by_tid; /* index + 1 */
	struct map names;  /* tid -> pid << 32 | string, of tasks that ran before others */
	struct map comms;  /* tid -> string, as the records of names have it */
	u64 begin;         /* of the first wait: those that began before are cut there */
	turn_list turns;
	need_list needs;
};

bool recorded_matches(const struct recorded_opts *o, u32 pid, u32 tid, const char *comm,
		      bool kthread)
{
	bool named = !o->n_comms;

	if (o->no_kthreads && kthread)
		return false;
	if ((o->pids->len || o->tids->len) && !ranges_contain(o->pids, pid) &&
	    !ranges_contain(o->tids, tid))
		return false;
	for (size_t i = 0; i < o->n_comms; i++)
		named |= streq(comm, o->comms[i]);
	return named;
}

/* One of @pids, or started by one. */
static bool is_descendant(const struct recorded *r, const range_list *pids, u32 pid)
{
	for (int depth = 0; depth < GENERATIONS_MOST && pid; depth++) {
		if (ranges_contain(pids, pid))
			return true;
		pid = (u32)map_get(&r->parents, pid, 0);
	}
	return false;
}

static bool keeps(const struct recorded *r, const struct recorded_opts *o, u32 pid, u32 tid,
		  const char *comm, bool kthread)
{
	return recorded_matches(o, pid, tid, comm, kthread) ||
	       (o->children && o->pids->len && is_descendant(r, o->pids, pid));
}

static void restrict_waits(const struct recorded *r, const struct recorded_opts *opts,
			   wait_list *waits)
{
	const struct profile *p = &r->load.profile;
	size_t n = 0;

	for (size_t i = 0; i < waits->len; i++) {
		const struct wait *w = &waits->items[i];
		const struct profile_thread *t = &p->threads.items[w->thread];

		if (keeps(r, opts, (u32)t->pid, (u32)t->tid, profile_str(p, t->comm),
			  w->flags & OFFCPU_KTHREAD))
			waits->items[n++] = *w;
	}
	waits->len = n;
}

void recorded_restrict(struct recorded *r, const struct recorded_opts *opts, wait_list *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < r->threads.len; i++) {
		const struct offcpu_thread *t = &r->threads.items[i];
		char comm[OFFCPU_COMM + 1] = { 0 };

		memcpy(comm, t->comm, OFFCPU_COMM);
		if (!keeps(r, opts, t->pid, t->tid, comm, t->flags & OFFCPU_KTHREAD))
			continue;
		r->cgroups.items[n] = r->cgroups.items[i];
		r->threads.items[n++] = *t;
	}
	r->threads.len = r->cgroups.len = r->seen.n_threads = n;
	restrict_waits(r, opts, &r->load.waits);
	restrict_waits(r, opts, parts);
}

/* --- records ---------------------------------------------------------------------------------- */

static struct noted *noted_of(struct reader *in, u32 pid, u32 tid)
{
	u64 *at = map_at(&in->by_tid, tid);

	if (!*at) {
		vec_push(&in->noted, (struct noted){ .pid = pid, .tid = tid });
		*at = in->noted.len;
	}
	return &in->noted.items[*at - 1];
}

static u32 comm_of(struct reader *in, const struct wait_record *raw)
{
	char comm[OFFCPU_COMM + 1] = { 0 };

	memcpy(comm, raw->comm, OFFCPU_COMM);
	return profile_string(&in->r->load.profile, comm);
}

static void add_turn(struct reader *in, const struct noted *t, u64 end)
{
	if (in->opts->ran && t->running && end > t->in)
		vec_push(&in->turns, (struct cpu_turn){ t->in, end, t->cpu, t->tid });
}

/* It was off the CPU until now, and on one from its last wait up to this one. */
static void take_wait(struct reader *in, const struct sample *s, const struct wait_record *raw)
{
	struct noted *t = noted_of(in, s->pid, s->tid);
	u64 left = s->time - MIN(raw->blocked + raw->runq, s->time);

	add_turn(in, t, left);
	in->begin = MIN(in->begin, left);
	t->blocked += raw->blocked;
	t->runq += raw->runq;
	t->flags |= raw->flags & OFFCPU_KTHREAD;
	t->switches += !(raw->flags & OFFCPU_UNKNOWN_START);
	t->preemptions += !!(raw->flags & OFFCPU_PREEMPTED);
	t->running = !(raw->flags & OFFCPU_OPEN);
	t->in = t->last = s->time;
	t->cpu = s->cpu;
	if (raw->event == WAIT_EVENT_BLOCKED)
		t->comm = comm_of(in, raw);
}

/* Of a wait for a CPU it is reported who had it before. */
static void take_need(struct reader *in, const struct sample *s, const struct wait_record *raw)
{
	const struct recorded_opts *o = in->opts;

	if (!o->ran || raw->flags & OFFCPU_OPEN || raw->runq > s->time)
		return;
	map_put(&in->names, raw->tid, (u64)raw->pid << 32 | comm_of(in, raw));
	if (ranges_contain(o->pids, s->pid) || ranges_contain(o->tids, s->tid) ||
	    (!o->pids->len && !o->tids->len))
		vec_push(&in->needs,
			 (struct cpu_need){ s->time - raw->runq, s->time, s->cpu, raw->tid });
}

static bool is_cpu_event(const struct recording *r, u32 index)
{
	const struct recording_event *ev = recording_event(r, index);

	if (!ev)
		return false;
	if (ev->attr.type == PERF_TYPE_SOFTWARE)
		return ev->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		       ev->attr.config == PERF_COUNT_SW_TASK_CLOCK;
	return ev->attr.type == PERF_TYPE_HARDWARE;
}

static void take_sample(struct reader *in, const struct record *rec)
{
	const struct sample *s = rec->sample;
	struct wait_record raw;

	if (waits_load_raw(s, &raw)) {
		if (raw.event == WAIT_EVENT_BLOCKED ||
		    (raw.event == WAIT_EVENT_RUNQ && !raw.blocked))
			take_wait(in, s, &raw);
		if (raw.event == WAIT_EVENT_RUNQ)
			take_need(in, s, &raw);
	} else if (s->tid && is_cpu_event(in->recording, rec->event)) {
		struct noted *t = noted_of(in, s->pid, s->tid);

		*(record_is_kernel_mode(rec) ? &t->kernel : &t->user) += 1;
		t->last = MAX(t->last, s->time);
	}
}

static void take_task(struct reader *in, const struct record *rec)
{
	struct record_task task;
	struct noted *t;

	/* those without a time were there before */
	if (!rec->time || record_task(rec, &task) < 0)
		return;
	if (rec->type == PERF_RECORD_EXIT) {
		t = noted_of(in, task.pid, task.tid);
		add_turn(in, t, rec->time);
		t->running = false;
		t->died = t->last = rec->time;
		return;
	}
	if (task.pid != task.ppid)
		map_put(&in->r->parents, task.pid, task.ppid);
	map_put(&in->comms, task.tid, map_get(&in->comms, task.ptid, 0));
	/* its previous owner is gone */
	map_del(&in->by_tid, task.tid);
	t = noted_of(in, task.pid, task.tid);
	t->born = t->last = rec->time;
}

static void take_comm(struct reader *in, const struct record *rec)
{
	struct record_comm c;

	if (record_comm(rec, &c) == 0)
		map_put(&in->comms, c.tid, profile_string(&in->r->load.profile, c.comm));
}

static void on_record(void *ctx, const struct record *rec)
{
	if (rec->type == PERF_RECORD_SAMPLE)
		take_sample(ctx, rec);
	else if (rec->type == PERF_RECORD_FORK || rec->type == PERF_RECORD_EXIT)
		take_task(ctx, rec);
	else if (rec->type == PERF_RECORD_COMM)
		take_comm(ctx, rec);
}

/* --- threads ---------------------------------------------------------------------------------- */

static const struct noted *noted_about(const struct reader *in, u32 tid)
{
	u64 at = map_get(&in->by_tid, tid, 0);

	return at ? &in->noted.items[at - 1] : NULL;
}

static struct offcpu_thread *new_thread(struct recorded *r, u32 pid, u32 tid, u32 comm)
{
	struct offcpu_thread *t = vec_new(&r->threads);
	const char *name = profile_str(&r->load.profile, comm);

	t->pid = pid;
	t->tid = tid;
	memcpy(t->comm, name, MIN(strlen(name), sizeof(t->comm)));
	return t;
}

/* Where the kernel's ticks were not recorded, or there was none, samples say the same. */
static void split_by_samples(struct reader *in, struct offcpu_thread *t, bool counted)
{
	const struct noted *noted = noted_about(in, t->tid);

	if (t->utime + t->stime || !noted)
		return;
	t->utime = noted->user;
	t->stime = noted->kernel;
	if (!counted)
		in->r->how |= RECORDED_SPLIT_SAMPLED;
}

static void take_account(struct reader *in, const struct profile_account *a)
{
	struct offcpu_thread *t = new_thread(in->r, (u32)a->pid, (u32)a->tid, a->comm);

	t->flags = a->flags;
	t->begin = a->begin;
	t->end = a->end;
	t->oncpu = a->oncpu;
	t->blocked = a->blocked;
	t->runq = a->runq;
	t->unknown = a->unknown;
	t->utime = a->utime;
	t->stime = a->stime;
	t->switches = a->switches;
	t->preemptions = a->preemptions;
	t->minor = a->minor;
	t->major = a->major;
	split_by_samples(in, t, a->counted);
	vec_push(&in->r->cgroups, a->cgroup);
	if (!a->counted)
		in->r->how |= RECORDED_NO_FAULTS | RECORDED_NO_CGROUPS;
}

static void take_accounts(struct reader *in)
{
	struct profile *p = &in->r->load.profile;
	struct observed *seen = &in->r->seen;

	seen->begin = UINT64_MAX;
	vec_each(a, &p->accounts) {
		seen->begin = MIN(seen->begin, a->begin);
		seen->end = MAX(seen->end, a->end);
		if (in->opts->all ||
		    recorded_matches(in->opts, (u32)a->pid, (u32)a->tid, profile_str(p, a->comm),
				     a->flags & OFFCPU_KTHREAD))
			take_account(in, a);
	}
}

/*
 * Without accounts (the file was cut short): between its waits a thread had a CPU, from the start
 * or its birth up to the last that is heard of it. What it did then is not known.
 */
static void derive_thread(struct reader *in, const struct noted *noted)
{
	const struct observed *seen = &in->r->seen;
	u64 begin = MAX(noted->born, seen->begin);
	u64 end = noted->died ? MIN(noted->died, seen->end) : seen->end;
	u64 off = noted->blocked + noted->runq, known;
	struct offcpu_thread *t;

	if (begin >= end || (!off && !noted->user && !noted->kernel))
		return;
	known = MIN(MAX(noted->last, begin), end) - begin;
	t = new_thread(in->r, noted->pid, noted->tid, noted->comm);
	t->flags = noted->flags;
	t->begin = begin;
	t->end = end;
	t->blocked = noted->blocked;
	t->runq = noted->runq;
	t->oncpu = known - MIN(known, off);
	t->unknown = end - begin - MIN(end - begin, t->oncpu + off);
	t->switches = noted->switches;
	t->preemptions = noted->preemptions;
	split_by_samples(in, t, false);
	vec_push(&in->r->cgroups, profile_string(&in->r->load.profile, "[not recorded]"));
}

static void derive_threads(struct reader *in)
{
	struct profile *p = &in->r->load.profile;

	in->r->how |= RECORDED_NO_ACCOUNTS | RECORDED_NO_FAULTS | RECORDED_NO_CGROUPS;
	in->r->seen.begin = MIN(in->begin, in->r->load.begin);
	in->r->seen.end = in->r->load.end;
	vec_each(t, &in->noted) {
		if (!t->comm)
			t->comm = (u32)map_get(&in->comms, t->tid, 0);
		if (in->opts->all ||
		    recorded_matches(in->opts, t->pid, t->tid, profile_str(p, t->comm),
				     t->flags & OFFCPU_KTHREAD))
			derive_thread(in, t);
	}
}

/* --- who had the CPU ---------------------------------------------------------------------------
 */

static void name_ran(struct reader *in, struct ran_instead *ran)
{
	const struct noted *t = noted_about(in, ran->tid);
	u64 name = map_get(&in->names, ran->tid, 0);

	ran->pid = t ? t->pid : (u32)(name >> 32);
	ran->comm = name ? (u32)name : t ? t->comm : 0;
	vec_each(a, &in->r->load.profile.accounts) {
		if ((u32)a->tid == ran->tid)
			ran->comm = a->comm;
	}
}

/* Whose waits are recorded has turns; of others it is only known that they were the last. */
static void share_cpus(struct reader *in)
{
	u64 end = in->r->seen.end;

	if (in->r->load.profile.wait_period)
		return;
	vec_each(t, &in->noted)
		add_turn(in, t, t->died ? t->died : end);
	vec_each(n, &in->needs) {
		if (n->last && noted_about(in, n->last))
			n->last = 0;
		in->r->lacked += n->to - n->from;
	}
	in->r->guessed = turns_share(&in->turns, &in->needs, &in->r->ran);
	vec_each(ran, &in->r->ran)
		name_ran(in, ran);
}

/* --- all ---------------------------------------------------------------------------------------
 */

/* The only one of them that was not started by another. */
static u32 find_root(const struct reader *in)
{
	u32 root = 0;

	vec_each(t, &in->r->threads) {
		if (map_find(&in->r->parents, t->pid) || t->pid == root)
			continue;
		if (root)
			return 0;
		root = t->pid;
	}
	return root;
}

static bool has_event(const struct recording *r, const char *name)
{
	for (u32 i = 0; i < recording_n_events(r); i++) {
		if (streq(recording_event(r, i)->name, name))
			return true;
	}
	return false;
}

static int load_waits(struct recorded *r, struct recording *recording,
		      const struct recorded_opts *opts, struct err *e)
{
	struct reader in = { .r = r, .opts = opts, .recording = recording, .begin = UINT64_MAX };
	static const range_list everybody;
	const struct waits_load_opts load = { .pids = opts->all ? &everybody : opts->pids,
					      .tids = opts->all ? &everybody : opts->tids,
					      .comms = opts->comms,
					      .n_comms = opts->all ? 0 : opts->n_comms,
					      .no_kthreads = opts->no_kthreads && !opts->all,
					      .by_thread = true,
					      .tap = on_record,
					      .tap_ctx = &in };
	int rc = waits_load_from(&r->load, recording, &load, e);

	if (rc >= 0) {
		if (r->load.profile.accounts.len)
			take_accounts(&in);
		else
			derive_threads(&in);
		share_cpus(&in);
		r->root = find_root(&in);
		r->how |= has_event(recording, "wakeup-time") ? 0 : RECORDED_NO_WAKERS;
		r->how |= has_event(recording, "chain-time") ? 0 : RECORDED_NO_CHAINS;
		r->seen.waits_sampled = r->load.profile.wait_period;
	}
	vec_release(&in.noted);
	vec_release(&in.turns);
	vec_release(&in.needs);
	map_release(&in.by_tid);
	map_release(&in.names);
	map_release(&in.comms);
	return rc;
}

static int nothing_there(const struct recording *r, struct err *e)
{
	const struct recording_fault *f = recording_fault(r);

	err_set(e, ENODATA, "'%s' contains no waits%s%s", recording_name(r), f->reason ? ": " : "",
		f->reason ? f->reason : "");
	err_hint(e, "make one with: fathom record --chains; perf sched record will do, without "
		    "stacks");
	return -ENODATA;
}

int recorded_load_from(struct recorded *r, struct recording *recording,
		       const struct recorded_opts *opts, struct err *e)
{
	int rc;

	*r = (struct recorded){ 0 };
	if (has_event(recording, OFFCPU_EVENT))
		rc = load_waits(r, recording, opts, e);
	else if (has_event(recording, "sched:sched_switch"))
		rc = recorded_load_switches(r, recording, opts, e);
	else
		rc = nothing_there(recording, e);
	r->seen.profile = &r->load.profile;
	r->seen.waits = &r->load.waits;
	r->seen.threads = r->threads.items;
	r->seen.n_threads = r->threads.len;
	r->seen.cgroups = r->cgroups.items;
	r->seen.no_wakers = r->how & RECORDED_NO_WAKERS;
	r->seen.no_chains = r->how & RECORDED_NO_CHAINS;
	return rc;
}

int recorded_load(struct recorded *r, const char *path, const struct recorded_opts *opts,
		  struct err *e)
{
	struct recording *recording = NULL;
	int rc = recording_open(path, &recording, e);

	*r = (struct recorded){ 0 };
	if (rc < 0)
		return rc;
	rc = recorded_load_from(r, recording, opts, e);
	recording_free(recording);
	return rc;
}

void recorded_release(struct recorded *r)
{
	waits_load_release(&r->load);
	sched_names_release(&r->names);
	vec_release(&r->threads);
	vec_release(&r->cgroups);
	vec_release(&r->ran);
	map_release(&r->parents);
}
