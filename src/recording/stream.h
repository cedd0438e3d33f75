/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From bytes to records: windows, records that straddle them, compression, headers swapped. */
#ifndef RECORDING_STREAM_H
#define RECORDING_STREAM_H

#include "recording/chunk.h"
#include "recording/hold.h"
#include "recording/record.h"
#include "recording/source.h"
#include "recording/zstd.h"

/* A run of bytes being cut into records. */
struct lane {
	struct chunk *chunk;
	size_t pos; /* of the next record in chunk->data */
};

/* A record where it is: 8-byte aligned, header in our byte order, body as in the file. */
struct raw {
	struct perf_event_header *header;
	struct chunk *chunk; /* take a reference to keep the record beyond the next call */
	u64 offset;          /* in the file */
	u32 size;            /* header->size, or more for COMPRESSED2 */
};

struct stream {
	struct source *source;
	bool swap;
	u64 end;    /* file offset after the last record; UINT64_MAX: the end of the file */
	u64 offset; /* file offset of the file lane's next record */
	struct chunk_pool pool;
	struct lane file;  /* records of the file */
	struct lane plain; /* records from inside COMPRESSED records */
	struct lane side;  /* aligned copies of records that are at odd places */
	struct hold hold;  /* of the source, where records are used in the file itself */
	struct unzstd *unzstd;
	const u8 *packed; /* compressed bytes not yet given to zstd; in the file lane */
	size_t packed_left;
	bool packed_more; /* zstd itself still holds output */
	u64 packed_offset;
	u64 packed_bytes, plain_bytes; /* totals */
	u64 fault_offset;
	char *fault; /* why the stream ended early; owned */
};

void stream_init(struct stream *s, struct source *source);
void stream_release(struct stream *s);
/* Begins at the source's position. */
void stream_start(struct stream *s, bool swap, u64 end);
/* 1 and a record, 0 at the end, -EBADMSG (and s->fault) where the stream can no longer be cut. */
int stream_next(struct stream *s, struct raw *ret);
/*
 * The lane whose next bytes are the next record, if records can be cut there as they lie: aligned
 * and in our byte order. NULL: stream_next() finds out. stream_pass() goes on @n bytes after.
 */
static inline struct lane *stream_glance(struct stream *s)
{
	struct lane *l = s->plain.chunk ? &s->plain : &s->file;

	if (s->swap || !l->chunk || l->pos % 8 || (l == &s->file && s->packed_left))
		return NULL;
	return l;
}

static inline void stream_pass(struct stream *s, struct lane *l, size_t n)
{
	l->pos += n;
	if (l == &s->file)
		s->offset += n;
}

/*
 * The bytes from the next record on where they are in the file, if records can be cut there and the
 * file can be held still; lanes are after then. stream_let_go() goes on @n bytes after.
 */
bool stream_hold(struct stream *s, const u8 **ret_at, const u8 **ret_end);
void stream_let_go(struct stream *s, size_t n);

/* Bytes that follow the last record outside of its size; the record becomes invalid. */
int stream_skip(struct stream *s, u64 n);
/* The same into memory of the caller. */
int stream_take(struct stream *s, void *to, size_t n);

#endif
