/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/ftrace_graph.h"

#include "base/clock.h"
#include "result/hist.h"

#include <math.h>

enum { DEPTH_MOST = 1024 };

/* A call that has not returned. */
struct call {
	u64 func;
	u64 child; /* ns in functions that it called */
	u32 stack; /* of the profile */
};

struct thread {
	VEC(struct call) open;
};

struct sum {
	u64 func;
	u64 calls, total, self, max;
	double squares; /* of microseconds */
};

struct ftrace_graph {
	struct ftrace_reader *reader;
	struct profile *profile;
	struct map threads; /* pid, or CPU of an idle task -> index + 1 */
	VEC(struct thread) each;
	struct map by_func; /* address -> index + 1 */
	VEC(struct sum) sums;
	u64 slots[2][HIST_LOG2_BUCKETS]; /* of microseconds; of nanoseconds */
	u64 calls, total, unmatched;
	u16 event;
};

struct ftrace_graph *ftrace_graph_new(struct ftrace_reader *reader, struct profile *profile)
{
	struct ftrace_graph *g = xcalloc(1, sizeof(*g));

	g->reader = reader;
	g->profile = profile;
	if (profile) {
		g->event = profile_get_event(profile, "function-time");
		profile->events.items[g->event].unit = profile_string(profile, "ns");
	}
	return g;
}

void ftrace_graph_free(struct ftrace_graph *g)
{
	if (!g)
		return;
	vec_each(t, &g->each)
		vec_release(&t->open);
	vec_release(&g->each);
	vec_release(&g->sums);
	map_release(&g->threads);
	map_release(&g->by_func);
	free(g);
}

/* Each CPU has an idle task of its own, all with the number 0. */
static struct thread *thread_of(struct ftrace_graph *g, const struct ftrace_event *ev)
{
	u64 *at = map_at(&g->threads, ev->pid ? (u64)(u32)ev->pid : 1ull << 32 | ev->cpu);

	if (!*at) {
		(void)vec_new(&g->each);
		*at = g->each.len;
	}
	return &g->each.items[*at - 1];
}

static struct sum *sum_of(struct ftrace_graph *g, u64 func)
{
	u64 *at = map_at(&g->by_func, func);

	if (!*at) {
		vec_new(&g->sums)->func = func;
		*at = g->sums.len;
	}
	return &g->sums.items[*at - 1];
}

static u32 frame_of(struct ftrace_graph *g, u64 func)
{
	struct frame f = { .kind = FRAME_KERNEL };

	f.name = profile_string(g->profile, ftrace_reader_symbol(g->reader, func));
	f.module = profile_string(g->profile, "[kernel.kallsyms]");
	return profile_get_frame(g->profile, &f);
}

static u32 stack_of(struct ftrace_graph *g, const struct thread *t, u64 func)
{
	if (!g->profile)
		return 0;
	return profile_get_stack(g->profile, t->open.len ? vec_last(&t->open)->stack : 0,
				 frame_of(g, func));
}

static void on_call(struct ftrace_graph *g, const struct ftrace_event *ev)
{
	struct thread *t = thread_of(g, ev);
	struct call c = { .func = ev->func };

	/* ends that were lost: what is deeper is over */
	if (t->open.len > ev->depth)
		t->open.len = ev->depth;
	if (t->open.len >= DEPTH_MOST)
		return;
	c.stack = stack_of(g, t, ev->func);
	vec_push(&t->open, c);
}

static void add_sample(struct ftrace_graph *g, const struct ftrace_event *ev, u32 stack, u64 self)
{
	struct profile_sample s = { .time = ev->calltime,
				    .weight = self,
				    .stack = stack,
				    .count = 1,
				    .cpu = (s16)ev->cpu,
				    .event = g->event };
	const char *comm = ftrace_reader_comm(g->reader, ev->pid);

	s.thread = profile_get_thread(g->profile, ev->pid, ev->pid,
				      profile_string(g->profile, comm), 0);
	profile_add_sample(g->profile, &s);
}

static u32 slot_of(u64 value)
{
	return value ? 64 - (u32)__builtin_clzll(value) : 0;
}

static void count_call(struct ftrace_graph *g, u64 func, u64 took, u64 self)
{
	struct sum *s = sum_of(g, func);
	double us = (double)took / NSEC_PER_USEC;

	s->calls++;
	s->total += took;
	s->self += self;
	s->max = MAX(s->max, took);
	s->squares += us * us;
	g->slots[0][slot_of(took / NSEC_PER_USEC)]++;
	g->slots[1][slot_of(took)]++;
	g->calls++;
	g->total += took;
}

static void on_return(struct ftrace_graph *g, const struct ftrace_event *ev)
{
	struct thread *t = thread_of(g, ev);
	u64 took = ev->rettime > ev->calltime ? ev->rettime - ev->calltime : 0, self;
	struct call c = { .func = ev->func };

	/* calls whose end was lost are above it */
	while (t->open.len && vec_last(&t->open)->func != ev->func)
		(void)vec_pop(&t->open);
	if (t->open.len) {
		c = vec_pop(&t->open);
	} else {
		g->unmatched++;
		c.stack = stack_of(g, t, ev->func);
	}
	self = took - MIN(took, c.child);
	if (t->open.len)
		vec_last(&t->open)->child += took;
	count_call(g, ev->func, took, self);
	if (g->profile)
		add_sample(g, ev, c.stack, self);
}

int ftrace_graph_event(void *graph, const struct ftrace_event *ev)
{
	if (ev->kind == FTRACE_ENTRY)
		on_call(graph, ev);
	else if (ev->kind == FTRACE_EXIT)
		on_return(graph, ev);
	return 0;
}

u64 ftrace_graph_calls(const struct ftrace_graph *g)
{
	return g->calls;
}

u64 ftrace_graph_unmatched(const struct ftrace_graph *g)
{
	return g->unmatched;
}

/* --- results -------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{ "total_ns", "TOTAL", VALUE_DURATION, 0 },
	{ "self_ns", "SELF", VALUE_DURATION, COLUMN_SPARE },
	{ "avg_ns", "AVG", VALUE_DURATION, 0 },
	{ "max_ns", "MAX", VALUE_DURATION, 0 },
	{ "stddev_ns", "STDDEV", VALUE_DURATION, COLUMN_SPARE },
	{ "count", "COUNT", VALUE_COUNT, 0 },
	{ "function", "FUNCTION", VALUE_TEXT, COLUMN_FILL },
};

static double total_key(const struct sum *s)
{
	return (double)s->total;
}
static double self_key(const struct sum *s)
{
	return (double)s->self;
}
static double avg_key(const struct sum *s)
{
	return (double)s->total / (double)MAX(s->calls, 1);
}
static double max_key(const struct sum *s)
{
	return (double)s->max;
}
static double count_key(const struct sum *s)
{
	return (double)s->calls;
}

static const struct sort_key {
	const char *name;
	double (*of)(const struct sum *s);
} keys[] = {
	{ "total", total_key }, { "self", self_key },   { "avg", avg_key },
	{ "max", max_key },     { "count", count_key },
};

static int sum_order(const void *a, const void *b, void *key)
{
	const struct sort_key *k = key;
	double x = k->of(a), y = k->of(b);

	return x < y ? 1 : x > y ? -1 : 0;
}

static const struct sort_key *find_key(const char *name, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!name || streq(keys[i].name, name))
			return &keys[i];
	err_set(e, EINVAL, "unknown sort key '%s'", name);
	err_hint(e, "the keys are total, self, avg, max and count");
	return NULL;
}

static u64 deviation(const struct sum *s)
{
	double mean = (double)s->total / NSEC_PER_USEC / (double)s->calls;
	double variance = s->squares / (double)s->calls - mean * mean;

	return (u64)(sqrt(variance > 0 ? variance : 0) * NSEC_PER_USEC);
}

int ftrace_graph_result(struct ftrace_graph *g, const char *sort, u32 lines, struct result *ret,
			struct err *e)
{
	const struct sort_key *key = find_key(sort, e);
	struct table *t;

	if (!key)
		return -EINVAL;
	if (g->sums.len > 1)
		qsort_r(g->sums.items, g->sums.len, sizeof(*g->sums.items), sum_order, (void *)key);
	t = result_table(ret, "functions", NULL, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < g->sums.len && (!lines || i < lines); i++) {
		const struct sum *s = &g->sums.items[i];
		struct row *row = table_row(ret, t);

		row->cells[0] = value_u(VALUE_DURATION, s->total);
		row->cells[1] = value_u(VALUE_DURATION, s->self);
		row->cells[2] = value_u(VALUE_DURATION, s->total / s->calls);
		row->cells[3] = value_u(VALUE_DURATION, s->max);
		row->cells[4] = value_u(VALUE_DURATION, deviation(s));
		row->cells[5] = value_u(VALUE_COUNT, s->calls);
		row->cells[6] = value_text(ret, ftrace_reader_symbol(g->reader, s->func));
	}
	if (lines && g->sums.len > lines)
		result_note(ret, NOTE_INFO, NULL, "%zu more functions are not shown",
			    g->sums.len - lines);
	return 0;
}

void ftrace_graph_latency(struct ftrace_graph *g, bool nanoseconds, struct result *ret)
{
	struct histogram *h =
		result_hist_log2(ret, "latency", NULL, nanoseconds ? "nsecs" : "usecs");

	for (u32 i = 0; i < HIST_LOG2_BUCKETS; i++) {
		u64 n = g->slots[nanoseconds][i];

		if (n)
			hist_add(h, i ? 1ull << (i - 1) : 0, n);
	}
	h->total = nanoseconds ? g->total : g->total / NSEC_PER_USEC;
}
