/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ring.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

enum { RECORD_MOST = 1 << 16 }; /* header.size is 16 bits */

static u64 round_up_pages(u64 bytes, u64 page)
{
	u64 size = page;

	while (size < bytes && size < 1ull << 40)
		size *= 2;
	return size;
}

int ring_map(struct ring *r, int fd, u32 cpu, u64 bytes, bool overwrite, struct err *e)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), size = round_up_pages(bytes, page);
	int prot = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
	void *p = mmap(NULL, size + page, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return err_sys(e, errno, "cannot map a ring of %llu bytes for CPU %u",
			       (unsigned long long)size, cpu);
	*r = (struct ring){
		.fd = fd,
		.cpu = cpu,
		.overwrite = overwrite,
		.page = p,
		.data = (u8 *)p + page,
		.size = size,
		.mapped = size + page,
	};
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->mapped);
	free(r->scratch);
	*r = (struct ring){ .fd = -1 };
}

int ring_pause(const struct ring *r, bool paused)
{
	return ioctl(r->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, paused ? 1 : 0) < 0 ? -errno : 0;
}

/* @p holds at least header.size bytes. */
static void count_record(struct ring_stats *stats, const struct perf_event_header *h, const u8 *p)
{
	stats->records++;
	stats->bytes += h->size;
	switch (h->type) {
	case PERF_RECORD_SAMPLE: stats->samples++; break;
	case PERF_RECORD_LOST: /* u64 id, lost */
		if (h->size >= sizeof(*h) + 16)
			stats->lost += load_u64(p + sizeof(*h) + 8);
		break;
	case PERF_RECORD_LOST_SAMPLES: /* u64 lost */
		if (h->size >= sizeof(*h) + 8)
			stats->lost_samples += load_u64(p + sizeof(*h));
		break;
	case PERF_RECORD_THROTTLE: stats->throttled++; break;
	default: break;
	}
}

static int corrupt(const struct ring *r, u64 at, struct err *e)
{
	return err_set(e, EBADMSG, "the ring of CPU %u holds a damaged record at %llu", r->cpu,
		       (unsigned long long)at);
}

/* A record that is across the end of the data area, in one piece. */
static const u8 *unwrap(struct ring *r, u64 offset, size_t size)
{
	size_t first = (size_t)(r->size - offset);

	if (!r->scratch)
		r->scratch = xmalloc(RECORD_MOST);
	memcpy(r->scratch, r->data + offset, first);
	memcpy(r->scratch + first, r->data, size - first);
	return r->scratch;
}

/*
 * Hands over [from, to) as at most three runs: up to the end of the area, the record across it,
 * and the rest. Headers never straddle: records are 8-byte aligned and so is the area.
 */
static int hand_over(struct ring *r, u64 from, u64 to, struct ring_stats *stats, record_sink sink,
		     void *ctx, struct err *e)
{
	u64 run = from, at = from;
	int code;

	while (at != to) { /* positions may wrap around 2^64: only differences count */
		u64 offset = at & (r->size - 1);
		struct perf_event_header h;

		memcpy(&h, r->data + offset, sizeof(h));
		if (h.size < sizeof(h) || h.size > to - at || (h.size & 7))
			return corrupt(r, at, e);
		if (offset + h.size <= r->size) {
			count_record(stats, &h, r->data + offset);
			at += h.size;
			if (offset + h.size < r->size)
				continue;
			code = sink(ctx, r->data + (run & (r->size - 1)), (size_t)(at - run));
		} else {
			const u8 *whole = unwrap(r, offset, h.size);

			count_record(stats, &h, whole);
			code = run != at ? sink(ctx, r->data + (run & (r->size - 1)),
						(size_t)(at - run))
					 : 0;
			if (code >= 0)
				code = sink(ctx, whole, h.size);
			at += h.size;
		}
		if (code < 0)
			return code;
		run = at;
	}
	return run != at ? sink(ctx, r->data + (run & (r->size - 1)), (size_t)(at - run)) : 0;
}

int ring_read(struct ring *r, struct ring_stats *stats, record_sink sink, void *ctx, struct err *e)
{
	u64 head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = r->page->data_tail;
	int code;

	if (head == tail)
		return 0;
	if (head - tail > r->size)
		return corrupt(r, tail, e);
	code = hand_over(r, tail, head, stats, sink, ctx, e);
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return code;
}

/*
 * The kernel writes downwards: the newest record is at head, older ones follow upwards until what
 * was read before, or a full turn, where the last record may be partly overwritten.
 */
static u64 backward_length(const struct ring *r, u64 head)
{
	u64 most = MIN(r->seen - head, r->size), n = 0;

	while (n < most) {
		struct perf_event_header h;

		memcpy(&h, r->data + ((head + n) & (r->size - 1)), sizeof(h));
		if (h.size < sizeof(h) || (h.size & 7) || h.size > most - n)
			break;
		n += h.size;
	}
	return n;
}

int ring_read_backward(struct ring *r, struct ring_stats *stats, record_sink sink, void *ctx,
		       struct err *e)
{
	u64 head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	u64 end = head + backward_length(r, head);

	r->seen = head;
	return hand_over(r, head, end, stats, sink, ctx, e);
}
