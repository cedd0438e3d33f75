/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The id fields: where they are in samples, and after all other records. */
#include "recording/reader.h"

enum {
	ID_FIELDS = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
};

static s8 count(u64 bits)
{
	return (s8)__builtin_popcountll(bits);
}

s8 sample_id_position(u64 type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return count(type &
		     (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

s8 trailing_id_position(u64 type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return (s8)(1 + count(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)));
}

void sample_layout(const struct perf_event_attr *attr, struct event_layout *ret)
{
	u64 type = attr->sample_type;

	*ret = (struct event_layout){ .sample_time = -1, .id_time = -1 };
	if (type & PERF_SAMPLE_TIME)
		ret->sample_time =
			count(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
	if (!attr->sample_id_all)
		return;
	ret->id_words = (u8)count(type & ID_FIELDS);
	if (type & PERF_SAMPLE_TIME)
		ret->id_time = (s8)(1 + count(type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
						      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)));
}

static void take_ids(const u64 *p, u64 type, struct record *ret)
{
	u32 pair[2];

	if (type & PERF_SAMPLE_TID) {
		memcpy(pair, p++, 8);
		ret->pid = pair[0];
		ret->tid = pair[1];
	}
	if (type & PERF_SAMPLE_TIME)
		ret->time = *p++;
	if (type & PERF_SAMPLE_ID)
		ret->id = *p++;
	if (type & PERF_SAMPLE_STREAM_ID)
		ret->stream_id = *p++;
	if (type & PERF_SAMPLE_CPU) {
		memcpy(pair, p++, 8);
		ret->cpu = pair[0];
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		ret->id = *p;
	ret->has = type & ID_FIELDS;
	if (ret->has & PERF_SAMPLE_IDENTIFIER)
		ret->has |= PERF_SAMPLE_ID;
}

int record_parse_ids(const struct perf_event_attr *attr, const struct perf_event_header *header,
		     struct record *ret)
{
	size_t bytes = 8u * (size_t)count(attr->sample_type & ID_FIELDS), words;

	ret->body_end = header->size;
	if (!attr->sample_id_all || header->type >= RECORD_USER_FIRST)
		return 0;
	if (header->size % 8 || header->size - sizeof(*header) < bytes)
		return -EBADMSG;
	ret->body_end -= bytes;
	words = ret->body_end / 8;
	take_ids((const u64 *)(const void *)header + words, attr->sample_type, ret);
	return 0;
}
