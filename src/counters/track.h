/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots as bytes: a section of a recording (FEATURE_COUNTERS), and the ring of the past in
 * memory. "FCTR", a byte 2, the size of a page; then entries until the end, numbers as ULEB128,
 * texts with their length in front, differences in zigzag:
 *	1	a counter: name, kind, unit, scale, bits; numbered from 0 on as they come
 *	2	a series: number of its counter, instance; likewise
 *	3	a frame: length, then the snapshot as the difference to the one before
 */
#ifndef COUNTERS_TRACK_H
#define COUNTERS_TRACK_H

#include "base/buf.h"
#include "base/err.h"
#include "counters/snapshot.h"

enum { TRACK_BYTES_MOST = 32 << 20, TRACK_TASKS_MOST = 1 << 20 };

/* --- one frame -------------------------------------------------------------------------------- */

/* The bytes of @now, given @before (all zero at first). */
void track_add_frame(struct buf *out, const struct snapshot *before, const struct snapshot *now);
/* Turns @s, which is the snapshot before, into the next; -EBADMSG: the bytes are broken. */
int track_take_frame(struct snapshot *s, const struct counter_set *set, const u8 *bytes, size_t n);

/* --- a whole section -------------------------------------------------------------------------- */

struct track_writer {
	struct buf bytes;
	struct snapshot last;
	size_t counters, series; /* of the set, written so far */
	u64 frames;
	bool full; /* TRACK_BYTES_MOST is reached: later snapshots are left out */
};

#define TRACK_WRITER_INIT \
	{                 \
		0         \
	}
void track_writer_release(struct track_writer *w);
void track_writer_add(struct track_writer *w, const struct counter_set *set,
		      const struct snapshot *s);

/* Bytes stay the caller's and must live as long. */
struct track_reader {
	struct counter_set set;
	const u8 *at, *end, *begin;
	struct snapshot last;
	VEC(u32) counters; /* number in the file -> number in @set */
	VEC(u32) series;
};

int track_reader_init(struct track_reader *r, const void *bytes, size_t n, struct err *e);
void track_reader_release(struct track_reader *r);
/* 1: @into is the next snapshot; 0: the end; -EBADMSG: damage, all before is good. */
int track_reader_next(struct track_reader *r, struct snapshot *into, struct err *e);

#endif
