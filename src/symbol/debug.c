/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug.h"

#include "base/fmt.h"
#include "base/io.h"
#include "symbol/srcline.h"
#include "symbol/keep.h"

#include <zlib.h>
#ifdef HAVE_LIBLZMA
#include <lzma.h>
#endif

static bool crc_matches(const struct elf *elf, u32 wanted)
{
	_cleanup_free_ u8 *part = NULL;
	const size_t size = 1 << 20;
	uLong crc = crc32(0, NULL, 0);

	if (elf->size > DEBUG_MAX_CRC_BYTES)
		return false;
	part = xmalloc(size);
	for (u64 at = 0; at < elf->size;) {
		size_t n = MIN(elf->size - at, (u64)size);

		if (elf_read(elf, at, part, n) < 0)
			return false;
		crc = crc32(crc, part, (uInt)n);
		at += n;
	}
	return (u32)crc == wanted;
}

/* Whether a candidate belongs to the main file. The build id decides where both have one. */
static bool belongs(const struct debug_search *s, const struct elf *elf, const u32 *crc)
{
	u8 id[64];
	size_t n = elf_build_id(elf, id, sizeof(id));

	if (elf->machine != s->main->machine || elf->is64 != s->main->is64)
		return false;
	if (n && s->build_id_len)
		return n == s->build_id_len && memcmp(id, s->build_id, n) == 0;
	return crc && crc_matches(elf, *crc);
}

static bool try_in_root(const struct debug_search *s, const char *root, const char *path,
			const u32 *crc, struct elf *ret)
{
	int fd = io_open_in_root(root, path);

	if (fd < 0 || elf_open_fd(ret, fd, path, NULL) < 0)
		return false;
	if ((s->lines ? srcline_has(ret) : elf_find_type(ret, SHT_SYMTAB) != NULL) &&
	    belongs(s, ret, crc))
		return true;
	elf_release(ret);
	return false;
}

static bool try_path(const struct debug_search *s, const char *path, const u32 *crc,
		     struct elf *ret, struct buf *ret_path)
{
	if (try_in_root(s, NULL, path, crc, ret)) {
		buf_addstr(ret_path, path);
		return true;
	}
	if (s->root && try_in_root(s, s->root, path, crc, ret)) {
		buf_addf(ret_path, "%s%s", s->root, path);
		return true;
	}
	return false;
}

static bool by_build_id(const struct debug_search *s, struct elf *ret, struct buf *ret_path)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	if (s->build_id_len < 2)
		return false;
	buf_addf(&path, "%s/.build-id/%02x/", s->dir, s->build_id[0]);
	fmt_hex(&path, s->build_id + 1, s->build_id_len - 1);
	buf_addstr(&path, ".debug");
	return try_path(s, path.data, NULL, ret, ret_path);
}

static bool by_debuglink(const struct debug_search *s, struct elf *ret, struct buf *ret_path)
{
	_cleanup_buf_ struct buf name = BUF_INIT, path = BUF_INIT;
	const char *slash = strrchr(s->path, '/');
	const int n = slash ? (int)MIN(slash - s->path, 4096) : 0;
	u32 crc;

	if (s->path[0] != '/' || !elf_debuglink(s->main, &name, &crc))
		return false;
	buf_addf(&path, "%.*s/.debug/%s", n, s->path, name.data);
	if (try_path(s, path.data, &crc, ret, ret_path))
		return true;
	buf_reset(&path);
	buf_addf(&path, "%s%.*s/%s", s->dir, n, s->path, name.data);
	if (try_path(s, path.data, &crc, ret, ret_path))
		return true;
	buf_reset(&path);
	buf_addf(&path, "%.*s/%s", n, s->path, name.data);
	return try_path(s, path.data, &crc, ret, ret_path);
}

static bool by_server(const struct debug_search *s, struct elf *ret, struct buf *ret_path)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	return debuginfod_find(s->server, s->build_id, s->build_id_len, &path) == 0 &&
	       try_path(s, path.data, NULL, ret, ret_path);
}

/* What 'fathom archive' and perf keep beside a copy of the file. */
static bool by_keeping(const struct debug_search *s, struct elf *ret, struct buf *ret_path)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	_cleanup_free_ char *folder = keep_folder();

	if (s->build_id_len < 2)
		return false;
	buf_addf(&path, "%s/.build-id/%02x/", folder, s->build_id[0]);
	fmt_hex(&path, s->build_id + 1, s->build_id_len - 1);
	buf_addstr(&path, "/debug");
	return try_path(s, path.data, NULL, ret, ret_path);
}

int debug_find(const struct debug_search *search, struct elf *ret, struct buf *ret_path)
{
	if (by_build_id(search, ret, ret_path) || by_debuglink(search, ret, ret_path) ||
	    by_keeping(search, ret, ret_path) || by_server(search, ret, ret_path))
		return 0;
	return -ENOENT;
}

int debug_find_alt(const struct debug_search *search, const struct elf *debug, const char *path,
		   struct elf *ret)
{
	_cleanup_buf_ struct buf link = BUF_INIT, id = BUF_INIT, full = BUF_INIT, found = BUF_INIT;
	const char *slash = strrchr(path, '/');
	struct debug_search s = *search;

	if (!srcline_altlink(debug, &link, &id))
		return -ENOENT;
	/* It is known by its own build id, and holds neither symbols nor whole units. */
	s.lines = true;
	s.build_id = (const u8 *)id.data;
	s.build_id_len = id.len;
	if (link.data[0] != '/' && slash)
		buf_addf(&full, "%.*s/", (int)MIN(slash - path, 4096), path);
	buf_addstr(&full, link.data);
	return try_path(&s, full.data, NULL, ret, &found) || by_build_id(&s, ret, &found) ? 0
											  : -ENOENT;
}

#ifdef HAVE_LIBLZMA
static int unpack_xz(const struct buf *packed, struct buf *ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&stream, MINIDEBUG_MAX_BYTES, 0);

	stream.next_in = (const u8 *)packed->data;
	stream.avail_in = packed->len;
	while (r == LZMA_OK && ret->len < MINIDEBUG_MAX_BYTES) {
		const size_t room = 1 << 18;

		stream.next_out = (u8 *)buf_reserve(ret, room);
		stream.avail_out = room;
		r = lzma_code(&stream, LZMA_FINISH);
		buf_added(ret, room - stream.avail_out);
	}
	lzma_end(&stream);
	return r == LZMA_STREAM_END ? 0 : -EBADMSG;
}
#else
static int unpack_xz(const struct buf *packed, struct buf *ret)
{
	(void)packed;
	(void)ret;
	return -ENOTSUP;
}
#endif

int minidebug_open(const struct elf *main, struct buf *storage, struct elf *ret)
{
	const struct elf_section *s = elf_find_section(main, ".gnu_debugdata");
	_cleanup_buf_ struct buf packed = BUF_INIT;
	int r;

	if (!s || elf_read_section(main, s, MINIDEBUG_MAX_BYTES, &packed) < 0 || !packed.len)
		return -ENOENT;
	r = unpack_xz(&packed, storage);
	if (r < 0)
		return r;
	return elf_open_mem(ret, storage->data, storage->len, ".gnu_debugdata", NULL);
}
