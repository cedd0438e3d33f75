/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/live.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/stop.h"

/* What is urgent wakes us. The end of a program that we have started does not. */
enum { POLL_MS = 1000, POLL_ENDED_MS = 50, HURRY_NICE = -20 };

/*
 * Where hundreds of threads want a CPU all the time we would get one in a hundred of its
 * milliseconds: the hundred that it takes to load the programs, and those to name what they saw,
 * would take many seconds. Only where it is allowed, and not for programs that we start.
 */
static void hurry(struct waits_live *l)
{
	if (l->hurries)
		return;
	errno = 0;
	l->nice = getpriority(PRIO_PROCESS, 0);
	l->hurries = !errno && l->nice > HURRY_NICE && !setpriority(PRIO_PROCESS, 0, HURRY_NICE);
}

static void end_urgency(struct waits_live *l)
{
	if (l->hurries)
		setpriority(PRIO_PROCESS, 0, l->nice);
	l->hurries = false;
}

static int on_wait(void *ctx, const struct offcpu_wait *w)
{
	struct waits_live *l = ctx;

	if (l->single.len >= WAITS_SINGLE_MOST)
		l->dropped++;
	else
		vec_push(&l->single, *w);
	return 0;
}

static int on_thread(void *ctx, const struct offcpu_thread *t)
{
	struct waits_live *l = ctx;

	vec_push(&l->threads, *t);
	return 0;
}

static void on_bare(void *ctx, const struct waits_stack *s)
{
	struct waits_live *l = ctx;

	waits_names_learn(&l->names, s);
}

static void name_host(struct profile *p)
{
	struct utsname host;

	if (uname(&host))
		return;
	p->hostname = profile_string(p, host.nodename);
	p->kernel = profile_string(p, host.release);
}

int waits_live_open(struct waits_live *l, const struct waits_opts *opts, struct err *e)
{
	struct waits_opts mine = *opts;
	int rc;

	*l = (struct waits_live){ 0 };
	hurry(l);
	profile_init(&l->profile);
	mine.on_wait = on_wait;
	mine.on_thread = on_thread;
	mine.places = true;
	mine.on_bare = on_bare;
	mine.ctx = l;
	python_names_init(&l->python);
	mine.python = &l->python;
	if (mine.wakers || mine.chains)
		waits_find_senders(&mine);
	rc = wait_kinds_new(&l->kinds, &l->profile, e);
	if (!rc)
		rc = waits_engine_new(&l->engine, &mine, e);
	if (rc) {
		wait_kinds_free(l->kinds);
		end_urgency(l);
		profile_release(&l->profile);
		python_names_release(&l->python);
		return rc;
	}
	l->open = true;
	name_host(&l->profile);
	waits_names_open(&l->names, &l->profile, l->engine);
	l->names.python = &l->python;
	waits_engine_feed(l->engine);
	return 0;
}

void waits_live_release(struct waits_live *l)
{
	if (!l->open)
		return;
	end_urgency(l);
	waits_engine_free(l->engine);
	waits_names_release(&l->names);
	wait_kinds_free(l->kinds);
	python_names_release(&l->python);
	vec_release(&l->waits);
	map_release(&l->row_of);
	vec_release(&l->single);
	vec_release(&l->threads);
	profile_release(&l->profile);
	l->open = false;
}

int waits_live_start(struct waits_live *l, struct err *e)
{
	int rc = waits_engine_start(l->engine, e);

	l->begin = l->end = clock_mono_ns();
	if (rc >= 0)
		rc = MIN(waits_engine_read(l->engine), 0);
	return rc;
}

static int take_waits(struct waits_live *l, struct err *e);

/*
 * The rows of a busy machine fill any table, and so do its stacks: they are named while it is
 * watched, and what is no longer used is dropped.
 */
static int hand_over(struct waits_live *l, u64 now, struct err *e)
{
	int rc;

	if (now < l->next_turn)
		return 0;
	if (!l->next_turn) {
		l->next_turn = now + WAITS_TURN_NS;
		return 0;
	}
	l->next_turn = now + WAITS_TURN_NS;
	rc = waits_engine_turn(l->engine, e);
	if (rc >= 0)
		rc = take_waits(l, e);
	waits_engine_forget(l->engine);
	waits_names_renew(&l->names);
	mem_give_back(&l->give_back);
	return MIN(rc, 0);
}

int waits_live_run(struct waits_live *l, u64 until, bool (*done)(void *ctx), void *ctx,
		   struct err *e)
{
	struct pollfd fds[] = {
		{ .fd = waits_engine_fd(l->engine), .events = POLLIN },
		{ .fd = stop_fd(), .events = POLLIN },
	};

	hurry(l);
	for (;;) {
		u64 now = clock_mono_ns();
		int rc, wait = done ? POLL_ENDED_MS : POLL_MS;

		if (done && done(ctx)) {
			waits_engine_settle(l->engine);
			break;
		}
		if (stop_requested() || (until && now >= until))
			break;
		if (until && until - now < (u64)wait * NSEC_PER_MSEC)
			wait = (int)((until - now) / NSEC_PER_MSEC) + 1;
		if (poll(fds, ARRAY_SIZE(fds), wait) < 0 && errno != EINTR)
			return err_sys(e, errno, "cannot wait for the kernel");
		rc = waits_engine_read(l->engine);
		if (rc < 0 && rc != -EAGAIN && rc != -EINTR)
			return err_sys(e, rc, "cannot read the ring");
		rc = hand_over(l, clock_mono_ns(), e);
		if (rc < 0)
			return rc;
	}
	l->end = clock_mono_ns();
	return 0;
}

int waits_live_stop(struct waits_live *l, struct err *e)
{
	int rc = 0;

	waits_engine_stop(l->engine);
	l->end = clock_mono_ns();
	rc = waits_engine_accounts(l->engine, e);
	return rc < 0 && rc != -EAGAIN ? rc : 0;
}

/* --- rows with names -------------------------------------------------------------------------- */

static void fill_links(struct waits_live *l, struct wait *w, u64 chain)
{
	struct offcpu_link links[OFFCPU_LINKS];
	u32 n = waits_engine_chain(l->engine, chain, links);
	struct profile *p = &l->profile;

	for (u32 i = 0; i < n; i++) {
		const struct offcpu_who *in = waits_engine_waker(l->engine, links[i].waker);

		if (!in)
			break;
		struct wait_link *out = &w->links[w->n_links++];
		bool task = waker_is_task(in->kind);
		char comm[OFFCPU_COMM + 1] = { 0 };

		memcpy(comm, in->comm, OFFCPU_COMM);
		out->stack = waits_names_stack(&l->names, waits_engine_stack(l->engine, in->stack),
					       task ? WAIT_CUT_WAKER : WAIT_CUT_IRQ);
		out->sleep_stack =
			waits_names_stack(&l->names,
					  waits_engine_stack(l->engine, links[i].sleep_stack),
					  WAIT_CUT_SLEEPER);
		out->pid = in->pid;
		out->tid = in->tid;
		out->kind = in->kind;
		out->comm = wait_waker_name(p, comm, out->stack, in->kind);
	}
}

static bool has_ended(u32 pid)
{
	return pid && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static u32 thread_of(struct waits_live *l, u32 pid, u32 tid, const char *comm)
{
	struct profile *p = &l->profile;
	u32 known;

	if (l->waits.len <= WAITS_ROWS_KEPT)
		return profile_get_thread(p, (s32)pid, (s32)tid, profile_string(p, comm), 0);
	known = profile_find_thread(p, (s32)pid, (s32)tid,
				    intern_find(&p->strings, comm, strlen(comm)), 0);
	return known ? known : profile_get_thread(p, 0, 0, profile_string(p, WAITS_DROPPED), 0);
}

/*
 * A machine that starts fifty processes a second would have a row, or more, for each of them: of
 * many rows, those of processes that have ended stand together under their name.
 */
static struct wait *new_wait(struct waits_live *l, const struct offcpu_key *k)
{
	bool apart = l->waits.len < WAITS_APART || !has_ended(k->pid);
	struct wait *w = vec_new(&l->waits);
	char comm[OFFCPU_COMM + 1] = { 0 };

	memcpy(comm, k->comm, OFFCPU_COMM);
	l->together += !apart;
	w->thread = thread_of(l, apart ? k->pid : 0, apart ? k->tid : 0, comm);
	w->stack = waits_names_stack(&l->names, waits_engine_stack(l->engine, k->stack),
				     WAIT_CUT_SLEEPER);
	w->state = k->state;
	w->syscall = k->syscall;
	w->flags = k->flags;
	fill_links(l, w, k->chain);
	wait_kinds_set(l->kinds, w);
	if (l->only_users)
		wait_cut_kernel(&l->profile, w);
	return w;
}

/* The launched program waits for fathom, not for anything of its own. */
static bool waits_for_us(struct waits_live *l, const struct offcpu_key *k, u64 blocked, u64 runq)
{
	if (!l->launched || k->pid != l->launched || !(k->flags & OFFCPU_UNKNOWN_START) ||
	    k->flags & OFFCPU_OPEN)
		return false;
	l->held_blocked += blocked;
	l->held_runq += runq;
	return true;
}

static void shorten_account(struct waits_live *l)
{
	vec_each(t, &l->threads) {
		if (t->tid != l->launched)
			continue;
		t->blocked -= MIN(t->blocked, l->held_blocked);
		t->runq -= MIN(t->runq, l->held_runq);
	}
	l->held_blocked = l->held_runq = 0;
}

static u64 hash_of(const struct wait *w)
{
	u64 h = hash_mix(hash_mix(w->thread, w->stack), (u64)w->state << 32 | (u32)w->syscall);

	return hash_mix(hash_mix(h, w->flags), hash_bytes(w->links, sizeof(w->links)));
}

static bool is_alike(const struct wait *a, const struct wait *b)
{
	return a->thread == b->thread && a->stack == b->stack && a->state == b->state &&
	       a->syscall == b->syscall && a->flags == b->flags && a->n_links == b->n_links &&
	       !memcmp(a->links, b->links, sizeof(a->links));
}

/* The last row is added to one like it that was taken over before, if there is one. */
static bool merge_row(struct waits_live *l)
{
	struct wait *w = vec_last(&l->waits);
	u64 *at = map_at(&l->row_of, hash_of(w));
	struct wait *before = *at ? &l->waits.items[*at - 1] : NULL;

	if (before && is_alike(before, w)) {
		wait_add(before, w);
		l->waits.len--;
		return true;
	}
	if (!before)
		*at = l->waits.len;
	return false;
}

/* What does not fit stays in the sums: all of it is one row. */
static void take_row(struct waits_live *l)
{
	struct wait *w = vec_last(&l->waits);
	u64 *at;

	if (merge_row(l) || l->waits.len <= WAITS_ROWS_KEPT)
		return;
	at = map_at(&l->row_of, hash_of(w));
	if (*at == l->waits.len)
		map_del(&l->row_of, hash_of(w));
	l->names.dropped += w->count;
	w->thread = profile_get_thread(&l->profile, 0, 0,
				       profile_string(&l->profile, WAITS_DROPPED), 0);
	w->stack = waits_names_dropped(&l->profile);
	w->state = w->flags = w->n_links = 0;
	w->syscall = -1;
	memset(w->links, 0, sizeof(w->links));
	wait_kinds_set(l->kinds, w);
	(void)merge_row(l);
}

static int on_row(void *ctx, const struct offcpu_key *k, const struct offcpu_value *v)
{
	struct wait *w;

	if (waits_for_us(ctx, k, v->blocked, v->runq))
		return 0;
	w = new_wait(ctx, k);
	w->blocked = v->blocked;
	w->runq = v->runq;
	w->count = v->count;
	w->max_blocked = v->max_blocked;
	w->max_runq = v->max_runq;
	take_row(ctx);
	return 0;
}

static int take_waits(struct waits_live *l, struct err *e)
{
	int rc;

	(void)waits_engine_read(l->engine);
	rc = waits_engine_rows(l->engine, on_row, l, e);
	vec_each(s, &l->single) {
		struct wait *w;

		if (waits_for_us(l, &s->key, s->blocked, s->runq))
			continue;
		w = new_wait(l, &s->key);
		w->time = s->time;
		w->blocked = w->max_blocked = s->blocked;
		w->runq = w->max_runq = s->runq;
		w->count = 1;
	}
	vec_clear(&l->single);
	return rc;
}

int waits_live_collect(struct waits_live *l, struct err *e)
{
	struct waits_stats stats;
	int rc = take_waits(l, e);

	if (l->launched)
		shorten_account(l);
	waits_engine_stats(l->engine, &stats);
	l->profile.lost_samples =
		stats.counts[OFFCPU_COUNT_MAP_FULL] + stats.counts[OFFCPU_COUNT_LOST] + l->dropped;
	l->profile.lost_stacks = stats.counts[OFFCPU_COUNT_STACKS_FULL] + stats.stacks_dropped +
				 l->names.dropped + stats.counts[OFFCPU_COUNT_CHAINS_FULL] +
				 stats.rescues_lost;
	l->profile.first_time = l->begin;
	l->profile.last_time = l->end;
	end_urgency(l);
	return rc;
}

void waits_live_reset(struct waits_live *l)
{
	vec_clear(&l->waits);
	map_clear(&l->row_of);
	vec_clear(&l->single);
	vec_clear(&l->threads);
	waits_forget(&l->profile);
	l->begin = l->end;
}

int waits_live_renew(struct waits_live *l, struct err *e)
{
	if (!waits_names_full(&l->profile))
		return 0;
	profile_release(&l->profile);
	profile_init(&l->profile);
	name_host(&l->profile);
	waits_engine_unmark(l->engine);
	waits_names_restart(&l->names);
	wait_kinds_free(TAKE_PTR(l->kinds));
	return wait_kinds_new(&l->kinds, &l->profile, e);
}

/* --- losses ----------------------------------------------------------------------------------- */

static void time_note(struct result *ret, const char *what, u64 ns)
{
	if (ns)
		result_note(ret, NOTE_WARNING, NULL, "%s: %.3f ms are missing from the sums", what,
			    (double)ns / 1e6);
}

void waits_live_health(const struct waits_live *l, struct result *ret)
{
	struct waits_stats s;

	waits_engine_stats(l->engine, &s);
	result_loss(ret, "map_full", "waits not counted because the table in the kernel was full",
		    s.counts[OFFCPU_COUNT_MAP_FULL]);
	time_note(ret, "the table in the kernel was full (--rows makes it larger)",
		  s.counts[OFFCPU_COUNT_MAP_FULL_NS]);
	result_loss(ret, "lost_waits", "waits lost because the ring was full",
		    s.counts[OFFCPU_COUNT_LOST] + l->dropped);
	time_note(ret, "the ring was full", s.counts[OFFCPU_COUNT_LOST_NS]);
	result_loss(ret, "stacks_full", "stacks not kept because the table was full",
		    s.counts[OFFCPU_COUNT_STACKS_FULL] + s.stacks_dropped + l->names.dropped);
	result_loss(ret, "chains_full", "wakers not kept because the table was full",
		    s.counts[OFFCPU_COUNT_CHAINS_FULL]);
	result_loss(ret, "rescues_lost", "stacks cut because a table came too late",
		    s.rescues_lost);
	result_loss(ret, "misrecognised", HEALTH_MISRECOGNISED, s.misrecognised);
	result_loss(ret, "code_reused", HEALTH_CODE_REUSED, waits_names_several(&l->names));
	result_loss(ret, "clock_backward", "waits left out that ended before they began",
		    s.counts[OFFCPU_COUNT_BACKWARD]);
	result_loss(ret, "no_memory", "threads left out because the kernel had no memory",
		    s.counts[OFFCPU_COUNT_NO_ROOM]);
	result_fact(ret, "unknown_start", NULL,
		    value_u(VALUE_COUNT, s.counts[OFFCPU_COUNT_UNKNOWN_START]));
	result_fact(ret, "inferred_ends", NULL,
		    value_u(VALUE_COUNT, s.counts[OFFCPU_COUNT_INFERRED]));
	result_fact(ret, "waker_not_seen", NULL,
		    value_u(VALUE_COUNT, s.counts[OFFCPU_COUNT_NO_WAKER]));
	result_fact(ret, "stacks_recognised", NULL, value_u(VALUE_COUNT, s.recognised));
	result_fact(ret, "stacks_checked", NULL, value_u(VALUE_COUNT, s.checked));
	result_fact(ret, "stacks_misrecognised", NULL, value_u(VALUE_COUNT, s.misrecognised));
	result_fact(ret, "stacks_to_root", NULL, value_u(VALUE_COUNT, s.ends[UNWIND_END_ROOT]));
	result_fact(ret, "tracepoints", NULL, value_text(ret, s.raw ? "raw" : "typed"));
	if (l->together)
		result_note(ret, NOTE_INFO, NULL,
			    "waits of processes that had ended stand under their name, with pid 0, "
			    "from %d rows on",
			    WAITS_APART);
	if (s.partial_starts)
		result_note(ret, NOTE_INFO, NULL,
			    "this kernel has no BTF: of waits that began before, the kernel's part "
			    "of the stack is not known");
	if (s.no_irq_context)
		result_note(
			ret, NOTE_WARNING, NULL,
			"this kernel does not separate interrupts from the tasks they interrupt: "
			"wakers may be misattributed");
}

struct observed waits_live_observed(struct waits_live *l)
{
	return (struct observed){
		.profile = &l->profile,
		.waits = &l->waits,
		.threads = l->threads.items,
		.n_threads = l->threads.len,
		.begin = l->begin,
		.end = l->end,
	};
}
