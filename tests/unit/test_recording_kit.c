/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test_recording_kit.h"

#include "harness.h"

#include <sys/mman.h>

void emit_u16(struct emit *e, u16 v)
{
	v = e->swap ? __builtin_bswap16(v) : v;
	buf_add(&e->b, &v, sizeof(v));
}

void emit_u32(struct emit *e, u32 v)
{
	v = e->swap ? __builtin_bswap32(v) : v;
	buf_add(&e->b, &v, sizeof(v));
}

void emit_u64(struct emit *e, u64 v)
{
	v = e->swap ? __builtin_bswap64(v) : v;
	buf_add(&e->b, &v, sizeof(v));
}

void emit_text(struct emit *e, const char *text, size_t padded)
{
	buf_addstr(&e->b, text);
	buf_fill(&e->b, 0, padded - strlen(text));
}

void emit_string(struct emit *e, const char *text)
{
	size_t padded = ALIGN_UP(strlen(text) + 1, (size_t)64);

	emit_u32(e, (u32)padded);
	emit_text(e, text, padded);
}

void emit_patch_u64(struct emit *e, size_t at, u64 v)
{
	v = e->swap ? __builtin_bswap64(v) : v;
	memcpy(e->b.data + at, &v, sizeof(v));
}

void emit_patch_u16(struct emit *e, size_t at, u16 v)
{
	v = e->swap ? __builtin_bswap16(v) : v;
	memcpy(e->b.data + at, &v, sizeof(v));
}

size_t emit_begin(struct emit *e, u32 type, u16 misc)
{
	size_t start = e->b.len;

	emit_u32(e, type);
	emit_u16(e, misc);
	emit_u16(e, 0);
	return start;
}

void emit_end(struct emit *e, size_t start)
{
	emit_patch_u16(e, start + 6, (u16)(e->b.len - start));
}

/*
 * The flag word of an attr with sample_id_all (bit 18), precise_ip 2 (bits 15 and 16) and inherit
 * (bit 1). A machine of the other byte order counts bit fields from the top.
 */
static void emit_flags(struct emit *e)
{
	if (e->swap)
		emit_u64(e, 1ull << (63 - 18) | 2ull << (62 - 15) | 1ull << (63 - 1));
	else
		emit_u64(e, 1ull << 18 | 2ull << 15 | 1ull << 1);
}

static void emit_attr(struct emit *e, u32 size, u64 config)
{
	size_t start = e->b.len;

	emit_u32(e, PERF_TYPE_SOFTWARE);
	emit_u32(e, size);
	emit_u64(e, config);
	emit_u64(e, 4000); /* sample_period */
	emit_u64(e, KIT_TYPE);
	emit_u64(e, 0); /* read_format */
	emit_flags(e);
	buf_fill(&e->b, 0, size - (e->b.len - start));
}

void kit_header(struct emit *e, u32 attr_size)
{
	size_t n_ids = 2, entry = attr_size + 16, attrs = 104 + n_ids * 8;

	emit_u64(e, 0x32454c4946524550ull);
	emit_u64(e, 104);
	emit_u64(e, entry);
	emit_u64(e, attrs);
	emit_u64(e, 2 * entry);
	emit_u64(e, attrs + 2 * entry);
	emit_u64(e, 0); /* data.size: see kit_close() */
	for (int i = 0; i < 6; i++)
		emit_u64(e, 0);
	emit_u64(e, 71);
	emit_u64(e, 72);
	for (u64 i = 0; i < 2; i++) {
		emit_attr(e, attr_size, i ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_CPU_CLOCK);
		emit_u64(e, 104 + i * 8);
		emit_u64(e, 8);
	}
}

void kit_close(struct emit *e)
{
	u64 offset;

	memcpy(&offset, e->b.data + KIT_DATA_SIZE_AT - 8, sizeof(offset));
	offset = e->swap ? __builtin_bswap64(offset) : offset;
	emit_patch_u64(e, KIT_DATA_SIZE_AT, e->b.len - offset);
}

/* The trailing id fields of KIT_TYPE. */
static void emit_ids(struct emit *e, u64 time)
{
	emit_u32(e, 500);
	emit_u32(e, 501);
	emit_u64(e, time);
	emit_u32(e, 1);
	emit_u32(e, 0);
	emit_u64(e, 71);
}

void kit_sample(struct emit *e, u64 id, u64 time, u64 ip, u64 n_ips)
{
	size_t start = emit_begin(e, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	emit_u64(e, id);
	emit_u64(e, ip);
	emit_u32(e, 500);
	emit_u32(e, 501);
	emit_u64(e, time);
	emit_u32(e, 3);
	emit_u32(e, 0);
	emit_u64(e, n_ips);
	for (u64 i = 0; i < n_ips; i++)
		emit_u64(e, ip + i);
	emit_end(e, start);
}

void kit_comm(struct emit *e, u64 time, const char *comm)
{
	size_t start = emit_begin(e, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);

	emit_u32(e, 500);
	emit_u32(e, 501);
	emit_text(e, comm, 16);
	emit_ids(e, time);
	emit_end(e, start);
}

void kit_mmap2(struct emit *e, u64 time, const char *path)
{
	size_t start = emit_begin(e, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	emit_u32(e, 500);
	emit_u32(e, 501);
	emit_u64(e, 0x400000);
	emit_u64(e, 0x2000);
	emit_u64(e, 0x1000);
	emit_u32(e, 8);
	emit_u32(e, 1);
	emit_u64(e, 4711);
	emit_u64(e, 5);
	emit_u32(e, PROT_READ | PROT_EXEC);
	emit_u32(e, MAP_PRIVATE);
	emit_text(e, path, 32);
	emit_ids(e, time);
	emit_end(e, start);
}

void kit_round(struct emit *e)
{
	emit_end(e, emit_begin(e, RECORD_FINISHED_ROUND, 0));
}

int seen_record(const struct record *rec, void *ctx)
{
	struct seen *s = ctx;
	struct record_comm c;

	vec_push(&s->times, rec->time);
	vec_push(&s->types, rec->type);
	if (rec->sample) {
		s->samples++;
		for (u64 i = 0; i < rec->sample->n_ips; i++)
			s->ips_sum += rec->sample->ips[i];
		if (rec->event < 2)
			s->event_samples[rec->event]++;
	}
	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &c) == 0)
		snprintf(s->comm, sizeof(s->comm), "%s", c.comm);
	if (rec->type == PERF_RECORD_MMAP2 && record_mmap(rec, &s->mmap) == 0)
		snprintf(s->path, sizeof(s->path), "%s", s->mmap.filename);
	return s->stop_after && s->times.len >= (size_t)s->stop_after ? 77 : 0;
}

void seen_release(struct seen *s)
{
	vec_release(&s->times);
	vec_release(&s->types);
	*s = (struct seen){ 0 };
}

struct recording *kit_open(const struct buf *b)
{
	struct err e = ERR_INIT;
	struct recording *r;

	if (recording_open_memory(b->data, b->len, &r, &e) < 0)
		FAIL("cannot open: %s", e.what);
	return r;
}

struct recording *kit_replay(struct emit *e, struct seen *seen)
{
	struct recording *r;

	kit_close(e);
	r = kit_open(&e->b);
	CHECK_EQ(recording_replay(r, seen_record, seen, NULL), 0);
	return r;
}

void kit_end(struct recording *r, struct seen *seen, struct emit *e)
{
	recording_free(r);
	seen_release(seen);
	buf_release(&e->b);
}

void kit_record(struct buf *b, u32 type, const void *body, size_t size,
		const struct perf_event_attr *attr, const struct record_ids *ids)
{
	const u64 tid = (u64)ids->tid << 32 | ids->pid, cpu = ids->cpu;
	const struct {
		u64 asked;
		const u64 *value;
	} tail[] = {
		{ PERF_SAMPLE_TID, &tid },    { PERF_SAMPLE_TIME, &ids->time },
		{ PERF_SAMPLE_ID, &ids->id }, { PERF_SAMPLE_STREAM_ID, &ids->stream_id },
		{ PERF_SAMPLE_CPU, &cpu },    { PERF_SAMPLE_IDENTIFIER, &ids->id },
	};
	struct perf_event_header h = { .type = type };
	size_t start = b->len;

	CHECK_EQ(size % 8, 0);
	buf_add(b, &h, sizeof(h));
	buf_add(b, body, size);
	for (size_t i = 0; attr->sample_id_all && i < ARRAY_SIZE(tail); i++)
		if (attr->sample_type & tail[i].asked)
			buf_add(b, tail[i].value, sizeof(u64));
	h.size = (u16)(b->len - start);
	memcpy(b->data + start, &h, sizeof(h));
}
