/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_explain_page.h"

static void table_states(const struct explain_page *p, struct result *ret)
{
	static const struct column columns[] = {
		{ "state", "STATE", VALUE_TEXT, 0 },
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "percent", "%", VALUE_PERCENT, 0 },
	};
	struct table *t = result_table(ret, "states", NULL, columns, ARRAY_SIZE(columns));

	for (int i = 0; i < STATE_COUNT; i++) {
		struct row *r = table_row(ret, t);

		r->cells[0] = value_text(ret, thread_state_name((enum thread_state)i));
		r->cells[1] = value_u(VALUE_DURATION, p->sum.ns[i]);
		r->cells[2] = value_d(VALUE_PERCENT, explain_share(p->sum.ns[i], p->sum.wall));
	}
}

static void table_functions(const struct explain_page *p, struct result *ret)
{
	static const struct column columns[] = {
		{ "function", "FUNCTION", VALUE_TEXT, 0 },
		{ "module", "MODULE", VALUE_TEXT, 0 },
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "percent", "%", VALUE_PERCENT, 0 },
	};
	struct table *t = result_table(ret, "functions", NULL, columns, ARRAY_SIZE(columns));

	for (size_t i = 0;
	     explain_has_functions(p) && i < p->cpu->list.len && i < EXPLAIN_FUNCTIONS; i++) {
		const struct cpu_function *f = &p->cpu->list.items[i];
		struct row *r = table_row(ret, t);

		r->cells[0] = value_text(ret, profile_str(p->cpu->profile, f->name));
		r->cells[1] = value_text(ret, profile_str(p->cpu->profile, f->module));
		r->cells[2] = value_u(VALUE_DURATION, explain_time_of(p, f));
		r->cells[3] = value_d(VALUE_PERCENT,
				      explain_share(explain_time_of(p, f), explain_time_on_cpu(p)));
	}
}

static struct value place_value(const struct explain_page *p, u32 stack, struct result *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	wait_place_brief(p->profile, stack, &text);
	return value_text(ret, buf_str(&text));
}

/* "chain-b <- chain-c <- [timer]" */
static struct value chain_value(const struct explain_page *p, const struct wait *w,
				struct result *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (u32 i = 0; i < w->n_links; i++)
		buf_addf(&text, "%s%s", i ? " <- " : "", profile_str(p->profile, w->links[i].comm));
	return value_text(ret, buf_str(&text));
}

enum {
	WAIT_MAX,
	WAIT_TIME,
	WAIT_COUNT,
	WAIT_THREADS,
	WAIT_TID,
	WAIT_COMM,
	WAIT_KIND,
	WAIT_WHERE,
	WAIT_BEFORE,
	WAIT_OPEN,
	WAIT_WAKER,
	WAIT_WAKER_TIME,
	WAIT_WAKER_COUNT,
	WAIT_WAKERS,
	WAIT_WAKER_TID,
	WAIT_WAKER_WHERE,
	WAIT_WAKER_KIND,
	WAIT_WAKER_SLEPT,
	WAIT_WAKER_RAN,
	WAIT_WAKER_RUNNABLE,
	WAIT_WAKER_BLOCKED,
	WAIT_COLUMNS
};

/* What the waker did while others waited for it. */
static void doing_cells(const struct explain_page *p, const struct pile *ending, struct row *r)
{
	u64 ns[LINK_BLOCKED + 1] = { 0 };

	for (const struct pile *past = NULL; (past = longest_past(&p->longest, ending, past));)
		ns[past->wait->n_links > 1 ? LINK_BLOCKED : past->wait->links[0].doing] += past->ns;
	r->cells[WAIT_WAKER_RAN] = value_u(VALUE_DURATION, ns[LINK_RAN]);
	r->cells[WAIT_WAKER_RUNNABLE] = value_u(VALUE_DURATION, ns[LINK_RUNNABLE]);
	r->cells[WAIT_WAKER_BLOCKED] = value_u(VALUE_DURATION, ns[LINK_BLOCKED]);
}

/* The past that took most, of the ending that did. */
static void waker_cells(const struct explain_page *p, const struct pile *ending, struct row *r,
			struct result *ret)
{
	const struct wait *w = longest_past(&p->longest, ending, NULL)->wait;
	const struct wait_link *l = &w->links[0];

	if (!w->n_links)
		return;
	r->cells[WAIT_WAKER] = chain_value(p, w, ret);
	r->cells[WAIT_WAKER_TIME] = value_u(VALUE_DURATION, ending->ns);
	r->cells[WAIT_WAKER_COUNT] = value_u(VALUE_COUNT, ending->count);
	if (!waker_is_task(l->kind))
		return;
	doing_cells(p, ending, r);
	r->cells[WAIT_WAKERS] = value_u(VALUE_COUNT, ending->threads);
	r->cells[WAIT_WAKER_TID] = value_u(VALUE_PID, l->tid);
	r->cells[WAIT_WAKER_WHERE] = place_value(p, l->stack, ret);
	if (!l->sleep_stack)
		return;
	r->cells[WAIT_WAKER_KIND] =
		value_text(ret, thread_state_name((enum thread_state)l->sleep_kind));
	r->cells[WAIT_WAKER_SLEPT] = place_value(p, l->sleep_stack, ret);
}

static void group_cells(const struct explain_page *p, const struct pile *g, struct row *r,
			struct result *ret)
{
	const struct wait *w = g->wait;
	const struct profile_thread *t = &p->profile->threads.items[w->thread];

	r->cells[WAIT_MAX] = value_u(VALUE_DURATION, g->max);
	r->cells[WAIT_TIME] = value_u(VALUE_DURATION, g->ns);
	r->cells[WAIT_COUNT] = value_u(VALUE_COUNT, g->count);
	r->cells[WAIT_THREADS] = value_u(VALUE_COUNT, g->threads);
	r->cells[WAIT_TID] = value_u(VALUE_PID, (u64)t->tid);
	r->cells[WAIT_COMM] = value_text(ret, profile_str(p->profile, t->comm));
	r->cells[WAIT_KIND] = value_text(ret, thread_state_name((enum thread_state)w->kind));
	r->cells[WAIT_WHERE] = place_value(p, w->stack, ret);
	r->cells[WAIT_BEFORE] = value_u(VALUE_COUNT, g->before);
	r->cells[WAIT_OPEN] = value_u(VALUE_COUNT, g->open);
	waker_cells(p, longest_ending(&p->longest, g, NULL), r, ret);
}

static void table_longest(const struct explain_page *p, struct result *ret)
{
	static const struct column columns[WAIT_COLUMNS] = {
		[WAIT_MAX] = { "max_ns", "MAX", VALUE_DURATION, 0 },
		[WAIT_TIME] = { "time_ns", "TIME", VALUE_DURATION, 0 },
		[WAIT_COUNT] = { "count", "COUNT", VALUE_COUNT, 0 },
		[WAIT_THREADS] = { "threads", "THREADS", VALUE_COUNT, 0 },
		[WAIT_TID] = { "tid", "TID", VALUE_PID, 0 },
		[WAIT_COMM] = { "comm", "COMMAND", VALUE_TEXT, 0 },
		[WAIT_KIND] = { "kind", "KIND", VALUE_TEXT, 0 },
		[WAIT_WHERE] = { "where", "WHERE", VALUE_TEXT, 0 },
		[WAIT_BEFORE] = { "began_before", "BEFORE", VALUE_COUNT, 0 },
		[WAIT_OPEN] = { "goes_on", "OPEN", VALUE_COUNT, 0 },
		[WAIT_WAKER] = { "waker", "WOKEN BY", VALUE_TEXT, 0 },
		[WAIT_WAKER_RAN] = { "waker_ran_ns", "IT RAN", VALUE_DURATION, 0 },
		[WAIT_WAKER_RUNNABLE] = { "waker_runnable_ns", "RUNNABLE", VALUE_DURATION, 0 },
		[WAIT_WAKER_BLOCKED] = { "waker_blocked_ns", "BLOCKED", VALUE_DURATION, 0 },
		[WAIT_WAKER_TIME] = { "waker_time_ns", "ITS TIME", VALUE_DURATION, 0 },
		[WAIT_WAKER_COUNT] = { "waker_count", "ITS COUNT", VALUE_COUNT, 0 },
		[WAIT_WAKERS] = { "wakers", "WAKERS", VALUE_COUNT, 0 },
		[WAIT_WAKER_TID] = { "waker_tid", "WAKER", VALUE_PID, 0 },
		[WAIT_WAKER_WHERE] = { "waker_where", "IN", VALUE_TEXT, 0 },
		[WAIT_WAKER_KIND] = { "waker_waited_for", "HAD WAITED FOR", VALUE_TEXT, 0 },
		[WAIT_WAKER_SLEPT] = { "waker_waited_in", "HAD WAITED IN", VALUE_TEXT, 0 },
	};
	struct table *t = result_table(ret, "waits", NULL, columns, ARRAY_SIZE(columns));
	const struct pile *g = NULL;

	for (int i = 0; i < EXPLAIN_LONGEST; i++) {
		g = longest_group(&p->longest, g);
		if (!g)
			break;
		group_cells(p, g, table_row(ret, t), ret);
	}
}

static void table_culprits(const struct explain_page *p, struct result *ret)
{
	static const struct column columns[] = {
		{ "tid", "TID", VALUE_PID, 0 },           { "pid", "PID", VALUE_PID, 0 },
		{ "comm", "COMMAND", VALUE_TEXT, 0 },     { "count", "TURNS", VALUE_COUNT, 0 },
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
	};
	struct table *t = result_table(ret, "ran_instead", NULL, columns, ARRAY_SIZE(columns));

	vec_each(c, p->culprits) {
		struct row *r = table_row(ret, t);

		r->cells[0] = value_u(VALUE_PID, c->tid);
		r->cells[1] = value_u(VALUE_PID, c->pid);
		r->cells[2] = value_text(ret, profile_str(p->profile, c->comm));
		r->cells[3] = value_u(VALUE_COUNT, c->turns);
		r->cells[4] = value_u(VALUE_DURATION, c->ns);
	}
}

static void facts(const struct explain_page *p, const struct explain_faults *f, struct result *ret)
{
	const struct {
		const char *key;
		enum value_type type;
		u64 value;
	} list[] = {
		{ "duration_ns", VALUE_DURATION, p->seen->end - p->seen->begin },
		{ "threads", VALUE_COUNT, p->accounts.len },
		{ "wall_ns", VALUE_DURATION, p->sum.wall },
		{ "runqueue_ns", VALUE_DURATION, p->sum.ns[STATE_RUNNABLE] },
		{ "runqueue_waits", VALUE_COUNT, p->runq_waits },
		{ "runqueue_max_ns", VALUE_DURATION, p->runq_longest },
		{ "switches", VALUE_COUNT, p->sum.switches },
		{ "preemptions", VALUE_COUNT, p->sum.preemptions },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		result_fact(ret, list[i].key, NULL, value_u(list[i].type, list[i].value));
	if (!f->known)
		return;
	result_fact(ret, "minor_faults", NULL, value_u(VALUE_COUNT, f->minor));
	result_fact(ret, "major_faults", NULL, value_u(VALUE_COUNT, f->major));
}

void explain_tables(const struct explain_page *p, const struct explain_faults *f,
		    struct result *ret)
{
	facts(p, f, ret);
	table_states(p, ret);
	table_longest(p, ret);
	table_functions(p, ret);
	table_culprits(p, ret);
}
