/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/synth_record.h"

#include <linux/perf_event.h>

void synth_begin(struct synth_record *r, u32 type, u16 misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	r->len = 0;
	synth_put(r, &h, sizeof(h));
}

void synth_put(struct synth_record *r, const void *p, size_t n)
{
	n = MIN(n, sizeof(r->bytes) - r->len);
	memcpy(r->bytes + r->len, p, n);
	r->len += n;
}

void synth_put_u32(struct synth_record *r, u32 v)
{
	synth_put(r, &v, sizeof(v));
}

void synth_put_u64(struct synth_record *r, u64 v)
{
	synth_put(r, &v, sizeof(v));
}

void synth_put_name(struct synth_record *r, const char *s, size_t n)
{
	static const char zeros[8];

	n = MIN(n, SYNTH_NAME_MOST - 1);
	synth_put(r, s, n);
	synth_put(r, zeros, 8 - n % 8);
}

int synth_end(struct synth *s, struct synth_record *r)
{
	u64 fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	size_t n = (size_t)__builtin_popcountll(s->sample_type & fields);
	u64 trailer[6] = { 0 };
	u16 size;

	/* in front of the time are only the process and thread */
	if (s->sample_type & PERF_SAMPLE_TIME)
		trailer[s->sample_type & PERF_SAMPLE_TID ? 1 : 0] = s->time;
	synth_put(r, trailer, n * sizeof(*trailer));
	size = (u16)r->len;
	memcpy(r->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return s->sink(s->ctx, r->bytes, r->len);
}

int synth_mmap2(struct synth *s, u32 pid, const struct synth_map *m)
{
	static const u8 zeros[SYNTH_BUILD_ID_MOST];
	struct synth_record r;
	u16 misc = m->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	if (m->build_id_size)
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	synth_begin(&r, PERF_RECORD_MMAP2, misc);
	synth_put_u32(&r, pid);
	synth_put_u32(&r, m->kernel ? 0 : pid);
	synth_put_u64(&r, m->start);
	synth_put_u64(&r, m->end - m->start);
	synth_put_u64(&r, m->offset);
	if (m->build_id_size) {
		const u8 size[4] = { (u8)m->build_id_size };

		synth_put(&r, size, sizeof(size));
		synth_put(&r, m->build_id, m->build_id_size);
		synth_put(&r, zeros, SYNTH_BUILD_ID_MOST - m->build_id_size);
	} else {
		synth_put_u32(&r, m->dev_major);
		synth_put_u32(&r, m->dev_minor);
		synth_put_u64(&r, m->inode);
		synth_put_u64(&r, 0); /* generation */
	}
	synth_put_u32(&r, m->prot);
	synth_put_u32(&r, m->flags);
	synth_put_name(&r, m->path, m->path_len);
	s->maps++;
	return synth_end(s, &r);
}
