/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/flight_parts.h"

#include "base/map.h"

static void part_release(struct past_part *part)
{
	buf_release(&part->known);
	buf_release(&part->records);
}

static void clear(struct past *p)
{
	vec_each(part, &p->parts)
		part_release(part);
	vec_clear(&p->parts);
}

void recorder_past_release(struct past *p)
{
	clear(p);
	vec_release(&p->parts);
}

static u64 bytes_of(const struct past *p)
{
	u64 n = 0;

	vec_each(part, &p->parts)
		n += part->records.len;
	return n;
}

static u64 share(const struct past *p)
{
	return p->most / PAST_PARTS;
}

bool recorder_past_is_full(const struct past *p)
{
	return p->parts.len && vec_last(&p->parts)->records.len >= share(p);
}

static void drop_oldest(struct past *p)
{
	struct past_part *first = p->parts.items;

	p->dropped += first->samples;
	part_release(first);
	p->parts.len--;
	memmove(first, first + 1, p->parts.len * sizeof(*first));
}

void recorder_past_turn(struct past *p)
{
	/* what stays is all but one share of what there is room for, or more */
	while (p->parts.len && bytes_of(p) - p->parts.items[0].records.len >= p->most - share(p))
		drop_oldest(p);
	(void)vec_new(&p->parts);
}

void recorder_past_know(struct past *p, const void *records, size_t n)
{
	buf_add(&vec_last(&p->parts)->known, records, n);
}

/* False at the end, and at a malformed record: what follows cannot be parsed. */
static bool next_record(const struct buf *b, size_t *at, const struct perf_event_header **ret)
{
	const struct perf_event_header *h = (const void *)(b->data + *at);

	if (b->len - *at < sizeof(*h) || h->size < sizeof(*h) || h->size > b->len - *at)
		return false;
	*at += h->size;
	*ret = h;
	return true;
}

void recorder_past_add(struct past *p, const void *records, size_t n)
{
	struct past_part *part = vec_last(&p->parts);
	const struct perf_event_header *h;
	size_t at = part->records.len;

	buf_add(&part->records, records, n);
	p->taken += n;
	while (next_record(&part->records, &at, &h))
		part->samples += h->type == PERF_RECORD_SAMPLE;
}

/* What says who a thread is; a fork does if its parent is known. 0 is the idle task. */
static void note_announced(const struct buf *records, struct map *announced)
{
	const struct perf_event_header *h;
	size_t at = 0;
	u32 ids[4]; /* of COMM: pid, tid; of FORK: pid, parent's pid, tid, parent's tid */

	map_put(announced, 0, 1);
	while (next_record(records, &at, &h)) {
		if (h->size < sizeof(*h) + sizeof(ids))
			continue;
		memcpy(ids, h + 1, sizeof(ids));
		if (h->type == PERF_RECORD_COMM)
			map_put(announced, ids[1], 1);
		else if (h->type == PERF_RECORD_FORK && map_find(announced, ids[3]))
			map_put(announced, ids[2], 1);
	}
}

static int write_announced(struct past *p, const struct past_part *part, recorder_past_tid_fn *tid,
			   recorder_past_sink_fn *sink, void *ctx)
{
	const struct perf_event_header *h;
	size_t run = 0, at = 0;
	struct map announced = { 0 };
	int rc = 0;

	note_announced(&part->known, &announced);
	note_announced(&part->records, &announced);
	while (rc >= 0 && next_record(&part->records, &at, &h)) {
		if (h->type != PERF_RECORD_SAMPLE || map_find(&announced, tid(ctx, h)))
			continue;
		p->dropped++;
		if (at - h->size > run)
			rc = sink(ctx, part->records.data + run, at - h->size - run);
		run = at;
	}
	map_release(&announced);
	return rc >= 0 && at > run ? sink(ctx, part->records.data + run, at - run) : MIN(rc, 0);
}

int recorder_past_write(struct past *p, recorder_past_tid_fn *tid, recorder_past_sink_fn *sink,
			void *ctx)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < p->parts.len; i++) {
		const struct past_part *part = &p->parts.items[i];

		if (i == 0 && part->known.len)
			rc = sink(ctx, part->known.data, part->known.len);
		if (rc >= 0 && i == 0)
			rc = write_announced(p, part, tid, sink, ctx);
		else if (rc >= 0 && part->records.len)
			rc = sink(ctx, part->records.data, part->records.len);
	}
	clear(p);
	return MIN(rc, 0);
}
