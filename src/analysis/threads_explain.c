/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_explain_page.h"

#include "analysis/skid.h"
#include "base/fmt.h"
#include "base/text.h"

enum {
	ENDINGS = 3,
	PASTS = 3,
	CULPRITS = 5,
	PAGE_MIN = 30,
	PAGE_MAX = 79,
	SAMPLES_LEAST = 10 /* fewer do not say which function is the hottest */
};

static void say_time(struct buf *b, u64 ns)
{
	fmt_duration(b, ns);
}

static void say_count(struct buf *b, u64 n, const char *what)
{
	fmt_count(b, n);
	buf_addf(b, " %s%s", what, n == 1 ? "" : "s");
}

double explain_share(u64 ns, u64 whole)
{
	return whole ? 100.0 * (double)ns / (double)whole : 0;
}

static void say_share(struct buf *b, u64 ns, u64 whole)
{
	say_time(b, ns);
	buf_addf(b, " (%.1f%%)", explain_share(ns, whole));
}

/* The statement goes onto the page, not wider than that. */
static void end_line(struct explain_page *p, size_t first, size_t indent)
{
	buf_fill(&p->text, ' ', first);
	text_fill(&p->text, p->line.data, p->line.len, first, indent, p->width);
	buf_reset(&p->line);
}

/* "    1.50s   33.3 %  waiting for a lock" */
static void add_amount(struct explain_page *p, u64 ns, u64 whole, const char *what)
{
	_cleanup_buf_ struct buf time = BUF_INIT;

	say_time(&time, ns);
	buf_addf(&p->text, "  %7s  %5.1f%%  %s\n", buf_str(&time), explain_share(ns, whole), what);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void sum_accounts(struct explain_page *p)
{
	vec_each(a, &p->accounts) {
		for (int s = 0; s < STATE_COUNT; s++)
			p->sum.ns[s] += a->ns[s];
		p->sum.wall += a->wall;
		p->sum.switches += a->switches;
		p->sum.preemptions += a->preemptions;
	}
	vec_each(w, p->seen->waits) {
		p->runq_longest = MAX(p->runq_longest, w->runq);
		p->runq_waits += w->runq > 0;
	}
}

/* Threads take their names when they already run: here each has the one that it has now. */
static void name_threads(struct explain_page *p)
{
	struct map by_tid = MAP_INIT;

	for (size_t i = 0; i < p->accounts.len; i++)
		map_put(&by_tid, p->accounts.items[i].tid, i + 1);
	vec_each(w, p->parts) {
		s32 tid = p->profile->threads.items[w->thread].tid;
		u64 at = map_get(&by_tid, (u32)tid, 0);
		const struct thread_account *a = at ? &p->accounts.items[at - 1] : NULL;

		if (a)
			w->thread = profile_get_thread(p->profile, (s32)a->pid, tid, a->comm, 0);
	}
	map_release(&by_tid);
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

static size_t count_processes(const account_list *list)
{
	struct map known = MAP_INIT;
	size_t n;

	vec_each(a, list)
		map_put(&known, a->pid, 1);
	n = known.len;
	map_release(&known);
	return n;
}

static void add_whole_note(struct explain_page *p, u32 pid)
{
	int order[STATE_COUNT];
	u64 idle = 0;
	size_t n = p->accounts.len, others = count_processes(&p->accounts) - 1;
	const char *name = profile_str(p->profile, p->accounts.items[0].comm);

	vec_each(a, &p->accounts) {
		if (a->tid == pid)
			name = profile_str(p->profile, a->comm);
	}
	buf_addf(&p->line, "Process %u (%s): ", pid, name);
	say_count(&p->line, n, "thread");
	if (others) {
		buf_addstr(&p->line, " with ");
		fmt_count(&p->line, others);
		buf_addf(&p->line, " process%s that it started", others == 1 ? "" : "es");
	}
	buf_addstr(&p->line, ", observed for ");
	say_time(&p->line, p->seen->end - p->seen->begin);
	if (n > 1) {
		buf_addstr(&p->line, "; together they lived ");
		say_time(&p->line, p->sum.wall);
	}
	buf_addch(&p->line, '.');
	end_line(p, 0, 0);
	buf_addstr(&p->text, "\nWhere that time went:\n");
	order_states(&p->sum, order);
	for (int i = 0; i < STATE_COUNT; i++) {
		enum thread_state state = (enum thread_state)order[i];

		if (wait_is_idle(state))
			idle += p->sum.ns[state];
		else if (p->sum.ns[state])
			add_amount(p, p->sum.ns[state], p->sum.wall, thread_state_words(state));
	}
	if (idle)
		add_amount(p, idle, p->sum.wall, "waiting for work, which delays no other thread");
}

/* Who asks why a client is slow may look for just that. */
static void note_idle(const struct explain_page *p, struct result *ret)
{
	_cleanup_buf_ struct buf time = BUF_INIT;
	u64 idle = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		idle += wait_is_idle((enum thread_state)i) ? p->sum.ns[i] : 0;
	if (p->seen->idle || idle < p->sum.wall / 2)
		return;
	say_time(&time, idle);
	result_note(ret, NOTE_INFO, "--idle shows it",
		    "%s of waiting for work are not among these waits", buf_str(&time));
}

/* --- on CPUs ---------------------------------------------------------------------------------- */

u64 explain_time_on_cpu(const struct explain_page *p)
{
	return p->sum.ns[STATE_USER] + p->sum.ns[STATE_KERNEL] + p->sum.ns[STATE_RUNNING];
}

u64 explain_time_of(const struct explain_page *p, const struct cpu_function *f)
{
	return (u64)((double)explain_time_on_cpu(p) * (double)f->weight /
		     (double)MAX(p->cpu->weight, 1ull));
}

bool explain_has_functions(const struct explain_page *p)
{
	return p->cpu && p->cpu->samples >= SAMPLES_LEAST;
}

static void note_samples(const struct explain_page *p, struct result *ret)
{
	if (explain_has_functions(p))
		skid_note(p->cpu->skid, true, ret);
	else if (p->cpu && p->cpu->samples)
		result_note(ret, NOTE_INFO, "a longer observation has more",
			    "%llu CPU sample%s too few to say in which functions it ran",
			    (unsigned long long)p->cpu->samples,
			    p->cpu->samples == 1 ? " is" : "s are");
}

static void say_functions(struct explain_page *p)
{
	if (!explain_has_functions(p))
		return;
	buf_addstr(&p->line, "Where CPU time went, by ");
	say_count(&p->line, p->cpu->samples, "sample");
	buf_addch(&p->line, ':');
	buf_addch(&p->text, '\n');
	end_line(p, 0, 0);
	for (size_t i = 0; i < p->cpu->list.len && i < EXPLAIN_FUNCTIONS; i++) {
		const struct cpu_function *f = &p->cpu->list.items[i];
		_cleanup_buf_ struct buf what = BUF_INIT;
		const char *module = profile_str(p->cpu->profile, f->module);
		const char *base = strrchr(module, '/');

		buf_addf(&what, "%s (%s)", profile_str(p->cpu->profile, f->name),
			 f->kernel ? "kernel"
			 : base    ? base + 1
				   : module);
		add_amount(p, explain_time_of(p, f), explain_time_on_cpu(p), buf_str(&what));
	}
}

/* --- the longest waits ------------------------------------------------------------------------ */

static const char *waker_words(const struct profile *p, const struct wait_link *l)
{
	const char *name = profile_str(p, l->comm);

	return streq(name, "[timer]")     ? "a timer"
	       : streq(name, "[network]") ? "the network's interrupt"
	       : streq(name, "[disk]")    ? "the disk's interrupt"
	       : streq(name, "[irq]")     ? "an interrupt"
	       : streq(name, "[softirq]") ? "a soft interrupt"
					  : name;
}

static void say_place(struct explain_page *p, u32 stack)
{
	if (!stack)
		return;
	buf_addstr(&p->line, " in ");
	wait_place_brief(p->profile, stack, &p->line);
}

/* " (1234 and 3 others)" */
static void say_who(struct explain_page *p, u32 tid, u32 threads)
{
	buf_addf(&p->line, " (%u", tid);
	if (threads > 1) {
		buf_addstr(&p->line, " and ");
		say_count(&p->line, threads - 1, "other");
	}
	buf_addch(&p->line, ')');
}

/* "writer (123 and 2 others) in write < main" */
static void say_waker(struct explain_page *p, const struct wait_link *l, u32 threads)
{
	buf_addstr(&p->line, waker_words(p->profile, l));
	if (waker_is_task(l->kind)) {
		say_who(p, l->tid, threads);
		say_place(p, l->stack);
	}
}

/* "117 of them (1.50s)" */
static void say_part(struct explain_page *p, u64 count, u64 ns)
{
	fmt_count(&p->line, count);
	buf_addstr(&p->line, " of them (");
	say_time(&p->line, ns);
	buf_addch(&p->line, ')');
}

/* What the last of the chain did, with those before: "was waiting for a lock in f, woken by ..." */
static void say_doing(struct explain_page *p, const struct wait *w)
{
	static const char *const words[] = { [LINK_UNBORN] = "had not started yet",
					     [LINK_RAN] = "ran",
					     [LINK_RUNNABLE] = "waited for a CPU",
					     [LINK_UNKNOWN] = "was not observed" };

	for (u32 i = 0; i < w->n_links; i++) {
		const struct wait_link *l = &w->links[i];

		if (i) {
			buf_addstr(&p->line, ", woken by ");
			say_waker(p, l, 1);
			if (!waker_is_task(l->kind) || i + 1 == LONGEST_LINKS ||
			    (l->doing == LINK_UNKNOWN && !l->sleep_stack))
				return;
			buf_addstr(&p->line, ", which ");
		}
		if (l->doing != LINK_BLOCKED && !l->sleep_stack) {
			buf_addstr(&p->line, words[l->doing]);
			return;
		}
		buf_addf(&p->line, "was %s", thread_state_words((enum thread_state)l->sleep_kind));
		say_place(p, l->sleep_stack);
	}
}

static bool is_unknown(const struct wait *w)
{
	return w->n_links == 1 && w->links[0].doing == LINK_UNKNOWN && !w->links[0].sleep_stack;
}

/* What the waker did in the span of the waits that it ended; the times add up to theirs. */
static void say_meanwhile(struct explain_page *p, const struct pile *ending)
{
	const struct wait_link *l = &ending->wait->links[0];
	const struct pile *past = NULL;
	u64 rest = ending->ns;

	if (!waker_is_task(l->kind) || p->seen->no_chains)
		return;
	for (int shown = 0; shown < PASTS; shown++) {
		past = longest_past(&p->longest, ending, past);
		if (!past || past->ns < ending->ns / 50)
			break;
		if (!shown && is_unknown(past->wait) && past->ns > ending->ns / 50 * 49)
			return;
		if (!shown)
			buf_addf(&p->text, "     Meanwhile %s:\n",
				 profile_str(p->profile, l->comm));
		say_time(&p->line, past->ns);
		buf_addf(&p->line, " (%.1f%%) ", explain_share(past->ns, ending->ns));
		say_doing(p, past->wait);
		buf_addch(&p->line, '.');
		end_line(p, 7, 9);
		rest -= past->ns;
	}
	if (past && rest >= ending->ns / 50) {
		say_time(&p->line, rest);
		buf_addf(&p->line, " (%.1f%%) in other states.", explain_share(rest, ending->ns));
		end_line(p, 7, 9);
	}
}

static void say_ending(struct explain_page *p, const struct pile *group, const struct pile *ending)
{
	const struct wait *w = ending->wait;
	bool part = ending->count < group->count;

	if (part) {
		say_part(p, ending->count, ending->ns);
		buf_addstr(&p->line, w->n_links ? ": woken by " : ": ");
	} else {
		buf_addstr(&p->line, w->n_links ? "Woken by " : "");
	}
	if (w->n_links)
		say_waker(p, &w->links[0], ending->threads);
	else if (w->kind == STATE_THROTTLED)
		buf_addstr(&p->line, part ? "its cgroup had CPU time again"
					  : "It ended when its cgroup had CPU time again");
	else
		buf_addstr(&p->line, part ? "the waker was not seen" : "The waker was not seen");
	buf_addch(&p->line, '.');
	end_line(p, 5, 7);
	/* of those that matter */
	if (w->n_links && ending->ns >= group->ns / 4)
		say_meanwhile(p, ending);
}

static void say_endings(struct explain_page *p, const struct pile *group)
{
	u64 count = group->count, ns = group->ns;
	const struct pile *e = NULL;

	for (int shown = 0; shown < ENDINGS; shown++) {
		e = longest_ending(&p->longest, group, e);
		if (!e)
			return;
		if (e->open < e->count)
			say_ending(p, group, e);
		count -= e->count;
		ns -= e->ns;
	}
	if (!count)
		return;
	say_part(p, count, ns);
	buf_addstr(&p->line, ": other wakers.");
	end_line(p, 5, 7);
}

/* "2 of them", "They", "It": the subject for @n waits of a group. */
static void say_some(struct explain_page *p, const struct pile *group, u64 n)
{
	if (n < group->count) {
		fmt_count(&p->line, n);
		buf_addstr(&p->line, " of them");
	} else {
		buf_addstr(&p->line, n > 1 ? "They" : "It");
	}
}

static void say_ends(struct explain_page *p, const struct pile *group)
{
	bool both = group->before && group->before == group->open;

	if (group->before) {
		say_some(p, group, group->before);
		buf_addstr(&p->line, " began before the observation");
		buf_addstr(&p->line, both ? " and " : ". ");
	}
	if (group->open) {
		if (!both)
			say_some(p, group, group->open);
		buf_addf(&p->line, "%s still going on.",
			 both ? (group->open > 1 ? "are" : "is")
			      : (group->open > 1 ? " are" : " is"));
	}
	if (group->before || group->open)
		end_line(p, 5, 7);
	if (group->open < group->count && !p->seen->no_wakers)
		say_endings(p, group);
}

static void say_group(struct explain_page *p, const struct pile *g)
{
	const struct profile_thread *t = &p->profile->threads.items[g->wait->thread];

	say_time(&p->line, g->ns);
	if (g->count > 1) {
		buf_addstr(&p->line, " in ");
		fmt_count(&p->line, g->count);
		buf_addstr(&p->line, " waits, the longest ");
		say_time(&p->line, g->max);
	}
	buf_addf(&p->line, ": %s", profile_str(p->profile, t->comm));
	say_who(p, (u32)t->tid, g->threads);
	buf_addf(&p->line, " %s %s", g->threads > 1 ? "were" : "was",
		 thread_state_words((enum thread_state)g->wait->kind));
	if (g->places > 1)
		buf_addstr(&p->line, ", the longest");
	say_place(p, g->wait->stack);
	if (g->places > 1) {
		buf_addstr(&p->line, ", and in ");
		say_count(&p->line, g->places - 1, "other place");
	}
	buf_addch(&p->line, '.');
	end_line(p, 2, 5);
	say_ends(p, g);
}

static void say_longest(struct explain_page *p)
{
	const struct pile *g = NULL;

	for (int shown = 0; shown < EXPLAIN_LONGEST; shown++) {
		g = longest_group(&p->longest, g);
		if (!g)
			break;
		if (!shown)
			buf_addstr(&p->text, "\nWaits that took most time, similar ones as one:\n");
		buf_addf(&p->line, "%d. ", shown + 1);
		say_group(p, g);
	}
}

/* --- waiting for a CPU ------------------------------------------------------------------------ */

static int by_ns(const void *a, const void *b)
{
	const struct ran_instead *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static void say_culprits(struct explain_page *p)
{
	u64 whole = p->sum.ns[STATE_RUNNABLE], others = 0, known = 0;
	size_t shown = 0;

	if (!p->culprits->len)
		return;
	/* where a switch was not seen, who had the CPU before seems to have kept it */
	vec_each(c, p->culprits)
		known += c->ns;
	whole = MAX(whole, known);
	buf_addstr(&p->text, "Who had the CPU in that time:\n");
	vec_each(c, p->culprits) {
		_cleanup_buf_ struct buf who = BUF_INIT;

		if (shown++ >= CULPRITS) {
			others += c->ns;
			continue;
		}
		buf_addf(&who, "%s (%u), in ", profile_str(p->profile, c->comm), c->tid);
		say_count(&who, c->turns, "turn");
		add_amount(p, c->ns, whole, buf_str(&who));
	}
	if (others) {
		_cleanup_buf_ struct buf who = BUF_INIT;

		say_count(&who, p->culprits->len - CULPRITS, "other");
		add_amount(p, others, whole, buf_str(&who));
	}
	if (known < whole)
		add_amount(p, whole - known, whole, "unknown");
}

static void say_runqueue(struct explain_page *p)
{
	buf_addch(&p->text, '\n');
	buf_addstr(&p->line, "Waiting for a CPU took ");
	say_share(&p->line, p->sum.ns[STATE_RUNNABLE], p->sum.wall);
	if (p->runq_waits) {
		buf_addstr(&p->line, " in ");
		say_count(&p->line, p->runq_waits, "wait");
		buf_addstr(&p->line, ", the longest ");
		say_time(&p->line, p->runq_longest);
	}
	buf_addstr(&p->line, "; ");
	fmt_count(&p->line, p->sum.preemptions);
	buf_addstr(&p->line, " of its ");
	fmt_count(&p->line, p->sum.switches);
	buf_addstr(&p->line, " switches were preemptions.");
	end_line(p, 0, 0);
	say_culprits(p);
}

static void say_faults(struct explain_page *p, const struct explain_faults *f)
{
	if (!f->known)
		return;
	buf_addch(&p->text, '\n');
	buf_addstr(&p->line, "Page faults: ");
	fmt_count(&p->line, f->minor);
	buf_addstr(&p->line, " without and ");
	fmt_count(&p->line, f->major);
	buf_addstr(&p->line, " with reading from disk; waiting for pages took ");
	say_share(&p->line, p->sum.ns[STATE_FAULT], p->sum.wall);
	buf_addch(&p->line, '.');
	end_line(p, 0, 0);
}

void explain_result(const struct explain_input *in, struct result *ret)
{
	struct explain_page p = { .seen = in->seen,
				  .profile = in->seen->profile,
				  .width = (size_t)MIN(MAX(in->width, PAGE_MIN), PAGE_MAX),
				  .parts = in->parts,
				  .cpu = in->cpu,
				  .culprits = in->ran };

	accounts_build(in->seen, &p.accounts);
	sum_accounts(&p);
	vec_sort(in->ran, by_ns);
	name_threads(&p);
	longest_build(p.profile, in->parts, in->seen->idle, &p.longest);
	if (!in->width) {
		explain_tables(&p, &in->faults, ret);
	} else {
		add_whole_note(&p, in->pid);
		say_functions(&p);
		say_longest(&p);
		say_runqueue(&p);
		say_faults(&p, &in->faults);
		result_text(ret, buf_str(&p.text));
	}
	note_idle(&p, ret);
	result_fact(ret, "cpu_samples", NULL, value_u(VALUE_COUNT, p.cpu ? p.cpu->samples : 0));
	note_samples(&p, ret);
	longest_release(&p.longest);
	vec_release(&p.accounts);
	buf_release(&p.text);
	buf_release(&p.line);
}
