/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads.h"

#include "base/hash.h"

/* --- accounts --------------------------------------------------------------------------------- */

/* The kernel's ticks say only in which proportion; how long, the switches say. */
static void split_cpu(struct thread_account *a, const struct offcpu_thread *t, bool unsplit)
{
	u64 ticks = t->utime + t->stime;
	double share = ticks ? (double)t->utime / (double)ticks : a->kthread ? 0 : 1;

	if (unsplit) {
		a->ns[STATE_RUNNING] = t->oncpu;
		return;
	}
	a->ns[STATE_USER] = (u64)((double)t->oncpu * share);
	a->ns[STATE_KERNEL] = t->oncpu - a->ns[STATE_USER];
}

static void add_wait(struct thread_account *a, const struct wait *w, bool idle)
{
	enum thread_state kind = (enum thread_state)w->kind;

	a->ns[kind] += w->blocked;
	if (w->blocked > a->top_ns && (idle || !wait_is_idle(kind))) {
		a->top_ns = w->blocked;
		a->top_stack = w->stack;
		a->top_kind = kind;
	}
}

static u64 blocked_sum(const struct thread_account *a)
{
	u64 sum = 0;

	for (int i = STATE_DISK; i < STATE_COUNT; i++)
		sum += a->ns[i];
	return sum;
}

/*
 * What no row tells (the table was full) is other; rows beyond the account cannot be. Of samples
 * only the proportions count.
 */
static void settle(struct thread_account *a, const struct offcpu_thread *t, bool sampled)
{
	u64 rows = blocked_sum(a), all = t->blocked + t->unknown;

	a->wall = t->oncpu + t->runq + all;
	a->unknown = t->unknown;
	if (rows <= all && !(sampled && rows)) {
		a->ns[STATE_OTHER] += all - rows;
		return;
	}
	for (int i = STATE_DISK; i < STATE_COUNT; i++)
		a->ns[i] = (u64)((double)a->ns[i] * (double)all / (double)rows);
}

void accounts_build(const struct observed *o, account_list *ret)
{
	struct map by_tid = MAP_INIT;
	struct profile *p = o->profile;

	for (size_t i = 0; i < o->n_threads; i++) {
		const struct offcpu_thread *t = &o->threads[i];
		struct thread_account *a = vec_new(ret);
		char comm[OFFCPU_COMM + 1] = { 0 };

		memcpy(comm, t->comm, OFFCPU_COMM);
		a->pid = t->pid;
		a->tid = t->tid;
		a->n = 1;
		a->kthread = t->flags & OFFCPU_KTHREAD;
		a->comm = profile_string(p, comm);
		a->switches = t->switches;
		a->preemptions = t->preemptions;
		a->minor = t->minor;
		a->major = t->major;
		a->cgroup = o->cgroups ? o->cgroups[i] : 0;
		a->ns[STATE_RUNNABLE] = t->runq;
		split_cpu(a, t, o->unsplit);
		map_put(&by_tid, t->tid, ret->len);
	}
	vec_each(w, o->waits) {
		u64 at = map_get(&by_tid, (u32)p->threads.items[w->thread].tid, 0);

		if (at)
			add_wait(&ret->items[at - 1], w, o->idle);
	}
	for (size_t i = 0; i < ret->len; i++)
		settle(&ret->items[i], &o->threads[i], o->waits_sampled);
	map_release(&by_tid);
}

static u64 group_key(const struct thread_account *a, enum account_by by)
{
	return by == BY_PROCESS ? a->pid : by == BY_COMM ? a->comm : a->cgroup;
}

static void account_add(struct thread_account *into, const struct thread_account *a)
{
	for (int i = 0; i < STATE_COUNT; i++)
		into->ns[i] += a->ns[i];
	into->wall += a->wall;
	into->n += a->n;
	into->unknown += a->unknown;
	into->minor += a->minor;
	into->major += a->major;
	into->switches += a->switches;
	into->preemptions += a->preemptions;
	if (a->top_ns > into->top_ns) {
		into->top_ns = a->top_ns;
		into->top_stack = a->top_stack;
		into->top_kind = a->top_kind;
	}
}

void accounts_group(account_list *list, enum account_by by)
{
	struct map known = MAP_INIT;
	size_t n = 0;

	if (by == BY_THREAD)
		return;
	for (size_t i = 0; i < list->len; i++) {
		const struct thread_account *a = &list->items[i];
		u64 *at = map_at(&known, group_key(a, by));

		if (*at) {
			struct thread_account *into = &list->items[*at - 1];

			/* the name of a process is that of its first thread */
			if (by == BY_PROCESS && a->tid == a->pid)
				into->comm = a->comm;
			account_add(into, a);
			continue;
		}
		list->items[n++] = *a;
		*at = n;
	}
	list->len = n;
	map_release(&known);
}

/* --- the table -------------------------------------------------------------------------------- */

static u64 busy(const struct thread_account *a)
{
	return a->ns[STATE_USER] + a->ns[STATE_KERNEL] + a->ns[STATE_RUNNING] +
	       a->ns[STATE_RUNNABLE];
}

/* Active threads first, then those that wait for something. */
static int by_activity(const void *a, const void *b)
{
	const struct thread_account *x = a, *y = b;
	u64 bx = busy(x), by = busy(y);

	if (bx != by)
		return bx < by ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

enum {
	COL_TID,
	COL_PID,
	COL_COMM,
	COL_CGROUP,
	COL_N,
	COL_WALL,
	COL_STATES,
	COL_TOP = COL_STATES + STATE_COUNT,
	COL_STACK,
	COL_SWITCHES,
	COL_PREEMPTIONS,
	COL_UNKNOWN,
	COLUMNS
};

#define SHOWN_SHARE 0.00005 /* less is 0.00 % */

static bool any_in(const account_list *list, size_t n, int state)
{
	for (size_t i = 0; i < n; i++) {
		const struct thread_account *a = &list->items[i];

		if ((double)a->ns[state] > SHOWN_SHARE * (double)a->wall)
			return true;
	}
	return false;
}

/* Columns in which none of the first @n has anything are for machines only. */
static u32 state_flags(const account_list *list, size_t n, int state)
{
	bool always = state == STATE_RUNNABLE;

	if (state == STATE_USER || state == STATE_KERNEL)
		always = !any_in(list, list->len, STATE_RUNNING);
	if (!always && !any_in(list, n, state))
		return COLUMN_HIDDEN;
	return COLUMN_WHOLE | COLUMN_WEIGHT | (state > STATE_RUNNABLE ? COLUMN_SPARE : 0);
}

static void make_columns(const account_list *list, size_t n, enum account_by by, struct column *c)
{
	c[COL_TID] =
		(struct column){ "tid", "TID", VALUE_PID, by == BY_THREAD ? 0 : COLUMN_HIDDEN };
	c[COL_PID] =
		(struct column){ "pid", "PID", VALUE_PID, by == BY_PROCESS ? 0 : COLUMN_HIDDEN };
	c[COL_COMM] = (struct column){ "comm", "COMMAND", VALUE_TEXT,
				       by == BY_CGROUP ? COLUMN_HIDDEN : 0 };
	c[COL_CGROUP] = (struct column){ "cgroup", "CGROUP", VALUE_TEXT,
					 by == BY_CGROUP ? 0 : COLUMN_HIDDEN };
	c[COL_N] = (struct column){ "threads", "THREADS", VALUE_COUNT,
				    by == BY_THREAD ? COLUMN_HIDDEN : 0 };
	c[COL_WALL] = (struct column){ "wall_ns", "WALL", VALUE_DURATION, 0 };
	for (int i = 0; i < STATE_COUNT; i++)
		c[COL_STATES + i] = (struct column){ thread_state_key((enum thread_state)i),
						     thread_state_title((enum thread_state)i),
						     VALUE_PERCENT, state_flags(list, n, i) };
	c[COL_TOP] = (struct column){ "top_reason", "MOST", VALUE_TEXT, COLUMN_HIDDEN };
	c[COL_STACK] =
		(struct column){ "top_stack", "WAITS LONGEST IN", VALUE_TEXT, COLUMN_HIDDEN };
	c[COL_SWITCHES] = (struct column){ "switches", "SWITCHES", VALUE_COUNT, COLUMN_HIDDEN };
	c[COL_PREEMPTIONS] =
		(struct column){ "preemptions", "PREEMPTED", VALUE_COUNT, COLUMN_HIDDEN };
	c[COL_UNKNOWN] = (struct column){ "unknown_ns", "UNKNOWN", VALUE_DURATION, COLUMN_HIDDEN };
}

static void add_row(const struct profile *p, const struct thread_account *a, struct table *t,
		    struct result *ret)
{
	struct row *r = table_row(ret, t);
	_cleanup_buf_ struct buf text = BUF_INIT;

	r->cells[COL_TID] = value_u(VALUE_PID, a->tid);
	r->cells[COL_PID] = value_u(VALUE_PID, a->pid);
	r->cells[COL_COMM] = value_text(ret, profile_str(p, a->comm));
	r->cells[COL_CGROUP] = value_text(ret, profile_str(p, a->cgroup));
	r->cells[COL_N] = value_u(VALUE_COUNT, a->n);
	r->cells[COL_WALL] = value_u(VALUE_DURATION, a->wall);
	for (int i = 0; i < STATE_COUNT; i++)
		r->cells[COL_STATES + i] = value_d(
			VALUE_PERCENT, a->wall ? 100.0 * (double)a->ns[i] / (double)a->wall : 0);
	if (a->top_ns) {
		r->cells[COL_TOP] = value_text(ret, thread_state_name(a->top_kind));
		wait_place(p, a->top_stack, &text);
		r->cells[COL_STACK] = value_text(ret, buf_str(&text));
	}
	r->cells[COL_SWITCHES] = value_u(VALUE_COUNT, a->switches);
	r->cells[COL_PREEMPTIONS] = value_u(VALUE_COUNT, a->preemptions);
	r->cells[COL_UNKNOWN] = value_u(VALUE_DURATION, a->unknown);
}

static const char *account_name(const struct profile *p, const struct thread_account *a,
				enum account_by by)
{
	return profile_str(p, by == BY_CGROUP ? a->cgroup : a->comm);
}

/* What kept each longest, and where: for people, as a table of its own, since stacks are wide. */
static void add_reasons(const struct profile *p, const account_list *list, enum account_by by,
			size_t n, struct result *ret)
{
	const struct column columns[] = {
		{ "id", by == BY_THREAD ? "TID" : "PID", VALUE_PID,
		  by == BY_THREAD || by == BY_PROCESS ? 0 : COLUMN_HIDDEN },
		{ "name", by == BY_CGROUP ? "CGROUP" : "COMMAND", VALUE_TEXT, 0 },
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "kind", "FOR", VALUE_TEXT, 0 },
		{ "where", "IN", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct thread_account *a = &list->items[i];
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct row *r;

		if (!a->top_ns || (!a->top_stack && a->top_kind == STATE_IDLE))
			continue;
		if (!t)
			t = result_table(ret, "reasons", "longest wait of each", columns,
					 ARRAY_SIZE(columns));
		r = table_row(ret, t);
		wait_place(p, a->top_stack, &text);
		r->cells[0] = value_u(VALUE_PID, by == BY_THREAD ? a->tid : a->pid);
		r->cells[1] = value_text(ret, account_name(p, a, by));
		r->cells[2] = value_u(VALUE_DURATION, a->top_ns);
		r->cells[3] = value_text(ret, thread_state_name(a->top_kind));
		r->cells[4] = value_text(ret, buf_str(&text));
	}
}

void accounts_to_result(const struct profile *p, account_list *list, enum account_by by, u32 lines,
			bool machine, struct result *ret)
{
	struct column columns[COLUMNS];
	struct table *t;
	size_t shown = lines && lines < list->len ? lines : list->len;

	vec_sort(list, by_activity);
	make_columns(list, shown, by, columns);
	t = result_table(ret, "threads", NULL, columns, COLUMNS);
	for (size_t i = 0; i < shown; i++)
		add_row(p, &list->items[i], t, ret);
	if (!machine)
		add_reasons(p, list, by, shown, ret);
	if (shown < list->len)
		result_note(ret, NOTE_INFO, NULL, "%zu more are hidden: -n 0 shows all",
			    list->len - shown);
}
