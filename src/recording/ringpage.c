/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/ringpage.h"

#include <errno.h>
#include <string.h>

/* The first word of an event: 5 bits of type or length, 27 bits of time since the last one. */
enum {
	TYPE_BITS = 5,
	TYPE_DATA_MOST = 28, /* up to here: the length of the data in words; 0: in the next word */
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31,
	DELTA_BITS = 27,
};

/* The second word of the page: bytes in use, and flags of what was lost before it. */
#define COMMIT_MASK     ((1ull << 20) - 1)
#define MISSED_EVENTS   (1ull << 31)
#define MISSED_STORED   (1ull << 30)
#define STAMP_HIGH_BITS (0xf8ull << 56) /* of a time stamp, whose event has only the lower ones */

struct walk {
	const u8 *at, *end;
	u64 time;
};

/* Bytes of the event's data; -1 when they do not fit. *@ret_head: bytes before them. */
static s64 data_size(const struct walk *w, u32 type, u32 *ret_head)
{
	s64 left = w->end - w->at, n;

	*ret_head = type ? 4 : 8;
	if (left < *ret_head)
		return -1;
	/* the length in the next word includes that word */
	n = type ? (s64)type * 4 : (s64)load_u32(w->at + 4) - 4;
	if (n < 0 || n > left - *ret_head)
		return -1;
	return n;
}

static bool extend_time(struct walk *w, u32 type, u64 delta)
{
	u64 value;

	if (w->end - w->at < 8)
		return false;
	value = delta | (u64)load_u32(w->at + 4) << DELTA_BITS;
	if (type == TYPE_TIME_EXTEND)
		w->time += value;
	else
		w->time = (w->time & STAMP_HIGH_BITS) | value;
	w->at += 8;
	return true;
}

static int step(struct walk *w, ringpage_fn fn, void *ctx)
{
	u32 word = load_u32(w->at), type = word & ((1u << TYPE_BITS) - 1), head;
	u64 delta = word >> TYPE_BITS;
	s64 n;
	int r;

	if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP)
		return extend_time(w, type, delta) ? 0 : -EBADMSG;
	if (type == TYPE_PADDING) {
		/* without a time: nothing follows. Otherwise it is a discarded event. */
		n = delta && w->end - w->at >= 8 ? (s64)load_u32(w->at + 4) : 0;
		w->time += delta;
		w->at = n < 4 || n > w->end - w->at - 4 ? w->end : w->at + 4 + ((n + 3) & ~3ll);
		return 0;
	}
	n = data_size(w, type, &head);
	if (n < 0)
		return -EBADMSG;
	w->time += delta;
	r = fn(ctx, w->time, w->at + head, (u32)n);
	w->at += head + ((n + 3) & ~3ll);
	return r;
}

static u64 missed_before(const u8 *page, size_t n, u64 commit)
{
	u64 used = commit & COMMIT_MASK;

	if (!(commit & MISSED_EVENTS))
		return 0;
	if ((commit & MISSED_STORED) && RINGPAGE_HEAD + used + 8 <= n)
		return load_u64(page + RINGPAGE_HEAD + used);
	return 1;
}

int ringpage_walk(const void *page, size_t n, ringpage_fn fn, void *ctx, u64 *ret_missed)
{
	const u8 *p = page;
	struct walk w;
	u64 commit;
	int r = 0;

	*ret_missed = 0;
	if (n < RINGPAGE_HEAD)
		return -EBADMSG;
	commit = load_u64(p + 8);
	*ret_missed = missed_before(p, n, commit);
	if ((commit & COMMIT_MASK) > n - RINGPAGE_HEAD)
		return -EBADMSG;
	w = (struct walk){ p + RINGPAGE_HEAD, p + RINGPAGE_HEAD + (commit & COMMIT_MASK),
			   load_u64(p) };
	while (r == 0 && w.end - w.at >= 4)
		r = step(&w, fn, ctx);
	return r;
}

u64 ringpage_time(const void *page, size_t n)
{
	return n < RINGPAGE_HEAD ? 0 : load_u64(page);
}
