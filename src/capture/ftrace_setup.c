/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ftrace_setup.h"

#include "base/clock.h"
#include "base/suggest.h"

enum { TEXT_MOST = 64 << 20 };

bool ftrace_setup_needs_top(const struct ftrace_setup *s)
{
	return s->graph_funcs.len || s->graph_notrace.len || s->depth || s->threshold;
}

/* --- filters -------------------------------------------------------------------------------- */

/* The kernel answers EINVAL for names that it does not know. */
static int no_function(const struct ftrace *f, const char *name, const char *file, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct ftrace top = { .dir = f->fs.fd };
	struct suggestion best;
	const char *line, *end;

	err_set(e, EINVAL, "no function '%s' can be traced (%s)", name, file);
	suggest_init(&best, name);
	if (ftrace_read(&top, "available_filter_functions", TEXT_MOST, &text, NULL) < 0)
		return -EINVAL;
	end = buf_str(&text) + text.len;
	for (line = buf_str(&text); line < end; line += strcspn(line, "\n") + 1) {
		char one[256];

		snprintf(one, sizeof(one), "%.*s", (int)strcspn(line, " \t\n"), line);
		suggest_try(&best, one);
	}
	if (*best.best)
		err_hint(e, "did you mean '%s'? 'fathom ftrace --funcs' lists them", best.best);
	return -EINVAL;
}

static int write_list(const struct ftrace *f, const char *file, const struct ftrace_words *words,
		      struct err *e)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < words->len; i++) {
		/* only a whole line is looked up when it is written */
		_cleanup_free_ char *line = xasprintf("%s\n", words->items[i]);

		r = ftrace_write(f, file, FTRACE_ADD, line, e);
		if (r == -EINVAL)
			r = no_function(f, words->items[i], file, e);
	}
	return r;
}

static int write_number(const struct ftrace *f, const char *file, u64 value, struct err *e)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return ftrace_write(f, file, FTRACE_SET, text, e);
}

static int write_pids(const struct ftrace_setup *s, const struct ftrace *f, const char *file,
		      struct err *e)
{
	int r = 0;

	if (s->launched)
		r = write_number(f, file, (u64)s->launched, e);
	for (size_t i = 0; s->pids && i < s->pids->len; i++)
		for (u64 pid = s->pids->items[i].first; r >= 0 && pid <= s->pids->items[i].last;
		     pid++) {
			char text[32];

			snprintf(text, sizeof(text), "%llu", (unsigned long long)pid);
			r = ftrace_write(f, file, FTRACE_ADD, text, e);
		}
	return r;
}

static int write_cpus(const struct ftrace_setup *s, const struct ftrace *f, struct err *e)
{
	_cleanup_buf_ struct buf mask = BUF_INIT;
	u64 last = 0;

	if (!s->cpus || !s->cpus->len)
		return 0;
	for (size_t i = 0; i < s->cpus->len; i++)
		last = MAX(last, s->cpus->items[i].last);
	for (s64 word = (s64)(last / 32); word >= 0; word--) {
		u32 bits = 0;

		for (u32 b = 0; b < 32; b++)
			if (ranges_contain(s->cpus, (u64)word * 32 + b))
				bits |= 1u << b;
		buf_addf(&mask, "%s%08x", mask.len ? "," : "", bits);
	}
	return ftrace_write(f, "tracing_cpumask", FTRACE_SET, buf_str(&mask), e);
}

/* --- events --------------------------------------------------------------------------------- */

static int one_event(const struct ftrace_setup *s, const struct ftrace *f,
		     const struct tracepoint_name *n, struct err *e)
{
	char path[512];
	int r = 0;

	if (s->filter) {
		snprintf(path, sizeof(path), "events/%s/%s/filter", n->sys, n->name);
		r = ftrace_write(f, path, FTRACE_SET, s->filter, e);
		if (r == -EINVAL) {
			err_set(e, EINVAL, "the event '%s:%s' does not take the filter '%s'",
				n->sys, n->name, s->filter);
			err_hint(e, "its fields: fathom list -v %s:%s", n->sys, n->name);
		}
	}
	snprintf(path, sizeof(path), "events/%s/%s/enable", n->sys, n->name);
	return r < 0 ? r : ftrace_write(f, path, FTRACE_SET, "1", e);
}

int ftrace_setup_find(const struct ftrace *f, const char *word, struct tracepoint_list *ret,
		      struct err *e)
{
	const char *colon = strchr(word, ':');
	_cleanup_free_ char *sys =
		colon ? xasprintf("%.*s", (int)(colon - word), word) : xstrdup("*");
	int r = tracepoint_find(tracefs_root(&f->fs), sys, colon ? colon + 1 : word, ret, e);

	if (r >= 0 && !ret->names.len) {
		err_set(e, ENOENT, "no event '%s'", word);
		err_hint(e, "'fathom list tracepoint' shows all");
		r = -ENOENT;
	}
	return r;
}

static int enable_events(const struct ftrace_setup *s, const struct ftrace *f, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->events.len; i++) {
		struct tracepoint_list list = { 0 };

		r = ftrace_setup_find(f, s->events.items[i], &list, e);
		for (size_t k = 0; r >= 0 && k < list.names.len; k++)
			r = one_event(s, f, &list.names.items[k], e);
		tracepoint_list_release(&list);
	}
	return r;
}

/* "sched:sched_switch:stacktrace if prev_prio < 100" */
static int set_trigger(const struct ftrace *f, const char *text, struct err *e)
{
	const char *name = strchr(text, ':'), *what = name ? strchr(name + 1, ':') : NULL;
	char path[512];
	int r;

	if (!what || strchr(text, '/')) {
		err_set(e, EINVAL, "'%s' is not a trigger", text);
		err_hint(e, "such as 'sched:sched_switch:stacktrace:5 if prev_prio < 100'");
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "events/%.*s/%.*s/trigger", (int)(name - text), text,
		 (int)(what - name - 1), name + 1);
	r = ftrace_write(f, path, FTRACE_ADD, what + 1, e);
	if (r == -EINVAL)
		err_set(e, EINVAL, "the kernel does not take the trigger '%s'", what + 1);
	return r;
}

/* --- all of it ------------------------------------------------------------------------------ */

/* Before Linux 6.12 instances lack the graph's options, as they lack the graph. */
static int switch_off(const struct ftrace *f, const char *option, struct err *e)
{
	if (!f->top && !ftrace_has(f, option))
		return err_set(e, EXDEV, "an instance has no '%s'", option);
	return ftrace_write(f, option, FTRACE_SET, "0", e);
}

static int set_graph(const struct ftrace_setup *s, const struct ftrace *f, struct err *e)
{
	int r = write_list(f, "set_graph_function", &s->graph_funcs, e);

	if (r >= 0)
		r = write_list(f, "set_graph_notrace", &s->graph_notrace, e);
	if (r >= 0 && s->depth)
		r = write_number(f, "max_graph_depth", s->depth, e);
	if (r >= 0 && s->threshold)
		r = write_number(f, "tracing_thresh", DIV_ROUND_UP(s->threshold, NSEC_PER_USEC), e);
	if (r >= 0 && s->no_irqs)
		r = switch_off(f, "options/funcgraph-irqs", e);
	if (r >= 0 && s->no_sleep)
		r = switch_off(f, "options/sleep-time", e);
	return r;
}

static int set_targets(const struct ftrace_setup *s, const struct ftrace *f, struct err *e)
{
	bool tasks = s->launched || (s->pids && s->pids->len);
	bool functions = !streq(s->tracer, "nop");
	int r = write_cpus(s, f, e);

	if (r >= 0 && tasks && functions)
		r = write_pids(s, f, "set_ftrace_pid", e);
	if (r >= 0 && tasks)
		r = write_pids(s, f, "set_event_pid", e);
	if (r >= 0 && tasks && s->follow && ftrace_has(f, "options/event-fork"))
		r = ftrace_write(f, "options/event-fork", FTRACE_SET, "1", e);
	if (r >= 0 && tasks && s->follow && functions && ftrace_has(f, "options/function-fork"))
		r = ftrace_write(f, "options/function-fork", FTRACE_SET, "1", e);
	return r;
}

int ftrace_setup_apply(const struct ftrace_setup *s, struct ftrace *f, struct err *e)
{
	int r = ftrace_has_tracer(f, s->tracer, e);

	if (r >= 0 && s->clock)
		r = ftrace_write(f, "trace_clock", FTRACE_SET, s->clock, e);

	if (r == -EINVAL) {
		err_set(e, EINVAL, "the kernel has no trace clock '%s'", s->clock);
		err_hint(e, "'cat trace_clock' in tracefs lists them: local, global, mono, boot");
	}
	/* texts in trace_marker go to the top level, and as copies to us (Linux 6.16) */
	if (r >= 0 && !f->top && ftrace_has(f, "options/copy_trace_marker"))
		r = ftrace_write(f, "options/copy_trace_marker", FTRACE_SET, "1", e);
	if (r >= 0 && s->ring)
		r = write_number(f, "buffer_size_kb", DIV_ROUND_UP(s->ring, 1024u), e);
	if (r >= 0)
		r = write_list(f, "set_ftrace_filter", &s->funcs, e);
	if (r >= 0)
		r = write_list(f, "set_ftrace_notrace", &s->notrace, e);
	if (r >= 0)
		r = set_graph(s, f, e);
	if (r >= 0)
		r = set_targets(s, f, e);
	if (r >= 0 && !streq(s->tracer, "nop"))
		r = ftrace_tracer(f, s->tracer, e);
	if (r >= 0)
		r = enable_events(s, f, e);
	for (size_t i = 0; r >= 0 && i < s->triggers.len; i++)
		r = set_trigger(f, s->triggers.items[i], e);
	return r;
}
