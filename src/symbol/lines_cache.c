/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/store.h"

#include "base/io.h"

#define LINES_SUFFIX ".lines"
enum {
	LINES_CACHE_MAX_FILE = 16 << 20,
	LINES_CACHE_MAX_PLACES = 1 << 17, /* of one file; what is beyond is found anew each time */
};

/*
 * An entry is the fingerprint of the file's headers and the answers: a build id can be forged, and
 * the answers of a forged file must not be shown for the real one.
 */
bool lines_cache_wanted(const struct symbols *s, const struct image *img)
{
	return s->opts.cache_dir && !s->opts.no_demangle && img->build_id_len >= 8;
}

static void read_cache(struct symbols *s, struct image *img)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_close_ int fd = -1;
	u64 size, fingerprint;

	fd = cache_open(s->opts.cache_dir, img->build_id, img->build_id_len, LINES_SUFFIX,
			LINES_CACHE_MAX_FILE, &size);
	if (fd < 0 || io_read_fd(fd, "cache of lines", LINES_CACHE_MAX_FILE, &bytes, NULL) < 0)
		return;
	if (bytes.len <= sizeof(fingerprint))
		return;
	memcpy(&fingerprint, bytes.data, sizeof(fingerprint));
	if (fingerprint == img->fingerprint)
		(void)known_lines_read(s, &img->lines.cached, bytes.data + sizeof(fingerprint),
				       bytes.len - sizeof(fingerprint));
}

bool lines_cache_find(struct symbols *s, struct image *img, u64 vaddr, struct source_frame *ret,
		      size_t max, size_t *ret_n)
{
	if (!lines_cache_wanted(s, img))
		return false;
	if (!img->lines.cache_read)
		read_cache(s, img);
	img->lines.cache_read = true;
	return known_lines_find(s, &img->lines.cached, vaddr, ret, max, ret_n);
}

void lines_cache_add(struct symbols *s, struct image *img, u64 start, u64 size,
		     const struct source_frame *frames, size_t n)
{
	struct known_lines *k = &img->lines.cached;

	if (!lines_cache_wanted(s, img) || k->at.len + k->runs.len >= LINES_CACHE_MAX_PLACES)
		return;
	if (size > 1)
		known_lines_add_run(s, k, start, size, frames, n);
	else
		known_lines_add(s, k, start, frames, n);
	img->lines.cache_grew = true;
}

void lines_cache_save(const struct symbols *s, struct image *img)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	if (!img->lines.cache_grew)
		return;
	buf_add(&bytes, &img->fingerprint, sizeof(img->fingerprint));
	known_lines_write(s, &img->lines.cached, &bytes);
	if (bytes.len <= LINES_CACHE_MAX_FILE)
		(void)cache_write(s->opts.cache_dir, img->build_id, img->build_id_len, LINES_SUFFIX,
				  bytes.data, bytes.len);
}
