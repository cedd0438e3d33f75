/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's tracepoints by their formats: where a field lies differs between kernels. */
#include "analysis/sched.h"

#include "recording/recording.h"

enum { EVENTS_MOST = 4096 };

struct field {
	u32 offset;
	u32 size; /* 0: there is none */
};

enum field_id {
	F_PREV,
	F_NEXT,
	F_PREV_COMM,
	F_NEXT_COMM,
	F_STATE,
	F_FROM,
	F_TO,
	F_RUNTIME,
	F_COUNT
};

struct layout {
	enum sched_type type;
	bool known;
	struct field fields[F_COUNT];
};

struct reader {
	struct recording *recording;
	struct sched_names *names;
	const struct sched_filter *filter;
	sched_fn fn;
	void *ctx;
	VEC(struct layout) layouts; /* by event */
	bool swap;
};

/* --- formats ---------------------------------------------------------------------------------- */

static const char *const type_names[SCHED_TYPES] = {
	[SCHED_SWITCH] = "sched:sched_switch",        [SCHED_WAKING] = "sched:sched_waking",
	[SCHED_WAKEUP] = "sched:sched_wakeup",        [SCHED_WAKEUP_NEW] = "sched:sched_wakeup_new",
	[SCHED_MIGRATE] = "sched:sched_migrate_task", [SCHED_RUNTIME] = "sched:sched_stat_runtime",
	[SCHED_FORK] = "sched:sched_process_fork",
};

/* What the fields are called, by type; NULL: this type has none. */
static const char *const field_names[SCHED_TYPES][F_COUNT] = {
	[SCHED_SWITCH] = { [F_PREV] = "prev_pid",
			   [F_NEXT] = "next_pid",
			   [F_PREV_COMM] = "prev_comm",
			   [F_NEXT_COMM] = "next_comm",
			   [F_STATE] = "prev_state" },
	[SCHED_WAKING] = { [F_NEXT] = "pid", [F_NEXT_COMM] = "comm" },
	[SCHED_WAKEUP] = { [F_NEXT] = "pid", [F_NEXT_COMM] = "comm" },
	[SCHED_WAKEUP_NEW] = { [F_NEXT] = "pid", [F_NEXT_COMM] = "comm" },
	[SCHED_MIGRATE] = { [F_NEXT] = "pid",
			    [F_NEXT_COMM] = "comm",
			    [F_FROM] = "orig_cpu",
			    [F_TO] = "dest_cpu" },
	[SCHED_RUNTIME] = { [F_NEXT] = "pid", [F_NEXT_COMM] = "comm", [F_RUNTIME] = "runtime" },
	[SCHED_FORK] = { [F_PREV] = "parent_pid", [F_NEXT] = "child_pid" },
};

static u32 number_after(const char *line, const char *end, const char *key)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	u64 v = 0;

	if (!at)
		return 0;
	at += strlen(key);
	return scan_u64(&at, end, 10, &v) && v < 1 << 20 ? (u32)v : 0;
}

/* "field:pid_t prev_pid;	offset:24;	size:4;	signed:1;" */
static bool line_names(const char *line, const char *end, const char *name)
{
	const char *semicolon = memchr(line, ';', (size_t)(end - line));
	size_t n = strlen(name);

	if (!semicolon || !memmem(line, (size_t)(semicolon - line), "field:", 6))
		return false;
	if (semicolon[-1] == ']')
		while (semicolon > line && *semicolon != '[')
			semicolon--;
	return (size_t)(semicolon - line) > n && memcmp(semicolon - n, name, n) == 0 &&
	       (semicolon[-(s64)n - 1] == ' ' || semicolon[-(s64)n - 1] == '\t');
}

static void find_field(const struct recording_format *f, const char *name, struct field *ret)
{
	const char *p = f->text, *end = f->text + f->text_size;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;

		if (line_names(p, stop, name)) {
			ret->offset = number_after(p, stop, "offset:");
			ret->size = number_after(p, stop, "size:");
			return;
		}
		p = stop + 1;
	}
}

static void learn_layout(struct reader *r, u32 event)
{
	const struct recording_event *ev = recording_event(r->recording, event);
	const struct recording_format *f;
	struct layout *l;

	while (r->layouts.len <= event)
		vec_new(&r->layouts);
	l = &r->layouts.items[event];
	l->type = SCHED_TYPES;
	l->known = true;
	if (ev->attr.type != PERF_TYPE_TRACEPOINT)
		return;
	f = recording_info_format(recording_info(r->recording), ev->attr.config);
	for (int t = 0; f && t < SCHED_TYPES; t++) {
		if (!streq(f->system, "sched") || !streq(f->name, type_names[t] + 6))
			continue;
		l->type = (enum sched_type)t;
		r->names->has[t] = true;
		for (int i = 0; i < F_COUNT; i++) {
			if (field_names[t][i])
				find_field(f, field_names[t][i], &l->fields[i]);
		}
	}
}

/* --- events ----------------------------------------------------------------------------------- */

static u64 number(const struct reader *r, const struct sample *s, const struct field *f)
{
	const u8 *at = (const u8 *)s->raw + f->offset;
	u64 v = 0;

	if (!f->size || f->size > 8)
		return 0;
	if (!r->swap) {
		memcpy(&v, at, f->size);
		return v;
	}
	for (u32 i = 0; i < f->size; i++)
		v = v << 8 | at[i];
	return v;
}

static const char *text(const struct sample *s, const struct field *f)
{
	return f->size >= SCHED_COMM ? (const char *)s->raw + f->offset : NULL;
}

static bool fits(const struct layout *l, const struct sample *s)
{
	for (int i = 0; i < F_COUNT; i++) {
		const struct field *f = &l->fields[i];

		if (f->size && (f->offset > s->raw_size || f->size > s->raw_size - f->offset))
			return false;
	}
	return true;
}

/* Tasks that no COMM record tells of: kernel threads of some recordings. */
static void learn_comm(struct sched_names *n, u32 tid, const char *comm)
{
	u64 *at;

	if (!comm)
		return;
	at = map_at(&n->by_tid, tid);
	if (!*at)
		*at = intern_bytes(&n->strings, comm, strnlen(comm, SCHED_COMM));
}

static bool time_passes(const struct reader *r, u64 time)
{
	const struct sched_filter *f = r->filter;
	u64 base = f && f->relative ? r->names->first : 0;

	if (!f)
		return true;
	return (!f->from || time >= base + f->from) && (!f->to || time <= base + f->to);
}

static int on_sample(struct reader *r, const struct record *rec)
{
	const struct sample *s = rec->sample;
	const struct layout *l;
	struct sched_event ev;

	if (rec->event >= EVENTS_MOST)
		return 0;
	if (rec->event >= r->layouts.len || !r->layouts.items[rec->event].known)
		learn_layout(r, rec->event);
	l = &r->layouts.items[rec->event];
	if (l->type == SCHED_TYPES)
		return 0;
	if (!fits(l, s) || s->cpu >= SCHED_CPUS_MOST) {
		r->names->bad++;
		return 0;
	}
	ev = (struct sched_event){
		.type = l->type,
		.cpu = s->cpu,
		.time = s->time,
		.tid = s->tid,
		.prev = (u32)number(r, s, &l->fields[F_PREV]),
		.next = (u32)number(r, s, &l->fields[F_NEXT]),
		.state = number(r, s, &l->fields[F_STATE]),
		.from = (u32)number(r, s, &l->fields[F_FROM]),
		.to = (u32)number(r, s, &l->fields[F_TO]),
		.runtime = number(r, s, &l->fields[F_RUNTIME]),
		.prev_comm = text(s, &l->fields[F_PREV_COMM]),
		.next_comm = text(s, &l->fields[F_NEXT_COMM]),
	};
	learn_comm(r->names, ev.next, ev.next_comm);
	learn_comm(r->names, ev.prev, ev.prev_comm);
	if (!r->names->first)
		r->names->first = ev.time;
	r->names->last = ev.time;
	r->names->events++;
	r->names->cpus = MAX(r->names->cpus, ev.cpu + 1);
	return time_passes(r, ev.time) ? r->fn(r->ctx, &ev) : 0;
}

static void on_comm(struct sched_names *n, const struct record *rec)
{
	struct record_comm c;

	if (record_comm(rec, &c) < 0)
		return;
	map_put(&n->by_tid, c.tid, intern_str(&n->strings, c.comm));
	map_put(&n->pids, c.tid, c.pid);
}

static void on_fork(struct sched_names *n, const struct record *rec)
{
	struct record_task t;
	u64 *comm;

	if (record_task(rec, &t) < 0)
		return;
	comm = map_find(&n->by_tid, t.ptid);
	if (comm)
		map_put(&n->by_tid, t.tid, *comm);
	map_put(&n->pids, t.tid, t.pid);
}

static int on_record(const struct record *rec, void *ctx)
{
	struct reader *r = ctx;

	switch (rec->type) {
	case PERF_RECORD_SAMPLE: return on_sample(r, rec);
	case PERF_RECORD_COMM: on_comm(r->names, rec); break;
	case PERF_RECORD_FORK: on_fork(r->names, rec); break;
	default: break;
	}
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

void sched_names_release(struct sched_names *n)
{
	intern_release(&n->strings);
	map_release(&n->by_tid);
	map_release(&n->pids);
}

const char *sched_comm(struct sched_names *n, u32 tid)
{
	u64 id = map_get(&n->by_tid, tid, 0);
	char text_of[16];

	if (tid == 0)
		return "swapper";
	if (!id) {
		snprintf(text_of, sizeof(text_of), ":%u", tid);
		id = intern_str(&n->strings, text_of);
	}
	return intern_get(&n->strings, (u32)id);
}

u32 sched_pid(const struct sched_names *n, u32 tid)
{
	return (u32)map_get(&n->pids, tid, 0);
}

bool sched_filter_task(const struct sched_filter *f, const struct sched_names *n, u32 tid)
{
	if (!f || !f->pids || !f->pids->len)
		return true;
	return ranges_contain(f->pids, tid) || ranges_contain(f->pids, sched_pid(n, tid));
}

bool sched_filter_cpu(const struct sched_filter *f, u32 cpu)
{
	return !f || !f->cpus || !f->cpus->len || ranges_contain(f->cpus, cpu);
}

int sched_read(const char *path, int fd, const struct sched_filter *filter,
	       struct sched_names *names, sched_fn fn, void *ctx, struct err *e)
{
	struct reader r = { .names = names, .filter = filter, .fn = fn, .ctx = ctx };
	const u16 one = 1;
	int rc = path ? recording_open(path, &r.recording, e)
		      : recording_open_fd(fd, "the recording", &r.recording, e);

	if (rc < 0)
		return rc;
	r.swap = recording_info(r.recording)->has_tracing &&
		 recording_info(r.recording)->tracing_big_endian == *(const u8 *)&one;
	for (u32 i = 0; i < recording_n_events(r.recording) && i < EVENTS_MOST; i++)
		learn_layout(&r, i);
	rc = recording_replay(r.recording, on_record, &r, e);
	const struct recording_counts *c = recording_counts(r.recording);

	names->lost = MAX(c->lost, c->lost_samples);
	recording_free(r.recording);
	vec_release(&r.layouts);
	if (rc >= 0 && !names->has[SCHED_SWITCH]) {
		err_set(e, ENODATA, "'%s' holds no sched_switch events", path ? path : "it");
		err_hint(e, "make one with 'perf sched record', or 'fathom record -e "
			    "sched:sched_switch,sched:sched_waking --call-graph none'");
		return -ENODATA;
	}
	return rc;
}

void sched_health(const struct sched_names *n, struct result *ret)
{
	result_fact(ret, "events", "events", value_u(VALUE_COUNT, n->events));
	result_fact(ret, "duration_ns", "over", value_u(VALUE_DURATION, n->last - n->first));
	result_loss(ret, "lost_events", "events lost while recording: figures are too small",
		    n->lost);
	result_loss(ret, "bad_events", "events left out because their data was cut", n->bad);
	if (!n->has[SCHED_WAKING] && !n->has[SCHED_WAKEUP])
		result_note(ret, NOTE_WARNING, "record sched:sched_waking too",
			    "there are no wake-ups: delays count only from preemptions");
}

char sched_state_char(u64 state)
{
	static const char letters[] = "SDTtXZPI";

	for (u32 i = 0; i < sizeof(letters) - 1; i++) {
		if (state & 1ull << i)
			return letters[i];
	}
	return 'R';
}
