/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that travel in a recording.
 *
 * The blob: "FNAM", a byte 1 (version), then for each module until the end of the bytes
 *	build id length, build id, path length, path, maj, min, inode, generation, count,
 *	count times: start - previous start, size, flags, name length, name
 * Numbers are ULEB128. The kernel is a module with an empty path; its names are as in kallsyms,
 * "name\t[module]". Starts ascend.
 */
#include "symbol/carry.h"

#include "symbol/store.h"

enum {
	CARRY_MAX_BLOB = 512 << 20,
	CARRY_MAX_PATH = 1 << 16,
	CARRY_MAX_NAME = 1 << 20,
	CARRY_FLAGS = SYM_FDE | SYM_KERNEL | SYM_BPF | SYM_PLT | SYM_IFUNC,
};

#define CARRY_MAGIC "FNAM\1"
enum { CARRY_MAGIC_LEN = 5 };

static void carried_add(struct symbols *s, struct carried *c, const struct symbol_range *r)
{
	vec_push(&c->list, (struct carried_name){ .start = r->start,
						  .size = r->size,
						  .name = intern_str(&s->names, r->name),
						  .flags = r->flags & CARRY_FLAGS });
	c->stale = true;
}

static void carried_rebuild(struct carried *c)
{
	_cleanup_free_ struct span *spans = xcalloc(c->list.len, sizeof(*spans));

	for (size_t i = 0; i < c->list.len; i++) {
		const struct carried_name *n = &c->list.items[i];

		spans[i] = (struct span){ .start = n->start,
					  .end = n->start + MIN(n->size, UINT64_MAX - n->start),
					  .id = (u32)i,
					  .rank = n->flags & SYM_FDE ? 0 : 1 };
	}
	span_sort(spans, c->list.len);
	span_table_release(&c->spans);
	span_table_build(&c->spans, spans, c->list.len);
	c->stale = false;
}

const struct carried_name *carried_find(struct carried *c, u64 where)
{
	u32 id;

	if (c->stale)
		carried_rebuild(c);
	id = span_find(&c->spans, where);
	return id == SPAN_NONE ? NULL : &c->list.items[id];
}

void carried_release(struct carried *c)
{
	vec_release(&c->list);
	span_table_release(&c->spans);
}

void symbols_carry(struct symbols *s, u32 module, const struct symbol_range *ranges, size_t n)
{
	struct carried *c = &s->kernel.carried;

	if (module > s->modules.len)
		return;
	if (module)
		c = &s->modules.items[module - 1]->carried;
	for (size_t i = 0; i < n; i++)
		if (ranges[i].size && ranges[i].name[0])
			carried_add(s, c, &ranges[i]);
}

void carry_put(struct buf *b, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addch(b, (char)(v | 0x80));
	buf_addch(b, (char)v);
}

void carry_put_bytes(struct buf *b, const void *p, size_t n)
{
	carry_put(b, n);
	buf_add(b, p, n);
}

void carry_put_key(struct buf *b, const struct module_key *k)
{
	carry_put_bytes(b, k->build_id ? k->build_id : (const u8 *)"", k->build_id_len);
	carry_put_bytes(b, k->path ? k->path : "", k->path ? strlen(k->path) : 0);
	carry_put(b, k->maj);
	carry_put(b, k->min);
	carry_put(b, k->ino);
	carry_put(b, k->ino_gen);
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void export_answers(const struct symbols *s, const struct answers *a, bool kernel,
			   struct buf *ret)
{
	const size_t n = a->list.len;
	_cleanup_free_ struct symbol *sorted =
		n ? xmemdup(a->list.items, n * sizeof(*sorted)) : NULL;
	u64 previous = 0;

	if (n)
		qsort(sorted, n, sizeof(*sorted), by_start);
	carry_put(ret, n);
	for (size_t i = 0; i < n; i++) {
		const struct symbol *sym = &sorted[i];
		const char *module = "";
		u32 id;

		carry_put(ret, sym->start - previous);
		carry_put(ret, sym->size);
		carry_put(ret, sym->flags & CARRY_FLAGS);
		previous = sym->start;
		id = kernel ? (u32)map_get(&s->kernel.modules, sym->id, 0) : 0;
		if (id)
			module = intern_get(&s->names, id);
		if (streq(module, "bpf"))
			module = "[bpf]";
		if (!id || streq(module, "[kernel.kallsyms]")) {
			carry_put_bytes(ret, sym->raw_name, strlen(sym->raw_name));
			continue;
		}
		carry_put(ret, strlen(sym->raw_name) + 1 + strlen(module));
		buf_addf(ret, "%s\t%s", sym->raw_name, module);
	}
}

void symbols_export(const struct symbols *s, struct buf *ret)
{
	static const struct module_key none;

	buf_add(ret, CARRY_MAGIC, CARRY_MAGIC_LEN);
	for (size_t i = 0; i <= s->modules.len; i++) {
		const struct module *m = i ? s->modules.items[i - 1] : NULL;
		const struct module_key *k = m ? &m->key : &none;
		const struct answers *a = m ? &m->answers : &s->kernel.answers;

		if (!a->list.len || (m && !k->path[0]))
			continue;
		carry_put_key(ret, k);
		export_answers(s, a, !m, ret);
	}
}

u64 carry_get(struct carry_blob *b)
{
	u64 v = 0;

	for (unsigned int shift = 0; shift < 64 && b->at < b->len; shift += 7) {
		u8 byte = b->bytes[b->at++];

		v |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

const char *carry_get_bytes(struct carry_blob *b, size_t max, size_t *ret_len)
{
	u64 n = carry_get(b);
	const char *p = (const char *)b->bytes + b->at;

	if (b->bad || n > max || n > b->len - b->at) {
		b->bad = true;
		*ret_len = 0;
		return "";
	}
	b->at += n;
	*ret_len = n;
	return p;
}

void carry_get_key(struct carry_blob *b, struct module_key *ret, char **ret_path)
{
	const char *path;
	size_t n;

	*ret = (struct module_key){ 0 };
	ret->build_id = (const u8 *)carry_get_bytes(b, MODULE_BUILD_ID_MAX, &ret->build_id_len);
	path = carry_get_bytes(b, CARRY_MAX_PATH, &n);
	ret->path = *ret_path = xstrndup(path, n);
	ret->maj = (u32)carry_get(b);
	ret->min = (u32)carry_get(b);
	ret->ino = carry_get(b);
	ret->ino_gen = carry_get(b);
}

/* With @s NULL only checks. */
static void import_names(struct symbols *s, struct carry_blob *b, u32 module)
{
	const u64 count = carry_get(b);
	u64 start = 0;

	for (u64 i = 0; i < count && !b->bad; i++) {
		struct symbol_range r;
		const char *name;
		size_t n;

		start += carry_get(b);
		r.start = start;
		r.size = carry_get(b);
		r.flags = (u32)carry_get(b);
		name = carry_get_bytes(b, CARRY_MAX_NAME, &n);
		if (b->bad || !s)
			continue;
		_cleanup_free_ char *copy = xstrndup(name, n);

		r.name = copy;
		symbols_carry(s, module, &r, 1);
	}
}

static void import_module(struct symbols *s, struct carry_blob *b)
{
	struct module_key key;
	_cleanup_free_ char *path = NULL;

	carry_get_key(b, &key, &path);
	if (!b->bad)
		import_names(s, b, s && *path ? symbols_module(s, &key) : 0);
}

int symbols_import(struct symbols *s, const void *blob, size_t len, struct err *e)
{
	struct carry_blob b = { .bytes = blob, .len = len, .at = CARRY_MAGIC_LEN };

	if (len > CARRY_MAX_BLOB)
		return err_set(e, EFBIG, "the names in the recording are larger than %d MB",
			       CARRY_MAX_BLOB >> 20);
	if (len < CARRY_MAGIC_LEN || memcmp(blob, CARRY_MAGIC, CARRY_MAGIC_LEN) != 0)
		return err_set(e, EBADMSG, "the names in the recording have an unknown form");
	while (b.at < b.len && !b.bad)
		import_module(NULL, &b);
	if (b.bad)
		return err_set(e, EBADMSG, "the names in the recording are broken at byte %zu",
			       b.at);
	b.at = CARRY_MAGIC_LEN;
	while (b.at < b.len)
		import_module(s, &b);
	return 0;
}
