/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's events out of a recording: decoded, named and in order of time. */
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

/*
 * From when on something is so, by tid: all bits of the time turned, so that the zeros of new
 * memory mean never. What is first in the file need not be first in time.
 */
struct since {
	VEC(u64) low;
	struct map high; /* of tids that no kernel has given */
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
	struct since told; /* the name of a task is known */
	struct since seen; /* it was in a switch, or its run time was an event; for fold */
	u32 types;         /* that are wanted */
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
}

static void learn_layouts(struct reader *r)
{
	size_t n = MIN(recording_n_events(r->recording), (size_t)EVENTS_MOST);

	if (r->layouts.len < n)
		memset(r->memo, 0, sizeof(r->memo)); /* they move */
	while (r->layouts.len < n)
		learn_layout(r);
}

/* --- since when ------------------------------------------------------------------------------- */

static __attribute__((noinline)) u64 *since_grow(struct since *s, u32 tid)
{
	size_t n = MAX((size_t)tid + 1, MAX(s->low.len * 2, (size_t)4096));

	if (tid >= SCHED_TIDS_MOST)
		return map_at(&s->high, tid);
	vec_reserve(&s->low, n);
	memset(s->low.items + s->low.len, 0, (n - s->low.len) * sizeof(u64));
	s->low.len = n;
	return &s->low.items[tid];
}

INLINE u64 *since_at(struct since *s, u32 tid)
{
	return likely(tid < s->low.len) ? &s->low.items[tid] : since_grow(s, tid);
}

INLINE bool is_since(struct since *s, u32 tid, u64 time)
{
	return *since_at(s, tid) >= ~time;
}

INLINE void set_since(struct since *s, u32 tid, u64 time)
{
	u64 *at = since_at(s, tid);

	*at = MAX(*at, ~time);
}

static void since_release(struct since *s)
{
	vec_release(&s->low);
	map_release(&s->high);
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
				  .tid = r->ran.tid,
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

/* True: @ns are kept. Else those of somebody else have to go first. */
INLINE bool fold(struct reader *r, u32 tid, u32 cpu, u64 time, u64 ns)
{
	bool same = r->ran.tid == tid && r->ran.cpu == cpu && time >= r->ran.time;

	if (r->ran.tid && !same)
		return false;
	r->ran.ns = ns + (same ? r->ran.ns : 0);
	r->ran.time = time;
	r->ran.tid = tid;
	r->ran.cpu = cpu;
	return true;
}

/* --- names ------------------------------------------------------------------------------------ */

/*
 * A name is known from the begin on, where a record without a time tells it. The tracepoints tell
 * names, too; they count where no record does, from the first of them on.
 */
INLINE bool is_nameless(struct reader *r, u32 tid, u64 time)
{
	return unlikely(!is_since(&r->told, tid, time));
}

static __attribute__((noinline)) int tell_name(struct reader *r, u32 tid, const char *comm,
					       u64 time)
{
	struct sched_event ev = { .type = SCHED_NAMED, .time = time, .next = tid, .weak = true };

	*since_at(&r->told, tid) = ~time;
	ev.comm = intern_bytes(&r->names->strings, comm, strnlen(comm, SCHED_COMM));
	return push(r, &ev);
}

INLINE int learn_comm(struct reader *r, u32 tid, const char *comm, u64 time)
{
	return comm && is_nameless(r, tid, time) ? tell_name(r, tid, comm, time) : 0;
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
		ev->state = (u32)number(r, p, &l->fields[SCHED_F_STATE]);
		break;
	case SCHED_FORK: ev->prev = (u32)number(r, p, &l->fields[SCHED_F_PREV]); break;
	case SCHED_MIGRATE:
		ev->from = (u32)number(r, p, &l->fields[SCHED_F_FROM]);
		ev->to = (u32)number(r, p, &l->fields[SCHED_F_TO]);
		break;
	case SCHED_RUNTIME: ev->runtime = number(r, p, &l->fields[SCHED_F_RUNTIME]); break;
	default: break;
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
	ev.tid = p.tid;
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

/* All that can be wrong with a sample, or unusual. Then on_sample() has a look. */
INLINE bool has_usual_size(const struct sched_layout *l, const u8 *at)
{
	u32 size = ((const struct perf_event_header *)at)->size;

	return size >= l->least && load32(at + l->raw) - l->need <= size - l->least;
}

INLINE bool has_usual_values(const struct sched_layout *l, const u8 *at)
{
	return load32(at + l->cpu) < SCHED_CPUS_MOST && load64(at + l->time) - 1 < UINT64_MAX - 1;
}

/* Where the next event is written: kept in registers, so never handed on by its address. */
struct pen {
	struct sched_event *to;
	u64 last; /* an earlier one begins a run; UINT64_MAX: there is none yet */
};

/* Room for what @n samples can bring: each itself, two names and a run time. */
enum { EVENTS_EACH = 4 };

static struct pen pen_set(struct reader *r, size_t n)
{
	struct sched_event *to = sched_order_place(&r->order, n * EVENTS_EACH);

	return (struct pen){ to, r->order.fresh.events.len ? to[-1].time : UINT64_MAX };
}

INLINE void pen_lift(struct reader *r, struct pen pen)
{
	sched_order_placed(&r->order, pen.to);
}

/* What has to be placed before this event: names, run times of another CPU, a new run. */
static __attribute__((noinline)) int prepare(struct reader *r, const struct sched_layout *l,
					     const u8 *at, bool folds)
{
	u64 time = load64(at + l->time);
	bool first = !r->order.fresh.events.len;
	int rc = 0;

	if (folds || (!first && time < pen_set(r, 1).last) || r->ran.cpu != load32(at + l->cpu))
		rc = unfold(r);
	if (folds)
		return rc;
	if (!rc && l->next_comm)
		rc = learn_comm(r, load32(at + l->next), (const char *)at + l->next_comm, time);
	if (!rc && l->prev_comm)
		rc = learn_comm(r, load32(at + l->prev), (const char *)at + l->prev_comm, time);
	if (time < pen_set(r, 1).last)
		sched_order_new_run(&r->order);
	return rc;
}

INLINE bool must_prepare(struct reader *r, const struct sched_layout *l, const u8 *at, u64 last)
{
	u64 time = load64(at + l->time);

	return time < last || (r->ran.tid && r->ran.cpu != load32(at + l->cpu)) ||
	       (l->next_comm && is_nameless(r, load32(at + l->next), time)) ||
	       (l->prev_comm && is_nameless(r, load32(at + l->prev), time));
}

INLINE void quick_event(struct reader *r, const struct sched_layout *l, const u8 *at,
			struct sched_event *ev)
{
	u64 value = load64(at + l->value) & l->value_mask;
	u32 prev = load32(at + l->prev) & l->prev_mask;

	ev->time = load64(at + l->time);
	ev->value = value;
	ev->tid = load32(at + l->tid);
	ev->prev = prev;
	ev->next = load32(at + l->next);
	ev->cpu = (u16)load32(at + l->cpu);
	ev->type = l->type;
	ev->weak = false;
	if (r->fold && (l->type == SCHED_SWITCH || l->type == SCHED_RUNTIME))
		set_since(&r->seen, ev->next, ev->time);
	if (l->type != SCHED_SWITCH)
		return;
	if (r->fold)
		set_since(&r->seen, prev, ev->time);
	ev->state = (u32)value;
	ev->ran = 0;
	if (r->ran.tid == prev && prev && r->ran.ns <= UINT32_MAX) {
		ev->ran = (u32)r->ran.ns;
		r->ran.tid = 0;
	}
}

/*
 * Only that of the task that runs, and not the first that is heard of it: from that on it is known
 * to run, which must have its place in time.
 */
INLINE bool may_fold(struct reader *r, const struct sched_layout *l, const u8 *at)
{
	u32 tid = load32(at + l->next);

	return tid == load32(at + l->tid) && is_since(&r->seen, tid, load64(at + l->time));
}

INLINE bool quick_fold(struct reader *r, const struct sched_layout *l, const u8 *at)
{
	return fold(r, load32(at + l->next), load32(at + l->cpu), load64(at + l->time),
		    load64(at + l->value));
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
 * The samples of the common kind; others are left for on_sample(). It is written for speed: half of
 * what reading a large recording costs is here.
 */
static s64 on_span(void *ctx, const u8 **ret_at, const u8 *end)
{
	struct count count = { .first = UINT64_MAX };
	struct reader *r = ctx;
	const u8 *at = *ret_at, *stop = at + MIN(end - at, SPAN_MOST);
	size_t id_at = 0, most = SPAN_MOST / SAMPLE_LEAST;
	u64 id_mask = recording_id_place(r->recording, &id_at) ? UINT64_MAX : 0, others = 0;
	struct pen pen;
	int rc = 0;

	if (unlikely(sched_order_full(&r->order, most * EVENTS_EACH)))
		rc = sched_order_relieve(&r->order, on_events, r);
	pen = pen_set(r, most);
	for (; !rc && stop - at >= SAMPLE_LEAST;
	     at += ((const struct perf_event_header *)at)->size) {
		const struct sched_layout *l = quick_layout(r, at, end, id_at, id_mask);

		if (unlikely(!l))
			break;
		if (unlikely(l->type == SCHED_TYPES)) {
			others++;
			continue;
		}
		if (unlikely(!has_usual_values(l, at)))
			break;
		count_event(&count, load64(at + l->time), load32(at + l->cpu));
		if (!l->wanted)
			continue;
		bool folds = l->fold && likely(may_fold(r, l, at));

		if (folds && likely(quick_fold(r, l, at)))
			continue;
		if (unlikely(folds || must_prepare(r, l, at, pen.last))) {
			pen_lift(r, pen);
			rc = prepare(r, l, at, folds);
			pen = pen_set(r, most);
			if (folds && quick_fold(r, l, at))
				continue;
		}
		quick_event(r, l, at, pen.to);
		pen.last = pen.to++->time;
	}
	pen_lift(r, pen);
	add_count(r->names, &count);
	*ret_at = at;
	return rc ? rc : (s64)(count.events + others);
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
			*since_at(&r->told, c.tid) = UINT64_MAX;
	} else if (rec->type == PERF_RECORD_FORK && record_task(rec, &t) == 0) {
		ev.type = SCHED_BORN;
		*since_at(&r->seen, t.tid) = 0;
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
	*since_at(&r.told, 0) = UINT64_MAX;
	learn_layouts(&r);
	rc = recording_tap(recording, &taps, &r, e);
	if (!rc)
		rc = unfold(&r);
	if (!rc)
		rc = sched_order_flush(&r.order, on_events, &r);
	const struct recording_counts *c = recording_counts(recording);

	names->lost = MAX(c->lost, c->lost_samples);
	vec_release(&r.layouts);
	sched_order_release(&r.order);
	since_release(&r.told);
	since_release(&r.seen);
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
