/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/report_key.h"

#include "analysis/report.h"

#include <ctype.h>

#include "base/buf.h"

#define SAMPLE_ARGS                                                        \
	const struct report_key *k UNUSED, const struct profile *p UNUSED, \
		const struct profile_sample *s UNUSED, u32 frame UNUSED, u32 root UNUSED

static const struct profile_thread *thread_of(const struct profile *p,
					      const struct profile_sample *s)
{
	return &p->threads.items[s->thread];
}

static u64 get_comm(SAMPLE_ARGS)
{
	return thread_of(p, s)->comm;
}

static u64 get_pid(SAMPLE_ARGS)
{
	return (u32)thread_of(p, s)->pid;
}

static u64 get_tid(SAMPLE_ARGS)
{
	return (u32)thread_of(p, s)->tid;
}

static u64 get_cgroup(SAMPLE_ARGS)
{
	return thread_of(p, s)->cgroup;
}

static u64 get_cpu(SAMPLE_ARGS)
{
	return (u64)(s64)s->cpu;
}

static u64 get_event(SAMPLE_ARGS)
{
	return p->events.items[s->event].name;
}

static u64 get_time(SAMPLE_ARGS)
{
	return s->time ? (s->time - p->first_time) / NSEC_PER_SEC : 0;
}

/* Of interpreted code the script, not the interpreter. */
static u64 get_dso(SAMPLE_ARGS)
{
	const struct frame *f = &p->frames.items[frame];

	return f->kind == FRAME_INTERPRETED && f->file ? f->file : f->module;
}

/* Names, not frames: a function that is in two modules is two entries only if dso is a key. */
static u64 get_symbol(SAMPLE_ARGS)
{
	return (u64)p->frames.items[frame].kind << 32 | p->frames.items[frame].name;
}

static u64 get_srcline(SAMPLE_ARGS)
{
	return (u64)p->frames.items[frame].file << 32 | p->frames.items[frame].line;
}

static u64 get_parent(SAMPLE_ARGS)
{
	return p->frames.items[root].name;
}

static u64 get_traced(SAMPLE_ARGS)
{
	u32 row = p->traces.items[s - p->samples.items];

	return row ? ((const u32 *)intern_get(&p->trace_rows, row))[k->column] : 0;
}

static struct value show_string(const struct profile *p, struct result *r, u64 value)
{
	const char *s = profile_str(p, (u32)value);

	return value_text(r, *s ? s : "-");
}

/* The last part of a path: what fits in a column; "[kernel.kallsyms]" reads "[kernel]". */
static struct value show_module(const struct profile *p, struct result *r, u64 value)
{
	const char *s = profile_str(p, (u32)value), *slash = strrchr(s, '/');

	if (starts_with(s, "[kernel"))
		return value_text(r, "[kernel]");
	return value_text(r, !*s ? "-" : slash && slash[1] && *s == '/' ? slash + 1 : s);
}

static struct value show_number(const struct profile *p UNUSED, struct result *r UNUSED, u64 value)
{
	return value_u(VALUE_PID, value);
}

static struct value show_cpu(const struct profile *p UNUSED, struct result *r, u64 value)
{
	return (s64)value < 0 ? value_text(r, "-") : value_u(VALUE_PID, value);
}

static struct value show_seconds(const struct profile *p UNUSED, struct result *r, u64 value)
{
	return value_textf(r, "%llus", (unsigned long long)value);
}

/* "[k] do_syscall_64", as perf marks where a function runs. */
static struct value show_symbol(const struct profile *p, struct result *r, u64 value)
{
	static const char marks[] = {
		[FRAME_USER] = '.',         [FRAME_KERNEL] = 'k',     [FRAME_JIT] = 'j',
		[FRAME_INTERPRETED] = 'p',  [FRAME_INLINED] = 'i',    [FRAME_HYPERVISOR] = 'h',
		[FRAME_GUEST_KERNEL] = 'g', [FRAME_GUEST_USER] = 'u', [FRAME_MARKER] = '-'
	};
	const char *name = profile_str(p, (u32)value);

	return value_textf(r, "[%c] %s", marks[value >> 32], *name ? name : "[unknown]");
}

static struct value show_srcline(const struct profile *p, struct result *r, u64 value)
{
	if (!(value >> 32))
		return value_text(r, "-");
	return value_textf(r, "%s:%u", profile_str(p, (u32)(value >> 32)), (u32)value);
}

static const struct report_key all_keys[] = {
	{ "comm", "comm", "COMMAND", VALUE_TEXT, false, get_comm, show_string, 0 },
	{ "pid", "process", "PID", VALUE_PID, false, get_pid, show_number, 0 },
	{ "tid", "thread", "TID", VALUE_PID, false, get_tid, show_number, 0 },
	{ "cpu", "processor", "CPU", VALUE_PID, false, get_cpu, show_cpu, 0 },
	{ "cgroup", "cgroup_id", "CGROUP", VALUE_TEXT, false, get_cgroup, show_string, 0 },
	{ "event", "evsel", "EVENT", VALUE_TEXT, false, get_event, show_string, 0 },
	{ "time", "second", "SECOND", VALUE_TEXT, false, get_time, show_seconds, 0 },
	{ "parent", "root", "ROOT", VALUE_TEXT, false, get_parent, show_string, 0 },
	{ "dso", "module", "MODULE", VALUE_TEXT, true, get_dso, show_module, 0 },
	{ "symbol", "sym", "SYMBOL", VALUE_TEXT, true, get_symbol, show_symbol, 0 },
	{ "srcline", "line", "SOURCE", VALUE_TEXT, true, get_srcline, show_srcline, 0 },
};

static const struct report_key *find_key(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_keys); i++)
		if (streq(name, all_keys[i].name) || streq(name, all_keys[i].alias))
			return &all_keys[i];
	return NULL;
}

/* Columns of perf's that are always there. */
static bool is_counted(const char *name)
{
	static const char *const names[] = { "overhead", "overhead_children", "sample", "period" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(name, names[i]))
			return true;
	return false;
}

char *report_keys_traced(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	_cleanup_buf_ struct buf out = BUF_INIT;
	char *save = NULL;

	for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		name += *name == '+';
		if (!find_key(name) && !is_counted(name))
			buf_addf(&out, "%s%s", out.len ? "," : "", name);
	}
	return out.len ? xstrdup(buf_str(&out)) : NULL;
}

static int too_many(const char *text, struct err *e)
{
	return err_set(e, EINVAL, "'%s' has more than %d sort keys", text, REPORT_KEYS_MOST);
}

static const char *title_of(struct profile *p, const char *field)
{
	_cleanup_free_ char *upper = xstrdup(streq(field, "trace") ? "trace output" : field);

	for (char *c = upper; *c; c++)
		*c = (char)toupper(*c);
	return profile_str(p, profile_string(p, upper));
}

/* The columns that were made for that key. */
static int add_traced(struct profile *p, const char *name, struct report_keys *keys, struct err *e)
{
	size_t before = keys->n;

	for (u32 i = 0; i < p->trace_columns.len; i++) {
		const struct profile_trace_column *c = &p->trace_columns.items[i];
		const char *field = profile_str(p, c->name);

		if (!streq(profile_str(p, c->key), name))
			continue;
		if (keys->n == REPORT_KEYS_MOST)
			return too_many(name, e);
		keys->keys[keys->n++] = (struct report_key){
			.name = field,
			.title = title_of(p, field),
			.type = VALUE_TEXT,
			.get = get_traced,
			.show = show_string,
			.column = i,
		};
	}
	if (keys->n > before)
		return 0;
	err_set(e, EINVAL, "unknown sort key '%s'", name);
	err_hint(e, "keys are comm, pid, tid, cpu, cgroup, event, time, parent, dso, symbol, "
		    "srcline; of recorded tracepoints trace, trace_fields, FIELD, EVENT.FIELD "
		    "('fathom script -F trace' shows the fields)");
	return -EINVAL;
}

int report_keys_parse(struct profile *p, const char *text, struct report_keys *ret, struct err *e)
{
	_cleanup_free_ char *copy = xstrdup(text);
	struct report_keys keys = { 0 };
	char *save = NULL;
	int r = 0;

	for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		const struct report_key *key = find_key(name);

		if (is_counted(name))
			continue;
		if (key && keys.n == REPORT_KEYS_MOST)
			r = too_many(text, e);
		else if (!key)
			r = add_traced(p, name, &keys, e);
		else
			keys.keys[keys.n++] = *key;
		if (r < 0)
			return r;
		keys.of_frame |= key && key->of_frame;
	}
	if (!keys.n)
		return err_set(e, EINVAL, "no sort key in '%s'", text);
	*ret = keys;
	return 0;
}
