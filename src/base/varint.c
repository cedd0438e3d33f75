/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/varint.h"

#include <errno.h>

bool varint_read(const u8 **p, const u8 *end, u64 *ret)
{
	const u8 *at = *p;
	u64 v = 0;

	for (unsigned int shift = 0; shift < 70 && at < end; shift += 7) {
		u8 byte = *at++;

		if (shift < 64)
			v |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*p = at;
			*ret = v;
			return true;
		}
	}
	return false;
}

void varint_write(struct buf *out, u64 v)
{
	while (v >= 0x80) {
		buf_addch(out, (char)(v | 0x80));
		v >>= 7;
	}
	buf_addch(out, (char)v);
}

static bool read_fixed(struct wire *w, size_t size, u64 *ret)
{
	u64 v = 0;

	if ((size_t)(w->end - w->p) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		v |= (u64)w->p[i] << (8 * i);
	w->p += size;
	*ret = v;
	return true;
}

static bool read_bytes(struct wire *w, struct wire_field *f)
{
	u64 len;

	if (!varint_read(&w->p, w->end, &len) || len > (u64)(w->end - w->p))
		return false;
	f->data = w->p;
	f->len = (size_t)len;
	w->p += len;
	return true;
}

int wire_next(struct wire *w, struct wire_field *ret)
{
	struct wire_field f = { 0 };
	bool ok = false;
	u64 tag;

	if (w->p >= w->end)
		return 0;
	if (!varint_read(&w->p, w->end, &tag) || tag >> 3 == 0 || tag >> 32)
		return -EBADMSG;
	f.number = (u32)(tag >> 3);
	f.type = tag & 7;
	switch (f.type) {
	case WIRE_VARINT: ok = varint_read(&w->p, w->end, &f.value); break;
	case WIRE_FIXED64: ok = read_fixed(w, 8, &f.value); break;
	case WIRE_FIXED32: ok = read_fixed(w, 4, &f.value); break;
	case WIRE_BYTES: ok = read_bytes(w, &f); break;
	default: break;
	}
	if (!ok)
		return -EBADMSG;
	*ret = f;
	return 1;
}

bool wire_packed(const struct wire_field *f, const u8 **at, u64 *ret, bool *ok)
{
	static const u8 done;

	if (f->type != WIRE_BYTES) {
		*ret = f->value;
		if (*at)
			return false;
		*at = &done;
		return true;
	}
	if (!*at)
		*at = f->data;
	if (*at >= f->data + f->len)
		return false;
	if (varint_read(at, f->data + f->len, ret))
		return true;
	*ok = false;
	return false;
}

void wire_u64(struct buf *out, u32 number, u64 v)
{
	if (!v)
		return;
	varint_write(out, (u64)number << 3 | WIRE_VARINT);
	varint_write(out, v);
}

void wire_s64(struct buf *out, u32 number, s64 v)
{
	wire_u64(out, number, (u64)v);
}

void wire_bytes(struct buf *out, u32 number, const void *data, size_t len)
{
	varint_write(out, (u64)number << 3 | WIRE_BYTES);
	varint_write(out, len);
	buf_add(out, data, len);
}

void wire_message(struct buf *out, u32 number, const struct buf *message)
{
	wire_bytes(out, number, buf_str(message), message->len);
}
