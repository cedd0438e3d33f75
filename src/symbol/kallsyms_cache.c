/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kallsyms_cache.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/parse.h"
#include "symbol/image.h"

#define KALLSYMS_MAGIC  "FTHKSY\0\1"
#define KALLSYMS_SUFFIX ".ksym"

enum { KALLSYMS_CACHE_MOST = 256 << 20, KALLSYMS_MODULES_MOST = 1 << 16 };

/* After it: starts and ids of the spans, symbols, names, names of modules each with its NUL. */
struct kallsyms_header {
	char magic[8]; /* the last byte is the version */
	u64 total;
	u64 spans;
	u64 symbols;
	u64 names_len;
	u64 modules_len;
};
_Static_assert(sizeof(struct kallsyms_symbol) == 24, "part of the cache format");

/* Not of a module's file, and so there only for a time. */
static bool passes(const struct kallsyms *k, u32 id)
{
	const char *module = intern_get(&k->modules, k->symbols.items[id].module);

	return streq(module, "bpf") || starts_with(module, "__builtin__");
}

static size_t names_length(const struct kallsyms *k)
{
	size_t most = 0;

	vec_each(s, &k->symbols)
		most = MAX(most, s->name + strlen(k->names + s->name) + 1);
	return most;
}

void kallsyms_pack(const struct kallsyms *k, struct buf *ret)
{
	struct kallsyms_header h = { .magic = KALLSYMS_MAGIC,
				     .spans = k->spans.len,
				     .symbols = k->symbols.len,
				     .names_len = names_length(k) };
	size_t start = ret->len;

	buf_add(ret, &h, sizeof(h));
	buf_add(ret, k->spans.starts, k->spans.len * sizeof(u64));
	for (size_t i = 0; i < k->spans.len; i++) {
		u32 id = k->spans.ids[i];

		if (id != SPAN_NONE && passes(k, id))
			id = SPAN_NONE;
		buf_add(ret, &id, sizeof(id));
	}
	buf_add(ret, k->symbols.items, k->symbols.len * sizeof(struct kallsyms_symbol));
	if (h.names_len)
		buf_add(ret, k->names, h.names_len);
	for (u32 i = 1; i <= k->modules.len; i++) {
		buf_addstr(ret, intern_get(&k->modules, i));
		buf_addch(ret, '\0');
		h.modules_len += intern_len(&k->modules, i) + 1;
	}
	h.total = ret->len - start;
	memcpy(ret->data + start, &h, sizeof(h));
}

/* Every index and order that look-ups rely on. */
static bool sound(const struct kallsyms *k, size_t names_len)
{
	if (names_len && k->names[names_len - 1] != '\0')
		return false;
	for (size_t i = 0; i < k->spans.len; i++) {
		if (i && k->spans.starts[i] <= k->spans.starts[i - 1])
			return false;
		if (k->spans.ids[i] != SPAN_NONE && k->spans.ids[i] >= k->symbols.len)
			return false;
	}
	vec_each(s, &k->symbols) {
		if (s->name >= names_len || s->module > k->modules.len)
			return false;
	}
	for (size_t i = 0; i < k->spans.len; i++) {
		const u32 id = k->spans.ids[i];

		if (id != SPAN_NONE && k->symbols.items[id].end <= k->symbols.items[id].start)
			return false;
	}
	return true;
}

static bool read_modules(struct kallsyms *k, const char *at, size_t len)
{
	const char *end = at + len;

	if (len && end[-1] != '\0')
		return false;
	for (u32 id = 1; at < end; id++) {
		size_t n = strlen(at);

		if (id > KALLSYMS_MODULES_MOST || intern_bytes(&k->modules, at, n) != id)
			return false;
		at += n + 1;
	}
	return true;
}

static void *copy(const char **at, size_t size)
{
	void *p = xmalloc(MAX(size, (size_t)1));

	memcpy(p, *at, size);
	*at += size;
	return p;
}

int kallsyms_unpack(struct kallsyms *ret, const void *bytes, size_t len)
{
	struct kallsyms k = KALLSYMS_INIT;
	struct kallsyms_header h;
	const char *at = (const char *)bytes + sizeof(h);
	u64 total = sizeof(h);

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	if (memcmp(h.magic, KALLSYMS_MAGIC, sizeof(h.magic)) != 0 || h.total != len ||
	    h.symbols > KALLSYMS_MAX_SYMBOLS || h.spans > 2 * KALLSYMS_MAX_SYMBOLS + 1 ||
	    h.names_len > KALLSYMS_CACHE_MOST || h.modules_len > KALLSYMS_CACHE_MOST)
		return -EBADMSG;
	total += h.spans * (sizeof(u64) + sizeof(u32)) + h.symbols * sizeof(*k.symbols.items) +
		 h.names_len + h.modules_len;
	if (total != len)
		return -EBADMSG;
	k.spans.len = h.spans;
	k.spans.starts = copy(&at, h.spans * sizeof(u64));
	k.spans.ids = copy(&at, h.spans * sizeof(u32));
	k.symbols.items = copy(&at, h.symbols * sizeof(*k.symbols.items));
	k.symbols.len = k.symbols.cap = h.symbols;
	k.names = copy(&at, h.names_len);
	if (!read_modules(&k, at, h.modules_len) || !sound(&k, h.names_len)) {
		kallsyms_release(&k);
		return -EBADMSG;
	}
	*ret = k;
	return 0;
}

/* --- on disk ---------------------------------------------------------------------------------- */

struct key {
	u64 boot;
	u64 modules;
};

/* Names, sizes and addresses; who uses a module changes all the time. */
static u64 hash_modules(const char *text)
{
	u64 h = 0;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n"), name = strcspn(line, " \n");
		const char *address = memmem(line, len, " 0x", 3);
		size_t size = name;

		if (line[size] == ' ')
			size += 1 + strcspn(line + size + 1, " \n");
		h = hash_mix(h, hash_bytes(line, size));
		if (address)
			h = hash_mix(h, hash_bytes(address, strcspn(address + 1, " \n") + 1));
		line += len + (line[len] == '\n');
	}
	return h;
}

static int key_of_boot(struct key *ret)
{
	_cleanup_buf_ struct buf boot = BUF_INIT, modules = BUF_INIT;
	int r = io_read_file("/proc/sys/kernel/random/boot_id", 4096, &boot, NULL);

	if (r < 0)
		return r;
	(void)io_read_file("/proc/modules", IO_MAX_PROC, &modules, NULL);
	ret->boot = hash_bytes(boot.data, boot.len);
	ret->modules = hash_modules(buf_str(&modules));
	return 0;
}

int kallsyms_cache_load(struct kallsyms *k, const char *dir)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_close_ int fd = -1;
	struct key key;
	u64 size;
	int r = key_of_boot(&key);

	if (r < 0)
		return r;
	fd = cache_open(dir, &(struct cache_key){ (const u8 *)&key, sizeof(key), 0 },
			KALLSYMS_SUFFIX, KALLSYMS_CACHE_MOST, &size);
	if (fd < 0)
		return fd;
	r = io_read_fd(fd, "cache of kernel names", KALLSYMS_CACHE_MOST, &bytes, NULL);
	return r < 0 ? r : kallsyms_unpack(k, bytes.data, bytes.len);
}

void kallsyms_cache_store(const struct kallsyms *k, const char *dir)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct key key;

	if (!k->spans.len || key_of_boot(&key) < 0)
		return;
	kallsyms_pack(k, &bytes);
	if (bytes.len <= KALLSYMS_CACHE_MOST)
		(void)cache_write(dir, &(struct cache_key){ (const u8 *)&key, sizeof(key), 0 },
				  KALLSYMS_SUFFIX, bytes.data, bytes.len);
}
