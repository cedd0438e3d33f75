/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/zstd.h"

#include "recording/record.h"

#include <errno.h>
#include <zstd.h>

struct unzstd {
	ZSTD_DStream *stream;
};

struct zstd_packer {
	ZSTD_CStream *stream;
};

struct unzstd *unzstd_new(void)
{
	struct unzstd *z = xmalloc(sizeof(*z));

	z->stream = ZSTD_createDStream();
	if (!z->stream)
		oom(sizeof(*z));
	return z;
}

void unzstd_free(struct unzstd *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

void unzstd_reset(struct unzstd *z)
{
	ZSTD_DCtx_reset(z->stream, ZSTD_reset_session_only);
}

ssize_t unzstd_run(struct unzstd *z, const u8 **in, size_t *in_left, void *out, size_t out_size)
{
	ZSTD_inBuffer i = { .src = *in, .size = *in_left };
	ZSTD_outBuffer o = { .dst = out, .size = out_size };
	size_t ret = ZSTD_decompressStream(z->stream, &o, &i);

	if (ZSTD_isError(ret))
		return -EBADMSG;
	*in += i.pos;
	*in_left -= i.pos;
	return (ssize_t)o.pos;
}

struct zstd_packer *zstd_packer_new(int level)
{
	struct zstd_packer *z = xmalloc(sizeof(*z));

	z->stream = ZSTD_createCStream();
	if (!z->stream || ZSTD_isError(ZSTD_initCStream(z->stream, level)))
		oom(sizeof(*z));
	return z;
}

void zstd_packer_free(struct zstd_packer *z)
{
	if (!z)
		return;
	ZSTD_freeCStream(z->stream);
	free(z);
}

/* One COMPRESSED record, filled as far as it goes; true when nothing is left to come out. */
static int pack_one(struct zstd_packer *z, ZSTD_inBuffer *in, struct buf *out, bool *ret_done)
{
	enum { HEAD = sizeof(struct perf_event_header), BODY = (RECORD_MAX_SIZE & ~7) - HEAD };
	char *at = buf_reserve(out, HEAD + BODY);
	ZSTD_outBuffer o = { .dst = at + HEAD, .size = BODY };
	size_t ret = ZSTD_compressStream2(z->stream, &o, in, ZSTD_e_flush);
	struct perf_event_header h = { .type = RECORD_COMPRESSED };

	if (ZSTD_isError(ret))
		return -EIO;
	*ret_done = ret == 0 && in->pos == in->size;
	if (o.pos == 0)
		return 0;
	h.size = (u16)(HEAD + o.pos);
	memcpy(at, &h, HEAD);
	buf_added(out, HEAD + o.pos);
	return 0;
}

int zstd_pack(struct zstd_packer *z, const void *data, size_t size, struct buf *out)
{
	const char *p = data;
	int ret = 0;

	while (size && ret == 0) {
		ZSTD_inBuffer in = { .src = p, .size = MIN(size, (size_t)ZSTD_STEP) };
		bool done = false;

		while (!done && ret == 0)
			ret = pack_one(z, &in, out, &done);
		p += in.size;
		size -= in.size;
	}
	return ret;
}
