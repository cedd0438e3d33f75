/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/stream.h"

#include "recording/format.h"

#include <inttypes.h>
#include <stdarg.h>

enum {
	HEAD = sizeof(struct perf_event_header),
	FILL_BETWEEN = 16 << 10, /* read for a record between those that are used in the file */
};

void stream_init(struct stream *s, struct source *source)
{
	*s = (struct stream){ .source = source };
	chunk_pool_init(&s->pool, source->size);
}

static void lane_release(struct stream *s, struct lane *l)
{
	chunk_unref(&s->pool, l->chunk);
	*l = (struct lane){ 0 };
}

static void release_lanes(struct stream *s)
{
	lane_release(s, &s->file);
	lane_release(s, &s->plain);
	lane_release(s, &s->side);
}

void stream_release(struct stream *s)
{
	release_lanes(s);
	hold_release(&s->hold);
	chunk_pool_release(&s->pool);
	unzstd_free(s->unzstd);
	free(s->fault);
	*s = (struct stream){ 0 };
}

void stream_start(struct stream *s, bool swap, u64 end)
{
	release_lanes(s);
	if (s->unzstd)
		unzstd_reset(s->unzstd);
	free(s->fault);
	s->fault = NULL;
	s->fault_offset = 0;
	hold_release(&s->hold);
	s->swap = swap;
	s->end = end;
	s->offset = s->source->pos;
	s->packed_left = 0;
	s->packed_more = false;
	s->packed_bytes = s->plain_bytes = 0;
}

PRINTF_LIKE(3, 4) static int fault(struct stream *s, u64 offset, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		oom(0);
	va_end(ap);
	if (s->fault) {
		free(text);
		return -EBADMSG;
	}
	s->fault = text;
	s->fault_offset = offset;
	return -EBADMSG;
}

static size_t lane_left(const struct lane *l)
{
	return l->chunk ? l->chunk->len - l->pos : 0;
}

/*
 * Where in a window the next record of a large file is to lie: in a page as in the file. When the
 * kernel copies a page to a place a few bytes after where it has it, some machines take four times
 * as long.
 */
static size_t lane_start(const struct stream *s, const struct lane *l, const struct chunk *c)
{
	enum { PAGE = 4096 };

	if (l != &s->file || s->pool.size < CHUNK_MAX)
		return 0;
	return (size_t)(s->offset - (uintptr_t)c->data) % PAGE / 8 * 8;
}

/* Makes room so that @need bytes can be in one piece from the next record on. */
static void lane_room(struct stream *s, struct lane *l, size_t need)
{
	size_t left = lane_left(l), start;
	struct chunk *old = l->chunk;

	if (old && l->pos + need <= s->pool.size)
		return;
	if (!old || old->refs > 1)
		l->chunk = chunk_get(&s->pool);
	start = lane_start(s, l, l->chunk);
	if (old && left)
		memmove(l->chunk->data + start, old->data + l->pos, left);
	if (l->chunk != old)
		chunk_unref(&s->pool, old);
	l->pos = start;
	l->chunk->len = start + left;
}

/* What is read at once, if @room is there and @need is needed. */
static size_t fill_most(const struct stream *s, size_t need, size_t room)
{
	return s->hold.map ? MIN(room, MAX(need, (size_t)FILL_BETWEEN)) : room;
}

/* Reads until the file lane holds @need bytes; fewer mean that the file has ended. */
static int fill(struct stream *s, size_t need)
{
	struct lane *l = &s->file;

	while (lane_left(l) < need) {
		u64 allowed = s->end - s->offset - lane_left(l);
		size_t room;
		ssize_t got;

		if (allowed == 0)
			return 0;
		lane_room(s, l, need);
		room = MIN(s->pool.size - l->chunk->len, allowed);
		got = source_read(s->source, l->chunk->data + l->chunk->len,
				  MIN(room, need - lane_left(l)), fill_most(s, need, room));
		if (got < 0)
			return fault(s, s->offset, "cannot read: %s", strerror((int)-got));
		if (got == 0)
			return 0;
		l->chunk->len += (size_t)got;
	}
	return 0;
}

static struct perf_event_header peek(const struct stream *s, const struct lane *l)
{
	struct perf_event_header h;

	memcpy(&h, l->chunk->data + l->pos, HEAD);
	if (s->swap) {
		h.type = __builtin_bswap32(h.type);
		h.misc = __builtin_bswap16(h.misc);
		h.size = __builtin_bswap16(h.size);
	}
	return h;
}

/* A record at an odd address is copied to an even one: everything after here reads u64s. */
static void align_raw(struct stream *s, struct raw *raw, const u8 *at)
{
	struct lane *l = &s->side;

	lane_room(s, l, raw->size);
	memcpy(l->chunk->data + l->pos, at, raw->size);
	raw->header = (struct perf_event_header *)(void *)(l->chunk->data + l->pos);
	raw->chunk = l->chunk;
	l->pos = ALIGN_UP(l->pos + raw->size, (size_t)8);
	l->chunk->len = l->pos = MIN(l->pos, s->pool.size);
}

/* Hands out the lane's next @size bytes as a record. */
static void cut(struct stream *s, struct lane *l, const struct perf_event_header *h, u32 size,
		struct raw *ret)
{
	u8 *at = l->chunk->data + l->pos;

	*ret = (struct raw){ .chunk = l->chunk, .size = size };
	if (l->pos % 8) /* data[] itself is aligned */
		align_raw(s, ret, at);
	else
		ret->header = (struct perf_event_header *)(void *)at;
	*ret->header = *h;
	l->pos += size;
}

/*
 * The real size of a COMPRESSED2 record. Some perf versions wrote chunks whose padded size does
 * not fit the 16 bits of the header; then data_size tells.
 */
static int compressed2_size(struct stream *s, const struct perf_event_header *h, u32 *ret)
{
	u64 data_size, real;
	int r = fill(s, HEAD + 8);

	if (r < 0)
		return r;
	if (lane_left(&s->file) < HEAD + 8)
		return fault(s, s->offset, "compressed record is cut");
	memcpy(&data_size, s->file.chunk->data + s->file.pos + HEAD, 8);
	if (s->swap)
		data_size = __builtin_bswap64(data_size);
	if (data_size > FORMAT_MAX_COMPRESSED2)
		return fault(s, s->offset, "compressed record claims %" PRIu64 " bytes", data_size);
	real = ALIGN_UP(data_size + HEAD + 8, (u64)8);
	if (h->size >= HEAD + 8 + data_size)
		real = h->size;
	else if ((u16)real != h->size)
		return fault(s, s->offset, "compressed record of %u bytes claims %" PRIu64, h->size,
			     data_size);
	*ret = (u32)real;
	return 0;
}

static int file_size(struct stream *s, const struct perf_event_header *h, u32 *ret)
{
	if (h->type == RECORD_COMPRESSED2)
		return compressed2_size(s, h, ret);
	if (h->size < HEAD)
		return fault(s, s->offset, "record of type %u has the impossible size %u", h->type,
			     h->size);
	*ret = h->size;
	return 0;
}

/* The file ended where a record should begin: as it should, or not. */
static int file_end(struct stream *s)
{
	size_t left = lane_left(&s->file);

	if (left)
		return fault(s, s->offset, "the last record is truncated after %zu bytes", left);
	if (s->end != UINT64_MAX && s->offset < s->end)
		return fault(s, s->offset,
			     "the file ends %" PRIu64 " bytes before the end of its data",
			     s->end - s->offset);
	if (lane_left(&s->plain))
		return fault(s, s->packed_offset, "the compressed data ends inside a record");
	return 0;
}

static bool is_packed(u32 type)
{
	return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

/* Points the unpacker at a compressed record, which stays in the file lane until used up. */
static void begin_packed(struct stream *s, const struct perf_event_header *h, u32 size)
{
	const u8 *at = s->file.chunk->data + s->file.pos;
	size_t head = HEAD, left = size - HEAD;

	if (h->type == RECORD_COMPRESSED2) {
		u64 n;

		memcpy(&n, at + HEAD, 8);
		head += 8;
		left = MIN(s->swap ? __builtin_bswap64(n) : n, size - head);
	}
	if (!s->unzstd)
		s->unzstd = unzstd_new();
	s->packed = at + head;
	s->packed_left = left;
	s->packed_offset = s->offset;
	s->packed_bytes += size;
	s->file.pos += size;
}

/* A compressed record goes to the unpacker; then ret->header is NULL. */
static int file_next(struct stream *s, struct raw *ret)
{
	struct perf_event_header h;
	u32 size = 0;
	int r = fill(s, HEAD);

	if (r < 0)
		return r;
	if (lane_left(&s->file) < HEAD)
		return file_end(s);
	h = peek(s, &s->file);
	r = file_size(s, &h, &size);
	if (r)
		return r;
	r = fill(s, size);
	if (r)
		return r;
	if (!s->file.chunk || lane_left(&s->file) < size)
		return fault(s, s->offset, "record of type %u is cut: %zu of %u bytes", h.type,
			     lane_left(&s->file), size);
	if (is_packed(h.type)) {
		begin_packed(s, &h, size);
		ret->header = NULL;
	} else {
		cut(s, &s->file, &h, size, ret);
	}
	ret->offset = s->offset;
	s->offset += size;
	return 1;
}

/* Unpacks as much as there is room for. */
static int unpack(struct stream *s)
{
	struct lane *l = &s->plain;
	ssize_t got;
	size_t room;

	lane_room(s, l, RECORD_MAX_SIZE + 1);
	room = s->pool.size - l->chunk->len;
	got = unzstd_run(s->unzstd, &s->packed, &s->packed_left, l->chunk->data + l->chunk->len,
			 room);
	if (got < 0)
		return fault(s, s->packed_offset, "the compressed data is damaged");
	l->chunk->len += (size_t)got;
	s->plain_bytes += (u64)got;
	s->packed_more = (size_t)got == room;
	return 0;
}

/* 1 and a record, 0 when the unpacked bytes are used up. */
static int plain_next(struct stream *s, struct raw *ret)
{
	struct lane *l = &s->plain;
	struct perf_event_header h = { 0 };

	for (;;) {
		size_t left = lane_left(l);
		int r;

		if (left >= HEAD) {
			h = peek(s, l);
			if (h.size < HEAD || is_packed(h.type) || h.type == RECORD_AUXTRACE ||
			    h.type == RECORD_HEADER_TRACING_DATA)
				return fault(s, s->packed_offset,
					     "compressed data holds an impossible record (type %u, "
					     "size %u)",
					     h.type, h.size);
			if (left >= h.size)
				break;
		}
		if (!s->packed_left && !s->packed_more)
			return 0;
		r = unpack(s);
		if (r < 0)
			return r;
	}
	cut(s, l, &h, h.size, ret);
	ret->offset = s->packed_offset;
	return 1;
}

int stream_next(struct stream *s, struct raw *ret)
{
	for (;;) {
		int r = plain_next(s, ret);

		if (r)
			return r;
		r = file_next(s, ret);
		if (r <= 0 || ret->header)
			return r;
	}
}

bool stream_hold(struct stream *s, const u8 **ret_at, const u8 **ret_end)
{
	if (s->swap || s->plain.chunk || s->packed_left || s->offset % 8)
		return false;
	return hold_take(&s->hold, s->source, s->offset, MIN(s->end, s->source->size), ret_at,
			 ret_end);
}

void stream_let_go(struct stream *s, size_t n)
{
	struct lane *l = &s->file;

	hold_drop(s->source);
	s->offset += n;
	if (n <= lane_left(l)) {
		l->pos += n;
		return;
	}
	lane_release(s, l);
	s->source->pos = s->offset;
}

int stream_skip(struct stream *s, u64 n)
{
	u64 inside = MIN(n, lane_left(&s->file)), skipped = inside, allowed;

	s->file.pos += inside;
	allowed = MIN(n - inside, s->end - s->offset - inside);
	if (allowed)
		skipped += source_skip(s->source, allowed);
	s->offset += skipped;
	if (skipped < n)
		return fault(s, s->offset,
			     "the data after a record is truncated: %" PRIu64 " of %" PRIu64
			     " bytes",
			     skipped, n);
	return 0;
}

int stream_take(struct stream *s, void *to, size_t n)
{
	size_t inside = MIN(n, lane_left(&s->file)), done = inside;
	u64 allowed;

	if (inside)
		memcpy(to, s->file.chunk->data + s->file.pos, inside);
	s->file.pos += inside;
	allowed = MIN(n - inside, s->end - s->offset - inside);
	if (allowed) {
		ssize_t got = source_read(s->source, (char *)to + inside, allowed, allowed);

		done += got > 0 ? (size_t)got : 0;
	}
	s->offset += done;
	if (done < n)
		return fault(s, s->offset, "the data after a record is truncated: %zu of %zu bytes",
			     done, n);
	return 0;
}
