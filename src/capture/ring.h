/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One perf ring buffer: kernel writes, we read without a system call and without copying, except
 * for the one record that is across the end.
 */
#ifndef CAPTURE_RING_H
#define CAPTURE_RING_H

#include <linux/perf_event.h>

#include "base/err.h"

/*
 * Gets @n bytes of whole records, valid during the call. 0, or a negative errno that ends the
 * reading and is passed on.
 */
typedef int (*record_sink)(void *ctx, const void *bytes, size_t n);

struct ring_stats {
	u64 bytes;
	u64 records;
	u64 samples;
	u64 lost;         /* from PERF_RECORD_LOST: records that found the ring full */
	u64 lost_samples; /* from PERF_RECORD_LOST_SAMPLES: dropped by hardware or a filter */
	u64 throttled;    /* times the kernel paused an event because it took too long */
};

struct ring {
	int fd; /* the event that owns it; not closed by the ring */
	u32 cpu;
	bool overwrite;
	struct perf_event_mmap_page *page;
	u8 *data;
	u64 size; /* of the data area: a power of two */
	size_t mapped;
	u64 seen;    /* overwrite: the head at the last reading */
	u8 *scratch; /* the wrapped record; made when first needed */
};

/* @bytes is rounded up to a power of two of pages. -EPERM: the mlock limit. */
int ring_map(struct ring *r, int fd, u32 cpu, u64 bytes, bool overwrite, struct err *e);
void ring_unmap(struct ring *r);
/* Hands over all that is there now and frees it. A corrupt header is -EBADMSG. */
int ring_read(struct ring *r, struct ring_stats *stats, record_sink sink, void *ctx, struct err *e);
/*
 * Overwrite rings: hands over what came since the last call and is still there, newest first. The
 * output must be paused (ring_pause) around it.
 */
int ring_read_backward(struct ring *r, struct ring_stats *stats, record_sink sink, void *ctx,
		       struct err *e);
int ring_pause(const struct ring *r, bool paused);

#endif
