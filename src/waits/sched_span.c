/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of the common kind, as they are in the file; others are left for sched_read.c. It is
 * written for speed: half of what reading a large recording costs in user space is here.
 */
#include "waits/sched_reader.h"

#include "recording/recording.h"

enum {
	SAMPLE_LEAST = 48,    /* bytes of a sample with an address, a task, a time, a CPU, data */
	QUICK_MOST = 256,     /* bytes of one that is quick */
	SPAN_MOST = 64 << 10, /* bytes of samples that are read at once */
	EVENTS_EACH = 4,      /* what a sample can bring: itself, two names and a run time */
	EVENTS_MOST = SPAN_MOST / SAMPLE_LEAST * EVENTS_EACH,
	AHEAD = 4096, /* bytes: the way from memory takes as long as reading them */
};
_Static_assert((int)EVENTS_MOST <= (int)SCHED_SPAN_EVENTS,
	       "room for a span is made where it is delivered");

#define INLINE static inline __attribute__((always_inline))

/* Earlier than it is each time that is one. */
#define TIME_UNKNOWN ((u64)INT64_MAX)

/* What is known of the samples before. */
struct span {
	struct sched_count count;
	u64 others; /* of no interest */
	u64 time;   /* nothing that was placed is later; or TIME_UNKNOWN */
	u32 cpu;    /* of the last */
};

static void span_count(struct span *s, u64 time)
{
	if (time != TIME_UNKNOWN)
		s->count.last = MAX(s->count.last, time);
}

/* --- any event -------------------------------------------------------------------------------- */

/* All that can be wrong with the size of a sample, or unusual. */
static bool has_usual_size(const struct sched_layout *l, const u8 *at)
{
	u32 size = ((const struct perf_event_header *)at)->size;

	return size >= l->least && load_u32(at + l->place.raw) - l->need <= size - l->least;
}

/* It has a place in time, and a CPU. */
static bool has_usual_values(const struct sched_layout *l, const u8 *at)
{
	return load_u32(at + l->place.cpu) < SCHED_CPUS_MOST &&
	       load_u64(at + l->place.time) - 1 < UINT64_MAX - 1;
}

/* The run times that are kept, if they are those of @tid, which leaves its CPU. */
INLINE u32 take_ran(u32 *kept, u64 ns, u32 tid)
{
	if (*kept != tid || !tid || ns > UINT32_MAX)
		return 0;
	*kept = 0;
	return (u32)ns;
}

static void place_event(struct sched_reader *r, const struct sched_layout *l, const u8 *at)
{
	u64 time = load_u64(at + l->place.time);
	struct sched_event *ev = sched_order_place(&r->order, 1);

	if (!r->order.fresh.events.len || time < ev[-1].time)
		sched_order_new_run(&r->order);
	*ev = (struct sched_event){ .time = time,
				    .next = load_u32(at + l->next),
				    .cpu = (u16)load_u32(at + l->place.cpu),
				    .type = l->type };
	switch ((enum sched_type)l->type) {
	case SCHED_SWITCH:
		ev->state = (u8)load_u64(at + l->value);
		ev->prev = load_u32(at + l->prev);
		ev->ran = take_ran(&r->ran.tid, r->ran.ns, ev->prev);
		break;
	case SCHED_FORK: ev->prev = load_u32(at + l->prev); break;
	case SCHED_MIGRATE:
		ev->mover = load_u32(at + l->place.tid);
		ev->from = (u16)MIN(load_u32(at + l->value), (u32)UINT16_MAX);
		ev->to = (u16)MIN(load_u32(at + l->value + 4), (u32)UINT16_MAX);
		break;
	case SCHED_RUNTIME: ev->runtime = load_u64(at + l->value); break;
	default:
		ev->tid = load_u32(at + l->place.tid);
		ev->flags = at[l->place.raw + 4 + SCHED_FLAGS_AT];
		break;
	}
	sched_order_placed(&r->order, ev + 1);
}

/*
 * Run times are kept: only those of the task that runs, and not the first that is heard of it:
 * from that on it is known to run, which must have its place in time.
 */
static bool keep_runtime(struct sched_reader *r, const struct sched_layout *l, const u8 *at)
{
	u64 time = load_u64(at + l->place.time);
	u32 tid = load_u32(at + l->next);

	if (!l->fold || tid != load_u32(at + l->place.tid) ||
	    sched_since(&r->known, tid)->seen < ~time)
		return false;
	if (r->ran.tid != tid) {
		sched_reader_unfold(r);
		r->ran.ns = 0;
	}
	r->ran.ns += load_u64(at + l->value);
	r->ran.time = time;
	r->ran.tid = tid;
	r->ran.cpu = load_u32(at + l->place.cpu);
	return true;
}

/* Any event of usual size and values. */
static __attribute__((noinline)) void
slow_event(struct sched_reader *r, const struct sched_layout *l, const u8 *at, struct span *s)
{
	u64 time = load_u64(at + l->place.time);
	u32 cpu = load_u32(at + l->place.cpu);
	u32 next = load_u32(at + l->next), prev = load_u32(at + l->prev);

	sched_count_event(&s->count, time, cpu);
	s->time = TIME_UNKNOWN;
	s->cpu = cpu;
	if (r->ran.tid && (r->ran.cpu != cpu || time < r->ran.time))
		sched_reader_unfold(r);
	if (!l->wanted || keep_runtime(r, l, at))
		return;
	if (l->next_comm)
		sched_reader_comm(r, next, (const char *)at + l->next_comm, time);
	if (l->prev_comm)
		sched_reader_comm(r, prev, (const char *)at + l->prev_comm, time);
	if (l->type == SCHED_SWITCH || l->type == SCHED_RUNTIME)
		sched_set_seen(&r->known, next, time);
	if (l->type == SCHED_SWITCH)
		sched_set_seen(&r->known, prev, time);
	place_event(r, l, at);
	s->time = time;
}

/* An event's ids are neighbours, its sizes differ with the length of a name. */
INLINE struct sched_memo *memo_of(struct sched_reader *r, u64 id, u64 head)
{
	return &r->memo[(id + head) * 0x9e3779b97f4a7c15ull >> (64 - SCHED_MEMO_BITS)];
}

/* NULL: no whole sample of an event that is known, or not of a usual size. */
static const struct sched_layout *layout_at(struct sched_reader *r, const u8 *at, const u8 *end,
					    const struct sched_place *place)
{
	const struct perf_event_header *h = (const void *)at;
	const struct sched_layout *l;
	u64 id;
	u32 event;

	if (h->type != PERF_RECORD_SAMPLE || h->size < place->id + 8u || h->size % 8 ||
	    h->size > end - at)
		return NULL;
	id = load_u64(at + place->id) & place->id_mask;
	event = recording_id_event(r->recording, id);
	sched_reader_learn(r);
	if (event >= r->layouts.len)
		return NULL;
	l = &r->layouts.items[event];
	if (l->type == SCHED_TYPES)
		return l;
	if (!has_usual_size(l, at))
		return NULL;
	/* one whose parts lie differently from those of the others is not quick */
	if (h->size <= QUICK_MOST && sched_place_same(&l->place, place))
		*memo_of(r, id, load_u64(at)) = (struct sched_memo){
			.id = id,
			.head = load_u64(at),
			.raw_size = load_u32(at + place->raw),
			.quick = l->quick,
			.type = l->type,
			.next = l->next,
			.prev = l->prev,
			.value = l->value,
		};
	return l;
}

/* --- events of which nothing is unusual ------------------------------------------------------- */

/* What the quick way knows of the CPU whose samples follow each other. */
struct turn {
	u64 now;  /* of the last sample, or TIME_UNKNOWN */
	u64 runs; /* the task that came last, of which all is known; UINT64_MAX: none */
	u64 ns;   /* run times that are kept, */
	u32 tid;  /* of this task; 0: none are */
	u32 cpu;
};

INLINE bool quick_runtime(const struct sched_reader *r, u32 tid, u64 ns, u64 time, struct turn *t)
{
	if (t->tid != tid) {
		if (t->tid || (t->runs != tid && !sched_is_seen(&r->known, tid, time)))
			return false;
		t->tid = tid;
		t->ns = 0;
	}
	t->ns += ns;
	return true;
}

INLINE bool quick_switch(const struct sched_reader *r, u32 prev, u32 next, u64 time, struct turn *t,
			 struct sched_event *ev)
{
	if ((t->runs != prev && !sched_is_known(&r->known, prev, time)) ||
	    !sched_is_known(&r->known, next, time))
		return false;
	ev->ran = take_ran(&t->tid, t->ns, prev);
	ev->prev = prev;
	t->runs = next;
	return true;
}

/*
 * An event that is in order with those before it, of no new task. *@to continues where it was
 * placed. False: slow_sample() has a look.
 */
INLINE bool quick_event(const struct sched_reader *r, const struct sched_memo *m, const u8 *at,
			const struct sched_place place, u64 time, struct turn *t,
			struct sched_event **to)
{
	u32 next = load_u32(at + m->next), tid = load_u32(at + place.tid);
	struct sched_event *ev = *to;

	/* in the order of how many there are */
	if (m->quick == SCHED_QUICK_FOLD) {
		if (likely(next == tid))
			return quick_runtime(r, tid, load_u64(at + m->value), time, t);
		/* of a task that does not run: it is not kept */
		if (!sched_is_known(&r->known, next, time))
			return false;
		ev->runtime = load_u64(at + m->value);
	} else if (m->quick == SCHED_QUICK_SWITCH) {
		if (!quick_switch(r, load_u32(at + m->prev), next, time, t, ev))
			return false;
		ev->state = at[m->value];
	} else if (m->quick == SCHED_QUICK_WAKE) {
		if (!sched_is_named(&r->known, next, time))
			return false;
		ev->tid = tid;
		ev->flags = at[place.raw + 4 + SCHED_FLAGS_AT];
	} else {
		return m->quick == SCHED_QUICK_UNWANTED;
	}
	ev->time = time;
	ev->next = next;
	ev->cpu = (u16)t->cpu;
	ev->type = m->type;
	*to = ev + 1;
	return true;
}

/* From here on the reader knows what the turn knew. */
INLINE void end_turn(struct sched_reader *r, const struct turn *t, const struct sched_event *to)
{
	sched_order_placed(&r->order, to);
	r->ran.tid = t->tid;
	r->ran.ns = t->ns;
	if (t->now != TIME_UNKNOWN) {
		r->ran.time = t->now;
		r->ran.cpu = t->cpu;
	}
}

/* Any sample, after those up to @now. False: reading it is up to others. */
static __attribute__((noinline)) bool slow_sample(struct sched_reader *r, const u8 *at,
						  const u8 *end, const struct sched_place *place,
						  u64 now, struct span *s)
{
	const struct sched_layout *l = layout_at(r, at, end, place);

	span_count(s, now);
	s->time = now;
	if (!l)
		return false;
	if (l->type == SCHED_TYPES) {
		s->others++;
		return true;
	}
	if (!has_usual_values(l, at))
		return false;
	slow_event(r, l, at, s);
	return true;
}

/*
 * @place is a constant for most recordings, which have a copy of this of their own. What is often
 * asked is in registers, and handed on by its address only to what is inlined.
 */
INLINE s64 read_span(struct sched_reader *r, const u8 **ret_at, const u8 *end,
		     const struct sched_place place)
{
	struct span span = { .count.first = UINT64_MAX, .time = TIME_UNKNOWN, .cpu = UINT32_MAX };
	struct turn turn = { span.time, UINT64_MAX, r->ran.ns, r->ran.tid, span.cpu };
	struct sched_event *to = sched_order_place(&r->order, EVENTS_MOST);
	const u8 *at = *ret_at, *stop = at + MIN(end - at, SPAN_MOST) - QUICK_MOST;
	u64 quick = 0;
	bool more;

	for (; at <= stop; at += ((const struct perf_event_header *)at)->size) {
		u64 id = load_u64(at + place.id) & place.id_mask, time = load_u64(at + place.time);
		const struct sched_memo *m = memo_of(r, id, load_u64(at));

		/* no machine guesses beyond a page; one that fetches too much does no harm */
		__builtin_prefetch(at + AHEAD);
		__builtin_prefetch(at + AHEAD + 64);
		/* samples of one event are of one size, as a rule: it was found in order then */
		if (likely(m->id == id && m->head == load_u64(at) &&
			   m->raw_size == load_u32(at + place.raw)) &&
		    likely((s64)(time - turn.now) >= 0 && load_u32(at + place.cpu) == turn.cpu) &&
		    likely(quick_event(r, m, at, place, time, &turn, &to))) {
			turn.now = time;
			quick++;
			continue;
		}
		end_turn(r, &turn, to);
		more = slow_sample(r, at, end, &place, turn.now, &span);
		turn = (struct turn){ span.time, UINT64_MAX, r->ran.ns, r->ran.tid, span.cpu };
		to = sched_order_place(&r->order, EVENTS_MOST);
		if (!more)
			break;
	}
	end_turn(r, &turn, to);
	span_count(&span, turn.now);
	span.count.events += quick;
	sched_reader_count(r, &span.count);
	*ret_at = at;
	return (s64)(span.count.events + span.others);
}

s64 sched_span(void *reader, const u8 **ret_at, const u8 *end)
{
	/* address, task, time, CPU, period and data, as 'perf sched record' and we record them */
	const struct sched_place usual = {
		.id = 8, .tid = 28, .time = 32, .cpu = 40, .raw = 56, .id_mask = UINT64_MAX
	};
	struct sched_reader *r = reader;
	struct sched_place place = r->place;
	size_t id_at = 0;

	if (end - *ret_at < QUICK_MOST || sched_order_full(&r->order, EVENTS_MOST))
		return 0;
	if (recording_id_place(r->recording, &id_at))
		place.id_mask = UINT64_MAX;
	place.id = (u16)id_at;
	if (place.id == usual.id && place.id_mask == usual.id_mask &&
	    sched_place_same(&place, &usual))
		return read_span(r, ret_at, end, usual);
	return read_span(r, ret_at, end, place);
}
