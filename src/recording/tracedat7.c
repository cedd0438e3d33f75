/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.dat of version 7: sections that are found by lists of options, each section perhaps
 * compressed. Those that version 6 has too have the same contents. Of several buffers the main one
 * is read, and the others are counted.
 */
#include "recording/tracedat_parts.h"
#include "recording/zstd.h"

enum {
	SECTION_COMPRESSED = 1,
	LISTS_MOST = 64,         /* of options */
	CHUNKS_MOST = 1 << 20,   /* of a CPU */
	UNPACKED_MOST = 1 << 30, /* in all */
};

enum option {
	OPTION_DONE = 0,
	OPTION_BUFFER = 3,
	OPTION_HEADER = 16,
	OPTION_FTRACE = 17,
	OPTION_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_PRINTK = 20,
	OPTION_CMDLINES = 21,
};

struct reader {
	struct tracedat *t;
	const u8 *start, *end;
	struct unzstd *zstd; /* NULL: nothing is compressed, or in a way that is not read */
	const char *how;     /* the name of the compression */
	u64 unpacked;
	bool buffer; /* the main one was read */
	struct err *err;
};

struct section {
	u16 id;
	u16 flags;
	u64 size;
	struct bytes body;
	struct buf own; /* what was compressed */
};

static int no_compression(struct reader *r)
{
	err_set(r->err, EOPNOTSUPP, "the trace is compressed with %s", r->how);
	err_hint(r->err,
		 "trace-cmd convert --compression zstd -i FILE -o NEW makes one that can be "
		 "read");
	return -EOPNOTSUPP;
}

/* One piece: its sizes, and its bytes. Appends to @out. */
static int unpack(struct reader *r, struct bytes *b, struct buf *out)
{
	u32 packed = bytes_u32(b), size = bytes_u32(b);
	const u8 *in = bytes_take(b, packed);
	size_t left = packed, from = out->len;
	u8 step[16 << 10];

	if (!r->zstd)
		return no_compression(r);
	if (!in || b->bad || size > UNPACKED_MOST - r->unpacked)
		return tracedat_damaged(r->err, b, r->start, "a compressed section");
	r->unpacked += size;
	unzstd_reset(r->zstd);
	while (out->len - from < size) {
		size_t room = MIN(sizeof(step), size - (out->len - from));
		ssize_t n = unzstd_run(r->zstd, &in, &left, step, room);

		if (n <= 0)
			return tracedat_damaged(r->err, b, r->start, "a compressed section");
		buf_add(out, step, (size_t)n);
	}
	return 0;
}

static int open_section(struct reader *r, u64 at, struct section *s)
{
	struct bytes b = bytes_of(r->start, (size_t)(r->end - r->start), false);
	const void *body;

	if (at > (u64)(r->end - r->start))
		return err_set(r->err, EBADMSG, "a section is beyond the end of the trace");
	(void)bytes_take(&b, at);
	s->id = bytes_u16(&b);
	s->flags = bytes_u16(&b);
	(void)bytes_u32(&b);
	s->size = bytes_u64(&b);
	s->body = b;
	/* the bytes of CPUs are found by themselves */
	if (b.bad || s->id == OPTION_BUFFER)
		return b.bad ? tracedat_damaged(r->err, &b, r->start, "a section") : 0;
	body = bytes_take(&b, s->size);
	if (!body)
		return tracedat_damaged(r->err, &b, r->start, "a section");
	s->body = bytes_of(body, s->size, false);
	if (s->flags & SECTION_COMPRESSED) {
		int rc = unpack(r, &s->body, &s->own);

		s->body = bytes_of(buf_str(&s->own), s->own.len, false);
		return rc;
	}
	return 0;
}

static int take_section(struct reader *r, u16 id, u64 at)
{
	struct section s = { .own = BUF_INIT };
	struct tracedat *t = r->t;
	int rc = open_section(r, at, &s);

	if (!rc && s.id != id)
		rc = err_set(r->err, EBADMSG, "section %u stands where %u should be", s.id, id);
	if (rc) {
		buf_release(&s.own);
		return rc;
	}
	switch (id) {
	case OPTION_HEADER: tracedat_take_header(t, &s.body); break;
	case OPTION_FTRACE: tracedat_take_formats(t, &s.body, "ftrace"); break;
	case OPTION_FORMATS: tracedat_take_systems(t, &s.body); break;
	case OPTION_KALLSYMS:
		t->kallsyms = tracedat_take_text(t, &s.body, bytes_u32(&s.body));
		break;
	case OPTION_PRINTK: t->printk = tracedat_take_text(t, &s.body, bytes_u32(&s.body)); break;
	default: t->cmdlines = tracedat_take_text(t, &s.body, bytes_u64(&s.body));
	}
	if (s.body.bad)
		rc = err_set(r->err, EBADMSG, "section %u of the trace is damaged", id);
	buf_release(&s.own);
	return rc;
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static int take_chunks(struct reader *r, struct bytes *b, struct buf *out)
{
	u32 n = bytes_u32(b);
	int rc = n > CHUNKS_MOST ? tracedat_damaged(r->err, b, r->start, "a CPU's trace") : 0;

	for (u32 i = 0; !rc && i < n; i++)
		rc = unpack(r, b, out);
	return rc;
}

static int take_cpu(struct reader *r, struct bytes *b, bool compressed)
{
	u32 cpu = bytes_u32(b);
	u64 at = bytes_u64(b), size = bytes_u64(b), all = (u64)(r->end - r->start);
	struct tracedat_cpu *c;
	struct bytes data;
	int rc;

	if (b->bad || cpu >= TRACEDAT_CPUS_MOST || at > all || size > all - at)
		return tracedat_damaged(r->err, b, r->start, "the list of CPUs");
	while (r->t->cpus.len <= cpu)
		(void)vec_new(&r->t->cpus);
	c = &r->t->cpus.items[cpu];
	if (!compressed) {
		c->pages = r->start + at;
		c->n = size - size % r->t->page;
		return 0;
	}
	/* the number of pieces, four bytes, does not count */
	data = bytes_of(r->start + at, MIN(size + sizeof(u32), all - at), false);
	rc = size ? take_chunks(r, &data, &c->own) : 0;
	c->pages = (const u8 *)buf_str(&c->own);
	c->n = c->own.len - c->own.len % r->t->page;
	return rc;
}

static int take_buffer(struct reader *r, struct bytes *b)
{
	u64 at = bytes_u64(b);
	const char *name = bytes_cstring(b, &r->t->arena);
	u32 page, cpus;
	struct section s = { .own = BUF_INIT };
	int rc = 0;

	(void)bytes_cstring(b, &r->t->arena); /* the clock */
	page = bytes_u32(b);
	cpus = bytes_u32(b);
	if (b->bad || cpus > TRACEDAT_CPUS_MOST)
		return tracedat_damaged(r->err, b, r->start, "a buffer");
	/* the main one has no name */
	if (r->buffer || (name && *name)) {
		r->t->others++;
		return 0;
	}
	r->buffer = true;
	if (page != r->t->page)
		return err_set(r->err, EBADMSG,
			       "pages of the buffer have %u bytes, those of the trace "
			       "%u",
			       page, r->t->page);
	rc = open_section(r, at, &s);
	if (!rc && s.id != OPTION_BUFFER)
		rc = err_set(r->err, EBADMSG, "section %u stands where a buffer should be", s.id);
	for (u32 i = 0; !rc && i < cpus; i++)
		rc = take_cpu(r, b, s.flags & SECTION_COMPRESSED);
	buf_release(&s.own);
	return rc;
}

/* --- options ---------------------------------------------------------------------------------- */

static int take_option(struct reader *r, u16 id, struct bytes *b)
{
	if (id == OPTION_BUFFER)
		return take_buffer(r, b);
	if (id < OPTION_HEADER || id > OPTION_CMDLINES)
		return 0;
	return take_section(r, id, bytes_u64(b));
}

/* One list; *ret_next: where the next one is, 0: it was the last. */
static int take_list(struct reader *r, u64 at, u64 *ret_next)
{
	struct section s = { .own = BUF_INIT };
	int rc = open_section(r, at, &s);

	*ret_next = 0;
	if (!rc && s.id != OPTION_DONE)
		rc = err_set(r->err, EBADMSG, "section %u stands where options should be", s.id);
	while (!rc && bytes_left(&s.body)) {
		u16 id = bytes_u16(&s.body);
		u32 size = bytes_u32(&s.body);
		const void *data = bytes_take(&s.body, size);
		struct bytes body = bytes_of(data ? data : "", data ? size : 0, false);

		if (s.body.bad) {
			rc = err_set(r->err, EBADMSG, "the options of the trace are damaged");
		} else if (id == OPTION_DONE) {
			*ret_next = size >= 8 ? bytes_u64(&body) : 0;
			break;
		} else {
			rc = take_option(r, id, &body);
		}
	}
	buf_release(&s.own);
	return rc;
}

static int take_lists(struct reader *r, u64 at)
{
	int rc = 0;

	for (u32 i = 0; !rc && at; i++) {
		if (i == LISTS_MOST)
			return err_set(r->err, EBADMSG, "the options of the trace have no end");
		rc = take_list(r, at, &at);
	}
	if (!rc && !r->buffer)
		return err_set(r->err, EBADMSG, "the trace has no buffer");
	return rc;
}

int tracedat_parse7(struct tracedat *t, struct bytes *b, const u8 *start, struct err *e)
{
	struct reader r = { .t = t, .start = start, .end = b->end, .err = e };
	u64 at;
	int rc;

	r.how = bytes_cstring(b, &t->arena);
	(void)bytes_cstring(b, &t->arena); /* its version */
	at = bytes_u64(b);
	if (b->bad || !r.how)
		return tracedat_damaged(e, b, start, "the head of the trace");
	if (streq(r.how, "zstd"))
		r.zstd = unzstd_new();
	rc = take_lists(&r, at);
	unzstd_free(r.zstd);
	return rc;
}
