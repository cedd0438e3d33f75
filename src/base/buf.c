/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

enum { BUF_FIRST = 64 };

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_reset_most(struct buf *b, size_t most)
{
	if (b->cap > most)
		buf_release(b);
	else
		buf_reset(b);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t extra)
{
	size_t need;

	if (__builtin_add_overflow(b->len, extra, &need) || __builtin_add_overflow(need, 1, &need))
		oom(SIZE_MAX);
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap + b->cap / 2 : BUF_FIRST;

		b->cap = MAX(cap, need);
		b->data = xrealloc(b->data, b->cap);
	}
	return b->data + b->len;
}

void buf_added(struct buf *b, size_t n)
{
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	char *to = buf_reserve(b, n);

	if (n)
		memcpy(to, p, n);
	buf_added(b, n);
}

void buf_addstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addch(struct buf *b, char c)
{
	*buf_reserve(b, 1) = c;
	buf_added(b, 1);
}

void buf_fill(struct buf *b, char c, size_t n)
{
	memset(buf_reserve(b, n), c, n);
	buf_added(b, n);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	va_copy(again, ap);
	buf_reserve(b, BUF_FIRST);
	room = b->cap - b->len;
	n = vsnprintf(b->data + b->len, room, fmt, ap);
	if (n < 0)
		oom(0);
	if ((size_t)n >= room) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	b->len += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void buf_addu(struct buf *b, u64 v)
{
	char text[20];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_add(b, text + at, sizeof(text) - at);
}

void buf_addx(struct buf *b, u64 v)
{
	char text[16];
	size_t at = sizeof(text);

	do {
		text[--at] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	buf_add(b, text + at, sizeof(text) - at);
}

void buf_addutf8(struct buf *b, u32 c)
{
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const u8 first[] = { 0, 0xc0, 0xe0, 0xf0 };

	buf_addch(b, (char)(first[more] | c >> 6 * more));
	for (int i = more - 1; i >= 0; i--)
		buf_addch(b, (char)(0x80 | (c >> 6 * i & 0x3f)));
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}

char *buf_detach(struct buf *b)
{
	char *p;

	buf_reserve(b, 0);
	b->data[b->len] = '\0';
	p = b->data;
	*b = (struct buf)BUF_INIT;
	return p;
}
