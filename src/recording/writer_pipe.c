/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pipe mode: what a file keeps in its header and sections becomes records. */
#include "recording/writer_state.h"

#include "recording/format.h"

static void build_attr(const struct written_event *ev, struct buf *out)
{
	u8 bytes[FORMAT_ATTR_WRITE] = { 0 };
	size_t max = (RECORD_MAX_SIZE & ~7u) - sizeof(struct perf_event_header) - sizeof(bytes);
	size_t n = MIN(ev->n_ids, max / sizeof(u64));
	struct perf_event_header h = {
		.type = RECORD_HEADER_ATTR,
		.size = (u16)(sizeof(h) + sizeof(bytes) + n * sizeof(u64)),
	};

	memcpy(bytes, &ev->attr, MIN(sizeof(ev->attr), sizeof(bytes)));
	buf_add(out, &h, sizeof(h));
	buf_add(out, bytes, sizeof(bytes));
	if (n)
		buf_add(out, ev->ids, n * sizeof(u64));
}

/* perf stops at a feature that it does not know, and at one that does not fit a record. */
static void build_feature(const struct written_feature *f, struct buf *out)
{
	size_t padded = ALIGN_UP(f->bytes.len, (size_t)8);
	struct perf_event_header h = { .type = RECORD_HEADER_FEATURE };

	if (f->feature >= FEATURE_PERF_END) {
		writer_build_pieces(f, out);
		return;
	}
	if (sizeof(h) + 8 + padded > RECORD_MAX_SIZE)
		return;
	h.size = (u16)(sizeof(h) + 8 + padded);
	buf_add(out, &h, sizeof(h));
	feature_add_u64(out, f->feature);
	if (f->bytes.len)
		buf_add(out, f->bytes.data, f->bytes.len);
	buf_fill(out, 0, padded - f->bytes.len);
}

static void build_tracing(const struct written_feature *f, struct buf *out)
{
	struct perf_event_header h = { .type = RECORD_HEADER_TRACING_DATA, .size = 16 };
	u32 padded = (u32)ALIGN_UP(f->bytes.len, (size_t)8);

	buf_add(out, &h, sizeof(h));
	feature_add_u32(out, padded);
	feature_add_u32(out, 0);
	buf_add(out, f->bytes.data, f->bytes.len);
	buf_fill(out, 0, padded - f->bytes.len);
}

void writer_build_pipe_head(struct recording_writer *w, struct buf *out)
{
	feature_add_u64(out, FORMAT_MAGIC);
	feature_add_u64(out, FORMAT_PIPE_HEADER);
	vec_each(ev, &w->events)
		build_attr(ev, out);
	vec_each(f, &w->features)
		if (f->feature != FEATURE_TRACING_DATA)
			build_feature(f, out);
	writer_build_intro(w, out);
	vec_each(f, &w->features)
		if (f->feature == FEATURE_TRACING_DATA)
			build_tracing(f, out);
}

/* Our own features in their last state. */
void writer_build_pipe_tail(struct recording_writer *w, struct buf *out)
{
	vec_each(f, &w->features)
		if (f->feature >= FEATURE_OURS)
			writer_build_pieces(f, out);
}
