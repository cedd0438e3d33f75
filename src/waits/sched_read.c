/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's events out of a recording: decoded, named and in order of time. */
#include "waits/sched_reader.h"

#include "recording/recording.h"

enum { EVENTS_MOST = 4096 };

#define INLINE static inline __attribute__((always_inline))

/* A sample's parts, wherever they came from. */
struct parts {
	u64 time;
	u32 tid;
	u32 cpu;
	const u8 *raw;
	u32 raw_size;
};

static enum sched_quick quick_way(const struct sched_layout *l)
{
	if (!l->wanted)
		return SCHED_QUICK_UNWANTED;
	if (l->fold)
		return SCHED_QUICK_FOLD;
	if (l->type == SCHED_SWITCH)
		return SCHED_QUICK_SWITCH;
	return l->type == SCHED_WAKING || l->type == SCHED_WAKEUP ? SCHED_QUICK_WAKE
								  : SCHED_QUICK_NONE;
}

static void learn_layout(struct sched_reader *r)
{
	u32 event = (u32)r->layouts.len;
	struct sched_layout *l = vec_new(&r->layouts);

	sched_layout_learn(r->recording, event, r->swap, l);
	if (l->type == SCHED_TYPES)
		return;
	r->names->has[l->type] = true;
	l->wanted = r->types & 1u << l->type;
	l->fold = l->type == SCHED_RUNTIME && r->fold;
	l->quick = quick_way(l);
	if (l->least != UINT32_MAX && !r->place.time)
		r->place = l->place;
}

void sched_reader_learn(struct sched_reader *r)
{
	size_t n = MIN(recording_n_events(r->recording), (size_t)EVENTS_MOST);

	if (r->layouts.len < n)
		memset(r->memo, 0, sizeof(r->memo)); /* a first event may get others beside it */
	while (r->layouts.len < n)
		learn_layout(r);
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

/* Those of the requested span; it is in order of time. */
static int on_part(struct sched_reader *r, const struct sched_event *ev, size_t n)
{
	u64 from, to;

	sched_filter_window(r->filter, r->names, &from, &to);
	for (; n && ev->time < from; n--)
		ev++;
	while (n && ev[n - 1].time > to)
		n--;
	return n ? r->fn(r->ctx, ev, n) : 0;
}

static int on_events(void *ctx, const struct sched_event *ev, size_t n)
{
	struct sched_reader *r = ctx;
	int rc = 0;

	if (likely(ev->type < SCHED_TYPES))
		return r->bounded ? on_part(r, ev, n) : r->fn(r->ctx, ev, n);
	if (ev->type == SCHED_NAMED) {
		take_name(r->names, ev);
	} else {
		/* the previous owner of this number keeps his name until he was asked */
		rc = r->fn(r->ctx, ev, 1);
		take_birth(r->names, ev);
	}
	return rc;
}

/* Makes room where too much waits; spans, which must not wait for the consumer, want some. */
static int relieve(struct sched_reader *r)
{
	if (likely(!sched_order_full(&r->order, SCHED_SPAN_EVENTS)))
		return 0;
	return sched_order_drain_some(&r->order, on_events, r);
}

/* Delivers what has no time at once, the rest in its turn. */
static int push(struct sched_reader *r, const struct sched_event *ev)
{
	if (!ev->time)
		return on_events(r, ev, 1);
	sched_order_push(&r->order, ev);
	return 0;
}

/* --- run times -------------------------------------------------------------------------------- */

void sched_reader_unfold(struct sched_reader *r)
{
	struct sched_event ev = { .type = SCHED_RUNTIME,
				  .time = r->ran.time,
				  .runtime = r->ran.ns,
				  .next = r->ran.tid,
				  .cpu = (u16)r->ran.cpu };

	if (!r->ran.tid)
		return;
	/* what came after it on its CPU has been placed already */
	if (r->order.fresh.events.len)
		ev.time = MAX(ev.time, vec_last(&r->order.fresh.events)->time);
	r->ran.tid = 0;
	sched_order_push(&r->order, &ev);
}

/* --- names ------------------------------------------------------------------------------------ */

/*
 * A name is known from the start, where a record without a time has it. The tracepoints have names,
 * too; they count where no record does, from the first of them on.
 */
void sched_reader_comm(struct sched_reader *r, u32 tid, const char *comm, u64 time)
{
	struct sched_event ev = { .type = SCHED_NAMED, .time = time, .next = tid, .weak = true };
	struct sched_since *since = sched_since(&r->known, tid);

	if (!comm || since->named >= ~time || (r->filter && r->filter->record_names))
		return;
	since->named = ~time;
	ev.comm = intern_bytes(&r->names->strings, comm, strnlen(comm, SCHED_COMM));
	if (time)
		sched_order_push(&r->order, &ev);
	else
		take_name(r->names, &ev);
}

/* --- events ----------------------------------------------------------------------------------- */

INLINE u64 number(const struct sched_reader *r, const struct parts *p, const struct sched_field *f)
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

INLINE const char *text(const struct parts *p, const struct sched_field *f)
{
	return f->size >= SCHED_COMM ? (const char *)p->raw + f->offset : NULL;
}

INLINE bool plain_parts(const struct sched_layout *l, const struct perf_event_header *h,
			struct parts *ret)
{
	const u8 *at = (const u8 *)h;

	if (h->size < l->place.raw + 4u)
		return false;
	memcpy(&ret->time, at + l->place.time, 8);
	memcpy(&ret->tid, at + l->place.tid, 4);
	memcpy(&ret->cpu, at + l->place.cpu, 4);
	memcpy(&ret->raw_size, at + l->place.raw, 4);
	ret->raw = at + l->place.raw + 4;
	return ret->raw_size <= h->size - l->place.raw - 4u;
}

static bool other_parts(const struct sched_reader *r, u32 event, const struct perf_event_header *h,
			struct parts *ret)
{
	const char *reason;
	struct sample s;

	if (sample_parse(&recording_event(r->recording, event)->attr, h, &s, &reason) < 0)
		return false;
	*ret = (struct parts){ s.time, s.tid, s.cpu, s.raw, s.raw_size };
	return s.raw != NULL;
}

INLINE void fill(const struct sched_reader *r, const struct sched_layout *l, const struct parts *p,
		 struct sched_event *ev)
{
	ev->next = (u32)number(r, p, &l->fields[SCHED_F_NEXT]);
	switch ((enum sched_type)ev->type) {
	case SCHED_SWITCH:
		ev->prev = (u32)number(r, p, &l->fields[SCHED_F_PREV]);
		ev->state = (u8)number(r, p, &l->fields[SCHED_F_STATE]);
		break;
	case SCHED_FORK: ev->prev = (u32)number(r, p, &l->fields[SCHED_F_PREV]); break;
	case SCHED_MIGRATE:
		ev->mover = p->tid;
		ev->from = (u16)MIN(number(r, p, &l->fields[SCHED_F_FROM]), (u64)UINT16_MAX);
		ev->to = (u16)MIN(number(r, p, &l->fields[SCHED_F_TO]), (u64)UINT16_MAX);
		break;
	case SCHED_RUNTIME: ev->runtime = number(r, p, &l->fields[SCHED_F_RUNTIME]); break;
	default:
		ev->tid = p->tid;
		ev->flags = p->raw[SCHED_FLAGS_AT];
		break;
	}
}

void sched_reader_count(struct sched_reader *r, const struct sched_count *c)
{
	struct sched_names *n = r->names;

	if (!c->events)
		return;
	n->first = n->first ? MIN(n->first, c->first) : c->first;
	n->last = MAX(n->last, c->last);
	n->cpus = MAX(n->cpus, c->cpu + 1);
	n->events += c->events;
}

static int on_sample(void *ctx, const struct perf_event_header *h, u32 event)
{
	struct sched_count count = { .first = UINT64_MAX };
	struct sched_reader *r = ctx;
	const struct sched_layout *l;
	struct sched_event ev = { 0 };
	struct parts p;
	int rc;

	sched_reader_learn(r);
	if (event >= r->layouts.len)
		return 0;
	l = &r->layouts.items[event];
	if (l->type == SCHED_TYPES)
		return 0;
	ev.type = l->type;
	if (!(l->plain ? plain_parts(l, h, &p) : other_parts(r, event, h, &p)) ||
	    p.raw_size < l->need || p.cpu >= SCHED_CPUS_MOST) {
		r->names->bad++;
		return 0;
	}
	ev.cpu = (u16)p.cpu;
	ev.time = p.time == UINT64_MAX ? 0 : p.time;
	sched_count_event(&count, ev.time, ev.cpu);
	sched_reader_count(r, &count);
	if (!l->wanted)
		return 0;
	fill(r, l, &p, &ev);
	rc = relieve(r);
	if (rc)
		return rc;
	sched_reader_comm(r, ev.next, text(&p, &l->fields[SCHED_F_NEXT_COMM]), ev.time);
	if (ev.type == SCHED_SWITCH)
		sched_reader_comm(r, ev.prev, text(&p, &l->fields[SCHED_F_PREV_COMM]), ev.time);
	return push(r, &ev);
}

static int on_record(const struct record *rec, void *ctx)
{
	struct sched_event ev = { .time = rec->time == UINT64_MAX ? 0 : rec->time };
	struct sched_reader *r = ctx;
	struct record_comm c;
	struct record_task t;
	int rc;

	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &c) == 0) {
		ev.type = SCHED_NAMED;
		ev.next = c.tid;
		ev.pid = c.pid;
		ev.comm = intern_str(&r->names->strings, c.comm);
		if (!ev.time)
			sched_since(&r->known, c.tid)->named = UINT64_MAX;
	} else if (rec->type == PERF_RECORD_FORK && record_task(rec, &t) == 0) {
		ev.type = SCHED_BORN;
		sched_since(&r->known, t.tid)->seen = 0;
		ev.next = t.tid;
		ev.prev = t.ptid;
		ev.pid = t.pid;
	} else {
		return 0;
	}
	rc = relieve(r);
	return rc ? rc : push(r, &ev);
}

static int on_round(void *ctx)
{
	struct sched_reader *r = ctx;

	sched_reader_unfold(r);
	return sched_order_round(&r->order, on_events, r);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void note_fault(struct sched_names *names, const struct recording *recording)
{
	const struct recording_fault *f = recording_fault(recording);

	free(names->fault);
	names->fault = f->reason ? xasprintf("the file is damaged at offset %llu: %s",
					     (unsigned long long)f->offset, f->reason)
				 : NULL;
}

/* perf writes what its tracepoints are after all else, when it ends. */
static bool lacks_formats(const struct recording *recording)
{
	const struct recording_info *info = recording_info(recording);

	for (u32 i = 0; i < recording_n_events(recording); i++) {
		const struct perf_event_attr *attr = &recording_event(recording, i)->attr;

		if (attr->type == PERF_TYPE_TRACEPOINT &&
		    !recording_info_format(info, attr->config))
			return true;
	}
	return false;
}

static int no_switches(const struct recording *recording, const struct sched_names *names,
		       struct err *e)
{
	bool unfinished = lacks_formats(recording);

	if (unfinished)
		err_set(e, ENODATA, "'%s' has no tracepoint formats: its end is missing",
			recording_name(recording));
	else
		err_set(e, ENODATA, "'%s' holds no sched_switch events", recording_name(recording));
	if (names->fault)
		err_hint(e, "%s", names->fault);
	else if (unfinished)
		err_hint(e, "end 'perf sched record' with Ctrl-C or SIGTERM: killed, it writes no "
			    "end");
	else
		err_hint(e, "make one with 'perf sched record', or 'fathom record -e "
			    "sched:sched_switch,sched:sched_waking --call-graph none'");
	return -ENODATA;
}

int sched_replay(struct recording *recording, const struct sched_filter *filter,
		 struct sched_names *names, sched_fn fn, void *ctx, struct err *e)
{
	static const struct recording_taps taps = {
		.span = sched_span,
		.sample = on_sample,
		.record = on_record,
		.types = 1u << PERF_RECORD_COMM | 1u << PERF_RECORD_FORK,
		.round = on_round,
	};
	struct sched_reader r = { .recording = recording,
				  .names = names,
				  .filter = filter,
				  .fn = fn,
				  .ctx = ctx,
				  .types = filter && filter->types ? filter->types : UINT32_MAX,
				  .bounded = filter && !filter->outside &&
					     (filter->from || filter->to) };
	const struct recording_info *info = recording_info(recording);
	const u16 one = 1;
	int rc;

	names->machine_cpus = MIN(info->cpus_available, (u32)SCHED_CPUS_MOST);
	r.swap = info->has_tracing && info->tracing_big_endian == *(const u8 *)&one;
	r.fold = filter && filter->fold_runtime && !r.bounded;
	sched_since(&r.known, 0)->named = UINT64_MAX;
	sched_reader_learn(&r);
	rc = recording_tap(recording, &taps, &r, e);
	sched_reader_unfold(&r);
	if (!rc)
		rc = sched_order_flush(&r.order, on_events, &r);
	const struct recording_counts *c = recording_counts(recording);

	names->lost = MAX(c->lost, c->lost_samples);
	note_fault(names, recording);
	vec_release(&r.layouts);
	sched_order_release(&r.order);
	sched_known_release(&r.known);
	if (rc >= 0 && !names->has[SCHED_SWITCH])
		return no_switches(recording, names, e);
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
