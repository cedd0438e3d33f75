/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/reader.h"

#include "recording/format.h"

enum { SPAN_REST = 4096 }; /* bytes that a span may leave because a whole sample needs more */

/* One replay or scan. */
struct pass {
	struct recording *r;
	recording_cb cb;
	const struct recording_taps *taps; /* NULL: cb gets samples, too */
	void *ctx;
	bool ordered;
	u64 last_time;
};

static void bad_record(struct recording *r, u64 offset, const char *reason)
{
	if (r->counts.bad_records++ == 0) {
		r->counts.bad_offset = offset;
		r->counts.bad_reason = reason;
	}
}

/* The word at @index of the record, which is not yet in our byte order. */
static u64 word(const struct recording *r, const struct perf_event_header *h, size_t index)
{
	u64 v = ((const u64 *)(const void *)h)[index];

	return r->info.swapped ? __builtin_bswap64(v) : v;
}

/* Where the record keeps its event's id, as an index of words; 0: nowhere. */
static size_t id_index(const struct recording *r, const struct perf_event_header *h)
{
	size_t words = h->size / 8, n;

	if (h->type == PERF_RECORD_SAMPLE) {
		n = (size_t)(1 + r->sample_id);
		return r->sample_id >= 0 && n < words ? n : 0;
	}
	n = (size_t)r->id_id;
	return r->id_id > 0 && h->size % 8 == 0 && n < words ? words - n : 0;
}

/* As perf does: one event needs no id, and no id means the first event. */
static u32 find_event(struct recording *r, const struct perf_event_header *h)
{
	size_t at;
	u64 id;

	if (r->events.len < 2)
		return r->events.len ? 0 : RECORD_NO_EVENT;
	at = id_index(r, h);
	id = at ? word(r, h, at) : 0;
	return id ? recording_find_id(r, id) : 0;
}

static int swap_raw(struct recording *r, struct perf_event_header *h, u32 event, u64 offset)
{
	const struct perf_event_attr *attr =
		event == RECORD_NO_EVENT ? NULL : &r->events.items[event].attr;
	const char *reason;

	if (h->type != PERF_RECORD_SAMPLE) {
		swap_record(h, attr);
		return 0;
	}
	if (!attr || swap_sample(attr, h, &reason) == 0)
		return 0;
	bad_record(r, offset, reason);
	return -EBADMSG;
}

/* The time of a record in our byte order, 0 when it has none. */
static u64 time_of(const struct recording *r, const struct perf_event_header *h, u32 event)
{
	const u64 *words = (const u64 *)(const void *)h;
	const struct event_layout *l;
	size_t n = h->size / 8, at;

	if (event == RECORD_NO_EVENT || h->type >= RECORD_USER_FIRST)
		return 0;
	l = &r->layouts.items[event];
	if (h->type == PERF_RECORD_SAMPLE) {
		at = (size_t)(1 + l->sample_time);
		return l->sample_time >= 0 && at < n ? words[at] : 0;
	}
	at = (size_t)l->id_time;
	return l->id_time > 0 && h->size % 8 == 0 && at < n ? words[n - at] : 0;
}

static void count_record(struct recording_counts *c, const struct record *rec)
{
	struct record_lost lost;

	if (rec->type == PERF_RECORD_THROTTLE)
		c->throttled++;
	if (rec->type != PERF_RECORD_LOST && rec->type != PERF_RECORD_LOST_SAMPLES)
		return;
	if (record_lost(rec, &lost) < 0)
		return;
	if (rec->type == PERF_RECORD_LOST)
		c->lost += lost.lost;
	else
		c->lost_samples += lost.lost;
}

static void record_from_sample(struct record *rec, const struct sample *s)
{
	rec->sample = s;
	rec->has = s->type;
	if (s->type & PERF_SAMPLE_IDENTIFIER)
		rec->has |= PERF_SAMPLE_ID;
	rec->pid = s->pid;
	rec->tid = s->tid;
	rec->cpu = s->cpu;
	rec->time = s->time;
	rec->id = s->id;
	rec->stream_id = s->stream_id;
}

/* Fills @rec from the entry; false when the record contradicts its event. */
static bool parse_record(struct recording *r, const struct order_entry *entry, struct record *rec)
{
	const struct perf_event_header *h = entry->header;
	const struct perf_event_attr *attr;
	const char *reason;

	*rec = (struct record){ .type = h->type,
				.misc = h->misc,
				.size = h->size,
				.header = h,
				.offset = entry->offset,
				.event = entry->event,
				.pid = RECORD_NO_PID,
				.tid = RECORD_NO_PID,
				.body_end = h->size };
	if (entry->event == RECORD_NO_EVENT || h->type >= RECORD_USER_FIRST)
		return true;
	attr = &r->events.items[entry->event].attr;
	if (h->type == PERF_RECORD_SAMPLE) {
		if (sample_parse(attr, h, &r->sample, &reason) < 0) {
			bad_record(r, entry->offset, reason);
			return false;
		}
		record_from_sample(rec, &r->sample);
		r->counts.samples++;
		return true;
	}
	if (record_parse_ids(attr, h, rec) < 0) {
		bad_record(r, entry->offset, "the record is too short for its id fields");
		return false;
	}
	return true;
}

static int deliver(void *ctx, const struct order_entry *entry)
{
	struct pass *p = ctx;
	struct recording *r = p->r;
	struct record rec;

	if (!parse_record(r, entry, &rec))
		return 0;
	if (entry->time) {
		if (entry->time < p->last_time)
			r->counts.out_of_order++;
		else
			p->last_time = entry->time;
	}
	if (!rec.sample)
		count_record(&r->counts, &rec);
	return p->cb(&rec, p->ctx);
}

static int take_record(struct pass *p, const struct raw *raw)
{
	struct recording *r = p->r;
	struct order_entry entry = {
		.header = raw->header,
		.chunk = raw->chunk,
		.offset = raw->offset,
		.event = RECORD_NO_EVENT,
	};

	if (raw->header->type < RECORD_USER_FIRST)
		entry.event = find_event(r, raw->header);
	if (raw->header->type == PERF_RECORD_SAMPLE && entry.event == RECORD_NO_EVENT) {
		r->counts.unknown_ids++;
		return 0;
	}
	if (r->info.swapped && swap_raw(r, raw->header, entry.event, raw->offset) < 0)
		return 0;
	if (p->taps && raw->header->type == PERF_RECORD_SAMPLE) {
		r->counts.samples++;
		return p->taps->sample(p->ctx, raw->header, entry.event);
	}
	entry.time = time_of(r, raw->header, entry.event);
	if (entry.time == UINT64_MAX)
		entry.time = 0;
	if (!p->ordered || !entry.time)
		return deliver(p, &entry);
	order_push(&r->order, &entry);
	if (order_full(&r->order, &r->stream.pool))
		return order_drain_some(&r->order, &r->stream.pool, deliver, p);
	return 0;
}

static void skip_aux(struct recording *r, const struct raw *raw)
{
	u64 size = raw->size >= 16 ? word(r, raw->header, 1) : 0;

	r->counts.aux_records++;
	if (stream_skip(&r->stream, size) == 0)
		r->counts.aux_bytes += size;
}

static u32 aux_kind(const struct recording *r, const struct raw *raw)
{
	u64 both = word(r, raw->header, 1);

	/* words are turned as a whole, and this is the first half of one */
	return (u32)(both >> (r->info.swapped ? 32 : 0));
}

static bool is_unknown(u32 type)
{
	return !record_type_name(type);
}

/* Those that report losses are counted here, for all readers. */
static bool is_wanted(const struct pass *p, u32 type)
{
	const u64 counted = 1ull << PERF_RECORD_LOST | 1ull << PERF_RECORD_LOST_SAMPLES |
			    1ull << PERF_RECORD_THROTTLE;

	return !p->taps || type >= RECORD_USER_FIRST ||
	       (type < 64 && (p->taps->types | counted) >> type & 1);
}

static int take(struct pass *p, const struct raw *raw)
{
	struct recording *r = p->r;
	u32 type = raw->header->type;

	r->counts.records++;
	if (likely(type == PERF_RECORD_SAMPLE))
		return take_record(p, raw);
	if (recording_absorb(r, raw))
		return 0;
	if (type == RECORD_FINISHED_ROUND) {
		r->counts.rounds++;
		if (p->taps)
			return p->taps->round(p->ctx);
		return p->ordered ? order_round(&r->order, &r->stream.pool, deliver, p) : 0;
	}
	if (type == RECORD_AUXTRACE_INFO && raw->size >= 16)
		r->counts.aux_kind = aux_kind(r, raw);
	if (type == RECORD_AUXTRACE) {
		skip_aux(r, raw);
		return 0;
	}
	if (is_unknown(type)) {
		r->counts.unknown_records++;
		return 0;
	}
	return is_wanted(p, type) ? take_record(p, raw) : 0;
}

void recording_prime(struct recording *r)
{
	stream_start(&r->stream, r->info.swapped, r->stream_end);
	do {
		r->ahead_ret = stream_next(&r->stream, &r->ahead);
		if (r->ahead_ret > 0)
			r->counts.records++;
	} while (r->ahead_ret > 0 && recording_absorb(r, &r->ahead));
	if (r->ahead_ret > 0)
		r->counts.records--;
	r->has_ahead = true;
}

static void reset_counts(struct recording *r)
{
	struct recording_counts old = r->counts;

	r->counts = (struct recording_counts){
		.bad_features = old.bad_features,
		.bad_feature_offset = old.bad_feature_offset,
		.bad_feature_reason = old.bad_feature_reason,
	};
}

static int begin_pass(struct recording *r, struct err *e)
{
	int ret;

	r->fault = (struct recording_fault){ 0 };
	order_reset(&r->order, &r->stream.pool);
	if (r->has_ahead)
		return 0;
	ret = source_seek(&r->source, r->stream_begin);
	if (ret < 0) {
		ret = err_sys(e, ret, "cannot read '%s' a second time", r->name);
		err_hint(e, "save the recording to a file first");
		return ret;
	}
	reset_counts(r);
	stream_start(&r->stream, r->info.swapped, r->stream_end);
	return 0;
}

static void end_pass(struct recording *r)
{
	struct stream *s = &r->stream;

	r->counts.compressed_bytes = s->packed_bytes;
	r->counts.decompressed_bytes = s->plain_bytes;
	r->counts.bytes = s->offset - r->stream_begin;
	if (s->fault)
		r->fault = (struct recording_fault){
			.offset = s->fault_offset,
			.reason = arena_strdup(&r->arena, s->fault),
		};
}

bool recording_id_place(const struct recording *r, size_t *ret)
{
	if (r->events.len < 2 || r->sample_id < 0)
		return false;
	*ret = 8 + 8 * (size_t)r->sample_id;
	return true;
}

u32 recording_id_event(struct recording *r, u64 id)
{
	if (r->events.len < 2 || !id)
		return r->events.len ? 0 : RECORD_NO_EVENT;
	return recording_find_id(r, id);
}

static s64 tap_span(struct pass *p, const u8 **at, const u8 *end)
{
	s64 n = p->taps->span(p->ctx, at, end);

	if (n > 0) {
		p->r->counts.records += (u64)n;
		p->r->counts.samples += (u64)n;
	}
	return n;
}

/* 0 when the next record must come the other way, or a negative error. */
static int tap_lane(struct pass *p)
{
	struct stream *s = &p->r->stream;
	struct lane *lane;
	s64 n = 1;

	while (n > 0 && (lane = stream_glance(s))) {
		const u8 *begin = lane->chunk->data + lane->pos, *at = begin;

		n = tap_span(p, &at, lane->chunk->data + lane->chunk->len);
		stream_pass(s, lane, (size_t)(at - begin));
	}
	return (int)MIN(n, (s64)0);
}

/* The same in the file itself. */
static int tap_file(struct pass *p)
{
	struct stream *s = &p->r->stream;
	const u8 *begin = NULL, *end = NULL;
	bool used_up = true;
	s64 n = 0;

	while (n >= 0 && used_up && stream_hold(s, &begin, &end)) {
		const u8 *at = begin;

		do
			n = tap_span(p, &at, end);
		while (n > 0);
		used_up = end - at < SPAN_REST && at > begin;
		stream_let_go(s, (size_t)(at - begin));
	}
	return (int)MIN(n, (s64)0);
}

/*
 * Samples without the overhead of single records. Those that others interrupt are read; where no
 * end of them is visible, they are used in the file.
 */
static int tap_spans(struct pass *p)
{
	const struct lane *file = &p->r->stream.file;
	int ret = tap_lane(p);

	if (ret < 0 || (file->chunk && file->chunk->len - file->pos >= SPAN_REST))
		return ret;
	return tap_file(p);
}

static int run_pass(struct pass p, struct err *e)
{
	struct recording *r = p.r;
	struct raw raw;
	int ret = begin_pass(r, e), got;

	if (ret < 0)
		return ret;
	got = r->ahead_ret;
	raw = r->ahead;
	if (!r->has_ahead)
		got = stream_next(&r->stream, &raw);
	r->has_ahead = false;
	while (got > 0) {
		ret = take(&p, &raw);
		if (!ret && p.taps)
			ret = tap_spans(&p);
		if (ret || r->stream.fault)
			break;
		got = stream_next(&r->stream, &raw);
	}
	if (ret == 0)
		ret = order_flush(&r->order, &r->stream.pool, deliver, &p);
	order_reset(&r->order, &r->stream.pool);
	end_pass(r);
	return ret;
}

int recording_replay(struct recording *r, recording_cb cb, void *ctx, struct err *e)
{
	return run_pass((struct pass){ .r = r, .cb = cb, .ctx = ctx, .ordered = true }, e);
}

int recording_scan(struct recording *r, recording_cb cb, void *ctx, struct err *e)
{
	return run_pass((struct pass){ .r = r, .cb = cb, .ctx = ctx }, e);
}

int recording_tap(struct recording *r, const struct recording_taps *taps, void *ctx, struct err *e)
{
	return run_pass((struct pass){ .r = r, .cb = taps->record, .taps = taps, .ctx = ctx }, e);
}
