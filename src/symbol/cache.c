/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/image.h"

#include "base/fmt.h"
#include "base/io.h"
#include "base/safedir.h"

#include <sys/mman.h>

#define CACHE_MAGIC "FTHSYM\0\6"
enum {
	CACHE_MAX_NAME = 16 << 10,
	CACHE_COMPLETE = 1, /* flag: the names are from a full symbol table */
};

/* All arrays follow in this order, each on a boundary of 8 bytes. */
struct cache_header {
	char magic[8]; /* the last byte is the version */
	u64 total;     /* bytes of the whole file */
	u64 fingerprint;
	u64 identity;
	u16 build_id_len;
	u16 flags;
	u32 debug_file_len;
	u32 segments;
	u32 named; /* symbols that have a name */
	u64 spans;
	u64 syms;
	u64 strings_len;
	u8 build_id[MODULE_BUILD_ID_MAX];
};
_Static_assert(sizeof(struct cache_header) == 136, "part of the cache format");
_Static_assert(sizeof(struct elf_segment) == 40, "part of the cache format");

/* Where each array begins, computed from the header in one place for reader and writer. */
struct cache_layout {
	u64 segments, starts, ids, syms, debug_file, strings, total;
};

/* False when the sizes are absurd: nothing here can overflow after this check. */
static bool layout(const struct cache_header *h, struct cache_layout *ret)
{
	if (h->segments > ELF_MAX_PHDRS || h->spans > UINT32_MAX || h->syms >= UINT32_MAX ||
	    h->strings_len > CACHE_MAX_FILE * 2 || h->debug_file_len > 65536 ||
	    h->build_id_len > MODULE_BUILD_ID_MAX)
		return false;
	ret->segments = sizeof(*h);
	ret->starts = ret->segments + h->segments * sizeof(struct elf_segment);
	ret->ids = ret->starts + h->spans * sizeof(u64);
	ret->syms = ALIGN_UP(ret->ids + h->spans * sizeof(u32), 8);
	ret->debug_file = ret->syms + h->syms * sizeof(struct sym);
	ret->strings = ret->debug_file + ALIGN_UP((u64)h->debug_file_len + 1, 8);
	ret->total = ret->strings + ALIGN_UP(h->strings_len + 1, 8);
	return true;
}

#define NAMES_SUFFIX ".sym"

static int cache_name(struct buf *ret, const struct cache_key *key, const char *suffix)
{
	if (key->build_id_len < 8)
		return -EINVAL;
	fmt_hex(ret, key->build_id, key->build_id_len);
	buf_addf(ret, "-%016llx%s", (unsigned long long)key->identity, suffix);
	return 0;
}

/* Whether the name is one of ours: nothing else is ever deleted. */
static bool is_ours(const char *name)
{
	static const char *const suffixes[] = { ".sym", ".lines", ".kallsyms" };
	const size_t id = strspn(name, "0123456789abcdef"), digits = 16;

	if (id < 16 || (name[id] != '-' && name[id] != '.'))
		return false;
	name += id;
	if (*name == '-' && strspn(name + 1, "0123456789abcdef") == digits)
		name += 1 + digits;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (streq(name, suffixes[i]))
			return true;
	}
	return false;
}

int cache_open(const char *dir, const struct cache_key *key, const char *suffix, u64 max_size,
	       u64 *ret_size)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_close_ int at = -1;
	int r = cache_name(&name, key, suffix);

	if (r < 0)
		return r;
	at = safedir_open(dir, NULL);
	return at < 0 ? at : safedir_open_file(at, name.data, max_size, ret_size);
}

/* Every index and order that look-ups rely on. */
static bool sound(const struct symtab *t, const char *debug_file, size_t debug_file_len)
{
	if (t->strings[t->strings_len] != '\0' || debug_file[debug_file_len] != '\0')
		return false;
	for (size_t i = 0; i < t->spans.len; i++) {
		if (i && t->spans.starts[i] <= t->spans.starts[i - 1])
			return false;
		if (t->spans.ids[i] != SPAN_NONE && t->spans.ids[i] >= t->len)
			return false;
	}
	for (size_t i = 0; i < t->len; i++) {
		const struct sym *s = &t->syms[i];

		if (s->name > t->strings_len || !s->size || s->size > UINT64_MAX - s->start ||
		    (s->flags & ~(u32)(SYM_FDE | SYM_PLT | SYM_IFUNC)))
			return false;
	}
	return true;
}

/* Points into the mapping; the const goes because symtab owns either this or heap memory. */
static void *inside(const void *map, u64 offset)
{
	return (void *)(uintptr_t)((const char *)map + offset);
}

int cache_adopt(struct image *img, const void *map, size_t len, const u8 *build_id,
		size_t build_id_len, u64 fingerprint)
{
	struct cache_header h;
	struct cache_layout at;
	struct symtab t = { .map = map, .map_len = len };

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, map, sizeof(h));
	if (memcmp(h.magic, CACHE_MAGIC, 8) != 0 || h.total != len || !layout(&h, &at) ||
	    at.total != len)
		return -EBADMSG;
	if (h.build_id_len != build_id_len || memcmp(h.build_id, build_id, build_id_len) != 0 ||
	    (fingerprint && fingerprint != h.fingerprint))
		return -ESTALE;
	t.spans.starts = inside(map, at.starts);
	t.spans.ids = inside(map, at.ids);
	t.spans.len = h.spans;
	t.syms = inside(map, at.syms);
	t.len = h.syms;
	t.strings = inside(map, at.strings);
	t.strings_len = h.strings_len;
	if (!sound(&t, inside(map, at.debug_file), h.debug_file_len))
		return -EBADMSG;
	img->symtab = t;
	img->segment_count = h.segments;
	img->segments = xcalloc(MAX(h.segments, 1ull), sizeof(*img->segments));
	memcpy(img->segments, inside(map, at.segments), h.segments * sizeof(*img->segments));
	img->debug_file = h.debug_file_len ? xstrdup(inside(map, at.debug_file)) : NULL;
	img->fingerprint = h.fingerprint;
	img->identity = h.identity;
	img->build_id_len = build_id_len;
	memmove(img->build_id, build_id, build_id_len);
	img->complete = h.flags & CACHE_COMPLETE;
	img->named = h.named;
	img->from_cache = true;
	return 0;
}

/* Only files that we wrote ourselves: mapped bytes must not change or shrink under us. */
static int load_fd(struct image *img, int fd, u64 size, const u8 *build_id, size_t build_id_len,
		   u64 fingerprint)
{
	void *map;
	int r;

	if (size < sizeof(struct cache_header))
		return -EBADMSG;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	r = cache_adopt(img, map, size, build_id, build_id_len, fingerprint);
	if (r < 0)
		munmap(map, size);
	else
		/* all was read to check it; look-ups need little of that again */
		(void)madvise(map, size, MADV_DONTNEED);
	return r;
}

int cache_load(struct image *img, const char *dir, const struct cache_key *key, u64 fingerprint)
{
	u64 size = 0;
	_cleanup_close_ int fd = cache_open(dir, key, NAMES_SUFFIX, CACHE_MAX_FILE, &size);

	return fd < 0 ? fd : load_fd(img, fd, size, key->build_id, key->build_id_len, fingerprint);
}

struct lost {
	int dir;
	const char *prefix;
	char *found; /* name of the first entry */
	u64 fingerprint;
	bool differ;
};

static bool match_lost(void *ctx, const char *name)
{
	struct lost *l = ctx;
	struct cache_header h;
	u64 size;

	if (!starts_with(name, l->prefix) || !ends_with(name, NAMES_SUFFIX))
		return false;
	_cleanup_close_ int fd = safedir_open_file(l->dir, name, CACHE_MAX_FILE, &size);

	if (fd < 0 || io_pread_all(fd, 0, &h, sizeof(h)) < 0)
		return false;
	l->differ = l->found && l->fingerprint != h.fingerprint;
	if (!l->found) {
		l->found = xstrdup(name);
		l->fingerprint = h.fingerprint;
	}
	return l->differ;
}

int cache_load_lost(struct image *img, const char *dir, const u8 *build_id, size_t build_id_len)
{
	_cleanup_close_ int at = -1, fd = -1;
	_cleanup_buf_ struct buf prefix = BUF_INIT;
	_cleanup_free_ char *found = NULL;
	struct lost l = { 0 };
	u64 size = 0;

	if (build_id_len < 8)
		return -EINVAL;
	at = safedir_open(dir, NULL);
	if (at < 0)
		return at;
	fmt_hex(&prefix, build_id, build_id_len);
	buf_addch(&prefix, '-');
	l.dir = at;
	l.prefix = buf_str(&prefix);
	safedir_each(at, match_lost, &l);
	found = l.found;
	if (!found || l.differ)
		return found ? -ESTALE : -ENOENT;
	fd = safedir_open_file(at, found, CACHE_MAX_FILE, &size);
	return fd < 0 ? fd : load_fd(img, fd, size, build_id, build_id_len, 0);
}

static void write_at(char *out, u64 at, const void *p, size_t n)
{
	if (n)
		memcpy(out + at, p, n);
}

/* Strings that no symbol refers to (of data, of files) stay out. */
struct names {
	struct buf strings;
	struct sym *syms;
};

/* False when they are absurdly many: the names of a hostile file may overlap. */
static bool pack_names(const struct symtab *t, struct names *ret)
{
	ret->syms = xmalloc(MAX(t->len, (size_t)1) * sizeof(*ret->syms));
	buf_addch(&ret->strings, '\0');
	for (size_t i = 0; i < t->len; i++) {
		struct sym s = t->syms[i];
		const char *name = symtab_name(t, &s);

		if (s.flags & SYM_FDE) {
			s.name = 0;
		} else {
			s.name = (u32)ret->strings.len;
			buf_add(&ret->strings, name, strnlen(name, CACHE_MAX_NAME));
			buf_addch(&ret->strings, '\0');
		}
		ret->syms[i] = s;
		if (ret->strings.len > CACHE_MAX_TOTAL / 2)
			return false;
	}
	return true;
}

static char *serialise(const struct image *img, const struct names *names, size_t *ret_len)
{
	const struct symtab *t = &img->symtab;
	struct cache_header h = { .magic = CACHE_MAGIC,
				  .fingerprint = img->fingerprint,
				  .identity = img->identity,
				  .build_id_len = (u16)img->build_id_len,
				  .flags = img->complete ? CACHE_COMPLETE : 0,
				  .segments = (u32)img->segment_count,
				  .named = img->named,
				  .spans = t->spans.len,
				  .syms = t->len,
				  .strings_len = names->strings.len };
	struct cache_layout at;
	char *out;

	if (img->debug_file)
		h.debug_file_len = (u32)strnlen(img->debug_file, 65536);
	if (!layout(&h, &at) || at.total > CACHE_MAX_FILE)
		return NULL;
	h.total = at.total;
	memcpy(h.build_id, img->build_id, img->build_id_len);
	out = xcalloc(1, at.total);
	write_at(out, 0, &h, sizeof(h));
	write_at(out, at.segments, img->segments, h.segments * sizeof(*img->segments));
	write_at(out, at.starts, t->spans.starts, h.spans * sizeof(u64));
	write_at(out, at.ids, t->spans.ids, h.spans * sizeof(u32));
	write_at(out, at.syms, names->syms, h.syms * sizeof(struct sym));
	write_at(out, at.debug_file, img->debug_file, h.debug_file_len);
	write_at(out, at.strings, names->strings.data, h.strings_len);
	*ret_len = at.total;
	return out;
}

int cache_write(const char *dir, const struct cache_key *key, const char *suffix, const void *bytes,
		size_t len)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_close_ int at = -1;
	int r = cache_name(&name, key, suffix);

	if (r < 0)
		return r;
	at = safedir_open(dir, NULL);
	if (at < 0)
		return at;
	safedir_make_room(at, len, CACHE_MAX_TOTAL, is_ours);
	return safedir_write(at, name.data, bytes, len);
}

int cache_store(const struct image *img, const char *dir)
{
	_cleanup_free_ char *bytes = NULL;
	struct names names = { 0 };
	size_t len = 0;

	if (pack_names(&img->symtab, &names))
		bytes = serialise(img, &names, &len);
	buf_release(&names.strings);
	free(names.syms);
	if (!bytes || len > CACHE_MAX_TOTAL / 2)
		return -EFBIG;
	return cache_write(dir,
			   &(struct cache_key){ img->build_id, img->build_id_len, img->identity },
			   NAMES_SUFFIX, bytes, len);
}
