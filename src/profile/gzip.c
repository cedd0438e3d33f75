/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/gzip.h"

#include <zlib.h>

enum { WINDOW = MAX_WBITS + 16, PIECE = 1 << 18, LEVEL = 6, MEMORY = 8, INPUT_MOST = 1 << 30 };

bool gzip_is(const void *data, size_t len)
{
	const u8 *p = data;

	return len >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

static int unpack(z_stream *z, const u8 *data, size_t left, size_t most, struct buf *ret)
{
	size_t start = ret->len;
	int r = Z_OK;

	z->next_in = (Bytef *)(uintptr_t)data;
	while (r != Z_STREAM_END) {
		if (!z->avail_in && left) {
			z->avail_in = (uInt)MIN(left, (size_t)INPUT_MOST);
			left -= z->avail_in;
		}
		z->next_out = (Bytef *)buf_reserve(ret, PIECE);
		z->avail_out = PIECE;
		r = inflate(z, Z_NO_FLUSH);
		buf_added(ret, PIECE - z->avail_out);
		if (ret->len - start > most)
			return -EFBIG;
		if (r != Z_OK && r != Z_STREAM_END)
			return -EBADMSG;
	}
	return 0;
}

int gzip_unpack(const void *data, size_t len, size_t most, struct buf *ret, struct err *e)
{
	z_stream z = { 0 };
	int r;

	if (inflateInit2(&z, WINDOW) != Z_OK)
		oom(sizeof(z));
	r = unpack(&z, data, len, most, ret);
	inflateEnd(&z);
	if (r == -EFBIG)
		return err_set(e, EFBIG, "unpacked it is larger than %zu MB", most >> 20);
	return r < 0 ? err_set(e, EBADMSG, "the packed data is damaged or cut") : 0;
}

void gzip_pack(const struct buf *in, struct buf *out)
{
	z_stream z = { 0 };
	size_t left = in->len;
	int r = Z_OK;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		oom(sizeof(z));
	z.next_in = (Bytef *)in->data;
	while (r != Z_STREAM_END) {
		if (!z.avail_in && left) {
			z.avail_in = (uInt)MIN(left, (size_t)INPUT_MOST);
			left -= z.avail_in;
		}
		z.next_out = (Bytef *)buf_reserve(out, PIECE);
		z.avail_out = PIECE;
		r = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		buf_added(out, PIECE - z.avail_out);
	}
	deflateEnd(&z);
}
