/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/history.h"

enum { LAST_SECONDS = 2 /* of the newest frame: the next is late by then */ };

void history_release(struct history *h)
{
	for (size_t i = h->begin; i < h->frames.len; i++)
		free(h->frames.items[i].text);
	vec_release(&h->frames);
	h->begin = h->bytes = 0;
}

static void forget_first(struct history *h)
{
	struct frame *f = &h->frames.items[h->begin++];

	h->bytes -= f->n;
	free(f->text);
	f->text = NULL;
	/* room at the front is given back when it is half of all */
	if (h->begin * 2 > h->frames.len) {
		memmove(h->frames.items, h->frames.items + h->begin,
			(h->frames.len - h->begin) * sizeof(*h->frames.items));
		h->frames.len -= h->begin;
		h->begin = 0;
	}
}

u64 history_newest(const struct history *h)
{
	return h->frames.len > h->begin ? h->frames.items[h->frames.len - 1].wall : 0;
}

void history_add(struct history *h, u64 wall_ms, u64 mono_ns, const struct buf *text)
{
	struct frame f = { wall_ms, mono_ns, xmemdup(buf_str(text), text->len), text->len };

	vec_push(&h->frames, f);
	h->bytes += f.n;
	while (h->begin + 1 < h->frames.len &&
	       (h->bytes > h->most_bytes || mono_ns - h->frames.items[h->begin].mono > h->most_ns))
		forget_first(h);
}

void history_lines(const struct history *h, u64 from, u64 to, struct buf *out)
{
	for (size_t i = h->begin; i < h->frames.len; i++) {
		const struct frame *f = &h->frames.items[i];

		if (f->wall < from || f->wall > to)
			continue;
		buf_add(out, f->text, f->n);
		buf_addch(out, '\n');
	}
}

/* How long a frame stands for the time after it: up to the next one, by the clock that is never
 * set. */
static u64 frame_length(const struct history *h, size_t i)
{
	return i + 1 < h->frames.len ? h->frames.items[i + 1].mono - h->frames.items[i].mono
				     : LAST_SECONDS * NSEC_PER_SEC;
}

bool history_mono(const struct history *h, u64 wall_ms, u64 *ret_ns)
{
	const struct frame *before = NULL;

	for (size_t i = h->frames.len; i > h->begin; i--) {
		const struct frame *f = &h->frames.items[i - 1];
		u64 length = frame_length(h, i - 1);

		if (f->wall > wall_ms)
			continue;
		if (wall_ms - f->wall <= length / NSEC_PER_MSEC) {
			*ret_ns = f->mono + (wall_ms - f->wall) * NSEC_PER_MSEC;
			return true;
		}
		if (before && before->wall >= f->wall)
			continue;
		before = f;
		*ret_ns = f->mono + length;
	}
	return before != NULL;
}
