/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Off-CPU time: waits and their wakers, in the same file as the samples. */
#include "capture/option_text.h"
#include "recorder/state.h"

#include <time.h>

#include "waits/names.h"
#include "capture/synth.h"
#include "host/cgroup.h"
#include "profile/accounts.h"

enum { CGROUPS_MOST = 1 << 16 };       /* whose names are tried */
enum { SWEEP_NS = 100 * 1000 * 1000 }; /* the ring holds what a busy machine does meanwhile */

static int check(const struct recorder *r, struct err *e)
{
	if (r->o.session.overwrite)
		return err_set(e, EINVAL, "a flight recorder cannot keep waits");
	if (r->o.session.clock_id != CLOCK_MONOTONIC)
		return err_set(e, EINVAL,
			       "waits cannot be recorded with clock '%s': use -k monotonic",
			       option_clock_name(r->o.session.clock_id));
	return 0;
}

/* Only the program is watched, or it is one of those that are. */
static int add_program(struct recorder *r, struct err *e)
{
	if (!r->o.launch || !target_has_tid(r->o.target, r->o.launch->pid))
		return 0;
	return waits_engine_add_pid(waits_session_engine(r->waits.session), (u32)r->o.launch->pid,
				    e);
}

int recorder_waits_open(struct recorder *r, struct err *e)
{
	struct waits_session_opts opts;
	int rc;

	if (!r->o.waits)
		return 0;
	opts = *r->o.waits;
	opts.engine.python = &r->python;
	if (opts.wakers || opts.chains)
		waits_find_senders(&opts.engine);
	rc = check(r, e);
	if (rc >= 0)
		rc = waits_session_new(&r->waits.session, &opts, e);
	if (rc >= 0)
		rc = add_program(r, e);
	if (!r->o.session.sweep_ns)
		r->o.session.sweep_ns = SWEEP_NS;
	return MIN(rc, 0);
}

void recorder_waits_release(struct recorder *r)
{
	waits_session_free(r->waits.session);
	map_release(&r->waits.known);
	map_release(&r->waits.cgroups);
	buf_release(&r->waits.side);
}

int recorder_waits_add_events(struct recorder *r, struct err *e)
{
	struct writer_event events[WAIT_EVENTS];
	size_t n = r->waits.session ? waits_session_events(r->waits.session, events) : 0;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = recording_writer_event(r->writer, &events[i], e);
	/* a new file has no thread yet */
	map_clear(&r->waits.known);
	map_clear(&r->waits.cgroups);
	if (r->waits.session)
		waits_session_new_file(r->waits.session);
	return rc;
}

int recorder_waits_start(struct recorder *r, struct err *e)
{
	int rc;

	if (!r->waits.session)
		return 0;
	pthread_mutex_lock(&r->kernel.lock);
	rc = waits_session_start(r->waits.session, e);
	pthread_mutex_unlock(&r->kernel.lock);
	return rc;
}

/* --- wakers that were not requested ---------------------------------------------------------- */

/* Of a process that is watched, the kernel tells the mappings. */
void recorder_waits_note_process(struct recorder *r, u32 pid)
{
	/* of the whole machine all mappings are in the file */
	if (r->waits.session && !target_is_whole(r->o.target))
		map_put(&r->waits.known, pid, 1);
}

static int on_side(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	buf_add(&r->waits.side, bytes, n);
	return 0;
}

static bool is_target(const struct recorder *r, u32 pid)
{
	vec_each(p, &r->o.target->processes) {
		if ((u32)*p == pid)
			return true;
	}
	return r->o.launch && (u32)r->o.launch->pid == pid;
}

/* A waker may be any process: its mappings are read from /proc when it is first seen. */
static void learn_process(struct recorder *r, u32 pid)
{
	struct synth s = {
		.sample_type = r->sources.items[0].attr.sample_type,
		.build_ids = true,
		.sink = on_side,
		.ctx = r,
	};

	if (!pid || map_find(&r->waits.known, pid))
		return;
	map_put(&r->waits.known, pid, 1);
	if (!is_target(r, pid))
		(void)synth_process(&s, (pid_t)pid, NULL);
}

/* Samples of the session begin with identifier, ip, pid and tid. */
static void learn_wakers(struct recorder *r, const void *bytes, size_t n)
{
	const u8 *p = bytes, *end = p + n;
	u32 pid;

	while ((size_t)(end - p) >= sizeof(struct perf_event_header) + 24) {
		const struct perf_event_header *h = (const void *)p;

		if (h->size < sizeof(*h) || h->size > end - p)
			break;
		memcpy(&pid, p + sizeof(*h) + 16, sizeof(pid));
		learn_process(r, pid);
		p += h->size;
	}
}

/* --- accounts -----------------------------------------------------------------------------------
 */

/* A group has its name from a member that is still there; otherwise it keeps its number. */
static void add_cgroup(struct recorder *r, struct buf *out, const struct offcpu_thread *t)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	u64 *named;

	if (r->waits.cgroups.len >= CGROUPS_MOST && !map_find(&r->waits.cgroups, t->cgroup))
		return;
	named = map_at(&r->waits.cgroups, t->cgroup);
	if (*named || cgroup_of_pid(t->pid, &path) < 0)
		return;
	*named = 1;
	accounts_add_cgroup(out, t->cgroup, buf_str(&path));
}

static void add_account(struct buf *out, const struct offcpu_thread *t)
{
	const struct profile_account a = {
		.pid = (s32)t->pid,
		.tid = (s32)t->tid,
		.flags = t->flags,
		.begin = t->begin,
		.end = MAX(t->end, t->begin),
		.oncpu = t->oncpu,
		.blocked = t->blocked,
		.runq = t->runq,
		.unknown = t->unknown,
		.utime = t->utime,
		.stime = t->stime,
		.switches = t->switches,
		.preemptions = t->preemptions,
		.minor = t->minor,
		.major = t->major,
	};
	char comm[OFFCPU_COMM + 1] = { 0 };

	memcpy(comm, t->comm, OFFCPU_COMM);
	accounts_add(out, &a, comm, t->cgroup);
}

static void begin_accounts(const struct recorder *r, struct buf *out)
{
	buf_reset(out);
	accounts_begin(out, r->o.waits->engine.period, r->o.waits->engine.min_ns);
}

static int add_piece(struct recorder *r, const struct buf *bytes, struct err *e)
{
	_cleanup_buf_ struct buf record = BUF_INIT;
	int rc = recording_writer_piece(&record, FEATURE_ACCOUNTS, bytes->data, bytes->len);

	return rc < 0 ? rc : recorder_file_add(r, record.data, record.len, e);
}

/* Threads that ended go to the file at once: a day of them does not fit in memory. */
static int write_accounts(struct recorder *r, struct err *e)
{
	enum { PIECE = 32 << 10 };
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	const struct offcpu_thread *t;
	size_t n = 0;
	int rc = 0;

	t = waits_session_threads(r->waits.session, &n);
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		if (!bytes.len)
			begin_accounts(r, &bytes);
		add_cgroup(r, &bytes, &t[i]);
		add_account(&bytes, &t[i]);
		if (bytes.len < PIECE && i + 1 < n)
			continue;
		rc = add_piece(r, &bytes, e);
		buf_reset(&bytes);
	}
	waits_session_forget_threads(r->waits.session);
	return rc;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int on_samples(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;
	int rc = 0;

	if (!target_is_whole(r->o.target))
		learn_wakers(r, bytes, n);
	if (r->waits.side.len)
		rc = recorder_file_add(r, r->waits.side.data, r->waits.side.len, r->e);
	buf_reset(&r->waits.side);
	return rc < 0 ? rc : recorder_file_add(r, bytes, n, r->e);
}

int recorder_waits_fd(const struct recorder *r)
{
	return r->waits.session ? waits_session_fd(r->waits.session) : -1;
}

void recorder_waits_take(struct recorder *r)
{
	pthread_mutex_lock(&r->kernel.lock);
	waits_session_take(r->waits.session);
	pthread_mutex_unlock(&r->kernel.lock);
}

int recorder_waits_collect(struct recorder *r, struct err *e)
{
	int rc;

	if (!r->waits.session)
		return 0;
	r->e = e;
	pthread_mutex_lock(&r->kernel.lock);
	rc = waits_session_read(r->waits.session, on_samples, r);
	if (rc >= 0)
		rc = write_accounts(r, e);
	pthread_mutex_unlock(&r->kernel.lock);
	if (rc < 0 && e && !e->what)
		err_sys(e, rc, "cannot read the waits");
	return MIN(rc, 0);
}

int recorder_waits_stop(struct recorder *r, struct err *e)
{
	int rc;

	if (!r->waits.session)
		return 0;
	if (r->o.launch && launch_ended(r->o.launch))
		waits_engine_settle(waits_session_engine(r->waits.session));
	pthread_mutex_lock(&r->kernel.lock);
	rc = waits_session_stop(r->waits.session, e);
	pthread_mutex_unlock(&r->kernel.lock);
	return rc;
}

/* --- files ------------------------------------------------------------------------------------ */

int recorder_waits_part(struct recorder *r, struct err *e)
{
	int rc;

	if (!r->waits.session)
		return 0;
	pthread_mutex_lock(&r->kernel.lock);
	rc = waits_session_part(r->waits.session, e);
	pthread_mutex_unlock(&r->kernel.lock);
	return rc < 0 ? rc : recorder_waits_collect(r, e);
}

void recorder_waits_add_accounts(struct recorder *r)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	if (!r->waits.session)
		return;
	begin_accounts(r, &bytes);
	(void)recording_writer_feature(r->writer, FEATURE_ACCOUNTS, bytes.data, bytes.len, NULL);
}

void recorder_waits_facts(struct recorder *r, struct recorder_summary *s)
{
	struct waits_stats stats;

	if (!r->waits.session)
		return;
	waits_session_stats(r->waits.session, &stats);
	s->waits = waits_session_samples(r->waits.session);
	s->waits_lost = stats.counts[OFFCPU_COUNT_LOST] + stats.counts[OFFCPU_COUNT_BACKWARD];
	s->waits_lost_ns = stats.counts[OFFCPU_COUNT_LOST_NS];
	s->waits_stackless = stats.counts[OFFCPU_COUNT_STACKS_FULL] + stats.stacks_dropped;
	s->lost += s->waits_lost;
	r->health.rescues_lost += stats.rescues_lost;
	s->recognised += stats.recognised;
	s->checked += stats.checked;
	s->misrecognised += stats.misrecognised;
}
