/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/hotcold.h"

#include "analysis/waits.h"
#include "waits/names.h"

#include <math.h>

static const struct {
	const char *mark, *words;
} states[HOT_KINDS] = {
	[HOT_ON_CPU] = { "[on CPU]", "on CPU" },
	[HOT_RUNQ] = { "[waiting for a CPU]", "waiting for a CPU" },
	[HOT_BLOCKED] = { "[blocked]", "blocked" },
	[HOT_UNKNOWN] = { "[not known]", "not known" },
};

#define KIND_MARK "[blocked: "

const char *hotcold_words(enum hotcold_state s)
{
	return s < HOT_KINDS ? states[s].words
			     : thread_state_words((enum thread_state)(s - HOT_KINDS));
}

static enum hotcold_state state_of_kind(const char *name)
{
	for (int k = 0; k < STATE_COUNT; k++) {
		const char *end = starts_with(name, thread_state_name((enum thread_state)k));

		if (end && streq(end, "]"))
			return (enum hotcold_state)(HOT_KINDS + k);
	}
	return HOT_STATES;
}

enum hotcold_state hotcold_state_of(const struct profile *p, const struct frame *f)
{
	const char *name = profile_str(p, f->name), *kind;

	if (f->kind != FRAME_MARKER)
		return HOT_STATES;
	for (int s = 0; s < HOT_KINDS; s++) {
		if (streq(name, states[s].mark))
			return (enum hotcold_state)s;
	}
	kind = starts_with(name, KIND_MARK);
	return kind ? state_of_kind(kind) : HOT_STATES;
}

/* What is known of a process, or of a thread. */
struct sums {
	s32 pid, tid;
	u32 comm;
	u64 wall;    /* by accounts; likewise: */
	u64 oncpu;   /* of a process: of all its threads */
	u64 offcpu;  /* by samples; likewise: */
	u64 sampled; /* weight of the event on CPU */
	u64 samples;
	double factor; /* of a process: weight -> ns */
	u64 missing;   /* of a process: ns on CPU without a sample */
	u32 longest;   /* of a process: index + 1 of the thread that ran most */
};

struct maker {
	struct profile *p;
	struct hotcold *ret;
	VEC(struct sums) threads;
	VEC(struct sums) processes;
	struct map thread_ids;  /* pid << 32 | tid -> index + 1 */
	struct map process_ids; /* pid -> index + 1 */
	u16 oncpu, offcpu, runq;
	bool has_oncpu, has_runq;
	bool in_ns, idle;
	struct wait_kinds *kinds;
	u32 marks[HOT_STATES]; /* frames; 0: not made yet */
};

/* --- who ran for how long --------------------------------------------------------------------- */

static struct sums *thread_of(struct maker *m, s32 pid, s32 tid)
{
	u64 *at = map_at(&m->thread_ids, (u64)(u32)pid << 32 | (u32)tid);

	if (!*at) {
		vec_push(&m->threads, (struct sums){ .pid = pid, .tid = tid });
		*at = m->threads.len;
	}
	return &m->threads.items[*at - 1];
}

static struct sums *process_of(struct maker *m, s32 pid)
{
	u64 *at = map_at(&m->process_ids, (u32)pid);

	if (!*at) {
		vec_push(&m->processes, (struct sums){ .pid = pid });
		*at = m->processes.len;
	}
	return &m->processes.items[*at - 1];
}

static void sum_accounts(struct maker *m)
{
	vec_each(a, &m->p->accounts) {
		struct sums *t = thread_of(m, a->pid, a->tid);

		t->comm = a->comm;
		t->wall += a->end - a->begin;
		t->oncpu += a->oncpu;
	}
	m->ret->threads = m->threads.len;
	for (size_t i = 0; i < m->threads.len; i++) {
		const struct sums *t = &m->threads.items[i];
		struct sums *p = process_of(m, t->pid);

		p->wall += t->wall;
		p->oncpu += t->oncpu;
		if (!p->longest || m->threads.items[p->longest - 1].oncpu < t->oncpu)
			p->longest = (u32)i + 1;
	}
}

static void sum_samples(struct maker *m)
{
	vec_each(s, &m->p->samples) {
		const struct profile_thread *th = &m->p->threads.items[s->thread];

		if (m->has_oncpu && s->event == m->oncpu) {
			struct sums *p = process_of(m, th->pid);

			p->sampled += s->weight;
			p->samples += s->count;
		} else if (s->event == m->offcpu || (m->has_runq && s->event == m->runq)) {
			thread_of(m, th->pid, th->tid)->offcpu += s->weight;
		}
	}
}

/*
 * Samples of a process stand for its time on CPU, if they can: time beyond what chance explains was
 * not sampled (only user code was, say, or samples were lost).
 */
static void weigh_processes(struct maker *m)
{
	vec_each(p, &m->processes) {
		double n = (double)p->samples, most, known = (double)p->oncpu;

		p->factor = 1;
		if (!m->ret->threads || !p->sampled) {
			p->missing = p->sampled ? 0 : p->oncpu;
			continue;
		}
		most = m->in_ns ? (double)p->sampled * (1 + (3 * sqrt(n) + 3) / n) : known;
		p->factor = MIN(known, most) / (double)p->sampled;
		p->missing = known > most ? (u64)(known - most) : 0;
	}
}

/* --- samples ---------------------------------------------------------------------------------- */

u32 hotcold_mark(struct profile *p, enum hotcold_state state)
{
	char text[64];

	if (state < HOT_KINDS)
		return wait_marker(p, states[state].mark);
	snprintf(text, sizeof(text), KIND_MARK "%s]",
		 thread_state_name((enum thread_state)(state - HOT_KINDS)));
	return wait_marker(p, text);
}

static void add(struct maker *m, const struct profile_sample *like, enum hotcold_state state,
		u64 weight)
{
	struct profile_sample s = *like;

	if (!weight)
		return;
	if (!m->marks[state])
		m->marks[state] = hotcold_mark(m->p, state);
	s.event = m->ret->event;
	s.weight = weight;
	s.stack = profile_get_stack(m->p, s.stack, m->marks[state]);
	m->ret->ns[state] += weight;
	profile_add_sample(m->p, &s);
}

static void add_on_cpu(struct maker *m, const struct profile_sample *s)
{
	const struct sums *p = process_of(m, m->p->threads.items[s->thread].pid);

	if (m->ret->threads && !p->wall)
		m->ret->left_out += m->in_ns ? s->weight : 0;
	else
		add(m, s, HOT_ON_CPU, (u64)((double)s->weight * p->factor + 0.5));
}

static void add_blocked(struct maker *m, const struct profile_sample *s)
{
	enum thread_state kind =
		wait_kinds_stack(m->kinds, s->stack, m->p->threads.items[s->thread].comm);

	if (wait_is_idle(kind) && !m->idle)
		m->ret->idle += s->weight;
	else
		add(m, s,
		    kind > STATE_RUNNABLE && kind != STATE_OTHER
			    ? (enum hotcold_state)(HOT_KINDS + kind)
			    : HOT_BLOCKED,
		    s->weight);
}

static void add_samples(struct maker *m)
{
	size_t n = m->p->samples.len;

	for (size_t i = 0; i < n; i++) {
		struct profile_sample s = m->p->samples.items[i];

		if (m->has_oncpu && s.event == m->oncpu)
			add_on_cpu(m, &s);
		else if (s.event == m->offcpu)
			add_blocked(m, &s);
		else if (m->has_runq && s.event == m->runq)
			add(m, &s, HOT_RUNQ, s.weight);
	}
}

static void add_rest(struct maker *m, const struct sums *t, enum hotcold_state state, u64 ns)
{
	struct profile_sample s = {
		.time = m->p->last_time,
		.thread = profile_get_thread(m->p, t->pid, t->tid, t->comm, 0),
		.count = 1,
		.cpu = -1,
	};

	if (state == HOT_ON_CPU)
		s.stack = profile_get_stack(m->p, 0, wait_marker(m->p, HOTCOLD_NOT_SAMPLED));
	add(m, &s, state, ns);
}

/* What accounts say and no sample does. */
static void add_rests(struct maker *m)
{
	for (size_t i = 0; i < m->ret->threads; i++) {
		const struct sums *t = &m->threads.items[i];
		const struct sums *p = process_of(m, t->pid);
		u64 seen = t->oncpu + t->offcpu;

		if (!p->sampled)
			add_rest(m, t, HOT_ON_CPU, t->oncpu);
		else if (p->longest == i + 1)
			add_rest(m, t, HOT_ON_CPU, p->missing);
		if (t->wall > seen)
			add_rest(m, t, HOT_UNKNOWN, t->wall - seen);
	}
}

/* --- which events ----------------------------------------------------------------------------- */

static bool is_wait(const char *name)
{
	static const char *const list[] = { OFFCPU_EVENT, RUNQ_EVENT,    "wakeup-time",
					    "chain-time", HOTCOLD_EVENT, OFFWAKE_EVENT,
					    NULL };

	return streq_any(name, list);
}

/* A clock if there is one, otherwise whatever was sampled first. */
static void find_events(struct maker *m)
{
	for (size_t i = 0; i < m->p->events.len; i++) {
		const struct profile_event *ev = &m->p->events.items[i];
		const char *name = profile_str(m->p, ev->name);
		bool ns = streq(profile_str(m->p, ev->unit), "ns");

		if (streq(name, RUNQ_EVENT)) {
			m->runq = (u16)i;
			m->has_runq = true;
		}
		if (is_wait(name) || !ev->samples || (m->has_oncpu && (m->in_ns || !ns)))
			continue;
		m->oncpu = (u16)i;
		m->has_oncpu = true;
		m->in_ns = ns;
	}
}

static bool find_waits(struct maker *m)
{
	for (size_t i = 0; i < m->p->events.len; i++) {
		if (streq(profile_str(m->p, m->p->events.items[i].name), OFFCPU_EVENT)) {
			m->offcpu = (u16)i;
			return true;
		}
	}
	return false;
}

static int check(struct maker *m, struct err *e)
{
	if (!find_waits(m)) {
		err_set(e, ENODATA, "'%s' contains no off-CPU time",
			profile_str(m->p, m->p->source));
		err_hint(e, "make a recording with both halves: fathom record --off-cpu");
		return -ENODATA;
	}
	find_events(m);
	if (m->has_oncpu && !m->in_ns && !m->p->accounts.len)
		return err_set(e, ENODATA,
			       "samples of '%s' have no time axis without the thread accounts, "
			       "which only the whole recording has",
			       profile_str(m->p, m->p->events.items[m->oncpu].name));
	return 0;
}

int hotcold_build(struct profile *p, bool idle, struct hotcold *ret, struct err *e)
{
	struct maker m = { .p = p, .ret = ret, .idle = idle };
	int rc;

	*ret = (struct hotcold){ 0 };
	rc = check(&m, e);
	if (rc < 0)
		return rc;
	ret->event = profile_get_event(p, HOTCOLD_EVENT);
	p->events.items[ret->event].unit = profile_string(p, "ns");
	rc = wait_kinds_new(&m.kinds, p, e);
	if (rc < 0)
		return rc;
	sum_accounts(&m);
	sum_samples(&m);
	weigh_processes(&m);
	add_samples(&m);
	add_rests(&m);
	vec_release(&m.threads);
	vec_release(&m.processes);
	map_release(&m.thread_ids);
	map_release(&m.process_ids);
	wait_kinds_free(m.kinds);
	return 0;
}
