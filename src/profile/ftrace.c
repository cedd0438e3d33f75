/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ftrace.h"

#include "base/parse.h"
#include "capture/tracepoint.h"
#include "recording/ringpage.h"

struct field {
	u32 offset, size; /* size 0: none */
};

struct ftrace_format {
	enum ftrace_kind kind;
	char *name; /* "sched:sched_switch" */
	struct tracefield *text;
	struct field pid, func, parent, depth, calltime, rettime;
};

/* An event that waits for its turn; its data is in the reader's buffer. */
struct waiting {
	struct ftrace_event ev;
	u64 number;  /* as they were read: those of one CPU are in order */
	size_t data; /* offset in bytes */
};

struct ftrace_reader {
	const struct tracedat *trace;
	VEC(struct ftrace_format *) formats;
	struct map by_id; /* common_type -> index + 1 */
	struct kallsyms symbols;
	struct intern names;
	struct map comms; /* pid -> string */
	struct buf name;
	VEC(struct waiting) waiting;
	struct buf bytes;
	u64 newest, number;
	u32 cpu; /* of the page that is being read */
	struct ftrace_losses losses;
};

/* --- formats -------------------------------------------------------------------------------- */

static struct field field_of(const struct tracepoint_format *f, const char *name)
{
	const struct tracepoint_field *found = tracepoint_field_find(f, name, strlen(name));

	if (!found || found->size > 8)
		return (struct field){ 0 };
	return (struct field){ found->offset, found->size };
}

static enum ftrace_kind kind_of(const char *system, const char *name)
{
	if (!streq(system, "ftrace"))
		return FTRACE_EVENT;
	if (streq(name, "function"))
		return FTRACE_FUNCTION;
	/* some kernels write entries with the caller under a name of their own */
	if (starts_with(name, "funcgraph_entry") || streq(name, "fgraph_retaddr_entry"))
		return FTRACE_ENTRY;
	return streq(name, "funcgraph_exit") ? FTRACE_EXIT : FTRACE_EVENT;
}

static void add_format(struct ftrace_reader *r, const struct tracedat_format *in)
{
	struct tracepoint_format parsed;
	struct ftrace_format *f;

	if (tracepoint_format_parse(in->text.p, in->text.n, &parsed, NULL) < 0)
		return;
	f = xcalloc(1, sizeof(*f));
	f->kind = kind_of(in->system, parsed.name);
	f->name = xasprintf("%s:%s", in->system, parsed.name);
	f->pid = field_of(&parsed, "common_pid");
	f->func = field_of(&parsed, f->kind == FTRACE_FUNCTION ? "ip" : "func");
	f->parent = field_of(&parsed, f->kind == FTRACE_FUNCTION ? "parent_ip" : "retaddr");
	f->depth = field_of(&parsed, "depth");
	f->calltime = field_of(&parsed, "calltime");
	f->rettime = field_of(&parsed, "rettime");
	if (tracefield_new(in->text.p, in->text.n, &f->text, NULL) < 0)
		f->text = NULL;
	vec_push(&r->formats, f);
	map_put(&r->by_id, parsed.id, r->formats.len);
	tracepoint_format_release(&parsed);
}

struct ftrace_reader *ftrace_reader_new(const struct tracedat *t)
{
	struct ftrace_reader *r = xcalloc(1, sizeof(*r));

	r->trace = t;
	vec_each(f, &t->formats)
		add_format(r, f);
	kallsyms_parse(&r->symbols, t->kallsyms.p ? t->kallsyms.p : "", t->kallsyms.n);
	ftrace_reader_comms(r, t->cmdlines.p ? t->cmdlines.p : "", t->cmdlines.n);
	return r;
}

void ftrace_reader_free(struct ftrace_reader *r)
{
	if (!r)
		return;
	vec_each(f, &r->formats) {
		tracefield_free((*f)->text);
		free((*f)->name);
		free(*f);
	}
	vec_release(&r->formats);
	map_release(&r->by_id);
	map_release(&r->comms);
	kallsyms_release(&r->symbols);
	intern_release(&r->names);
	buf_release(&r->name);
	buf_release(&r->bytes);
	vec_release(&r->waiting);
	free(r);
}

/* --- names ---------------------------------------------------------------------------------- */

void ftrace_reader_comms(struct ftrace_reader *r, const char *text, size_t n)
{
	const char *end = text + n;

	for (const char *p = text, *nl; p < end; p = nl + 1) {
		u64 pid;

		nl = memchr(p, '\n', (size_t)(end - p));
		nl = nl ? nl : end;
		if (scan_u64(&p, nl, 10, &pid) && p < nl && *p == ' ')
			map_put(&r->comms, pid,
				intern_bytes(&r->names, p + 1, (size_t)(nl - p - 1)));
	}
}

const char *ftrace_reader_comm(const struct ftrace_reader *r, s32 pid)
{
	u64 id = pid ? map_get(&r->comms, (u64)pid, 0) : 0;

	return !pid ? "<idle>" : id ? intern_get(&r->names, (u32)id) : "<...>";
}

static const char *symbol_at(void *ctx, u64 address, u64 *ret_start)
{
	const struct ftrace_reader *r = ctx;
	const struct kallsyms_symbol *s = kallsyms_find(&r->symbols, address);

	if (!s)
		return NULL;
	*ret_start = s->start;
	return r->symbols.names + s->name;
}

const char *ftrace_reader_symbol(struct ftrace_reader *r, u64 address)
{
	u64 start;
	const char *name = symbol_at(r, address, &start);

	if (name)
		return name;
	buf_reset(&r->name);
	buf_addf(&r->name, "0x%llx", (unsigned long long)address);
	return buf_str(&r->name);
}

const char *ftrace_reader_name(const struct ftrace_event *ev)
{
	return ev->format->name;
}

void ftrace_reader_text(struct ftrace_reader *r, const struct ftrace_event *ev, struct buf *out)
{
	struct tracefield_env env = { .ctx = r, .symbol = symbol_at };

	if (ev->format->text)
		tracefield_print(ev->format->text, &env, ev->data, ev->size, out);
}

const struct ftrace_losses *ftrace_reader_losses(const struct ftrace_reader *r)
{
	return &r->losses;
}

/* --- events --------------------------------------------------------------------------------- */

static u64 value_of(const struct field *f, const u8 *data, u32 n)
{
	u64 v = 0;

	if (f->size && f->offset <= n && f->size <= n - f->offset)
		memcpy(&v, data + f->offset, f->size);
	return v;
}

static int on_event(void *ctx, u64 time, const u8 *data, u32 n)
{
	struct ftrace_reader *r = ctx;
	struct waiting w = { .number = r->number++, .data = r->bytes.len };
	struct field type = { 0, 2 };
	u64 index = map_get(&r->by_id, value_of(&type, data, n), 0);
	const struct ftrace_format *f = index ? r->formats.items[index - 1] : NULL;

	if (!f) {
		r->losses.unknown++;
		return 0;
	}
	w.ev = (struct ftrace_event){
		.time = time,
		.cpu = r->cpu,
		.pid = (s32)value_of(&f->pid, data, n),
		.kind = f->kind,
		.depth = (u32)value_of(&f->depth, data, n),
		.func = value_of(&f->func, data, n),
		.parent = value_of(&f->parent, data, n),
		.calltime = value_of(&f->calltime, data, n),
		.rettime = value_of(&f->rettime, data, n),
		.format = f,
		.size = n,
	};
	/* the others are known whole */
	if (f->kind == FTRACE_EVENT)
		buf_add(&r->bytes, data, n);
	r->newest = MAX(r->newest, time);
	vec_push(&r->waiting, w);
	return 0;
}

void ftrace_reader_add(struct ftrace_reader *r, u32 cpu, const void *page, size_t n)
{
	u64 missed;

	r->cpu = cpu;
	if (ringpage_walk(page, n, on_event, r, &missed) < 0)
		r->losses.damaged++;
	r->losses.missed += missed;
}

u64 ftrace_reader_newest(const struct ftrace_reader *r)
{
	return r->newest;
}

/* Events of one CPU stay in the order in which they were written. */
static int time_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->ev.time != y->ev.time)
		return x->ev.time < y->ev.time ? -1 : 1;
	if (x->ev.cpu != y->ev.cpu)
		return x->ev.cpu < y->ev.cpu ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Moves the events that stay, and their data, to the front. */
static void keep_rest(struct ftrace_reader *r, size_t first)
{
	struct buf bytes = BUF_INIT;
	size_t n = 0;

	for (size_t i = first; i < r->waiting.len; i++) {
		struct waiting w = r->waiting.items[i];
		size_t at = bytes.len;

		if (w.ev.kind == FTRACE_EVENT)
			buf_add(&bytes, buf_str(&r->bytes) + w.data, w.ev.size);
		w.data = at;
		r->waiting.items[n++] = w;
	}
	r->waiting.len = n;
	buf_release(&r->bytes);
	r->bytes = bytes;
}

int ftrace_reader_flush(struct ftrace_reader *r, u64 until, ftrace_event_fn fn, void *ctx)
{
	size_t i = 0;
	int rc = 0;

	vec_sort(&r->waiting, time_order);
	for (; rc == 0 && i < r->waiting.len && r->waiting.items[i].ev.time <= until; i++) {
		struct waiting *w = &r->waiting.items[i];

		w->ev.data = w->ev.kind == FTRACE_EVENT ? (const u8 *)buf_str(&r->bytes) + w->data
							: NULL;
		rc = fn(ctx, &w->ev);
	}
	keep_rest(r, i);
	return rc;
}

/* --- a whole trace: pages of all CPUs by their first time --------------------------------------
 */

int ftrace_reader_all(struct ftrace_reader *r, ftrace_event_fn fn, void *ctx)
{
	const struct tracedat *t = r->trace;
	_cleanup_free_ size_t *at = xcalloc(t->cpus.len + 1, sizeof(*at));
	int rc = 0;

	while (rc == 0) {
		u64 oldest = UINT64_MAX, second = UINT64_MAX;
		size_t cpu = t->cpus.len;

		for (size_t i = 0; i < t->cpus.len; i++) {
			const struct tracedat_cpu *c = &t->cpus.items[i];
			u64 time = at[i] < c->n ? ringpage_time(c->pages + at[i], t->page)
						: UINT64_MAX;

			if (at[i] >= c->n)
				continue;
			if (cpu == t->cpus.len || time < oldest) {
				second = cpu == t->cpus.len ? UINT64_MAX : oldest;
				oldest = time;
				cpu = i;
			} else {
				second = MIN(second, time);
			}
		}
		if (cpu == t->cpus.len)
			break;
		ftrace_reader_add(r, (u32)cpu, t->cpus.items[cpu].pages + at[cpu], t->page);
		at[cpu] += t->page;
		/* no page that is still to come begins before the second */
		oldest = at[cpu] < t->cpus.items[cpu].n
				 ? ringpage_time(t->cpus.items[cpu].pages + at[cpu], t->page)
				 : UINT64_MAX;
		second = MIN(second, oldest);
		if (second && r->waiting.len >= 4096)
			rc = ftrace_reader_flush(r, second - 1, fn, ctx);
	}
	return rc ? rc : ftrace_reader_flush(r, UINT64_MAX, fn, ctx);
}
