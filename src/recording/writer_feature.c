/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections that the writer itself can fill, and the encoding of all of them. */
#include "recording/writer_state.h"

#include "recording/format.h"

#include <time.h>

void feature_add_u32(struct buf *b, u32 v)
{
	buf_add(b, &v, sizeof(v));
}

void feature_add_u64(struct buf *b, u64 v)
{
	buf_add(b, &v, sizeof(v));
}

void feature_add_string(struct buf *b, const char *s)
{
	size_t len = strlen(s), padded = ALIGN_UP(len + 1, (size_t)FORMAT_NAME_ALIGN);

	feature_add_u32(b, (u32)padded);
	buf_add(b, s, len);
	buf_fill(b, 0, padded - len);
}

static void fill_event_desc(struct recording_writer *w, struct buf *b)
{
	feature_add_u32(b, (u32)w->events.len);
	feature_add_u32(b, FORMAT_ATTR_WRITE);
	vec_each(ev, &w->events) {
		u8 attr[FORMAT_ATTR_WRITE] = { 0 };

		memcpy(attr, &ev->attr, MIN(sizeof(ev->attr), sizeof(attr)));
		buf_add(b, attr, sizeof(attr));
		feature_add_u32(b, (u32)ev->n_ids);
		feature_add_string(b, ev->name);
		if (ev->n_ids)
			buf_add(b, ev->ids, ev->n_ids * sizeof(*ev->ids));
	}
}

static bool has_groups(const struct recording_writer *w)
{
	vec_each(ev, &w->events)
		if (ev->n_members > 1)
			return true;
	return false;
}

static void fill_groups(struct recording_writer *w, struct buf *b)
{
	u32 n = 0;

	vec_each(ev, &w->events)
		n += ev->n_members > 1;
	feature_add_u32(b, n);
	vec_each(ev, &w->events) {
		if (ev->n_members < 2)
			continue;
		feature_add_string(b, "{anon_group}");
		feature_add_u32(b, (u32)(ev - w->events.items));
		feature_add_u32(b, ev->n_members);
	}
}

void writer_fill_compressed(struct recording_writer *w)
{
	u64 written = w->file_bytes - MIN(w->file_bytes, w->data_offset);
	struct buf *b = writer_feature_bytes(w, FEATURE_COMPRESSED);

	buf_reset(b);
	feature_add_u32(b, 1); /* version */
	feature_add_u32(b, 1); /* zstd */
	feature_add_u32(b, (u32)w->compress);
	feature_add_u32(b, (u32)(written ? (w->bytes + written / 2) / written : 1));
	/* perf unpacks each record into a buffer of this size. */
	feature_add_u32(b, ZSTD_STEP * 2);
}

static void fill_clock(struct recording_writer *w)
{
	struct buf *b = writer_feature_bytes(w, FEATURE_CLOCKID);
	struct timespec res = { .tv_nsec = 1 };

	buf_reset(b);
	(void)clock_getres((clockid_t)w->clock_id, &res);
	feature_add_u64(b, (u64)res.tv_sec * NSEC_PER_SEC + (u64)res.tv_nsec);
	b = writer_feature_bytes(w, FEATURE_CLOCK_DATA);
	buf_reset(b);
	feature_add_u32(b, 1);
	feature_add_u32(b, w->clock_id);
	feature_add_u64(b, w->clock_wall_ns);
	feature_add_u64(b, w->clock_ns);
}

static void fill_cmdline(struct recording_writer *w, struct buf *b)
{
	feature_add_u32(b, (u32)w->argv.len);
	vec_each(arg, &w->argv)
		feature_add_string(b, *arg);
}

static bool has_branches(const struct recording_writer *w)
{
	vec_each(ev, &w->events)
		if (ev->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

void writer_fill_features(struct recording_writer *w)
{
	struct buf *b;

	if (!writer_has_feature(w, FEATURE_EVENT_DESC))
		fill_event_desc(w, writer_feature_bytes(w, FEATURE_EVENT_DESC));
	if (has_groups(w) && !writer_has_feature(w, FEATURE_GROUP_DESC))
		fill_groups(w, writer_feature_bytes(w, FEATURE_GROUP_DESC));
	if (w->packer)
		writer_fill_compressed(w);
	if (w->argv.len && !writer_has_feature(w, FEATURE_CMDLINE))
		fill_cmdline(w, writer_feature_bytes(w, FEATURE_CMDLINE));
	if (!writer_has_feature(w, FEATURE_VERSION))
		feature_add_string(writer_feature_bytes(w, FEATURE_VERSION), w->version);
	if (has_branches(w))
		(void)writer_feature_bytes(w, FEATURE_BRANCH_STACK);
	if (w->has_clock)
		fill_clock(w);
	if (w->last_time && !writer_has_feature(w, FEATURE_SAMPLE_TIME)) {
		b = writer_feature_bytes(w, FEATURE_SAMPLE_TIME);
		feature_add_u64(b, w->first_time);
		feature_add_u64(b, w->last_time);
	}
	if (!w->no_machine)
		writer_fill_machine(w);
}
