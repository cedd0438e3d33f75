/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiled tables on disk, one file for each build and identity: the arrays as they are in memory,
 * so that loading is a mapping and a check. A file from the cache is foreign bytes like any other:
 * all that the unwinder later relies on is checked here. Rows are checked by pages, each
 * with a sum of its own, because of a large table only a few pages are ever used.
 */
#include "unwind/table.h"

#include <sys/mman.h>

#include "base/fmt.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/safedir.h"

#define CACHE_MAX_FILE  (256u << 20)
#define CACHE_MAX_TOTAL (512ull << 20)
#define CACHE_SUFFIX    ".unwind"

enum { CACHE_VERSION = 5 };
static const char cache_magic[8] = { 'f', 'a', 't', 'h', 'u', 'n', 'w', '\n' };

struct cache_header {
	char magic[8];
	u32 version;
	u32 build_id_len;
	u8 build_id[ELF_BUILD_ID_MAX];
	u64 fingerprint;
	struct unwind_table_stats stats;
	u32 n_rules;
	u32 n_pages;
	u32 n_rows;
	u32 pad;
	u64 hash; /* of what follows the header, up to the rows */
};
_Static_assert(sizeof(struct cache_header) % 8 == 0, "arrays follow it");

/* Where the arrays are: pages and their sums make whole words together. */
struct cache_layout {
	size_t rules, pages, sums, rows, total;
};

static struct cache_layout layout_of(const struct cache_header *h)
{
	struct cache_layout at = { .rules = sizeof(*h) };

	at.pages = at.rules + h->n_rules * sizeof(struct unwind_rule);
	at.sums = at.pages + h->n_pages * sizeof(struct unwind_page);
	at.rows = ALIGN_UP(at.sums + h->n_pages * sizeof(u32), 8);
	at.total = at.rows + h->n_rows * sizeof(u32);
	return at;
}

static u32 page_sum(const struct unwind_table *t, u32 page)
{
	const struct unwind_page *p = &t->pages[page];

	return (u32)hash_bytes(t->rows + p->first, p->count * sizeof(*t->rows));
}

static void pack_sums(const struct unwind_table *t, struct buf *out)
{
	for (u32 i = 0; i < t->n_pages; i++) {
		const struct unwind_page *p = &t->pages[i];
		bool inside = p->first <= t->n_rows && p->count <= t->n_rows - p->first;
		u32 sum = inside ? page_sum(t, i) : 0;

		buf_add(out, &sum, sizeof(sum));
	}
}

void unwind_table_pack(const struct unwind_table *t, struct buf *out)
{
	struct cache_header h = {
		.version = CACHE_VERSION,
		.build_id_len = t->build_id_len,
		.fingerprint = t->fingerprint,
		.stats = t->stats,
		.n_rules = t->n_rules,
		.n_pages = t->n_pages,
		.n_rows = t->n_rows,
	};
	size_t begin = out->len;

	memcpy(h.magic, cache_magic, sizeof(h.magic));
	memcpy(h.build_id, t->build_id, sizeof(h.build_id));
	buf_add(out, &h, sizeof(h));
	buf_add(out, t->rules, t->n_rules * sizeof(*t->rules));
	buf_add(out, t->pages, t->n_pages * sizeof(*t->pages));
	pack_sums(t, out);
	buf_fill(out, '\0', layout_of(&h).rows - (out->len - begin));
	h.hash = hash_bytes(out->data + begin + sizeof(h), out->len - begin - sizeof(h));
	buf_add(out, t->rows, t->n_rows * sizeof(*t->rows));
	memcpy(out->data + begin, &h, sizeof(h));
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

bool unwind_table_page_valid(const struct unwind_table *t, u32 page)
{
	const struct unwind_page *p = &t->pages[page];

	if (t->sums && t->sums[page] != page_sum(t, page))
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

static bool table_valid(const struct unwind_table *t, bool later)
{
	if (!rules_valid(t))
		return false;
	for (u32 i = 0; i < t->n_pages; i++) {
		const struct unwind_page *p = &t->pages[i];

		if (p->first > t->n_rows || p->count > t->n_rows - p->first ||
		    p->count > UNWIND_PAGE_ROWS)
			return false;
		if (!later && !unwind_table_page_valid(t, i))
			return false;
	}
	return true;
}

static bool header_valid(const struct cache_header *h, size_t n)
{
	if (memcmp(h->magic, cache_magic, sizeof(h->magic)) != 0 || h->version != CACHE_VERSION)
		return false;
	if (h->build_id_len > ELF_BUILD_ID_MAX || h->n_rules < 2 || h->n_rules > UNWIND_MAX_RULES ||
	    h->n_pages > UNWIND_MAX_PAGES || h->n_rows > UNWIND_MAX_ROWS)
		return false;
	return n == layout_of(h).total;
}

/* Points into the bytes; the const goes because a table owns either such arrays or others. */
static void *inside(const void *bytes, size_t offset)
{
	return (void *)(uintptr_t)((const char *)bytes + offset);
}

int unwind_table_unpack(const void *bytes, size_t n, bool later, struct unwind_table **ret,
			struct err *e)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	struct cache_layout at;
	struct cache_header h;

	if (n < sizeof(h))
		return err_set(e, EBADMSG, "cached unwind table is too short");
	memcpy(&h, bytes, sizeof(h));
	at = layout_of(&h);
	if (!header_valid(&h, n) ||
	    hash_bytes(inside(bytes, sizeof(h)), at.rows - sizeof(h)) != h.hash)
		return err_set(e, EBADMSG, "cached unwind table is damaged or of another version");
	t = xcalloc(1, sizeof(*t));
	*t = (struct unwind_table){
		.rules = inside(bytes, at.rules),
		.pages = inside(bytes, at.pages),
		.sums = inside(bytes, at.sums),
		.rows = inside(bytes, at.rows),
		.n_rules = h.n_rules,
		.n_pages = h.n_pages,
		.n_rows = h.n_rows,
		.fingerprint = h.fingerprint,
		.stats = h.stats,
		.build_id_len = h.build_id_len,
		.borrowed = true,
	};
	memcpy(t->build_id, h.build_id, sizeof(t->build_id));
	if (!table_valid(t, later))
		return err_set(e, EBADMSG, "cached unwind table has impossible contents");
	*ret = TAKE_PTR(t);
	return 0;
}

/* The name of a file's table; also which file it is, because anybody can copy a build id. */
static void cache_name(const struct elf *elf, struct buf *ret)
{
	fmt_hex(ret, elf->build_id, elf->build_id_len);
	buf_addf(ret, "-%016llx" CACHE_SUFFIX, (unsigned long long)elf->identity);
}

static bool is_ours(const char *name)
{
	const size_t id = strspn(name, "0123456789abcdef");

	return id >= 16 && name[id] == '-' && strspn(name + id + 1, "0123456789abcdef") == 16 &&
	       streq(name + id + 17, CACHE_SUFFIX);
}

/* Only files that we wrote ourselves: mapped bytes must not change or shrink under us. */
static const void *cache_map(int dir, const char *name, size_t *ret_len)
{
	u64 size = 0;
	_cleanup_close_ int fd = safedir_open_file(dir, name, CACHE_MAX_FILE, &size);

	if (fd < 0 || !size)
		return NULL;
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	*ret_len = size;
	return p == MAP_FAILED ? NULL : p;
}

static bool cache_load(const struct elf *elf, int dir, const char *name, bool later,
		       struct unwind_table **ret)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	size_t n;
	const void *map = cache_map(dir, name, &n);

	if (!map)
		return false;
	if (unwind_table_unpack(map, n, later, &t, NULL) || !t) {
		munmap((void *)(uintptr_t)map, n);
		return false;
	}
	t->map = map;
	t->map_len = n;
	if (t->fingerprint != elf->fingerprint || t->build_id_len != elf->build_id_len ||
	    memcmp(t->build_id, elf->build_id, elf->build_id_len) != 0)
		return false;
	*ret = TAKE_PTR(t);
	return true;
}

/* A cache that cannot be written is slower, not wrong. */
static void cache_store(const struct unwind_table *t, int dir, const char *name)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int r;

	unwind_table_pack(t, &b);
	if (b.len > CACHE_MAX_FILE)
		return;
	safedir_make_room(dir, b.len, CACHE_MAX_TOTAL, is_ours);
	r = safedir_write(dir, name, b.data, b.len);
	if (r < 0)
		log_debug("cannot write an unwind table to the cache: %s", strerror(-r));
}

static int open_cache(void)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	int r = safedir_cache_path("unwind", &path, NULL);

	return r < 0 ? r : safedir_open(buf_str(&path), NULL);
}

static int get_table(const struct elf *elf, bool later, struct unwind_table **ret, bool *cached,
		     struct err *e)
{
	_cleanup_close_ int dir = elf->build_id_len >= 8 && elf->identity ? open_cache() : -1;
	_cleanup_buf_ struct buf name = BUF_INIT;
	bool hit = false;

	if (dir >= 0) {
		cache_name(elf, &name);
		hit = cache_load(elf, dir, buf_str(&name), later, ret);
	}
	if (cached)
		*cached = hit;
	if (hit)
		return 0;
	int rc = unwind_table_compile(elf, ret, e);

	if (!rc && dir >= 0)
		cache_store(*ret, dir, buf_str(&name));
	return rc;
}

int unwind_table_get(const struct elf *elf, struct unwind_table **ret, bool *cached, struct err *e)
{
	return get_table(elf, false, ret, cached, e);
}

int unwind_table_get_later(const struct elf *elf, struct unwind_table **ret, struct err *e)
{
	return get_table(elf, true, ret, NULL, e);
}
