/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/stat_why.h"

#include "base/text.h"

enum { REASONS_SHOWN = 4, LINE_WIDTH = 80, INDENT = 3 };

void stat_why_of_delay(struct stat_share *ret, const struct delay *d, u64 wall)
{
	u64 known = d->running + d->waiting;

	*ret = (struct stat_share){ .threads = 1, .wall = MAX(wall, known) };
	ret->ns[STATE_RUNNING] = d->running;
	ret->ns[STATE_RUNNABLE] = d->waiting;
	ret->ns[STATE_OTHER] = ret->wall - known;
}

static void add_account(struct stat_share *s, const struct thread_account *a)
{
	s->threads += a->n ? a->n : 1;
	s->wall += a->wall;
	for (size_t i = 0; i < STATE_COUNT; i++)
		s->ns[i] += a->ns[i];
}

void stat_why_of_accounts(struct stat_why *ret, const account_list *accounts, u32 pid)
{
	ret->reasons = true;
	ret->main = ret->all = (struct stat_share){ 0 };
	vec_each(a, accounts) {
		add_account(&ret->all, a);
		if (pid && a->tid == pid)
			add_account(&ret->main, a);
	}
}

/* --- words ------------------------------------------------------------------------------------ */

static u64 running_of(const struct stat_share *s)
{
	return s->ns[STATE_USER] + s->ns[STATE_KERNEL] + s->ns[STATE_RUNNING];
}

static void add_part(struct buf *out, u64 ns, const char *words, bool first)
{
	buf_addf(out, "%s%.3f s %s", first ? " " : ", ", (double)ns / 1e9, words);
}

/* The largest of those that are left in @ns; STATE_COUNT: none is. */
static enum thread_state largest(const u64 *ns)
{
	enum thread_state best = STATE_COUNT;

	for (int i = STATE_DISK; i < STATE_COUNT; i++) {
		if (ns[i] && (best == STATE_COUNT || ns[i] > ns[best]))
			best = (enum thread_state)i;
	}
	return best;
}

static void add_blocked(struct buf *out, const struct stat_share *s, bool reasons)
{
	u64 ns[STATE_COUNT], rest = 0;
	enum thread_state state;

	if (!reasons) {
		add_part(out, s->ns[STATE_OTHER], "blocked", false);
		return;
	}
	memcpy(ns, s->ns, sizeof(ns));
	for (int i = 0; i < REASONS_SHOWN && (state = largest(ns)) != STATE_COUNT; i++) {
		add_part(out, ns[state], thread_state_words(state), false);
		ns[state] = 0;
	}
	for (int i = STATE_DISK; i < STATE_COUNT; i++)
		rest += ns[i];
	if (rest)
		add_part(out, rest, "blocked otherwise", false);
}

static void add_share(struct buf *out, const struct stat_share *s, const char *who, bool reasons)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (!s->threads)
		return;
	buf_addf(&line, "%.3f s of %s:", (double)s->wall / 1e9, who);
	add_part(&line, running_of(s), "running", true);
	add_part(&line, s->ns[STATE_RUNNABLE], "waiting for a CPU", false);
	add_blocked(&line, s, reasons);
	buf_addch(out, ' ');
	text_fill(out, buf_str(&line), line.len, 1, INDENT, LINE_WIDTH);
}

void stat_why_text(const struct stat_why *w, struct buf *out)
{
	char who[48];

	add_share(out, &w->main, "the main thread", w->reasons);
	if (w->all.threads > w->main.threads) {
		snprintf(who, sizeof(who), "%u thread%s", w->all.threads,
			 w->all.threads == 1 ? "" : "s");
		add_share(out, &w->all, who, w->reasons);
	}
	if (w->pressure.known && w->wall)
		buf_addf(out,
			 " threads waited for a CPU in %.1f%% of the time, for a disk in %.1f%%,\n"
			 "   for memory in %.1f%%\n",
			 100 * (double)w->pressure.cpu / (double)w->wall,
			 100 * (double)w->pressure.io / (double)w->wall,
			 100 * (double)w->pressure.memory / (double)w->wall);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{ "of", "OF", VALUE_TEXT, 0 },
	{ "state", "STATE", VALUE_TEXT, 0 },
	{ "time_ns", "TIME", VALUE_DURATION, 0 },
	{ "percent", "SHARE", VALUE_PERCENT, 0 },
};

static void add_row(struct result *r, struct table *t, const struct stat_share *s, const char *who,
		    const char *state, u64 ns)
{
	struct value *c;

	if (!ns)
		return;
	c = table_row(r, t)->cells;
	c[0] = value_text(r, who);
	c[1] = value_text(r, state);
	c[2] = value_u(VALUE_DURATION, ns);
	c[3] = value_d(VALUE_PERCENT, s->wall ? 100 * (double)ns / (double)s->wall : 0);
}

static void add_rows(struct result *r, struct table *t, const struct stat_share *s, const char *who,
		     bool reasons)
{
	if (!s->threads)
		return;
	add_row(r, t, s, who, "running", running_of(s));
	add_row(r, t, s, who, "runnable", s->ns[STATE_RUNNABLE]);
	for (int i = STATE_DISK; i < STATE_COUNT; i++)
		add_row(r, t, s, who, reasons ? thread_state_name((enum thread_state)i) : "blocked",
			s->ns[i]);
}

void stat_why_result(const struct stat_why *w, struct result *r)
{
	struct table *t;

	if (w->pressure.known) {
		result_fact(r, "pressure_cpu_ns", NULL, value_u(VALUE_DURATION, w->pressure.cpu));
		result_fact(r, "pressure_io_ns", NULL, value_u(VALUE_DURATION, w->pressure.io));
		result_fact(r, "pressure_memory_ns", NULL,
			    value_u(VALUE_DURATION, w->pressure.memory));
	}
	if (!w->main.threads && !w->all.threads)
		return;
	t = result_table(r, "why", NULL, columns, ARRAY_SIZE(columns));
	add_rows(r, t, &w->main, "main thread", w->reasons);
	if (w->all.threads > w->main.threads)
		add_rows(r, t, &w->all, "all threads", w->reasons);
}
