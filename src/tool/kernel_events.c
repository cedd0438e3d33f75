/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tool/kernel_events.h"

#include "base/hash.h"
#include "capture/tracepoint.h"
#include "profile/machine.h"
#include "profile/names.h"
#include "recording/recording.h"

enum {
	FIELDS_MOST = 4,
	EVENTS_MOST = 4096,
	OPEN_MOST = 1 << 22,
	NAME_MOST = 64,
	FRAMES_MOST = 1024
};

enum kind { NO_EVENT, BEGIN, END, ALLOC, FREE };
/* What tells a run from others that are open at the same time, beside the first field. */
enum owner { BY_OBJECT, BY_CPU, BY_THREAD };

/* Fields: the key first. A name that begins with '?' may be missing. */
static const struct source {
	enum kernel_events_what what;
	enum kind kind;
	enum owner owner;
	const char *event, *class;
	const char *fields[FIELDS_MOST];
} sources[] = {
	{ KERNEL_LOCKS, BEGIN, BY_THREAD, "lock:contention_begin", "", { "lock_addr", "flags" } },
	{ KERNEL_LOCKS, END, BY_THREAD, "lock:contention_end", "", { "lock_addr" } },
#define ALLOCATION                                             \
	{                                                      \
		"ptr", "call_site", "bytes_req", "bytes_alloc" \
	}
	{ KERNEL_MEMORY, ALLOC, BY_OBJECT, "kmem:kmalloc", "", ALLOCATION },
	{ KERNEL_MEMORY, ALLOC, BY_OBJECT, "kmem:kmalloc_node", "", ALLOCATION },
	{ KERNEL_MEMORY, ALLOC, BY_OBJECT, "kmem:kmem_cache_alloc", "", ALLOCATION },
	{ KERNEL_MEMORY, ALLOC, BY_OBJECT, "kmem:kmem_cache_alloc_node", "", ALLOCATION },
	{ KERNEL_MEMORY, FREE, BY_OBJECT, "kmem:kfree", "", { "ptr" } },
	{ KERNEL_MEMORY, FREE, BY_OBJECT, "kmem:kmem_cache_free", "", { "ptr" } },
	{ KERNEL_WORK, BEGIN, BY_CPU, "irq:irq_handler_entry", "irq", { "irq", "?name" } },
	{ KERNEL_WORK, END, BY_CPU, "irq:irq_handler_exit", "irq", { "irq" } },
	{ KERNEL_WORK, BEGIN, BY_CPU, "irq:softirq_entry", "softirq", { "vec" } },
	{ KERNEL_WORK, END, BY_CPU, "irq:softirq_exit", "softirq", { "vec" } },
#define WORK(event_)                           \
	"workqueue:workqueue_" event_, "work", \
	{                                      \
		"work", "?function"            \
	}
	{ KERNEL_WORK, BEGIN, BY_THREAD, WORK("execute_start") },
	{ KERNEL_WORK, END, BY_THREAD, WORK("execute_end") },
	{ KERNEL_WORK_LATENCY, BEGIN, BY_CPU, "irq:softirq_raise", "softirq", { "vec" } },
	{ KERNEL_WORK_LATENCY, END, BY_CPU, "irq:softirq_entry", "softirq", { "vec" } },
	{ KERNEL_WORK_LATENCY, BEGIN, BY_OBJECT, WORK("activate_work") },
	{ KERNEL_WORK_LATENCY, END, BY_OBJECT, WORK("execute_start") },
};

struct field {
	u32 offset, size;
	bool text;
};

struct layout {
	const struct source *source; /* NULL: another event */
	struct field fields[FIELDS_MOST];
};

/* What a row of the table is for. Strings of reader.strings. */
struct key {
	u32 class, name, function, stack;
	u32 tid, cpu;
};

struct entry {
	struct key key;
	u64 count, time, most;
	u64 asked, given, cross;
};

struct open_run {
	u64 time;
	u64 flags; /* of a lock */
	struct key key;
};

struct reader {
	const struct kernel_events_opts *opts;
	struct recording *recording;
	struct machine machine;
	struct intern strings, keys;
	VEC(struct layout) layouts; /* by event of the recording */
	VEC(struct entry) entries;  /* by id of keys, less 1 */
	VEC(struct open_run) runs;
	VEC(u32) spare;  /* of runs */
	struct map open; /* hash of owner, class and key -> index into runs + 1 */
	bool found[2];   /* events that begin, that end */
	bool swap;
	u64 ends, begins, full, cut, no_cpu;
	struct err *err;
};

/* --- fields ----------------------------------------------------------------------------------- */

static int learn_fields(struct reader *r, struct layout *l, const struct recording_event *ev)
{
	const struct recording_format *f =
		recording_info_format(recording_info(r->recording), ev->attr.config);
	struct tracepoint_format format;
	int rc;

	if (!f)
		return err_set(r->err, ENODATA, "the recording has no format of '%s'", ev->name);
	rc = tracepoint_format_parse(f->text, f->text_size, &format, r->err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc >= 0 && i < FIELDS_MOST && l->source->fields[i]; i++) {
		const char *name = l->source->fields[i];
		bool may_miss = *name == '?';
		const struct tracepoint_field *field;

		name += may_miss;
		field = tracepoint_field_find(&format, name, strlen(name));
		if (field)
			l->fields[i] =
				(struct field){ field->offset, field->size, field->is_dynamic };
		else if (!may_miss)
			rc = err_set(r->err, EINVAL, "event '%s' has no field '%s'", ev->name,
				     name);
	}
	tracepoint_format_release(&format);
	return rc < 0 ? rc : 0;
}

static int learn(struct reader *r)
{
	size_t n = MIN(recording_n_events(r->recording), (size_t)EVENTS_MOST);
	int rc = 0;

	while (rc >= 0 && r->layouts.len < n) {
		const struct recording_event *ev =
			recording_event(r->recording, (u32)r->layouts.len);
		struct layout *l = vec_new(&r->layouts);

		for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
			if (sources[i].what == r->opts->what && streq(sources[i].event, ev->name))
				l->source = &sources[i];
		if (!l->source)
			continue;
		r->found[l->source->kind == END || l->source->kind == FREE] = true;
		rc = learn_fields(r, l, ev);
	}
	return rc;
}

static bool number(const struct reader *r, const struct sample *s, const struct field *f, u64 *ret)
{
	const u8 *at = s->raw;
	u64 v = 0;

	if (!f->size || f->size > 8 || f->size > s->raw_size || f->offset > s->raw_size - f->size)
		return false;
	at += f->offset;
	for (u32 i = 0; i < f->size; i++)
		v |= (u64)at[r->swap ? f->size - 1 - i : i] << 8 * i;
	*ret = v;
	return true;
}

/* A string of dynamic length: its offset and its length are the number. */
static u32 text(struct reader *r, const struct sample *s, const struct field *f)
{
	u64 where, offset, n;

	if (!f->text || !number(r, s, f, &where))
		return 0;
	offset = where & 0xffff;
	n = MIN(where >> 16 & 0xffff, (u64)NAME_MOST);
	if (offset > s->raw_size || n > s->raw_size - offset)
		return 0;
	return intern_bytes(&r->strings, (const char *)s->raw + offset,
			    strnlen((const char *)s->raw + offset, n));
}

/* --- names ------------------------------------------------------------------------------------ */

static void add_function(struct reader *r, u64 address, bool is_return, struct buf *out)
{
	const struct place *p = machine_place(&r->machine, machine_process(&r->machine, -1),
					      ADDRESS_KERNEL, address, is_return);

	if (p->name)
		buf_addstr(out, p->name);
	else
		buf_addf(out, "0x%llx", (unsigned long long)address);
}

static u32 function(struct reader *r, u64 address)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (!address)
		return 0;
	add_function(r, address, false, &out);
	return intern_str(&r->strings, buf_str(&out));
}

/* The kernel's part, the root first. */
static u32 stack(struct reader *r, const struct sample *s)
{
	enum address_mode mode = ADDRESS_KERNEL;
	u64 ips[FRAMES_MOST];
	_cleanup_buf_ struct buf out = BUF_INIT;
	size_t n = 0;

	for (u64 i = 0; i < s->n_ips && n < ARRAY_SIZE(ips); i++)
		if (!machine_context(s->ips[i], &mode) && mode == ADDRESS_KERNEL)
			ips[n++] = s->ips[i];
	if (!n && s->ip)
		ips[n++] = s->ip;
	for (size_t i = n; i--;) {
		if (out.len)
			buf_addch(&out, ';');
		add_function(r, ips[i], i > 0, &out);
	}
	return intern_str(&r->strings, buf_str(&out));
}

/* As LCB_F_* of the kernel. */
enum { LOCK_SPIN = 1, LOCK_MUTEX = 32 };

static const char *lock_type(u64 flags)
{
	if (flags & LOCK_MUTEX)
		return "mutex";
	if (flags & 16)
		return flags & 2 ? "percpu:R" : flags & 4 ? "percpu:W" : "percpu";
	if (flags & LOCK_SPIN)
		return flags & 2 ? "rwlock:R" : flags & 4 ? "rwlock:W" : "spinlock";
	if (flags & 2)
		return "rwsem:R";
	if (flags & 4)
		return "rwsem:W";
	return flags & 8 ? "rt_mutex" : "other";
}

static const char *soft_name(u64 vector)
{
	static const char *const names[] = { "hi",       "timer",   "net_tx", "net_rx",  "block",
					     "irq_poll", "tasklet", "sched",  "hrtimer", "rcu" };

	return vector < ARRAY_SIZE(names) ? names[vector] : "other";
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct entry *entry_at(struct reader *r, const struct key *key)
{
	u32 id = intern_bytes(&r->keys, key, sizeof(*key));

	if (r->entries.len < id) {
		struct entry *e = vec_new(&r->entries);

		e->key = *key;
	}
	return &r->entries.items[id - 1];
}

static void add(struct reader *r, const struct key *key, u64 took)
{
	struct entry *e = entry_at(r, key);

	e->count++;
	e->time += took;
	e->most = MAX(e->most, took);
}

static struct key lock_key(struct reader *r, const struct sample *s, u64 lock, u64 flags)
{
	struct key k = { .class = intern_str(&r->strings, lock_type(flags)) };

	switch (r->opts->by) {
	case LOCKS_BY_LOCK: k.name = function(r, lock); break;
	case LOCKS_BY_THREAD:
		k.tid = s->tid;
		k.name = intern_str(&r->strings,
				    machine_str(&r->machine, machine_comm(&r->machine, (s32)s->pid,
									  (s32)s->tid)));
		k.stack = stack(r, s);
		break;
	case LOCKS_BY_STACK: k.stack = stack(r, s); break;
	}
	return k;
}

static struct key work_key(struct reader *r, const struct sample *s, const struct layout *l,
			   u64 object)
{
	const char *class = l->source->class;
	struct key k = { .class = intern_str(&r->strings, class), .cpu = s->cpu };
	u64 address;

	if (streq(class, "softirq"))
		k.name = intern_str(&r->strings, soft_name(object));
	else if (streq(class, "irq"))
		k.name = text(r, s, &l->fields[1]);
	else if (number(r, s, &l->fields[1], &address))
		k.function = function(r, address);
	return k;
}

static u64 run_hash(const struct reader *r, const struct source *from, const struct sample *s,
		    u64 object)
{
	u64 owner = from->owner == BY_OBJECT ? 0 : from->owner == BY_CPU ? s->cpu : s->tid;
	u64 h = hash_bytes(from->class, strlen(from->class));

	/* the idle tasks of all CPUs have the number 0 */
	if (from->owner == BY_THREAD && !s->tid)
		owner = 1ull << 32 | s->cpu;
	/* a thread runs one work at a time, whose memory may be gone at the end */
	if (from->owner == BY_THREAD && r->opts->what == KERNEL_WORK)
		object = 0;
	return hash_mix(hash_mix(h, owner), object);
}

/* Who waits for a mutex spins, sleeps, and spins again when it is woken too late: one wait. */
static bool goes_on(u64 before, u64 flags)
{
	return (before ^ flags) == LOCK_SPIN && flags & LOCK_MUTEX;
}

static void on_begin(struct reader *r, const struct sample *s, const struct layout *l, u64 object)
{
	u64 *at = map_at(&r->open, run_hash(r, l->source, s, object)), flags = 0;
	struct open_run *run;

	(void)(r->opts->what == KERNEL_LOCKS && number(r, s, &l->fields[1], &flags));
	if (*at && goes_on(r->runs.items[*at - 1].flags, flags)) {
		r->runs.items[*at - 1].flags = flags;
		return;
	}
	/* raised again before it ran: the first counts */
	if (*at && r->opts->what == KERNEL_WORK_LATENCY && l->source->owner == BY_CPU)
		return;
	if (*at) {
		r->begins++;
	} else if (r->spare.len) {
		*at = vec_pop(&r->spare) + 1ull;
	} else if (r->runs.len < OPEN_MOST) {
		(void)vec_new(&r->runs);
		*at = r->runs.len;
	} else {
		r->full++;
		return;
	}
	run = &r->runs.items[*at - 1];
	run->time = s->time;
	run->flags = flags;
	if (r->opts->what == KERNEL_LOCKS)
		run->key = lock_key(r, s, object, flags);
	else
		run->key = work_key(r, s, l, object);
}

static void on_end(struct reader *r, const struct sample *s, const struct layout *l, u64 object)
{
	u64 hash = run_hash(r, l->source, s, object), at = map_get(&r->open, hash, 0);
	struct open_run *run;

	if (!at) {
		r->ends++;
		return;
	}
	run = &r->runs.items[at - 1];
	/* where it ran counts, not where it was requested */
	if (r->opts->what == KERNEL_WORK_LATENCY)
		run->key = work_key(r, s, l, object);
	add(r, &run->key, s->time > run->time ? s->time - run->time : 0);
	map_del(&r->open, hash);
	vec_push(&r->spare, (u32)at - 1);
}

static void on_memory(struct reader *r, const struct sample *s, const struct layout *l, u64 object)
{
	struct key k = { 0 };
	struct entry *e;
	u64 n[FIELDS_MOST] = { 0 }, at;

	if (l->source->kind == FREE) {
		at = map_get(&r->open, object, 0);
		if (at && at >> 32 != s->cpu)
			r->entries.items[(u32)at - 1].cross++;
		map_del(&r->open, object);
		return;
	}
	if (!object)
		return;
	for (size_t i = 1; i < FIELDS_MOST; i++)
		r->cut += !number(r, s, &l->fields[i], &n[i]);
	k.function = function(r, n[1]);
	e = entry_at(r, &k);
	e->count++;
	e->asked += n[2];
	e->given += n[3];
	if (r->open.len < OPEN_MOST)
		map_put(&r->open, object, (u64)s->cpu << 32 | (u64)(e - r->entries.items + 1));
	else
		r->full++;
}

static int on_record(const struct record *record, void *ctx)
{
	const struct sample *s = record->sample;
	struct reader *r = ctx;
	const struct layout *l;
	int rc = learn(r);
	u64 object;

	machine_record(&r->machine, record);
	if (rc < 0 || !s || record->event >= r->layouts.len)
		return rc;
	l = &r->layouts.items[record->event];
	if (!l->source)
		return 0;
	if (!s->raw || !number(r, s, &l->fields[0], &object))
		r->cut++;
	else if (!(s->type & PERF_SAMPLE_CPU) && l->source->owner != BY_OBJECT)
		r->no_cpu++;
	else if (l->source->kind == BEGIN)
		on_begin(r, s, l, object);
	else if (l->source->kind == END)
		on_end(r, s, l, object);
	else
		on_memory(r, s, l, object);
	return 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

static int by_weight(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	u64 p = x->time + x->given, q = y->time + y->given;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static struct value string(const struct reader *r, struct result *to, u32 id)
{
	return value_text(to, intern_get(&r->strings, id));
}

/* The stack with the innermost function first. */
static struct value callers(const struct reader *r, struct result *to, u32 id)
{
	_cleanup_free_ char *copy = xstrdup(intern_get(&r->strings, id));
	_cleanup_buf_ struct buf out = BUF_INIT;

	for (char *at = copy + strlen(copy); at; at = strrchr(copy, ';')) {
		char *semicolon;

		*at = 0;
		semicolon = strrchr(copy, ';');
		buf_addf(&out, "%s%s", out.len ? " < " : "", semicolon ? semicolon + 1 : copy);
	}
	return value_text(to, buf_str(&out));
}

static void add_times(struct row *row, size_t at, const struct entry *e)
{
	row->cells[at] = value_u(VALUE_COUNT, e->count);
	row->cells[at + 1] = value_u(VALUE_DURATION, e->time);
	row->cells[at + 2] = value_u(VALUE_DURATION, e->most);
	row->cells[at + 3] = value_u(VALUE_DURATION, e->time / MAX(e->count, 1ull));
}

static void show_locks(struct reader *r, size_t n, struct result *to)
{
	enum kernel_locks_by by = r->opts->by;
	const u32 thread = by == LOCKS_BY_THREAD ? 0 : COLUMN_HIDDEN;
	const struct column columns[] = {
		{ "type", "TYPE", VALUE_TEXT, 0 },
		{ "contended", "CONTENDED", VALUE_COUNT, 0 },
		{ "total", "TOTAL", VALUE_DURATION, 0 },
		{ "worst", "MAX", VALUE_DURATION, 0 },
		{ "average", "AVG", VALUE_DURATION, 0 },
		{ "tid", "TID", VALUE_PID, thread },
		{ "comm", "COMM", VALUE_TEXT, thread },
		{ "stack", "STACK", VALUE_TEXT, COLUMN_HIDDEN },
		{ by == LOCKS_BY_LOCK ? "lock" : "callers",
		  by == LOCKS_BY_LOCK ? "LOCK" : "CALLERS", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = result_table(to, "rows", NULL, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &r->entries.items[i];
		struct row *row = table_row(to, t);

		row->cells[0] = string(r, to, e->key.class);
		add_times(row, 1, e);
		if (by == LOCKS_BY_THREAD) {
			row->cells[5] = value_u(VALUE_PID, e->key.tid);
			row->cells[6] = string(r, to, e->key.name);
		}
		if (by != LOCKS_BY_LOCK)
			row->cells[7] = string(r, to, e->key.stack);
		row->cells[8] = by == LOCKS_BY_LOCK ? string(r, to, e->key.name)
						    : callers(r, to, e->key.stack);
	}
}

static void show_memory(struct reader *r, size_t n, struct result *to)
{
	const struct column columns[] = {
		{ "hits", "HITS", VALUE_COUNT, 0 },
		{ "asked", "ASKED", VALUE_BYTES, 0 },
		{ "given", "GIVEN", VALUE_BYTES, 0 },
		{ "cross", "PING-PONG", VALUE_COUNT, r->opts->cross ? 0 : COLUMN_HIDDEN },
		{ "waste", "WASTE", VALUE_PERCENT, 0 },
		{ "callsite", "CALLSITE", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = result_table(to, "rows", NULL, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &r->entries.items[i];
		struct row *row = table_row(to, t);

		row->cells[0] = value_u(VALUE_COUNT, e->count);
		row->cells[1] = value_u(VALUE_BYTES, e->asked);
		row->cells[2] = value_u(VALUE_BYTES, e->given);
		if (r->opts->cross)
			row->cells[3] = value_u(VALUE_COUNT, e->cross);
		if (e->given && e->given >= e->asked)
			row->cells[4] = value_d(VALUE_PERCENT, 100 * (double)(e->given - e->asked) /
								       (double)e->given);
		row->cells[5] = string(r, to, e->key.function);
	}
}

static void show_work(struct reader *r, size_t n, struct result *to)
{
	static const struct column columns[] = {
		{ "class", "CLASS", VALUE_TEXT, 0 },
		{ "name", "NAME", VALUE_TEXT, 0 },
		{ "cpu", "CPU", VALUE_INT, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
		{ "time", "TIME", VALUE_DURATION, 0 },
		{ "worst", "MAX", VALUE_DURATION, 0 },
		{ "average", "AVG", VALUE_DURATION, 0 },
		{ "function", "FUNCTION", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = result_table(to, "rows", NULL, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &r->entries.items[i];
		struct row *row = table_row(to, t);

		row->cells[0] = string(r, to, e->key.class);
		row->cells[1] = string(r, to, e->key.name);
		row->cells[2] = value_u(VALUE_INT, e->key.cpu);
		add_times(row, 3, e);
		row->cells[7] = string(r, to, e->key.function);
	}
}

static void show_losses(const struct reader *r, struct result *to)
{
	const struct recording_counts *counts = recording_counts(r->recording);
	const struct recording_fault *fault = recording_fault(r->recording);
	bool memory = r->opts->what == KERNEL_MEMORY;

	result_loss(to, "no_begin", "ends whose begin was not recorded", r->ends);
	result_loss(to, "no_end", "begins whose end was not recorded",
		    r->begins + (memory ? 0 : r->open.len));
	result_loss(to, "no_room", "events for which there was no room", r->full);
	result_loss(to, "no_cpu", "events without their CPU", r->no_cpu);
	result_loss(to, "cut", "events whose data was cut", r->cut);
	result_loss(to, "bad", "damaged records", counts->bad_records);
	result_loss(to, "lost", "events lost by the kernel", counts->lost + counts->lost_samples);
	if (fault->reason)
		result_note(to, NOTE_WARNING, NULL, "the recording ends early, at byte %llu: %s",
			    (unsigned long long)fault->offset, fault->reason);
}

static void show(struct reader *r, struct result *to)
{
	size_t n = r->entries.len;

	vec_sort(&r->entries, by_weight);
	if (r->opts->top)
		n = MIN(n, (size_t)r->opts->top);
	if (r->opts->what == KERNEL_LOCKS)
		show_locks(r, n, to);
	else if (r->opts->what == KERNEL_MEMORY)
		show_memory(r, n, to);
	else
		show_work(r, n, to);
	show_losses(r, to);
}

static int check_found(const struct reader *r, const char *path, struct err *e)
{
	static const char *const events[] = {
		[KERNEL_LOCKS] = "lock:contention_begin,lock:contention_end",
		[KERNEL_MEMORY] = "kmem:*",
		[KERNEL_WORK] = "irq:*,workqueue:*",
		[KERNEL_WORK_LATENCY] = "irq:*,workqueue:*",
	};
	bool both = r->opts->what != KERNEL_MEMORY || r->opts->cross;

	if (r->found[0] && (r->found[1] || !both))
		return 0;
	err_set(e, ENODATA, "'%s' does not have the events that this needs", path);
	err_hint(e, "fathom record -a -e %s -o FILE", events[r->opts->what]);
	return -ENODATA;
}

int kernel_events_replay(struct recording *rec, const struct kernel_events_opts *o,
			 struct result *ret, struct err *e)
{
	struct symbols *symbols = symbols_new(NULL);
	struct reader r = { .opts = o, .recording = rec, .err = e };
	int rc;

	profile_import_names(symbols, r.recording);
	machine_init(&r.machine, symbols);
	r.swap = recording_info(r.recording)->swapped;
	rc = recording_replay(r.recording, on_record, &r, e);
	if (rc >= 0)
		rc = learn(&r);
	if (rc >= 0)
		rc = check_found(&r, recording_name(rec), e);
	if (rc >= 0)
		show(&r, ret);
	machine_release(&r.machine);
	symbols_free(symbols);
	intern_release(&r.strings);
	intern_release(&r.keys);
	vec_release(&r.layouts);
	vec_release(&r.entries);
	vec_release(&r.runs);
	vec_release(&r.spare);
	map_release(&r.open);
	return rc < 0 ? rc : 0;
}

int kernel_events_read(const char *path, const struct kernel_events_opts *o, struct result *ret,
		       struct err *e)
{
	struct recording *rec;
	int rc = recording_open(path, &rec, e);

	if (rc < 0)
		return rc;
	rc = kernel_events_replay(rec, o, ret, e);
	recording_free(rec);
	return rc;
}
