/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings for tests, written byte by byte in either byte order: independent of the writer, so
 * that reader and writer cannot agree on the same mistake.
 */
#ifndef FATHOM_TESTS_UNIT_TEST_RECORDING_KIT_H
#define FATHOM_TESTS_UNIT_TEST_RECORDING_KIT_H

#include "base/buf.h"
#include "base/vec.h"
#include "recording/recording.h"

struct emit {
	struct buf b;
	bool swap;
};

void emit_u16(struct emit *e, u16 v);
void emit_u32(struct emit *e, u32 v);
void emit_u64(struct emit *e, u64 v);
void emit_text(struct emit *e, const char *text, size_t padded);
/* A perf string: length, bytes, padding. */
void emit_string(struct emit *e, const char *text);
/* Writes @v over 8 bytes at @at. */
void emit_patch_u64(struct emit *e, size_t at, u64 v);
void emit_patch_u16(struct emit *e, size_t at, u16 v);

/* Begins a record; emit_end() fills in its size. */
size_t emit_begin(struct emit *e, u32 type, u16 misc);
void emit_end(struct emit *e, size_t start);

enum {
	KIT_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		   PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
	KIT_DATA_SIZE_AT = 48, /* of data.size in the header */
	KIT_FEATURES_AT = 72,
};

/*
 * A file-mode header with two events (ids 71 and 72, KIT_TYPE, sample_id_all) whose attrs take
 * @attr_size bytes. The data follows.
 */
void kit_header(struct emit *e, u32 attr_size);
/* Ends the data: data.size is written. */
void kit_close(struct emit *e);
void kit_sample(struct emit *e, u64 id, u64 time, u64 ip, u64 n_ips);
void kit_comm(struct emit *e, u64 time, const char *comm);
void kit_mmap2(struct emit *e, u64 time, const char *path);
void kit_round(struct emit *e);

/* A record in this machine's order: @body, then what @attr asks for at the end of all records. */
void kit_record(struct buf *b, u32 type, const void *body, size_t size,
		const struct perf_event_attr *attr, const struct record_ids *ids);

/* What a pass delivered. */
struct seen {
	const struct recording *r;
	VEC(u64) times;
	VEC(u32) types;
	u64 samples;
	u64 ips_sum;
	u64 event_samples[2];
	char comm[32];
	char path[64];
	struct record_mmap mmap;
	int stop_after; /* > 0: the callback ends the pass */
};

int seen_record(const struct record *rec, void *seen);
void seen_release(struct seen *s);

/* Opens bytes and fails the test if that does not work. */
struct recording *kit_open(const struct buf *b);
/* Ends the data, opens it and goes through all of it once. */
struct recording *kit_replay(struct emit *e, struct seen *seen);
/* Gives all three back. */
void kit_end(struct recording *r, struct seen *seen, struct emit *e);

#endif
