/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiled tables on disk, one file for each build id. A file from the cache is foreign bytes like
 * any other: all that the unwinder later takes for granted is checked here.
 */
#include "unwind/table.h"

#include "base/fmt.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"

#define CACHE_MAX_FILE (256u << 20)

enum { CACHE_VERSION = 3 };
static const char cache_magic[8] = { 'f', 'a', 't', 'h', 'u', 'n', 'w', '\n' };

struct cache_header {
	char magic[8];
	u32 version;
	u32 build_id_len;
	u8 build_id[IMAGE_MAX_BUILD_ID];
	u64 layout;
	struct unwind_table_stats stats;
	u32 n_rules;
	u32 n_pages;
	u32 n_rows;
	u32 pad;
	u64 hash; /* of all that follows the header */
};

void unwind_table_pack(const struct unwind_table *t, struct buf *out)
{
	struct cache_header h = {
		.version = CACHE_VERSION,
		.build_id_len = t->build_id_len,
		.layout = t->layout,
		.stats = t->stats,
		.n_rules = t->n_rules,
		.n_pages = t->n_pages,
		.n_rows = t->n_rows,
	};
	size_t at = out->len;

	memcpy(h.magic, cache_magic, sizeof(h.magic));
	memcpy(h.build_id, t->build_id, sizeof(h.build_id));
	buf_add(out, &h, sizeof(h));
	buf_add(out, t->rules, t->n_rules * sizeof(*t->rules));
	buf_add(out, t->pages, t->n_pages * sizeof(*t->pages));
	buf_add(out, t->rows, t->n_rows * sizeof(*t->rows));
	h.hash = hash_bytes(out->data + at + sizeof(h), out->len - at - sizeof(h));
	memcpy(out->data + at, &h, sizeof(h));
}

static bool rules_valid(const struct unwind_table *t)
{
	for (u32 i = 0; i < t->n_rules; i++) {
		const struct unwind_rule *r = &t->rules[i];

		if (r->cfa > UNWIND_CFA_FAR_FP || r->bp > UNWIND_BP_REG || r->ra > UNWIND_RA_REG ||
		    r->reg >= UNWIND_REG_IP)
			return false;
	}
	return t->rules[UNWIND_RULE_END].cfa == UNWIND_CFA_END &&
	       t->rules[UNWIND_RULE_UNSUP].cfa == UNWIND_CFA_UNSUP;
}

static bool page_valid(const struct unwind_table *t, const struct unwind_page *p)
{
	if (p->first > t->n_rows || p->count > t->n_rows - p->first || p->count > UNWIND_PAGE_ROWS)
		return false;
	for (u32 i = 0; i < p->count; i++) {
		u32 row = t->rows[p->first + i];

		if ((row & 0xffff) >= t->n_rules)
			return false;
		if (i ? row >> 16 <= t->rows[p->first + i - 1] >> 16 : row >> 16 != 0)
			return false;
	}
	return true;
}

static bool table_valid(const struct unwind_table *t)
{
	if (!rules_valid(t))
		return false;
	for (u32 i = 0; i < t->n_pages; i++) {
		if (!page_valid(t, &t->pages[i]))
			return false;
	}
	return true;
}

static bool header_valid(const struct cache_header *h, size_t n)
{
	if (memcmp(h->magic, cache_magic, sizeof(h->magic)) != 0 || h->version != CACHE_VERSION)
		return false;
	if (h->build_id_len > IMAGE_MAX_BUILD_ID || h->n_rules < 2 ||
	    h->n_rules > UNWIND_MAX_RULES || h->n_pages > UNWIND_MAX_PAGES ||
	    h->n_rows > UNWIND_MAX_ROWS)
		return false;
	return n == sizeof(*h) + (u64)h->n_rules * sizeof(struct unwind_rule) +
			    (u64)h->n_pages * sizeof(struct unwind_page) + (u64)h->n_rows * 4;
}

int unwind_table_unpack(const void *bytes, size_t n, struct unwind_table **ret, struct err *e)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	const char *p = bytes;
	struct cache_header h;

	if (n < sizeof(h))
		return err_set(e, EBADMSG, "cached unwind table is too short");
	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	if (!header_valid(&h, n) || hash_bytes(p, n - sizeof(h)) != h.hash)
		return err_set(e, EBADMSG, "cached unwind table is damaged or of another version");
	t = xcalloc(1, sizeof(*t));
	t->n_rules = h.n_rules;
	t->n_pages = h.n_pages;
	t->n_rows = h.n_rows;
	t->rules = xmemdup(p, h.n_rules * sizeof(*t->rules));
	p += h.n_rules * sizeof(*t->rules);
	t->pages = xmemdup(p, h.n_pages * sizeof(*t->pages));
	p += h.n_pages * sizeof(*t->pages);
	t->rows = xmemdup(p, h.n_rows * sizeof(*t->rows));
	t->layout = h.layout;
	t->stats = h.stats;
	t->build_id_len = h.build_id_len;
	memcpy(t->build_id, h.build_id, sizeof(t->build_id));
	if (!table_valid(t))
		return err_set(e, EBADMSG, "cached unwind table has impossible contents");
	*ret = TAKE_PTR(t);
	return 0;
}

static int cache_file(const struct image *im, struct buf *ret)
{
	int rc = io_cache_path("unwind", ret, NULL);

	if (rc)
		return rc;
	buf_addch(ret, '/');
	fmt_hex(ret, im->build_id, im->build_id_len);
	return 0;
}

static bool cache_load(const struct image *im, const char *path, struct unwind_table **ret)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (io_read_file(path, CACHE_MAX_FILE, &b, NULL) ||
	    unwind_table_unpack(buf_str(&b), b.len, &t, NULL) || !t)
		return false;
	if (t->layout != image_layout(im) || t->build_id_len != im->build_id_len ||
	    memcmp(t->build_id, im->build_id, im->build_id_len) != 0)
		return false;
	*ret = TAKE_PTR(t);
	return true;
}

/* A cache that cannot be written is slower, not wrong. */
static void cache_store(const struct unwind_table *t, const char *path)
{
	_cleanup_buf_ struct buf dir = BUF_INIT, b = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	if (io_cache_path("unwind", &dir, NULL) || io_make_dirs(buf_str(&dir), NULL))
		return;
	unwind_table_pack(t, &b);
	if (b.len <= CACHE_MAX_FILE && io_write_file_atomic(path, b.data, b.len, &e))
		log_debug("%s", e.what);
}

int unwind_table_get(const struct image *im, struct unwind_table **ret, bool *cached, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	bool keyed = im->build_id_len >= 8 && !cache_file(im, &path);
	bool hit = keyed && cache_load(im, buf_str(&path), ret);

	if (cached)
		*cached = hit;
	if (hit)
		return 0;
	int rc = unwind_table_compile(im, ret, e);

	if (!rc && keyed)
		cache_store(*ret, buf_str(&path));
	return rc;
}
