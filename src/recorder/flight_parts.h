/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flight recorder's past: the records that a file would hold, as far back as there is room for.
 *
 * It is kept in parts. Each begins with what ran at that moment, as records, so that it can be
 * the first of a file when those before it are dropped. A thread that ended just then may have
 * samples on their way, but is reported nowhere: of the first part, samples of such are left out.
 */
#ifndef RECORDER_FLIGHT_PARTS_H
#define RECORDER_FLIGHT_PARTS_H

#include "base/buf.h"
#include "base/vec.h"
#include "recording/record.h"

enum { PAST_PARTS = 4 }; /* a full past; what is dropped at once is one of them */

struct past_part {
	struct buf known;   /* records about what ran when it began */
	struct buf records; /* in the order in which they came */
	u64 samples;
};

struct past {
	u64 most; /* bytes of records; 0: there is no past, all goes to the file */
	VEC(struct past_part) parts;
	u64 taken;   /* bytes of records so far */
	u64 dropped; /* samples that made room for newer ones */
};

/* The thread of a sample. */
typedef u32 recorder_past_tid_fn(void *ctx, const struct perf_event_header *h);
typedef int recorder_past_sink_fn(void *ctx, const void *records, size_t n);

void recorder_past_release(struct past *p);
/* A new part, for which recorder_past_know() is to be called next. Drops the oldest if there is no
 * room. */
void recorder_past_turn(struct past *p);
void recorder_past_know(struct past *p, const void *records, size_t n);
/* Whole records. */
void recorder_past_add(struct past *p, const void *records, size_t n);
/* The open part has its share: time for recorder_past_turn(). */
bool recorder_past_is_full(const struct past *p);
/* Hands over everything, oldest first, and is empty afterwards. */
int recorder_past_write(struct past *p, recorder_past_tid_fn *tid, recorder_past_sink_fn *sink,
			void *ctx);

#endif
