/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/ftrace_text.h"

#include "base/clock.h"
#include "base/json.h"

/* What a CPU did last. */
struct cpu {
	bool seen;
	s32 pid;
	bool waits; /* a call that is a line of its own if it ends next */
	struct ftrace_event entry;
};

struct ftrace_text {
	struct ftrace_reader *reader;
	struct ftrace_text_opts opts;
	struct buf *out;
	VEC(struct cpu) cpus;
	u64 lines;
};

struct ftrace_text *ftrace_text_new(struct ftrace_reader *reader,
				    const struct ftrace_text_opts *opts, struct buf *out)
{
	struct ftrace_text *t = xcalloc(1, sizeof(*t));

	t->reader = reader;
	t->opts = *opts;
	t->out = out;
	return t;
}

void ftrace_text_free(struct ftrace_text *t)
{
	if (!t)
		return;
	vec_release(&t->cpus);
	free(t);
}

u64 ftrace_text_lines(const struct ftrace_text *t)
{
	return t->lines;
}

void ftrace_text_head(struct ftrace_text *t, const char *tracer)
{
	if (t->opts.json)
		return;
	buf_addf(t->out, "# tracer: %s\n#\n", tracer);
	if (!streq(tracer, "function_graph"))
		return;
	buf_addf(t->out, "#%s CPU%s  DURATION                  FUNCTION CALLS\n",
		 t->opts.time ? "     TIME       " : "", t->opts.task ? "  TASK/PID        " : "");
	buf_addf(t->out, "#%s |  %s   |   |                     |   |   |   |\n",
		 t->opts.time ? "      |         " : "", t->opts.task ? "   |    |         " : "");
}

/* Rounded, as the kernel does it. */
static void add_time(struct buf *out, u64 ns)
{
	u64 us = (ns + NSEC_PER_USEC / 2) / NSEC_PER_USEC;

	buf_addf(out, "%6llu.%06llu", (unsigned long long)(us / 1000000),
		 (unsigned long long)(us % 1000000));
}

static struct cpu *cpu_of(struct ftrace_text *t, u32 cpu)
{
	while (t->cpus.len <= cpu)
		(void)vec_new(&t->cpus);
	return &t->cpus.items[cpu];
}

/* --- the function graph ----------------------------------------------------------------------- */

/* As the kernel marks calls that took long. */
static char mark_of(u64 ns)
{
	static const struct {
		u64 above;
		char mark;
	} marks[] = {
		{ NSEC_PER_SEC, '$' },  { 100 * NSEC_PER_MSEC, '@' }, { 10 * NSEC_PER_MSEC, '*' },
		{ NSEC_PER_MSEC, '#' }, { 100 * NSEC_PER_USEC, '!' }, { 10 * NSEC_PER_USEC, '+' },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].above)
			return marks[i].mark;
	return ' ';
}

static void add_duration(struct buf *out, u64 ns)
{
	char number[32];
	int n = snprintf(number, sizeof(number), "%llu.%03llu us",
			 (unsigned long long)(ns / NSEC_PER_USEC),
			 (unsigned long long)(ns % NSEC_PER_USEC));

	buf_addf(out, " %c %-*s |  ", mark_of(ns), MAX(n, 11), number);
}

static void add_task(struct ftrace_text *t, s32 pid)
{
	char task[64];

	snprintf(task, sizeof(task), "%.40s-%d", ftrace_reader_comm(t->reader, pid), pid);
	buf_addf(t->out, " %-16s", task);
}

static void begin_line(struct ftrace_text *t, const struct ftrace_event *ev)
{
	if (t->opts.time) {
		add_time(t->out, ev->time);
		buf_addstr(t->out, " |  ");
	}
	buf_addf(t->out, " %u) ", ev->cpu);
	if (t->opts.task) {
		add_task(t, ev->pid);
		buf_addstr(t->out, " | ");
	}
	t->lines++;
}

static void indent(struct buf *out, u32 depth)
{
	for (u32 i = 0; i < MIN(depth, 200u); i++)
		buf_addstr(out, "  ");
}

static void add_call(struct ftrace_text *t, const struct ftrace_event *entry,
		     const struct ftrace_event *exit)
{
	begin_line(t, entry);
	if (exit)
		add_duration(t->out, exit->rettime - MIN(exit->rettime, exit->calltime));
	else
		buf_addstr(t->out, "               |  ");
	indent(t->out, entry->depth);
	buf_addf(t->out, "%s()%s\n", ftrace_reader_symbol(t->reader, entry->func),
		 exit ? ";" : " {");
}

static void add_end(struct ftrace_text *t, const struct ftrace_event *ev)
{
	begin_line(t, ev);
	add_duration(t->out, ev->rettime - MIN(ev->rettime, ev->calltime));
	indent(t->out, ev->depth);
	buf_addch(t->out, '}');
	if (t->opts.tail)
		buf_addf(t->out, " /* %s */", ftrace_reader_symbol(t->reader, ev->func));
	buf_addch(t->out, '\n');
}

static void show_waiting(struct ftrace_text *t, struct cpu *c)
{
	if (c->waits)
		add_call(t, &c->entry, NULL);
	c->waits = false;
}

static void show_switch(struct ftrace_text *t, struct cpu *c, const struct ftrace_event *ev)
{
	static const char rule[] = " ------------------------------------------\n";

	if (c->seen && c->pid != ev->pid && !t->opts.task) {
		show_waiting(t, c);
		buf_addf(t->out, "%s %u) ", rule, ev->cpu);
		add_task(t, c->pid);
		buf_addstr(t->out, "=> ");
		add_task(t, ev->pid);
		buf_addf(t->out, "\n%s\n", rule);
	}
	c->seen = true;
	c->pid = ev->pid;
}

static void graph_event(struct ftrace_text *t, struct cpu *c, const struct ftrace_event *ev)
{
	if (ev->kind == FTRACE_ENTRY) {
		show_waiting(t, c);
		c->waits = true;
		c->entry = *ev;
	} else if (c->waits && c->entry.func == ev->func && c->entry.depth == ev->depth) {
		c->waits = false;
		add_call(t, &c->entry, ev);
	} else {
		show_waiting(t, c);
		add_end(t, ev);
	}
}

/* --- other lines ------------------------------------------------------------------------------ */

static void add_plain(struct ftrace_text *t, const struct ftrace_event *ev)
{
	char task[64];

	snprintf(task, sizeof(task), "%.40s-%d", ftrace_reader_comm(t->reader, ev->pid), ev->pid);
	buf_addf(t->out, "%22s [%03u] ", task, ev->cpu);
	add_time(t->out, ev->time);
	buf_addstr(t->out, ": ");
	if (ev->kind == FTRACE_FUNCTION) {
		buf_addstr(t->out, ftrace_reader_symbol(t->reader, ev->func));
		buf_addstr(t->out, " <-");
		buf_addstr(t->out, ftrace_reader_symbol(t->reader, ev->parent));
	} else {
		buf_addf(t->out, "%s: ", ftrace_reader_name(ev));
		ftrace_reader_text(t->reader, ev, t->out);
	}
	buf_addch(t->out, '\n');
	t->lines++;
}

static void add_json_call(struct ftrace_text *t, struct json *j, const struct ftrace_event *ev)
{
	json_kv_str(j, "function", ftrace_reader_symbol(t->reader, ev->func));
	if (ev->kind == FTRACE_FUNCTION)
		json_kv_str(j, "caller", ftrace_reader_symbol(t->reader, ev->parent));
	else
		json_kv_u64(j, "depth", ev->depth);
	if (ev->kind == FTRACE_EXIT)
		json_kv_u64(j, "duration_ns", ev->rettime - MIN(ev->rettime, ev->calltime));
}

static void add_json(struct ftrace_text *t, const struct ftrace_event *ev)
{
	static const char *const kinds[] = { "function", "entry", "exit", "event" };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, t->out, false);
	json_open(&j);
	json_kv_u64(&j, "time_ns", ev->time);
	json_kv_u64(&j, "cpu", ev->cpu);
	json_kv_s64(&j, "tid", ev->pid);
	json_kv_str(&j, "comm", ftrace_reader_comm(t->reader, ev->pid));
	json_kv_str(&j, "kind", kinds[ev->kind]);
	if (ev->kind == FTRACE_EVENT) {
		ftrace_reader_text(t->reader, ev, &text);
		json_kv_str(&j, "event", ftrace_reader_name(ev));
		json_kv_str(&j, "text", buf_str(&text));
	} else {
		add_json_call(t, &j, ev);
	}
	json_close(&j);
	buf_addch(t->out, '\n');
	t->lines++;
}

int ftrace_text_event(void *text, const struct ftrace_event *ev)
{
	struct ftrace_text *t = text;
	struct cpu *c = cpu_of(t, ev->cpu);
	bool graph = ev->kind == FTRACE_ENTRY || ev->kind == FTRACE_EXIT;

	if (t->opts.json) {
		add_json(t, ev);
		return 0;
	}
	if (graph) {
		show_switch(t, c, ev);
		graph_event(t, c, ev);
		return 0;
	}
	show_waiting(t, c);
	add_plain(t, ev);
	return 0;
}

void ftrace_text_end(struct ftrace_text *t)
{
	vec_each(c, &t->cpus)
		show_waiting(t, c);
}
