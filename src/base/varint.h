/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protocol buffers on the wire: just enough to write messages and to walk those of others. */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include "base/buf.h"

/* The number at *p, at most ten bytes of seven bits each; moves *p past it. */
bool varint_read(const u8 **p, const u8 *end, u64 *ret);
void varint_write(struct buf *out, u64 v);

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire {
	const u8 *p, *end;
};

struct wire_field {
	u32 number;
	u32 type;       /* enum wire_type */
	u64 value;      /* of the numeric types */
	const u8 *data; /* WIRE_BYTES: inside the message */
	size_t len;
};

/* 1: a field, 0: the end, -EBADMSG: broken, w->p is where. */
int wire_next(struct wire *w, struct wire_field *ret);
static inline struct wire wire_of(const void *data, size_t len)
{
	return (struct wire){ data, (const u8 *)data + len };
}
/*
 * The numbers of a repeated field, packed or not: call it until it is false. @at is NULL at first;
 * *ok becomes false when the bytes are broken.
 */
bool wire_packed(const struct wire_field *f, const u8 **at, u64 *ret, bool *ok);

/* Zero is what a missing field reads as: it is not written. */
void wire_u64(struct buf *out, u32 number, u64 v);
void wire_s64(struct buf *out, u32 number, s64 v);
void wire_bytes(struct buf *out, u32 number, const void *data, size_t len);
/* An embedded message; empty ones are written, too. */
void wire_message(struct buf *out, u32 number, const struct buf *message);

#endif
