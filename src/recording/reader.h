/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of struct recording: only for the files of this folder. */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include "base/arena.h"
#include "base/map.h"
#include "recording/bytes.h"
#include "recording/order.h"
#include "recording/recording.h"
#include "recording/stream.h"

/* Where the fields lie that are needed before a record is parsed; -1: not there. */
struct event_layout {
	s8 sample_time; /* index of the u64 after the header */
	s8 id_time;     /* index from the record's end: 1 is the last u64 */
	u8 id_words;    /* u64s of trailing id fields */
};

/* Ids of one recording are neighbours: their low bits tell them apart. */
enum { ID_MEMO = 64 };
struct id_memo {
	u64 id; /* 0: none */
	u32 event;
};

/* Our own features that come in pieces through the stream. */
struct piece {
	struct buf bytes;
	u32 total;
};

enum { N_PIECES = FEATURE_OURS_LAST - FEATURE_OURS + 1 + FEATURE_PERF_END };

struct recording {
	char *name;
	struct source source;
	struct stream stream;
	struct arena arena;
	struct recording_info info;
	struct recording_counts counts;
	struct recording_fault fault;
	VEC(struct recording_event) events;
	VEC(struct event_layout) layouts;
	VEC(u8) named;  /* events[i].name is from the file, not made up */
	struct map ids; /* sample id -> event */
	size_t n_ids;
	struct id_memo id_memo[ID_MEMO];
	s8 sample_id; /* as in event_layout, of the first event: the same for all by perf's rules */
	s8 id_id;
	u64 stream_begin; /* file offsets */
	u64 stream_end;
	u64 absorbed;   /* header records before this offset have been taken in */
	bool has_ahead; /* the stream is after the record below, as opening left it */
	int ahead_ret;  /* what stream_next() said about it */
	struct raw ahead;
	u64 sections[4]; /* features that came as sections of the file */
	size_t info_bytes;
	bool keep_all; /* features as they are, in addition to what they say */
	struct piece pieces[N_PIECES];
	struct order order;
	struct sample sample; /* of the record being delivered */
};

/* attr.c */
/* @attr: as in the file, @size bytes of it. Names the event by its type until a name is known. */
int recording_add_event(struct recording *r, const void *attr, size_t size);
void recording_add_ids(struct recording *r, u32 event, const void *ids, size_t n);
/* The event of @id; RECORD_NO_EVENT if none. */
u32 recording_find_id(struct recording *r, u64 id);
void recording_name_event(struct recording *r, u32 event, const char *name);
/* After formats arrived: tracepoints from event @first on that have no name yet. */
void recording_name_tracepoints(struct recording *r, u32 first);

/* header.c */
int recording_read_header(struct recording *r, struct err *e);

/* feature.c: parses one section. Damage is counted, not returned. */
void recording_read_feature(struct recording *r, u32 feature, const void *data, size_t size,
			    u64 offset);
void recording_bad_feature(struct recording *r, u64 offset, const char *reason);
int feature_parse_tracing(struct recording *r, struct bytes *b);
int feature_parse_bpf_progs(struct recording *r, struct bytes *b);
int feature_parse_btf(struct recording *r, struct bytes *b);
int feature_parse_cpu_topology(struct recording *r, struct bytes *b);
int feature_parse_numa(struct recording *r, struct bytes *b);
int feature_parse_cache(struct recording *r, struct bytes *b);
int feature_parse_mem_topology(struct recording *r, struct bytes *b);
int recording_add_build_id(struct recording *r, u16 misc, struct bytes *b);

/* user.c: records that describe the recording. True when the record was one of these. */
bool recording_absorb(struct recording *r, const struct raw *raw);
void recording_release_pieces(struct recording *r);

/* reader.c: reads what describes the recording before its first real record. */
void recording_prime(struct recording *r);

/* swap.c */
void swap_attr(struct perf_event_attr *attr);
u64 swap_branch_flags(u64 v);
/* Everything but samples; @attr decides the trailing id fields. */
void swap_record(struct perf_event_header *h, const struct perf_event_attr *attr);

/* sample.c */
void sample_layout(const struct perf_event_attr *attr, struct event_layout *ret);
s8 sample_id_position(u64 sample_type);
s8 trailing_id_position(u64 sample_type);
/* Turns a sample's body to our byte order where it is. */
int swap_sample(const struct perf_event_attr *attr, struct perf_event_header *h,
		const char **ret_reason);

#endif
