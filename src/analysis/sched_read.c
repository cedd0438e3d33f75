/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's tracepoints by their formats: where a field lies differs between kernels. */
#include "analysis/sched_order.h"

#include "recording/recording.h"

enum { EVENTS_MOST = 4096, TOLD = 1 /* by a record, from the begin on */ };

#define INLINE static inline __attribute__((always_inline))

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
	u8 type; /* enum sched_type; SCHED_TYPES: of no interest */
	bool known;
	bool plain;         /* all fields before the raw data have a fixed size */
	u16 time, tid, cpu; /* bytes from the header on; 0: there is none */
	u16 raw;            /* size of the raw data; the data follows */
	u32 need;           /* bytes of the raw data that the fields reach to */
	struct field fields[F_COUNT];
};

/* A sample's parts, wherever they came from. */
struct parts {
	u64 time;
	u32 tid;
	u32 cpu;
	const u8 *raw;
	u32 raw_size;
};

struct reader {
	struct recording *recording;
	struct sched_names *names;
	const struct sched_filter *filter;
	sched_fn fn;
	void *ctx;
	VEC(struct layout) layouts; /* by event */
	struct sched_order order;
	struct sched_tids told; /* tid -> TOLD, or TOLD + its place in since + 1 */
	VEC(u64) since;         /* from when on a tracepoint has told the name */
	u32 types;              /* that are wanted */
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

static u16 place(u64 type, u64 before)
{
	return (u16)(sizeof(struct perf_event_header) +
		     8 * (size_t)__builtin_popcountll(type & before));
}

/* Where the fields of a sample lie, as far as that is the same for all samples. */
static void learn_sample(struct layout *l, u64 type)
{
	enum {
		TID = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP,
		TIME = TID | PERF_SAMPLE_TID,
		CPU = TIME | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
		      PERF_SAMPLE_STREAM_ID,
		RAW = CPU | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	};

	l->plain = (type & PERF_SAMPLE_RAW) && (type & PERF_SAMPLE_TIME) &&
		   (type & PERF_SAMPLE_TID) && (type & PERF_SAMPLE_CPU) &&
		   !(type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN));
	l->tid = (u16)(place(type, TID) + 4); /* behind the pid */
	l->time = place(type, TIME);
	l->cpu = place(type, CPU);
	l->raw = place(type, RAW);
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
	learn_sample(l, ev->attr.sample_type);
	if (ev->attr.type != PERF_TYPE_TRACEPOINT)
		return;
	f = recording_info_format(recording_info(r->recording), ev->attr.config);
	for (int t = 0; f && t < SCHED_TYPES; t++) {
		if (!streq(f->system, "sched") || !streq(f->name, type_names[t] + 6))
			continue;
		l->type = (u8)t;
		r->names->has[t] = true;
		for (int i = 0; i < F_COUNT; i++) {
			if (field_names[t][i])
				find_field(f, field_names[t][i], &l->fields[i]);
			l->need = MAX(l->need, l->fields[i].offset + l->fields[i].size);
		}
	}
}

/* --- in order of time ------------------------------------------------------------------------- */

static void take_name(struct sched_names *n, const struct sched_event *ev)
{
	u32 *comm = sched_tids_at(&n->by_tid, ev->next);

	if (!ev->weak || !*comm)
		*comm = ev->comm;
	if (ev->pid)
		*sched_tids_at(&n->pids, ev->next) = ev->pid;
}

static void take_birth(struct sched_names *n, const struct sched_event *ev)
{
	u32 comm = *sched_tids_at(&n->by_tid, ev->prev);

	if (comm)
		*sched_tids_at(&n->by_tid, ev->next) = comm;
	*sched_tids_at(&n->pids, ev->next) = ev->pid;
}

static bool time_passes(const struct reader *r, u64 time)
{
	u64 from, to;

	if (!r->filter || r->filter->outside)
		return true;
	sched_filter_window(r->filter, r->names, &from, &to);
	return time >= from && time <= to;
}

static int on_event(void *ctx, const struct sched_event *ev)
{
	struct reader *r = ctx;
	struct sched_names *n = r->names;
	int rc;

	if (ev->type == SCHED_NAMED) {
		take_name(n, ev);
		return 0;
	}
	if (ev->type == SCHED_BORN) {
		/* whoever had this number before keeps his name until he was asked */
		rc = r->fn(r->ctx, ev);
		take_birth(n, ev);
		return rc;
	}
	return time_passes(r, ev->time) ? r->fn(r->ctx, ev) : 0;
}

/* Delivers what has no time at once, the rest in its turn. */
static int push(struct reader *r, const struct sched_event *ev)
{
	return ev->time ? sched_order_push(&r->order, ev, on_event, r) : on_event(r, ev);
}

/* --- names ------------------------------------------------------------------------------------ */

/*
 * The tracepoints tell names, too. They count where no record does, from the moment on at which
 * the first of them was seen; and what is first in the file need not be first in time.
 */
static __attribute__((noinline)) int tell_name(struct reader *r, u32 tid, const char *comm,
					       u64 time)
{
	struct sched_event ev = { .type = SCHED_NAMED, .time = time, .next = tid, .weak = true };
	u32 *told = sched_tids_at(&r->told, tid);

	if (!*told) {
		vec_push(&r->since, 0);
		*told = TOLD + (u32)r->since.len;
	}
	r->since.items[*told - TOLD - 1] = time;
	ev.comm = intern_bytes(&r->names->strings, comm, strnlen(comm, SCHED_COMM));
	return push(r, &ev);
}

INLINE int learn_comm(struct reader *r, u32 tid, const char *comm, u64 time)
{
	u32 told = *sched_tids_at(&r->told, tid);

	if (likely(told == TOLD || !tid || !comm))
		return 0;
	if (likely(told && r->since.items[told - TOLD - 1] <= time))
		return 0;
	return tell_name(r, tid, comm, time);
}

/* --- events ----------------------------------------------------------------------------------- */

INLINE u64 number(const struct reader *r, const struct parts *p, const struct field *f)
{
	const u8 *at = p->raw + f->offset;
	u64 v = 0;

	if (likely(f->size == 4 && !r->swap)) {
		u32 word;

		memcpy(&word, at, 4);
		return word;
	}
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

INLINE const char *text(const struct parts *p, const struct field *f)
{
	return f->size >= SCHED_COMM ? (const char *)p->raw + f->offset : NULL;
}

INLINE bool plain_parts(const struct layout *l, const struct perf_event_header *h,
			struct parts *ret)
{
	const u8 *at = (const u8 *)h;

	if (h->size < l->raw + 4u)
		return false;
	memcpy(&ret->time, at + l->time, 8);
	memcpy(&ret->tid, at + l->tid, 4);
	memcpy(&ret->cpu, at + l->cpu, 4);
	memcpy(&ret->raw_size, at + l->raw, 4);
	ret->raw = at + l->raw + 4;
	return ret->raw_size <= h->size - l->raw - 4u;
}

static bool other_parts(const struct reader *r, u32 event, const struct perf_event_header *h,
			struct parts *ret)
{
	const char *reason;
	struct sample s;

	if (sample_parse(&recording_event(r->recording, event)->attr, h, &s, &reason) < 0)
		return false;
	*ret = (struct parts){ s.time, s.tid, s.cpu, s.raw, s.raw_size };
	return s.raw != NULL;
}

INLINE void fill(const struct reader *r, const struct layout *l, const struct parts *p,
		 struct sched_event *ev)
{
	ev->next = (u32)number(r, p, &l->fields[F_NEXT]);
	switch ((enum sched_type)ev->type) {
	case SCHED_SWITCH:
		ev->prev = (u32)number(r, p, &l->fields[F_PREV]);
		ev->state = number(r, p, &l->fields[F_STATE]);
		break;
	case SCHED_FORK: ev->prev = (u32)number(r, p, &l->fields[F_PREV]); break;
	case SCHED_MIGRATE:
		ev->from = (u32)number(r, p, &l->fields[F_FROM]);
		ev->to = (u32)number(r, p, &l->fields[F_TO]);
		break;
	case SCHED_RUNTIME: ev->runtime = number(r, p, &l->fields[F_RUNTIME]); break;
	default: break;
	}
}

/* A round is counted before any of it is delivered: what comes first in time is known then. */
INLINE void count(struct sched_names *n, const struct sched_event *ev)
{
	if (unlikely(ev->time < n->first || !n->first))
		n->first = ev->time;
	n->last = MAX(n->last, ev->time);
	n->events++;
	n->cpus = MAX(n->cpus, ev->cpu + 1u);
}

static int on_sample(void *ctx, const struct perf_event_header *h, u32 event)
{
	struct reader *r = ctx;
	const struct layout *l;
	struct sched_event ev = { 0 };
	struct parts p;
	int rc = 0;

	if (event >= EVENTS_MOST)
		return 0;
	if (event >= r->layouts.len || !r->layouts.items[event].known)
		learn_layout(r, event);
	l = &r->layouts.items[event];
	if (l->type == SCHED_TYPES)
		return 0;
	if (!(l->plain ? plain_parts(l, h, &p) : other_parts(r, event, h, &p)) ||
	    p.raw_size < l->need || p.cpu >= SCHED_CPUS_MOST) {
		r->names->bad++;
		return 0;
	}
	ev.type = l->type;
	ev.cpu = (u16)p.cpu;
	ev.time = p.time == UINT64_MAX ? 0 : p.time;
	ev.tid = p.tid;
	count(r->names, &ev);
	if (!(r->types & 1u << ev.type))
		return 0;
	fill(r, l, &p, &ev);
	rc = learn_comm(r, ev.next, text(&p, &l->fields[F_NEXT_COMM]), ev.time);
	if (rc >= 0 && ev.type == SCHED_SWITCH)
		rc = learn_comm(r, ev.prev, text(&p, &l->fields[F_PREV_COMM]), ev.time);
	return rc ? rc : push(r, &ev);
}

static int on_record(const struct record *rec, void *ctx)
{
	struct sched_event ev = { .time = rec->time == UINT64_MAX ? 0 : rec->time };
	struct reader *r = ctx;
	struct record_comm c;
	struct record_task t;

	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &c) == 0) {
		ev.type = SCHED_NAMED;
		ev.next = c.tid;
		ev.pid = c.pid;
		ev.comm = intern_str(&r->names->strings, c.comm);
		if (!ev.time)
			*sched_tids_at(&r->told, c.tid) = TOLD;
	} else if (rec->type == PERF_RECORD_FORK && record_task(rec, &t) == 0) {
		ev.type = SCHED_BORN;
		ev.next = t.tid;
		ev.prev = t.ptid;
		ev.pid = t.pid;
	} else {
		return 0;
	}
	return push(r, &ev);
}

static int on_round(void *ctx)
{
	struct reader *r = ctx;

	return sched_order_round(&r->order, on_event, r);
}

/* --- reading ---------------------------------------------------------------------------------- */

int sched_replay(struct recording *recording, const struct sched_filter *filter,
		 struct sched_names *names, sched_fn fn, void *ctx, struct err *e)
{
	static const struct recording_taps taps = { on_sample, on_record, on_round };
	struct reader r = { .recording = recording,
			    .names = names,
			    .filter = filter,
			    .fn = fn,
			    .ctx = ctx,
			    .types = filter && filter->types ? filter->types : UINT32_MAX };
	const struct recording_info *info = recording_info(recording);
	const u16 one = 1;
	int rc;

	r.swap = info->has_tracing && info->tracing_big_endian == *(const u8 *)&one;
	for (u32 i = 0; i < recording_n_events(recording) && i < EVENTS_MOST; i++)
		learn_layout(&r, i);
	rc = recording_tap(recording, &taps, &r, e);
	if (!rc)
		rc = sched_order_flush(&r.order, on_event, &r);
	const struct recording_counts *c = recording_counts(recording);

	names->lost = MAX(c->lost, c->lost_samples);
	vec_release(&r.layouts);
	sched_order_release(&r.order);
	sched_tids_release(&r.told);
	vec_release(&r.since);
	if (rc >= 0 && !names->has[SCHED_SWITCH]) {
		err_set(e, ENODATA, "'%s' holds no sched_switch events", recording_name(recording));
		err_hint(e, "make one with 'perf sched record', or 'fathom record -e "
			    "sched:sched_switch,sched:sched_waking --call-graph none'");
		return -ENODATA;
	}
	return rc;
}

int sched_read(const char *path, int fd, const struct sched_filter *filter,
	       struct sched_names *names, sched_fn fn, void *ctx, struct err *e)
{
	struct recording *recording;
	int rc = path ? recording_open(path, &recording, e)
		      : recording_open_fd(fd, "the recording", &recording, e);

	if (rc < 0)
		return rc;
	rc = sched_replay(recording, filter, names, fn, ctx, e);
	recording_free(recording);
	return rc;
}
