/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "recording/tracedat.h"

enum { PAGE = 4096 };

static void add_u16(struct buf *b, u16 v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_u32(struct buf *b, u32 v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_u64(struct buf *b, u64 v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_section(struct buf *b, u16 id, const struct buf *body)
{
	add_u16(b, id);
	add_u16(b, 0);
	add_u32(b, 0);
	add_u64(b, body->len);
	buf_add(b, body->data, body->len);
}

static void add_option(struct buf *b, u16 id, const void *data, u32 n)
{
	add_u16(b, id);
	add_u32(b, n);
	buf_add(b, data, n);
}

static void add_named(struct buf *b, const char *name, const char *text)
{
	buf_add(b, name, strlen(name) + 1);
	add_u64(b, strlen(text));
	buf_addstr(b, text);
}

/* Two buffers of one CPU each; the second has a name. */
static void add_buffer(struct buf *options, u64 section, const char *name, u64 page, u64 size)
{
	struct buf b = BUF_INIT;

	add_u64(&b, section);
	buf_add(&b, name, strlen(name) + 1);
	buf_add(&b, "local", 6);
	add_u32(&b, PAGE);
	add_u32(&b, 1);
	add_u32(&b, 0);
	add_u64(&b, page);
	add_u64(&b, size);
	add_option(options, 3, b.data, (u32)b.len);
	buf_release(&b);
}

static void make_file(struct buf *out)
{
	struct buf header = BUF_INIT, options = BUF_INIT, none = BUF_INIT;
	u64 place, buffer, done = 0;
	char page[PAGE] = "page";
	size_t first;

	buf_add(out, "\x17\x08\x44tracing7\0\0\x08", 14);
	add_u32(out, PAGE);
	buf_add(out, "none\0\0", 6);
	first = out->len;
	add_u64(out, 0);
	place = out->len;
	add_named(&header, "header_page", "p");
	add_named(&header, "header_event", "e");
	add_section(out, 16, &header);
	add_option(&options, 16, &place, sizeof(place));
	buffer = out->len;
	add_section(out, 3, &none);
	place = out->len;
	buf_add(out, page, sizeof(page));
	add_buffer(&options, buffer, "", place, PAGE);
	add_buffer(&options, buffer, "second", place, PAGE);
	add_option(&options, 0, &done, sizeof(done));
	place = out->len;
	add_section(out, 0, &options);
	memcpy(out->data + first, &place, sizeof(place));
	buf_release(&header);
	buf_release(&options);
	buf_release(&none);
}

TEST("trace.dat of version 7: the main buffer, others are counted")
{
	struct tracedat t = TRACEDAT_INIT;
	struct buf file = BUF_INIT;
	struct err e = ERR_INIT;

	make_file(&file);
	CHECK_EQ(tracedat_parse(&t, file.data, file.len, &e), 0);
	CHECK_STR(t.header_page.p, "p");
	CHECK_STR(t.header_event.p, "e");
	CHECK_EQ(t.cpus.len, 1);
	CHECK_EQ(t.cpus.items[0].n, PAGE);
	CHECK(memcmp(t.cpus.items[0].pages, "page", 4) == 0);
	CHECK_EQ(t.others, 1);
	tracedat_release(&t);
	err_release(&e);
	buf_release(&file);
}

TEST("trace.dat of version 7: cut anywhere it is an error")
{
	struct buf file = BUF_INIT;

	make_file(&file);
	for (size_t n = 0; n < file.len; n += n < 256 || n > file.len - 256 ? 1 : 97) {
		struct tracedat t = TRACEDAT_INIT;
		struct err e = ERR_INIT;
		u8 *copy = xmemdup(file.data, n ? n : 1);

		CHECK(tracedat_parse(&t, copy, n, &e) < 0);
		free(copy);
		tracedat_release(&t);
		err_release(&e);
	}
	buf_release(&file);
}
