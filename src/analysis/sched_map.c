/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who ran where, who waited, who woke whom: stretches of time, and a column for each CPU. */
#include "analysis/sched.h"

#include "base/fmt.h"

struct sched_map *sched_map_new(struct sched_names *names, const struct sched_filter *filter)
{
	struct sched_map *m = xcalloc(1, sizeof(*m));

	m->names = names;
	m->filter = filter;
	return m;
}

void sched_map_free(struct sched_map *m)
{
	if (!m)
		return;
	vec_release(&m->stretches);
	vec_release(&m->wakes);
	vec_release(&m->switches);
	map_release(&m->off);
	free(m);
}

static bool is_shown(const struct sched_map *m, u64 time)
{
	u64 from, to;

	sched_filter_window(m->filter, m->names, &from, &to);
	return time >= from && time <= to;
}

bool sched_map_shows(const struct sched_map *m, const struct sched_stretch *s)
{
	return sched_filter_task_at(m->filter, m->names, s->tid, s->begin);
}

bool sched_map_shows_wake(const struct sched_map *m, const struct sched_wake *w)
{
	return sched_filter_task_at(m->filter, m->names, w->waker, w->time) ||
	       sched_filter_task_at(m->filter, m->names, w->wakee, w->time);
}

static size_t add_stretch(struct sched_map *m, const struct sched_stretch *s)
{
	u64 from, to;

	sched_filter_window(m->filter, m->names, &from, &to);
	if (s->begin >= to || (s->end && s->end <= from))
		return 0;
	if (m->stretches.len >= SCHED_STRETCHES_MOST) {
		m->dropped++;
		return 0;
	}
	vec_push(&m->stretches, *s);
	vec_last(&m->stretches)->kind = STATE_COUNT;
	return m->stretches.len;
}

/* From now on a task that is off its CPU wants one, or sleeps. */
static void begin_off(struct sched_map *m, const struct sched_stretch *s)
{
	u64 *at;

	if (!s->tid)
		return;
	at = map_at(&m->off, s->tid);
	/* what wakes a task ends its sleep */
	if (*at && s->does == SCHED_WAITS && m->stretches.items[*at - 1].does != SCHED_WAITS) {
		m->stretches.items[*at - 1].end = s->begin;
		*at = 0;
	}
	if (!*at)
		*at = add_stretch(m, s);
}

static void end_off(struct sched_map *m, u32 tid, u32 cpu, u64 time)
{
	u64 at = map_get(&m->off, tid, 0);
	struct sched_stretch *s;

	if (!at)
		return;
	s = &m->stretches.items[at - 1];
	s->end = time;
	if (s->does == SCHED_WAITS)
		s->cpu = cpu;
	map_del(&m->off, tid);
}

/* False: the task is gone. */
static bool does_off(char state, u8 *ret)
{
	switch (state) {
	case 'R': *ret = SCHED_WAITS; break;
	case 'S':
	case 'I': *ret = SCHED_SLEEPS; break;
	case 'D': *ret = SCHED_DISK; break;
	case 'X':
	case 'Z': return false;
	default: *ret = SCHED_STOPPED; break;
	}
	return true;
}

static void on_switch(struct sched_map *m, const struct sched_event *ev)
{
	bool missing = sched_follow(m->names, m->filter, ev);
	u64 since = m->cpus[ev->cpu].since;
	u8 does;

	/* where the CPU's last switch was to another task, the start is not known: nothing drawn
	 */
	if (since && ev->prev && !missing)
		add_stretch(m, &(struct sched_stretch){
				       .begin = since,
				       .end = ev->time,
				       .cpu = ev->cpu,
				       .tid = ev->prev,
			       });
	end_off(m, ev->prev, ev->cpu, ev->time);
	end_off(m, ev->next, ev->cpu, ev->time);
	if (does_off(sched_state_char(ev->state), &does))
		begin_off(m, &(struct sched_stretch){ .begin = ev->time,
						      .cpu = ev->cpu,
						      .tid = ev->prev,
						      .does = does });
	m->cpus[ev->cpu].tid = ev->next;
	m->cpus[ev->cpu].since = ev->time;
	if (m->switches.len < SCHED_STRETCHES_MOST && is_shown(m, ev->time))
		vec_push(&m->switches, *ev);
}

static void take(struct sched_map *m, const struct sched_event *ev)
{
	if (!sched_filter_cpu(m->filter, ev->cpu))
		return;
	if (ev->type == SCHED_SWITCH) {
		on_switch(m, ev);
	} else if (ev->type == SCHED_WAKING || ev->type == SCHED_WAKEUP_NEW ||
		   (ev->type == SCHED_WAKEUP && !m->names->has[SCHED_WAKING])) {
		begin_off(m, &(struct sched_stretch){ .begin = ev->time,
						      .cpu = ev->cpu,
						      .tid = ev->next,
						      .waker = ev->tid,
						      .does = SCHED_WAITS });
		if (m->wakes.len < SCHED_STRETCHES_MOST && is_shown(m, ev->time))
			vec_push(&m->wakes,
				 (struct sched_wake){ ev->time, ev->cpu, ev->tid, ev->next });
	}
}

int sched_map_events(void *map, const struct sched_event *ev, size_t n)
{
	for (const struct sched_event *end = ev + n; ev < end; ev++)
		take(map, ev);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct sched_stretch *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* What is outside goes, what reaches out is cut. */
static void cut_stretches(struct sched_map *m)
{
	size_t n = 0;

	vec_each(s, &m->stretches) {
		struct sched_stretch cut = *s;

		if (!cut.end || cut.end > m->end)
			cut.end = m->end;
		cut.begin = MAX(cut.begin, m->begin);
		if (cut.begin < cut.end)
			m->stretches.items[n++] = cut;
	}
	m->stretches.len = n;
	vec_sort(&m->stretches, by_begin);
}

void sched_map_kinds(struct sched_map *m, const struct sched_kinds *kinds)
{
	vec_each(s, &m->stretches) {
		enum thread_state kind = STATE_COUNT;

		if (s->does > SCHED_WAITS)
			kind = sched_kinds_at(kinds, s->tid, s->begin);
		/* then the state says more */
		s->kind = (u8)(kind == STATE_OTHER ? STATE_COUNT : kind);
	}
}

/* What goes on at the end of the time that is shown ends there. */
void sched_map_finish(struct sched_map *m)
{
	u64 from, to;

	sched_filter_window(m->filter, m->names, &from, &to);
	m->begin = MAX(from, m->names->first);
	m->end = MAX(m->begin, MIN(to, m->names->last));
	for (u32 cpu = 0; cpu < m->names->cpus; cpu++) {
		if (m->cpus[cpu].since && m->cpus[cpu].tid)
			add_stretch(m, &(struct sched_stretch){
					       .begin = m->cpus[cpu].since,
					       .end = m->names->last,
					       .cpu = cpu,
					       .tid = m->cpus[cpu].tid,
				       });
	}
	cut_stretches(m);
}

/* --- text ------------------------------------------------------------------------------------- */

/* "A0", "B0", ... "Z0", "A1", ...: short names in order of first sight, as perf has them. */
static void short_name(u64 n, char ret[4])
{
	if (n < 26 * 10)
		snprintf(ret, 4, "%c%c", (char)('A' + n % 26), (char)('0' + n / 26));
	else
		snprintf(ret, 4, "%c%c", (char)('a' + n % 26), (char)('a' + (n / 26) % 26));
}

/* Names come from programs: what could steer a terminal is made visible. */
static void add_legend(struct sched_map *m, const char *text, u32 tid, struct buf *out)
{
	const char *comm = sched_comm(m->names, tid);

	buf_addf(out, " %s => ", text);
	fmt_clean(out, comm, strlen(comm));
	buf_addf(out, ":%u", tid);
}

static bool shows_task(const struct sched_map *m, u32 tid, u64 time)
{
	return sched_filter_task_at(m->filter, m->names, tid, time);
}

/* One that is not requested is a hyphen, as with perf's --task-name. */
#define TASK_UNKNOWN UINT32_MAX
#define TASK_OTHER   (UINT32_MAX - 1)

static void column_text(const struct map *names, u32 task, char ret[4])
{
	if (task == TASK_UNKNOWN)
		memcpy(ret, "  ", 3);
	else if (task == TASK_OTHER)
		memcpy(ret, "- ", 3);
	else if (!task)
		memcpy(ret, ". ", 3);
	else
		short_name(map_get(names, task, 1) - 1, ret);
}

void sched_map_text(struct sched_map *m, u32 lines, struct buf *out)
{
	_cleanup_map_ struct map names = MAP_INIT; /* tid -> number + 1 */
	u32 cpus = MAX(m->names->cpus, 1u);
	_cleanup_free_ u32 *now = xcalloc(cpus, sizeof(*now));

	memset(now, 0xff, cpus * sizeof(*now));
	vec_each(ev, &m->switches) {
		bool comes = shows_task(m, ev->next, ev->time);
		bool new = comes && ev->next && !map_find(&names, ev->next);
		char text[4];

		if (new)
			map_put(&names, ev->next, names.len + 1);
		now[ev->cpu] = comes || !ev->next ? ev->next : TASK_OTHER;
		if (!comes && !shows_task(m, ev->prev, ev->time))
			continue;
		for (u32 cpu = 0; cpu < cpus; cpu++) {
			buf_addch(out, cpu == ev->cpu ? '*' : ' ');
			column_text(&names, now[cpu], text);
			buf_addf(out, "%-3s", text);
		}
		/* cut and not rounded: as timehist and perf have it */
		buf_addf(out, "  %6llu.%06llu secs", (unsigned long long)(ev->time / NSEC_PER_SEC),
			 (unsigned long long)(ev->time % NSEC_PER_SEC / NSEC_PER_USEC));
		if (new) {
			short_name(map_get(&names, ev->next, 1) - 1, text);
			add_legend(m, text, ev->next, out);
		}
		buf_addch(out, '\n');
		if (lines && !--lines)
			break;
	}
}

void sched_map_result(struct sched_map *m, u32 lines, struct result *ret)
{
	static const struct column columns[] = {
		{ "begin_s", "BEGIN", VALUE_TEXT, 0 },
		{ "duration_ns", "TIME", VALUE_DURATION, 0 },
		{ "cpu", "CPU", VALUE_PID, 0 },
		{ "what", "WHAT", VALUE_TEXT, 0 },
		{ "tid", "TID", VALUE_PID, 0 },
		{ "comm", "TASK", VALUE_TEXT, 0 },
		{ "waker_tid", "WAKER", VALUE_PID, 0 },
		{ "waker", "WOKEN BY", VALUE_TEXT, 0 },
	};
	struct table *t = result_table(ret, "stretches", NULL, columns, ARRAY_SIZE(columns));
	size_t shown = 0;

	vec_each(s, &m->stretches) {
		struct row *r;

		if (s->does > SCHED_WAITS || !sched_map_shows(m, s))
			continue;
		if (lines && shown++ >= lines)
			break;
		r = table_row(ret, t);
		r->cells[0] = value_textf(ret, "%.9f", (double)s->begin / 1e9);
		r->cells[1] = value_u(VALUE_DURATION, s->end - s->begin);
		r->cells[2] = value_u(VALUE_PID, s->cpu);
		r->cells[3] = value_text(ret, s->does == SCHED_WAITS ? "waits" : "runs");
		r->cells[4] = value_u(VALUE_PID, s->tid);
		r->cells[5] = value_text(ret, sched_comm(m->names, s->tid));
		if (s->does == SCHED_WAITS && s->waker) {
			r->cells[6] = value_u(VALUE_PID, s->waker);
			r->cells[7] = value_text(ret, sched_comm(m->names, s->waker));
		}
	}
	result_loss(ret, "stretches_dropped", "spans beyond the limit", m->dropped);
}
