/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_asset.h"

#include "base/asset.h"

#include <zlib.h>

enum { PIECE = 1 << 14, GZIP = 16 };

bool svg_asset(const char *name, struct buf *out)
{
	const struct asset *a = asset_find(name);
	z_stream z = { 0 };
	int r = Z_OK;

	if (!a || inflateInit2(&z, MAX_WBITS + GZIP) != Z_OK)
		return false;
	z.next_in = (u8 *)(uintptr_t)a->gzip;
	z.avail_in = (uInt)a->size;
	while (r == Z_OK) {
		z.next_out = (u8 *)buf_reserve(out, PIECE);
		z.avail_out = PIECE;
		r = inflate(&z, Z_NO_FLUSH);
		buf_added(out, PIECE - z.avail_out);
	}
	inflateEnd(&z);
	return r == Z_STREAM_END;
}
