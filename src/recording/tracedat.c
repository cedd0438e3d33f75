/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/tracedat.h"

#include "base/io.h"
#include "recording/tracedat_parts.h"

#define MAGIC       "\x17\x08\x44tracing"
#define FLYRECORD   "flyrecord"
#define OPTIONS     "options  "
#define MAGIC_SIZE  10u
#define FILE_MOST   (4ull << 30)
#define STRING_MOST (64u << 20)

enum { FORMATS_MOST = 1 << 16, PAGE_LEAST = 4096, PAGE_LARGEST = 1 << 16 };

void tracedat_release(struct tracedat *t)
{
	vec_each(c, &t->cpus)
		buf_release(&c->own);
	vec_release(&t->cpus);
	vec_release(&t->formats);
	buf_release(&t->file);
	arena_release(&t->arena);
	*t = (struct tracedat)TRACEDAT_INIT;
}

static void add_zeros(struct buf *b, size_t n)
{
	static const char zeros[256];

	for (size_t some; n; n -= some) {
		some = MIN(n, sizeof(zeros));
		buf_add(b, zeros, some);
	}
}

struct tracedat_text tracedat_keep(struct tracedat *t, const char *text, size_t n)
{
	return (struct tracedat_text){ arena_strndup(&t->arena, text, n), n };
}

void tracedat_add_page(struct tracedat *t, u32 cpu, const void *page, size_t n)
{
	struct tracedat_cpu *c;

	while (t->cpus.len <= cpu)
		(void)vec_new(&t->cpus);
	c = &t->cpus.items[cpu];
	n = MIN(n, (size_t)t->page);
	buf_add(&c->own, page, n);
	add_zeros(&c->own, t->page - n);
}

void tracedat_seal(struct tracedat *t)
{
	vec_each(c, &t->cpus) {
		c->pages = (const u8 *)buf_str(&c->own);
		c->n = c->own.len;
	}
}

/* --- reading -------------------------------------------------------------------------------- */

int tracedat_damaged(struct err *e, const struct bytes *b, const u8 *start, const char *what)
{
	return err_set(e, EBADMSG, "%s is damaged at byte %zu", what, (size_t)(b->p - start));
}

struct tracedat_text tracedat_take_text(struct tracedat *t, struct bytes *b, u64 n)
{
	const char *p = n <= STRING_MOST ? bytes_take(b, n) : NULL;

	if (!p) {
		b->bad = true;
		return (struct tracedat_text){ "", 0 };
	}
	return tracedat_keep(t, p, n);
}

static struct tracedat_text take_named(struct tracedat *t, struct bytes *b, const char *name)
{
	const char *found = bytes_cstring(b, &t->arena);

	if (!found || !streq(found, name))
		b->bad = true;
	return tracedat_take_text(t, b, bytes_u64(b));
}

void tracedat_take_header(struct tracedat *t, struct bytes *b)
{
	t->header_page = take_named(t, b, "header_page");
	t->header_event = take_named(t, b, "header_event");
}

void tracedat_take_formats(struct tracedat *t, struct bytes *b, const char *system)
{
	u32 n = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad && t->formats.len < FORMATS_MOST; i++) {
		struct tracedat_format f = { .system = system };

		f.text = tracedat_take_text(t, b, bytes_u64(b));
		if (!b->bad)
			vec_push(&t->formats, f);
	}
}

void tracedat_take_systems(struct tracedat *t, struct bytes *b)
{
	u32 n = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad; i++) {
		const char *system = bytes_cstring(b, &t->arena);

		if (system)
			tracedat_take_formats(t, b, system);
	}
}

static bool take_word(struct bytes *b, const char *word)
{
	if (bytes_left(b) < MAGIC_SIZE || memcmp(b->p, word, MAGIC_SIZE) != 0)
		return false;
	b->p += MAGIC_SIZE;
	return true;
}

static void skip_options(struct bytes *b)
{
	u16 id;

	while (!b->bad && (id = bytes_u16(b)) != 0)
		(void)bytes_take(b, bytes_u32(b));
}

static int take_cpus(struct tracedat *t, struct bytes *b, const u8 *start, u32 n, struct err *e)
{
	u64 size = (u64)(b->end - start);

	for (u32 i = 0; i < n; i++) {
		u64 at = bytes_u64(b), len = bytes_u64(b);

		if (b->bad || at > size || len > size - at)
			return tracedat_damaged(e, b, start, "the list of CPUs");
		vec_push(&t->cpus,
			 ((struct tracedat_cpu){ .pages = start + at, .n = len - len % t->page }));
	}
	return 0;
}

static int take_head(struct tracedat *t, struct bytes *b, bool *ret_seven, struct err *e)
{
	const char *version;
	const u8 *two;

	if (!take_word(b, MAGIC)) {
		err_set(e, EBADMSG, "not a trace.dat file");
		err_hint(e, "'trace-cmd record' and 'fathom ftrace -o x.dat' write them");
		return -EBADMSG;
	}
	version = bytes_cstring(b, &t->arena);
	*ret_seven = version && streq(version, "7");
	if (!version || (!streq(version, "6") && !*ret_seven)) {
		err_set(e, EOPNOTSUPP, "trace.dat of version %.8s", version ? version : "?");
		err_hint(e, "trace-cmd convert --file-version 6 -i FILE -o NEW makes one of "
			    "version 6");
		return -EOPNOTSUPP;
	}
	two = bytes_take(b, 2);
	if (two && (two[0] || two[1] != 8))
		return err_set(e, EOPNOTSUPP, "the trace is of a machine of other words or bytes");
	t->page = bytes_u32(b);
	if (b->bad || t->page < PAGE_LEAST || t->page > PAGE_LARGEST)
		return err_set(e, EBADMSG, "the size of pages is damaged");
	return 0;
}

int tracedat_parse(struct tracedat *t, const void *bytes, size_t n, struct err *e)
{
	struct bytes b = bytes_of(bytes, n, false);
	bool seven;
	u32 cpus;
	int r = take_head(t, &b, &seven, e);

	if (r < 0)
		return r;
	if (seven)
		return tracedat_parse7(t, &b, bytes, e);
	tracedat_take_header(t, &b);
	tracedat_take_formats(t, &b, "ftrace");
	tracedat_take_systems(t, &b);
	t->kallsyms = tracedat_take_text(t, &b, bytes_u32(&b));
	t->printk = tracedat_take_text(t, &b, bytes_u32(&b));
	t->cmdlines = tracedat_take_text(t, &b, bytes_u64(&b));
	cpus = bytes_u32(&b);
	if (take_word(&b, OPTIONS))
		skip_options(&b);
	if (b.bad || cpus > TRACEDAT_CPUS_MOST || !take_word(&b, FLYRECORD))
		return tracedat_damaged(e, &b, bytes, "the head of the trace");
	return take_cpus(t, &b, bytes, cpus, e);
}

int tracedat_read(struct tracedat *t, const char *path, struct err *e)
{
	int r = io_read_file(path, FILE_MOST, &t->file, e);

	if (r >= 0)
		r = tracedat_parse(t, buf_str(&t->file), t->file.len, e);
	return r < 0 && r != -ENOENT && r != -EACCES ? err_prefix(e, "'%s'", path) : r;
}

/* --- writing -------------------------------------------------------------------------------- */

static void add_u32(struct buf *out, u32 v)
{
	buf_add(out, &v, sizeof(v));
}

static void add_u64(struct buf *out, u64 v)
{
	buf_add(out, &v, sizeof(v));
}

static void add_named(struct buf *out, const char *name, const struct tracedat_text *t)
{
	buf_add(out, name, strlen(name) + 1);
	add_u64(out, t->n);
	buf_add(out, t->p, t->n);
}

static void add_formats(struct buf *out, const struct tracedat *t, const char *system)
{
	u32 n = 0;

	vec_each(f, &t->formats)
		n += streq(f->system, system);
	add_u32(out, n);
	vec_each(f, &t->formats) {
		if (!streq(f->system, system))
			continue;
		add_u64(out, f->text.n);
		buf_add(out, f->text.p, f->text.n);
	}
}

static bool is_first(const struct tracedat *t, const struct tracedat_format *f)
{
	vec_each(before, &t->formats) {
		if (before == f)
			return true;
		if (streq(before->system, f->system))
			return false;
	}
	return true;
}

static void add_systems(struct buf *out, const struct tracedat *t)
{
	u32 n = 0;

	vec_each(f, &t->formats)
		n += !streq(f->system, "ftrace") && is_first(t, f);
	add_u32(out, n);
	vec_each(f, &t->formats) {
		if (streq(f->system, "ftrace") || !is_first(t, f))
			continue;
		buf_add(out, f->system, strlen(f->system) + 1);
		add_formats(out, t, f->system);
	}
}

static u64 round_up(u64 n, u64 unit)
{
	return (n + unit - 1) / unit * unit;
}

static void add_cpus(struct buf *out, const struct tracedat *t)
{
	u64 at = round_up(out->len + 16 * t->cpus.len, t->page);

	vec_each(c, &t->cpus) {
		add_u64(out, at);
		add_u64(out, c->n);
		at += c->n;
	}
	add_zeros(out, round_up(out->len, t->page) - out->len);
	vec_each(c, &t->cpus)
		buf_add(out, c->pages, c->n);
}

void tracedat_write(const struct tracedat *t, struct buf *out)
{
	buf_add(out, MAGIC, MAGIC_SIZE);
	buf_add(out, "6", 2);
	buf_add(out, "\0\x08", 2);
	add_u32(out, t->page);
	add_named(out, "header_page", &t->header_page);
	add_named(out, "header_event", &t->header_event);
	add_formats(out, t, "ftrace");
	add_systems(out, t);
	add_u32(out, (u32)t->kallsyms.n);
	buf_add(out, t->kallsyms.p, t->kallsyms.n);
	add_u32(out, (u32)t->printk.n);
	buf_add(out, t->printk.p, t->printk.n);
	add_u64(out, t->cmdlines.n);
	buf_add(out, t->cmdlines.p, t->cmdlines.n);
	add_u32(out, (u32)t->cpus.len);
	/* there are no options, but trace-cmd converts no file without their list */
	buf_add(out, OPTIONS, MAGIC_SIZE);
	buf_add(out, "\0", 2);
	buf_add(out, FLYRECORD, MAGIC_SIZE);
	add_cpus(out, t);
}
