/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_explain.h"

#include "base/fmt.h"

enum { LONGEST = 5, CULPRITS = 5, CHAIN_WORDS = 3 };

struct page {
	struct offcpu_live *live;
	struct profile *profile;
	struct thread_account sum; /* of all threads */
	account_list accounts;
	struct buf text;
};

static void say_time(struct buf *b, u64 ns)
{
	fmt_duration(b, ns);
}

static void say_share(struct buf *b, u64 ns, u64 whole)
{
	say_time(b, ns);
	buf_addf(b, " (%.1f %%)", whole ? 100.0 * (double)ns / (double)whole : 0);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void sum_accounts(struct page *p)
{
	for (size_t i = 0; i < p->accounts.len; i++) {
		const struct thread_account *a = &p->accounts.items[i];

		for (int s = 0; s < STATE_COUNT; s++)
			p->sum.ns[s] += a->ns[s];
		p->sum.wall += a->wall;
		p->sum.switches += a->switches;
		p->sum.preemptions += a->preemptions;
	}
}

static void order_states(const struct thread_account *sum, int order[STATE_COUNT])
{
	for (int i = 0; i < STATE_COUNT; i++)
		order[i] = i;
	for (int i = 1; i < STATE_COUNT; i++) {
		for (int j = i; j && sum->ns[order[j]] > sum->ns[order[j - 1]]; j--) {
			int swap = order[j];

			order[j] = order[j - 1];
			order[j - 1] = swap;
		}
	}
}

static void say_whole(struct page *p, u32 pid)
{
	int order[STATE_COUNT];
	const char *name =
		p->accounts.len ? profile_str(p->profile, p->accounts.items[0].comm) : "?";

	for (size_t i = 0; i < p->accounts.len; i++) {
		if (p->accounts.items[i].tid == pid)
			name = profile_str(p->profile, p->accounts.items[i].comm);
	}
	buf_addf(&p->text, "Process %u (%s): %zu thread%s", pid, name, p->accounts.len,
		 p->accounts.len == 1 ? "" : "s");
	buf_addstr(&p->text, ", looked at for ");
	say_time(&p->text, p->live->end - p->live->begin);
	buf_addstr(&p->text, "; together they lived ");
	say_time(&p->text, p->sum.wall);
	buf_addstr(&p->text, ".\n\nWhere that time went:\n");
	order_states(&p->sum, order);
	for (int i = 0; i < STATE_COUNT; i++) {
		u64 ns = p->sum.ns[order[i]];

		if (!ns)
			continue;
		buf_addstr(&p->text, "  ");
		say_share(&p->text, ns, p->sum.wall);
		buf_addf(&p->text, " %s\n", thread_state_words((enum thread_state)order[i]));
	}
}

/* --- the longest waits ------------------------------------------------------------------------ */

static int by_blocked(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return x->blocked < y->blocked ? 1 : x->blocked > y->blocked ? -1 : 0;
}

static enum thread_state kind_of_stack(const struct profile *p, u32 stack)
{
	struct wait w = { .stack = stack, .syscall = -1, .state = 1 };

	return wait_kind(p, &w);
}

static void say_links(struct page *p, const struct wait *w)
{
	struct buf *b = &p->text;

	if (w->flags & OFFCPU_OPEN) {
		buf_addstr(b, "     it waits still\n");
		return;
	}
	if (!w->n_links) {
		buf_addstr(b, "     who ended it was not seen\n");
		return;
	}
	for (u32 i = 0; i < w->n_links && i < CHAIN_WORDS; i++) {
		const struct wait_link *l = &w->links[i];

		buf_addf(b, "     %s %s", i ? "woken in turn by" : "ended by",
			 profile_str(p->profile, l->comm));
		if (l->kind == OFFCPU_WAKER_TASK) {
			buf_addf(b, " (%u) in ", l->tid);
			wait_place(p->profile, l->stack, b);
		}
		if (l->sleep_stack) {
			buf_addf(b, ",\n     which had been %s in ",
				 thread_state_words(kind_of_stack(p->profile, l->sleep_stack)));
			wait_place(p->profile, l->sleep_stack, b);
		}
		buf_addch(b, '\n');
	}
}

static void say_longest(struct page *p)
{
	wait_list *waits = &p->live->waits;
	size_t shown = 0;

	vec_sort(waits, by_blocked);
	for (size_t i = 0; i < waits->len && shown < LONGEST && waits->items[i].blocked; i++) {
		const struct wait *w = &waits->items[i];
		const struct profile_thread *t = &p->profile->threads.items[w->thread];

		if (!shown++)
			buf_addstr(&p->text, "\nIts longest waits:\n");
		buf_addf(&p->text, "  %zu. ", shown);
		say_time(&p->text, w->blocked);
		buf_addf(&p->text, ": %s (%d) was %s in ", profile_str(p->profile, t->comm), t->tid,
			 thread_state_words(wait_kind(p->profile, w)));
		wait_place(p->profile, w->stack, &p->text);
		if (w->flags & OFFCPU_UNKNOWN_START)
			buf_addstr(&p->text, ", since before we looked");
		buf_addch(&p->text, '\n');
		say_links(p, w);
	}
}

/* --- waiting for a CPU ------------------------------------------------------------------------ */

struct culprit {
	char comm[OFFCPU_COMM + 1];
	u32 tid;
	u64 ns;
	u64 count;
};

static int by_ns(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

typedef VEC(struct culprit) culprit_list;

/* Who had run on that CPU when our thread got it. */
static void find_culprits(const struct offcpu_live *l, culprit_list *ret)
{
	struct map known = MAP_INIT;

	for (size_t i = 0; i < l->single.len; i++) {
		const struct offcpu_wait *w = &l->single.items[i];
		struct culprit *c;
		u64 *at;

		/* nobody: the CPU was idle, or the switch was not seen */
		if (!w->runq || !w->next_tid || w->next_tid == w->key.tid ||
		    w->key.flags & (OFFCPU_INFERRED | OFFCPU_OPEN))
			continue;
		at = map_at(&known, w->next_tid);
		if (!*at) {
			c = vec_new(ret);
			c->tid = w->next_tid;
			memcpy(c->comm, w->ran_comm, OFFCPU_COMM);
			*at = ret->len;
		}
		c = &ret->items[*at - 1];
		c->ns += w->runq; /* NOLINT: an index that is known has an item */
		c->count++;
	}
	vec_sort(ret, by_ns);
	map_release(&known);
}

static void say_runqueue(struct page *p)
{
	culprit_list culprits = { 0 };
	u64 longest = 0, count = 0;

	vec_each(w, &p->live->waits) {
		longest = MAX(longest, w->runq);
		count += w->runq > 0;
	}
	buf_addstr(&p->text, "\nWaiting for a CPU took ");
	say_share(&p->text, p->sum.ns[STATE_RUNNABLE], p->sum.wall);
	buf_addf(&p->text, " in %llu waits, the longest ", (unsigned long long)count);
	say_time(&p->text, longest);
	buf_addf(&p->text, "; %llu of its %llu switches were preemptions.\n",
		 (unsigned long long)p->sum.preemptions, (unsigned long long)p->sum.switches);
	find_culprits(p->live, &culprits);
	for (size_t i = 0; i < culprits.len && i < CULPRITS; i++) {
		const struct culprit *c = &culprits.items[i];

		buf_addf(&p->text,
			 "  %s (%u) was on the CPU before it got it, %llu times: ", c->comm, c->tid,
			 (unsigned long long)c->count);
		say_time(&p->text, c->ns);
		buf_addstr(&p->text, " of waiting\n");
	}
	vec_release(&culprits);
}

static void say_faults(struct page *p, const struct explain_faults *f)
{
	if (!f->known)
		return;
	buf_addf(&p->text,
		 "\nPage faults: %llu without and %llu with reading from disk; waiting for "
		 "pages took ",
		 (unsigned long long)f->minor, (unsigned long long)f->major);
	say_time(&p->text, p->sum.ns[STATE_FAULT]);
	buf_addstr(&p->text, ".\n");
}

/* --- for machines ----------------------------------------------------------------------------- */

static void table_states(const struct page *p, struct result *ret)
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
		r->cells[2] = value_d(VALUE_PERCENT, p->sum.wall ? 100.0 * (double)p->sum.ns[i] /
									   (double)p->sum.wall
								 : 0);
	}
}

static void table_culprits(const struct page *p, struct result *ret)
{
	static const struct column columns[] = {
		{ "tid", "TID", VALUE_PID, 0 },
		{ "comm", "COMMAND", VALUE_TEXT, 0 },
		{ "count", "TIMES", VALUE_COUNT, 0 },
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
	};
	struct table *t = result_table(ret, "ran_instead", NULL, columns, ARRAY_SIZE(columns));
	culprit_list culprits = { 0 };

	find_culprits(p->live, &culprits);
	vec_each(c, &culprits) {
		struct row *r = table_row(ret, t);

		r->cells[0] = value_u(VALUE_PID, c->tid);
		r->cells[1] = value_text(ret, c->comm);
		r->cells[2] = value_u(VALUE_COUNT, c->count);
		r->cells[3] = value_u(VALUE_DURATION, c->ns);
	}
	vec_release(&culprits);
}

void explain_result(struct offcpu_live *live, u32 pid, const struct explain_faults *faults,
		    bool machine, struct result *ret)
{
	struct page p = { .live = live, .profile = &live->profile };

	accounts_build(&live->profile, live->threads.items, live->threads.len, &live->waits,
		       &p.accounts);
	sum_accounts(&p);
	if (machine) {
		table_states(&p, ret);
		table_culprits(&p, ret);
		waits_to_result(&live->profile, &live->waits, OFFCPU_VIEW_CHAIN, false, LONGEST,
				ret);
		if (faults->known) {
			result_fact(ret, "minor_faults", NULL, value_u(VALUE_COUNT, faults->minor));
			result_fact(ret, "major_faults", NULL, value_u(VALUE_COUNT, faults->major));
		}
	} else {
		say_whole(&p, pid);
		say_longest(&p);
		say_runqueue(&p);
		say_faults(&p, faults);
		result_text(ret, buf_str(&p.text));
	}
	vec_release(&p.accounts);
	buf_release(&p.text);
}
