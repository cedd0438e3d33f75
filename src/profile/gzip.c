/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/gzip.h"

#include <unistd.h>
#include <zlib.h>

enum { WINDOW = MAX_WBITS + 16, PIECE = 1 << 18, LEVEL = 6, MEMORY = 8, INPUT_MOST = 1 << 30 };
enum { RATIO_MOST = 100, UNPACKED_FREE = 64 << 20 }; /* the latter whatever the ratio */

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

/*
 * Profiles shrink to a tenth, long ones of equal lines to a fiftieth; a bomb to a thousandth. At
 * most half of the free memory is used.
 */
static size_t bound(size_t len, size_t most)
{
	const u64 pages = (u64)MAX(sysconf(_SC_AVPHYS_PAGES), 0L);
	const u64 page = (u64)MAX(sysconf(_SC_PAGESIZE), 1L);
	u64 by_ratio = MAX((u64)len * RATIO_MOST, (u64)UNPACKED_FREE);
	u64 by_memory = MAX(pages * page / 2, (u64)UNPACKED_FREE);

	return (size_t)MIN(MIN(by_ratio, by_memory), (u64)most);
}

int gzip_unpack(const void *data, size_t len, size_t most, struct buf *ret, struct err *e)
{
	z_stream z = { 0 };
	int r;

	if (inflateInit2(&z, WINDOW) != Z_OK)
		oom(sizeof(z));
	most = bound(len, most);
	r = unpack(&z, data, len, most, ret);
	inflateEnd(&z);
	if (r == -EFBIG) {
		err_set(e, EFBIG, "unpacked it is larger than %zu MB", most >> 20);
		err_hint(e,
			 "the limit is %d times the packed size, and half of the free memory: "
			 "unpack it with gunzip if it is to be trusted",
			 RATIO_MOST);
		return -EFBIG;
	}
	return r < 0 ? err_set(e, EBADMSG, "the packed data is damaged or truncated") : 0;
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
