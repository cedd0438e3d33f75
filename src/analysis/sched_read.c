/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's events out of a recording: decoded, named and in order of time. */
#include "analysis/sched_known.h"
#include "analysis/sched_layout.h"
#include "analysis/sched_order.h"

#include "recording/recording.h"

enum {
	EVENTS_MOST = 4096,
	ID_MEMO = 64,      /* ids of a recording are neighbours: their low bits tell them apart */
	SAMPLE_LEAST = 48, /* bytes of a sample with an address, a task, a time, a CPU, data */
	SPAN_MOST = 64 << 10, /* bytes of samples that are read at once */
};

#define INLINE static inline __attribute__((always_inline))

/* A sample's parts, wherever they came from. */
struct parts {
	u64 time;
	u32 tid;
	u32 cpu;
	const u8 *raw;
	u32 raw_size;
};

/* By sample id: the event, and the last of its samples whose sizes were found in order. */
struct id_memo {
	u64 id;
	u64 head;     /* the header as it lies; 0: none */
	u32 raw_size; /* bytes of data, */
	u32 raw;      /* which lie there */
	const struct sched_layout *layout;
};

struct reader {
	struct recording *recording;
	struct id_memo memo[ID_MEMO];
	struct sched_names *names;
	const struct sched_filter *filter;
	sched_fn fn;
	void *ctx;
	VEC(struct sched_layout) layouts; /* by event */
	struct sched_order order;
	struct sched_known known;
	u32 types; /* that are wanted */
	int ended; /* what a callback ended it with, or an error */
	bool swap;
	bool bounded; /* not all times are wanted */
	bool fold;    /* run times are kept for the switch that follows them on their CPU */
	struct {
		u64 ns;
		u64 time; /* of the last */
		u32 tid;  /* 0: there is none */
		u32 cpu;
	} ran;
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

static void learn_layout(struct reader *r)
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
}

static void learn_layouts(struct reader *r)
{
	size_t n = MIN(recording_n_events(r->recording), (size_t)EVENTS_MOST);

	if (r->layouts.len < n)
		memset(r->memo, 0, sizeof(r->memo)); /* they move */
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

/* Those of a stretch that are asked for; it is in order of time. */
static int on_part(struct reader *r, const struct sched_event *ev, size_t n)
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
	struct reader *r = ctx;
	int rc = 0;

	if (likely(ev->type < SCHED_TYPES))
		return r->bounded ? on_part(r, ev, n) : r->fn(r->ctx, ev, n);
	if (ev->type == SCHED_NAMED) {
		take_name(r->names, ev);
	} else {
		/* whoever had this number before keeps his name until he was asked */
		rc = r->fn(r->ctx, ev, 1);
		take_birth(r->names, ev);
	}
	return rc;
}

/* Delivers what has no time at once, the rest in its turn. */
static int push(struct reader *r, const struct sched_event *ev)
{
	int rc = 0;

	if (!ev->time)
		return on_events(r, ev, 1);
	if (unlikely(sched_order_full(&r->order, 1)))
		rc = sched_order_relieve(&r->order, on_events, r);
	sched_order_push(&r->order, ev);
	return rc;
}

/* --- run times -------------------------------------------------------------------------------- */

/* No switch of this task follows: the run time becomes an event after all. */
static __attribute__((noinline)) int unfold(struct reader *r)
{
	struct sched_event ev = { .type = SCHED_RUNTIME,
				  .time = r->ran.time,
				  .runtime = r->ran.ns,
				  .next = r->ran.tid,
				  .cpu = (u16)r->ran.cpu };

	if (!r->ran.tid)
		return 0;
	/* what came after it on its CPU has been placed already */
	if (r->order.fresh.events.len)
		ev.time = MAX(ev.time, vec_last(&r->order.fresh.events)->time);
	r->ran.tid = 0;
	return push(r, &ev);
}

/* Those of @tid, which leaves its CPU. */
INLINE u32 take_ran(struct reader *r, u32 tid)
{
	if (r->ran.tid != tid || !tid || r->ran.ns > UINT32_MAX)
		return 0;
	r->ran.tid = 0;
	return (u32)r->ran.ns;
}

/* --- names ------------------------------------------------------------------------------------ */

/*
 * A name is known from the begin on, where a record without a time tells it. The tracepoints tell
 * names, too; they count where no record does, from the first of them on.
 */
static int learn_comm(struct reader *r, u32 tid, const char *comm, u64 time)
{
	struct sched_event ev = { .type = SCHED_NAMED, .time = time, .next = tid, .weak = true };
	struct sched_since *since = sched_since(&r->known, tid);

	if (!comm || since->told >= ~time)
		return 0;
	since->told = ~time;
	ev.comm = intern_bytes(&r->names->strings, comm, strnlen(comm, SCHED_COMM));
	return push(r, &ev);
}

/* --- events ----------------------------------------------------------------------------------- */

INLINE u64 number(const struct reader *r, const struct parts *p, const struct sched_field *f)
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

INLINE void fill(const struct reader *r, const struct sched_layout *l, const struct parts *p,
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
		ev->from = (u32)number(r, p, &l->fields[SCHED_F_FROM]);
		ev->to = (u32)number(r, p, &l->fields[SCHED_F_TO]);
		break;
	case SCHED_RUNTIME: ev->runtime = number(r, p, &l->fields[SCHED_F_RUNTIME]); break;
	default: ev->tid = p->tid; break;
	}
}

/* A round is counted before any of it is delivered: what comes first in time is known then. */
struct count {
	u64 first, last;
	u64 events;
	u32 cpu; /* highest */
};

INLINE void count_event(struct count *c, u64 time, u32 cpu)
{
	c->first = MIN(c->first, time);
	c->last = MAX(c->last, time);
	c->cpu = MAX(c->cpu, cpu);
	c->events++;
}

static void add_count(struct sched_names *n, const struct count *c)
{
	if (!c->events)
		return;
	n->first = n->first ? MIN(n->first, c->first) : c->first;
	n->last = MAX(n->last, c->last);
	n->cpus = MAX(n->cpus, c->cpu + 1);
	n->events += c->events;
}

static int on_sample(void *ctx, const struct perf_event_header *h, u32 event)
{
	struct count count = { .first = UINT64_MAX };
	struct reader *r = ctx;
	const struct sched_layout *l;
	struct sched_event ev = { 0 };
	struct parts p;
	int rc;

	learn_layouts(r);
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
	count_event(&count, ev.time, ev.cpu);
	add_count(r->names, &count);
	if (!l->wanted)
		return 0;
	fill(r, l, &p, &ev);
	rc = learn_comm(r, ev.next, text(&p, &l->fields[SCHED_F_NEXT_COMM]), ev.time);
	if (rc >= 0 && ev.type == SCHED_SWITCH)
		rc = learn_comm(r, ev.prev, text(&p, &l->fields[SCHED_F_PREV_COMM]), ev.time);
	return rc ? rc : push(r, &ev);
}

INLINE u32 load32(const u8 *at)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

INLINE u64 load64(const u8 *at)
{
	u64 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* All that can be wrong with the size of a sample, or unusual. Then on_sample() has a look. */
INLINE bool has_usual_size(const struct sched_layout *l, const u8 *at)
{
	u32 size = ((const struct perf_event_header *)at)->size;

	return size >= l->least && load32(at + l->raw) - l->need <= size - l->least;
}

/* --- spans of samples ------------------------------------------------------------------------- */

/* Earlier than it is each time that is one. */
#define TIME_UNKNOWN ((u64)INT64_MAX)

/* What is known of the samples before. */
struct span {
	struct count count;
	u64 time; /* nothing that was placed is later; or TIME_UNKNOWN */
	u32 cpu;  /* of the last */
};

/* Room for what @n samples can bring: each itself, two names and a run time. */
enum { EVENTS_EACH = 4 };

static struct sched_event *room_for(struct reader *r, size_t n)
{
	return sched_order_place(&r->order, n * EVENTS_EACH);
}

static void place_event(struct reader *r, const struct sched_layout *l, const u8 *at)
{
	u64 time = load64(at + l->time);
	struct sched_event *ev = sched_order_place(&r->order, 1);

	if (!r->order.fresh.events.len || time < ev[-1].time)
		sched_order_new_run(&r->order);
	*ev = (struct sched_event){ .time = time,
				    .next = load32(at + l->next),
				    .cpu = (u16)load32(at + l->cpu),
				    .type = l->type };
	switch ((enum sched_type)l->type) {
	case SCHED_SWITCH:
		ev->state = (u8)load64(at + l->value);
		ev->prev = load32(at + l->prev);
		ev->ran = take_ran(r, ev->prev);
		break;
	case SCHED_FORK: ev->prev = load32(at + l->prev); break;
	case SCHED_MIGRATE: /* from, to */
	case SCHED_RUNTIME: ev->runtime = load64(at + l->value); break;
	default: ev->tid = load32(at + l->tid); break;
	}
	sched_order_placed(&r->order, ev + 1);
}

/*
 * Run times are kept: only those of the task that runs, and not the first that is heard of it:
 * from that on it is known to run, which must have its place in time.
 */
static bool keep_runtime(struct reader *r, const struct sched_layout *l, const u8 *at, int *ret)
{
	u64 time = load64(at + l->time);
	u32 tid = load32(at + l->next);

	if (!l->fold || tid != load32(at + l->tid) || sched_since(&r->known, tid)->seen < ~time)
		return false;
	if (r->ran.tid != tid) {
		*ret = unfold(r);
		r->ran.ns = 0;
	}
	r->ran.ns += load64(at + l->value);
	r->ran.time = time;
	r->ran.tid = tid;
	r->ran.cpu = load32(at + l->cpu);
	return true;
}

/* It has a place in time, and a CPU. */
INLINE bool has_usual_values(const struct sched_layout *l, const u8 *at)
{
	return load32(at + l->cpu) < SCHED_CPUS_MOST && load64(at + l->time) - 1 < UINT64_MAX - 1;
}

/* Any event of usual size and values. */
static __attribute__((noinline)) int slow_event(struct reader *r, const struct sched_layout *l,
						const u8 *at, struct span *s)
{
	u64 time = load64(at + l->time);
	u32 cpu = load32(at + l->cpu), next = load32(at + l->next), prev = load32(at + l->prev);
	int rc = 0;

	count_event(&s->count, time, cpu);
	s->time = TIME_UNKNOWN;
	s->cpu = cpu;
	if (r->ran.tid && (r->ran.cpu != cpu || time < r->ran.time))
		rc = unfold(r);
	if (rc || !l->wanted || keep_runtime(r, l, at, &rc))
		return rc;
	if (l->next_comm)
		rc = learn_comm(r, next, (const char *)at + l->next_comm, time);
	if (!rc && l->prev_comm)
		rc = learn_comm(r, prev, (const char *)at + l->prev_comm, time);
	if (rc)
		return rc;
	if (l->type == SCHED_SWITCH || l->type == SCHED_RUNTIME)
		sched_set_seen(&r->known, next, time);
	if (l->type == SCHED_SWITCH)
		sched_set_seen(&r->known, prev, time);
	place_event(r, l, at);
	s->time = time;
	return 0;
}

INLINE bool quick_runtime(struct reader *r, const struct sched_layout *l, const u8 *at, u64 time)
{
	u32 tid = load32(at + l->next);
	u64 ns = load64(at + l->value);

	if (unlikely(!sched_is_seen(&r->known, tid, time)))
		return false;
	if (r->ran.tid != tid) {
		if (r->ran.tid)
			return false;
		r->ran.tid = tid;
		r->ran.ns = 0;
		r->ran.cpu = load32(at + l->cpu);
	}
	r->ran.ns += ns;
	r->ran.time = time;
	return true;
}

/* A run time of a task that does not run, which is not kept. */
INLINE bool quick_other(struct reader *r, const struct sched_layout *l, const u8 *at, u64 time,
			struct sched_event *ev)
{
	u32 tid = load32(at + l->next);

	if (!sched_is_known(&r->known, tid, time))
		return false;
	ev->runtime = load64(at + l->value);
	ev->next = tid;
	return true;
}

INLINE bool quick_switch(struct reader *r, const struct sched_layout *l, const u8 *at, u64 time,
			 struct sched_event *ev)
{
	u32 next = load32(at + l->next), prev = load32(at + l->prev);

	if (!sched_is_known(&r->known, next, time) || !sched_is_known(&r->known, prev, time))
		return false;
	ev->state = at[l->value];
	ev->ran = take_ran(r, prev);
	ev->prev = prev;
	ev->next = next;
	return true;
}

INLINE bool quick_wake(struct reader *r, const struct sched_layout *l, const u8 *at, u64 time,
		       struct sched_event *ev)
{
	u32 next = load32(at + l->next);

	if (!sched_is_told(&r->known, next, time))
		return false;
	ev->tid = load32(at + l->tid);
	ev->next = next;
	return true;
}

/* Of the sample with this id; NULL: of no event that is known. */
static __attribute__((noinline)) const struct sched_layout *layout_of(struct reader *r, u64 id)
{
	u32 event = recording_id_event(r->recording, id);

	learn_layouts(r);
	if (event >= r->layouts.len)
		return NULL;
	r->memo[id % ID_MEMO] = (struct id_memo){ .id = id, .layout = &r->layouts.items[event] };
	return &r->layouts.items[event];
}

/* NULL: no whole sample of an event that is known, or not of a usual size. */
static __attribute__((noinline)) const struct sched_layout *
layout_at(struct reader *r, const u8 *at, const u8 *end, size_t id_at, u64 id)
{
	const struct perf_event_header *h = (const void *)at;
	struct id_memo *memo = &r->memo[id % ID_MEMO];
	const struct sched_layout *l;

	if (h->type != PERF_RECORD_SAMPLE || h->size < id_at + 8 || h->size % 8 ||
	    h->size > end - at)
		return NULL;
	l = memo->id == id && memo->layout ? memo->layout : layout_of(r, id);
	if (!l || l->type == SCHED_TYPES)
		return l;
	if (!has_usual_size(l, at))
		return NULL;
	memo->head = load64(at);
	memo->raw = l->raw;
	memo->raw_size = load32(at + l->raw);
	return l;
}

/* Samples of one event are of one size, as a rule: then nothing has to be checked again. */
INLINE const struct sched_layout *quick_layout(struct reader *r, const u8 *at, const u8 *end,
					       size_t id_at, u64 id_mask)
{
	u64 id = load64(at + id_at) & id_mask;
	const struct id_memo *memo = &r->memo[id % ID_MEMO];

	if (likely(memo->id == id && memo->head == load64(at) &&
		   ((const struct perf_event_header *)at)->size <= end - at &&
		   memo->raw_size == load32(at + memo->raw)))
		return memo->layout;
	return layout_at(r, at, end, id_at, id);
}

/*
 * An event that is in order with those before it, of nobody who is new. *@to goes on where it was
 * placed. False: slow_event() has a look.
 */
INLINE bool quick_event(struct reader *r, const struct sched_layout *l, const u8 *at, u64 time,
			struct sched_event **to)
{
	struct sched_event *ev = *to;
	bool quick = false;

	/* in the order of how many there are */
	if (l->quick == SCHED_QUICK_FOLD) {
		if (likely(load32(at + l->next) == load32(at + l->tid)))
			return quick_runtime(r, l, at, time);
		quick = quick_other(r, l, at, time, ev);
	} else if (l->quick == SCHED_QUICK_SWITCH) {
		quick = quick_switch(r, l, at, time, ev);
	} else if (l->quick == SCHED_QUICK_WAKE) {
		quick = quick_wake(r, l, at, time, ev);
	} else {
		return l->quick == SCHED_QUICK_UNWANTED;
	}
	if (likely(quick)) {
		ev->time = time;
		ev->cpu = (u16)load32(at + l->cpu);
		ev->type = l->type;
		*to = ev + 1;
	}
	return quick;
}

INLINE void span_count(struct span *s, u64 time)
{
	if (time != TIME_UNKNOWN)
		s->count.last = MAX(s->count.last, time);
}

/*
 * The samples of the common kind; others are left for on_sample(). It is written for speed: a third
 * of what reading a large recording costs is here. What is often asked is in registers, so it is
 * never handed on by its address.
 */
static s64 on_span(void *ctx, const u8 **ret_at, const u8 *end)
{
	struct span span = { .count.first = UINT64_MAX };
	struct reader *r = ctx;
	const u8 *at = *ret_at, *stop = at + MIN(end - at, SPAN_MOST);
	size_t id_at = 0, most = SPAN_MOST / SAMPLE_LEAST;
	u64 id_mask = recording_id_place(r->recording, &id_at) ? UINT64_MAX : 0;
	u64 others = 0, quick = 0, now = TIME_UNKNOWN;
	u32 cpu = UINT32_MAX;
	struct sched_event *to;
	int rc = 0;

	if (unlikely(sched_order_full(&r->order, most * EVENTS_EACH)))
		rc = sched_order_relieve(&r->order, on_events, r);
	to = room_for(r, most);
	for (; !rc && stop - at >= SAMPLE_LEAST;
	     at += ((const struct perf_event_header *)at)->size) {
		const struct sched_layout *l = quick_layout(r, at, end, id_at, id_mask);

		if (unlikely(!l))
			break;
		if (unlikely(l->type == SCHED_TYPES)) {
			others++;
			continue;
		}
		u64 time = load64(at + l->time);

		if (likely((s64)(time - now) >= 0 && load32(at + l->cpu) == cpu) &&
		    likely(quick_event(r, l, at, time, &to))) {
			now = time;
			quick++;
			continue;
		}
		if (unlikely(!has_usual_values(l, at)))
			break;
		span_count(&span, now);
		sched_order_placed(&r->order, to);
		rc = slow_event(r, l, at, &span);
		to = room_for(r, most);
		now = span.time;
		cpu = span.cpu;
	}
	span_count(&span, now);
	sched_order_placed(&r->order, to);
	span.count.events += quick;
	add_count(r->names, &span.count);
	*ret_at = at;
	r->ended = rc;
	return rc ? -ECANCELED : (s64)(span.count.events + others);
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
			sched_since(&r->known, c.tid)->told = UINT64_MAX;
	} else if (rec->type == PERF_RECORD_FORK && record_task(rec, &t) == 0) {
		ev.type = SCHED_BORN;
		sched_since(&r->known, t.tid)->seen = 0;
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
	int rc = unfold(r);

	return rc ? rc : sched_order_round(&r->order, on_events, r);
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

int sched_replay(struct recording *recording, const struct sched_filter *filter,
		 struct sched_names *names, sched_fn fn, void *ctx, struct err *e)
{
	static const struct recording_taps taps = { on_span, on_sample, on_record, on_round };
	struct reader r = { .recording = recording,
			    .names = names,
			    .filter = filter,
			    .fn = fn,
			    .ctx = ctx,
			    .types = filter && filter->types ? filter->types : UINT32_MAX,
			    .bounded = filter && !filter->outside && (filter->from || filter->to) };
	const struct recording_info *info = recording_info(recording);
	const u16 one = 1;
	int rc;

	r.swap = info->has_tracing && info->tracing_big_endian == *(const u8 *)&one;
	r.fold = filter && filter->fold_runtime && !r.bounded;
	sched_since(&r.known, 0)->told = UINT64_MAX;
	learn_layouts(&r);
	rc = recording_tap(recording, &taps, &r, e);
	if (rc == -ECANCELED && r.ended)
		rc = r.ended;
	if (!rc)
		rc = unfold(&r);
	if (!rc)
		rc = sched_order_flush(&r.order, on_events, &r);
	const struct recording_counts *c = recording_counts(recording);

	names->lost = MAX(c->lost, c->lost_samples);
	note_fault(names, recording);
	vec_release(&r.layouts);
	sched_order_release(&r.order);
	sched_known_release(&r.known);
	if (rc >= 0 && !names->has[SCHED_SWITCH]) {
		err_set(e, ENODATA, "'%s' holds no sched_switch events", recording_name(recording));
		if (names->fault)
			err_hint(e, "%s", names->fault);
		else
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
