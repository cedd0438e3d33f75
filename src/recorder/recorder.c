/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/state.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/stop.h"

#define PREBUILD_AFTER_NS (10 * NSEC_PER_SEC)
#define DELAY_STEP_NS     (20 * NSEC_PER_MSEC)
enum { HURRY_NICE = -20 };

void recorder_new(struct recorder **ret, const struct recorder_opts *opts)
{
	struct recorder *r = xcalloc(1, sizeof(*r));

	r->o = *opts;
	r->kernel.stop_fd = -1;
	pthread_mutex_init(&r->kernel.lock, NULL);
	python_names_init(&r->python);
	*ret = r;
}

static void kernel_release(struct kernel_stacks *k)
{
	sampler_free(k->sampler);
	cleanup_close(&k->stop_fd);
	buf_release(&k->out);
	map_release(&k->seen);
	map_release(&k->primed);
	err_release(&k->why);
	pthread_mutex_destroy(&k->lock);
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	bool whole = recorder_kernel_stop(r);

	recorder_prebuild_stop(&r->prebuild);
	recorder_waits_release(r);
	recorder_counters_free(r->counters);
	recorder_marks_release(r);
	recording_writer_free(r->writer);
	session_free(r->session);
	recorder_copies_release(&r->copies);
	health_release(&r->health);
	recorder_past_release(&r->past);
	buf_release(&r->records);
	buf_release(&r->sweep);
	buf_release(&r->kept);
	buf_release(&r->cmdline);
	vec_release(&r->argv);
	vec_each(f, &r->files)
		free(*f);
	vec_release(&r->files);
	free(r->path);
	map_release(&r->by_id);
	if (!whole)
		return;
	recorder_adopt_end(r);
	vec_release(&r->kernel.adopted);
	kernel_release(&r->kernel);
	python_names_release(&r->python);
	vec_release(&r->plans);
	vec_release(&r->sources);
	free(r);
}

void recorder_note(const struct recorder *r, const char *text, const char *hint)
{
	if (r->o.hooks.note)
		r->o.hooks.note(r->o.hooks.ctx, text, hint);
}

/* Those that are new. */
static void show_notes(struct recorder *r)
{
	size_t n;
	const struct session_note *notes = session_notes(r->session, &n);

	for (; r->notes_shown < n; r->notes_shown++)
		recorder_note(r, notes[r->notes_shown].text, notes[r->notes_shown].hint);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_session(struct recorder *r, struct err *e)
{
	int rc;

	session_free(r->session);
	r->session = session_new(r->o.events, r->o.target, r->o.launch, &r->o.session);
	rc = session_open(r->session, e);
	if (rc >= 0)
		recorder_stacks_learn(r);
	return rc;
}

/* True when the events that are open can be used with the means that was chosen. */
static bool stacks_work(struct recorder *r)
{
	if (r->stacks != RECORDER_STACKS_KERNEL || r->kernel.late)
		return true;
	/* loaded with the events open already: a target that ends meanwhile is still known */
	return recorder_kernel_load(r) == 0 && recorder_kernel_attach(r) >= 0;
}

int recorder_open(struct recorder *r, struct err *e)
{
	int rc = recorder_waits_open(r, e);

	if (rc < 0)
		return rc;
	r->o.session.late_enable = r->o.delay || r->o.paused;
	r->kernel.paused = r->o.paused;
	recorder_stacks_plan(r);
	for (;;) {
		rc = open_session(r, e);
		if (rc >= 0 && stacks_work(r))
			break;
		/* an error that is not about stacks comes back with the last means */
		if (!recorder_stacks_fall_back(r))
			return rc;
		err_release(e);
	}
	show_notes(r);
	if (rc >= 0)
		rc = recorder_file_catch_up(r, r->e);
	recorder_stacks_explain(r);
	recorder_marks_open(r);
	if (r->stacks == RECORDER_STACKS_KERNEL && !r->kernel.late)
		recorder_kernel_start_thread(r);
	return 0;
}

int recorder_begin(struct recorder *r, const char *path, struct err *e)
{
	int rc = r->o.counters ? recorder_counters_new(&r->counters, r->o.counters, e) : 0;

	r->path = path ? xstrdup(path) : NULL;
	return rc < 0 ? rc : recorder_file_begin(r, e);
}

/* --- the run ---------------------------------------------------------------------------------- */

static bool signalled(void)
{
	struct timespec none = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &none) == SIGUSR2;
}

static int on_round(void *ctx)
{
	struct recorder *r = ctx;

	return recorder_sweep_end(r, true, r->e);
}

static bool change_wanted(const struct recorder *r)
{
	const struct recorder_change *c = &r->o.change;

	return (c->ns && clock_mono_ns() - r->file_begin >= c->ns) ||
	       (c->bytes && recording_writer_file_bytes(r->writer) >= c->bytes);
}

/* Everything so far goes to a file of its own. */
static int change(struct recorder *r)
{
	struct session_sinks dump = { .records = recorder_sweep_records,
				      .round = on_round,
				      .ctx = r };
	int rc = r->o.session.overwrite ? session_dump(r->session, &dump, r->e) : 0;

	return rc < 0 ? rc : recorder_file_change(r, r->e);
}

static void unknown_command(const struct recorder *r)
{
	_cleanup_free_ char *text =
		xasprintf("'%s' is not a control command", buf_str(&r->o.control->line));

	recorder_note(r, text, "use enable, disable, snapshot, stop or ping");
}

static void switch_counting(struct recorder *r, bool on)
{
	recorder_adopt_switch(r, on);
	if (!on && r->waits.session)
		recorder_note(r, "waits are recorded all the time, also while counting is disabled",
			      NULL);
}

/* Positive: the recording is to end. */
static int obey(struct recorder *r, enum control_command command)
{
	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE: switch_counting(r, command == CONTROL_ENABLE); return 0;
	case CONTROL_SNAPSHOT:
		if (r->path)
			return change(r);
		recorder_note(r, "standard output cannot be switched: no snapshot", NULL);
		return 0;
	case CONTROL_STOP: return 1;
	case CONTROL_UNKNOWN: unknown_command(r); return 0;
	default: return 0;
	}
}

static int obey_all(struct recorder *r)
{
	struct control *c = r->o.control;
	enum control_command command;
	int rc = 0;

	while (c && rc == 0 && (command = recorder_control_next(c)) != CONTROL_NONE) {
		rc = obey(r, command);
		if (rc >= 0)
			recorder_control_answer(c, command != CONTROL_UNKNOWN);
	}
	return rc;
}

/* Positive when the files are as large as they may get. */
static int check_size(struct recorder *r)
{
	int rc = r->o.max_bytes ? recording_writer_flush(r->writer, r->e) : 0;

	if (rc < 0 || !r->o.max_bytes ||
	    r->written + recording_writer_file_bytes(r->writer) < r->o.max_bytes)
		return rc;
	recorder_note(r, "--max-size is reached: the recording ends", NULL);
	return 1;
}

static int on_sweep(void *ctx)
{
	struct recorder *r = ctx;
	bool keeps = r->past.most || r->o.session.overwrite;
	bool usr2 = (keeps || r->o.change.on_signal) && r->path && signalled();
	int rc = recorder_sweep_end(r, false, r->e);

	recorder_adopt_spread(r);
	show_notes(r);
	if (rc >= 0)
		rc = usr2 || change_wanted(r) ? change(r) : recorder_flight_turn(r, r->e);
	if (rc >= 0)
		rc = obey_all(r);
	if (rc == 0)
		rc = check_size(r);
	if (rc >= 0 && r->o.hooks.tick)
		r->o.hooks.tick(r->o.hooks.ctx);
	return rc;
}

/* True after the delay; false when there is nothing to be recorded any more. */
static bool delay_over(const struct recorder *r)
{
	u64 now = clock_mono_ns(), end = now + r->o.delay;

	for (; now < end; now = clock_mono_ns()) {
		if (stop_wait(MIN(end - now, (u64)DELAY_STEP_NS)) ||
		    (r->o.launch && launch_ended(r->o.launch)))
			return false;
	}
	return true;
}

/* Starts what is to be started, in the order that misses nothing. */
static int start(struct recorder *r, struct err *e)
{
	int rc = 0;

	recorder_kernel_wait_ready(r);
	rc = recorder_marks_start(r, e);
	if (rc >= 0 && !r->o.delay && !r->o.paused)
		rc = session_enable(r->session, e);
	r->begin = clock_mono_ns();
	r->cpu_begin = clock_cpu_ns();
	if (rc >= 0 && !r->o.delay)
		rc = recorder_waits_start(r, e);
	if (rc >= 0 && r->o.launch)
		rc = launch_go(r->o.launch, e);
	if (rc >= 0 && r->stacks == RECORDER_STACKS_KERNEL && r->kernel.late)
		recorder_kernel_start_thread(r);
	if (rc >= 0 && r->o.delay && delay_over(r)) {
		rc = session_enable(r->session, e);
		if (rc >= 0)
			rc = recorder_waits_start(r, e);
	}
	if (r->o.delay)
		r->begin = clock_mono_ns();
	if (rc >= 0 && r->o.hooks.started)
		r->o.hooks.started(r->o.hooks.ctx);
	return rc;
}

/*
 * What the kernel has for us overflows after a few seconds: where dozens of threads want a CPU all
 * the time, the calling thread would not get there in time. The rest of the recorder can wait.
 */
int recorder_hurry(const struct recorder *r)
{
	const int nice = getpriority(PRIO_PROCESS, 0);

	if (target_is_whole(r->o.target) || r->o.waits)
		(void)setpriority(PRIO_PROCESS, 0, HURRY_NICE);
	return nice;
}

int recorder_run(struct recorder *r, u64 duration, struct err *e)
{
	struct session_sinks sinks = { .records = recorder_sweep_records,
				       .round = on_sweep,
				       .reopened = recorder_reopened,
				       .ctx = r,
				       .wake_fd = r->o.control ? &r->o.control->fd : NULL };
	int rc, nice;

	r->e = e;
	r->holds = recorder_sweep_has_copies(r);
	rc = start(r, e);
	if (rc >= 0 && r->stacks == RECORDER_STACKS_KERNEL && target_is_whole(r->o.target))
		recorder_prebuild_start(&r->prebuild, PREBUILD_AFTER_NS);
	nice = recorder_hurry(r);
	if (rc >= 0)
		rc = session_run(r->session, duration ? r->begin + duration : 0, &sinks, e);
	session_disable(r->session);
	pthread_mutex_lock(&r->kernel.lock);
	recorder_adopt_end(r);
	pthread_mutex_unlock(&r->kernel.lock);
	if (rc >= 0)
		rc = recorder_waits_stop(r, e);
	recorder_prebuild_stop(&r->prebuild);
	sinks.round = on_round;
	if (rc >= 0)
		rc = session_drain(r->session, &sinks, e);
	(void)setpriority(PRIO_PROCESS, 0, nice);
	r->wall = clock_mono_ns() - r->begin;
	return rc;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void kernel_facts(struct recorder *r, struct recorder_summary *s)
{
	struct kernel_stacks *k = &r->kernel;
	struct sampler_stats stats = { 0 };

	pthread_mutex_lock(&k->lock);
	if (k->sampler && k->attached)
		sampler_stats(k->sampler, &stats);
	s->samples += k->samples;
	pthread_mutex_unlock(&k->lock);
	s->lost += stats.lost + r->lost;
	s->tables = stats.feed.files;
	s->table_bytes = stats.feed.bytes;
	s->recognised += stats.recognised;
	s->checked += stats.checked;
	s->misrecognised += stats.misrecognised;
	r->health.rescues_lost += stats.rescues_lost;
	/* a program that ended before: copies were all there was */
	if (!k->attached)
		s->stacks = RECORDER_STACKS_COPIES;
}

void recorder_summary(struct recorder *r, struct recorder_summary *ret)
{
	const struct ring_stats *rings = session_stats(r->session);

	*ret = (struct recorder_summary){
		.samples = rings->samples,
		.lost = rings->lost + rings->lost_samples + r->missing + recorder_marks_lost(r),
		.throttled = rings->throttled,
		.bytes = r->written + (r->writer ? recording_writer_file_bytes(r->writer) : 0),
		.wall_ns = r->wall ? r->wall : clock_mono_ns() - r->begin,
		.cpu_ns = clock_cpu_ns() - r->cpu_begin,
		.ring_bytes = session_ring_bytes(r->session),
		.stacks = r->stacks,
	};
	r->health.rescues_lost = 0;
	if (r->stacks == RECORDER_STACKS_KERNEL)
		kernel_facts(r, ret);
	ret->overwritten = r->past.dropped;
	ret->samples -= MIN(ret->samples, r->past.dropped);
	recorder_waits_facts(r, ret);
	pthread_mutex_lock(&r->kernel.lock);
	ret->why = r->kernel.why.what;
	if (!ret->why && ret->stacks == RECORDER_STACKS_COPIES)
		ret->why = "the program ended before the kernel's unwinder was loaded";
	ret->user_stacks = health_user_stacks(&r->health);
	ret->complete = health_complete(&r->health);
	pthread_mutex_unlock(&r->kernel.lock);
}

u64 recorder_unreported(struct recorder *r)
{
	const struct ring_stats *rings = session_stats(r->session);
	u64 reported = rings->lost + rings->lost_samples, exact = session_lost_exact(r->session),
	    more;
	struct recorder_summary s;

	r->missing = exact > reported ? exact - reported : 0;
	recorder_summary(r, &s);
	reported += r->reported;
	more = s.lost > reported ? s.lost - reported : 0;
	r->reported += more;
	return more;
}

int recorder_end(struct recorder *r, struct err *e)
{
	return recorder_file_end(r, e);
}

const char *recorder_path(const struct recorder *r)
{
	return r->path;
}

const struct session *recorder_session(const struct recorder *r)
{
	return r->session;
}
