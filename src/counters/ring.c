/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/ring.h"

#include "counters/track.h"

struct frame {
	u64 mono;
	u8 *bytes;
	size_t n;
};

/* @first is the oldest snapshot, whole; frames lead from it to @last. */
struct counters_ring {
	const struct counter_set *set;
	size_t most, bytes;
	bool any;
	struct snapshot first, last;
	VEC(struct frame) frames; /* from @begin on */
	size_t begin;
};

struct counters_ring *counters_ring_new(const struct counter_set *set, size_t most)
{
	struct counters_ring *r = xcalloc(1, sizeof(*r));

	r->set = set;
	r->most = most;
	return r;
}

void counters_ring_free(struct counters_ring *r)
{
	if (!r)
		return;
	for (size_t i = r->begin; i < r->frames.len; i++)
		free(r->frames.items[i].bytes);
	vec_release(&r->frames);
	snapshot_release(&r->first);
	snapshot_release(&r->last);
	free(r);
}

static void forget_first(struct counters_ring *r)
{
	struct frame *f = &r->frames.items[r->begin++];

	/* our own bytes */
	(void)track_take_frame(&r->first, r->set, f->bytes, f->n);
	r->bytes -= f->n;
	free(f->bytes);
	/* room at the front is given back when it is half of all */
	if (r->begin * 2 > r->frames.len) {
		memmove(r->frames.items, r->frames.items + r->begin,
			(r->frames.len - r->begin) * sizeof(*r->frames.items));
		r->frames.len -= r->begin;
		r->begin = 0;
	}
}

void counters_ring_add(struct counters_ring *r, const struct snapshot *s)
{
	struct buf bytes = BUF_INIT;
	struct frame f = { .mono = s->mono };

	if (!r->any) {
		snapshot_copy(&r->first, s);
		snapshot_copy(&r->last, s);
		r->any = true;
		return;
	}
	track_add_frame(&bytes, &r->last, s);
	f.n = bytes.len;
	f.bytes = (u8 *)buf_detach(&bytes);
	vec_push(&r->frames, f);
	r->bytes += f.n;
	snapshot_copy(&r->last, s);
	while (r->bytes > r->most && r->begin < r->frames.len)
		forget_first(r);
}

size_t counters_ring_len(const struct counters_ring *r)
{
	return r->any ? r->frames.len - r->begin + 1 : 0;
}

size_t counters_ring_bytes(const struct counters_ring *r)
{
	return r->bytes;
}

int counters_ring_get(const struct counters_ring *r, size_t i, struct snapshot *into)
{
	if (i >= counters_ring_len(r))
		return -ENOENT;
	snapshot_copy(into, &r->first);
	for (size_t k = 0; k < i; k++) {
		const struct frame *f = &r->frames.items[r->begin + k];
		int rc = track_take_frame(into, r->set, f->bytes, f->n);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int counters_ring_find(const struct counters_ring *r, u64 mono, size_t *ret)
{
	size_t n = 0;

	if (!r->any || r->first.mono > mono)
		return -ENOENT;
	while (r->begin + n < r->frames.len && r->frames.items[r->begin + n].mono <= mono)
		n++;
	*ret = n;
	return 0;
}
