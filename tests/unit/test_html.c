/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/export_model.h"
#include "unit/harness.h"
#include "view/html.h"

#include <zlib.h>

/* --- profiles ------------------------------------------------------------------------------ */

static u32 frame(struct profile *p, const char *name)
{
	struct frame f = { .name = profile_string(p, name),
			   .module = profile_string(p, "/usr/bin/x") };

	return profile_get_frame(p, &f);
}

static void sample(struct profile *p, u64 time, u32 stack, u64 weight)
{
	struct profile_sample s = {
		.time = time,
		.weight = weight,
		.stack = stack,
		.thread = 1,
		.count = 1,
		.cpu = -1,
		.event = 0,
	};

	profile_add_sample(p, &s);
}

/* main calls a, which calls b; then main calls b. Samples are not in order of time. */
static void make_profile(struct profile *p)
{
	u32 main_stack, a, b;

	profile_init(p);
	profile_get_event(p, "cpu-clock");
	profile_get_thread(p, 10, 11, profile_string(p, "x"), 0);
	main_stack = profile_get_stack(p, 0, frame(p, "main"));
	b = profile_get_stack(p, main_stack, frame(p, "b"));
	a = profile_get_stack(p, main_stack, frame(p, "a"));
	profile_get_stack(p, a, frame(p, "b"));
	sample(p, 9000, b, 7);
	sample(p, 5000, a, 7);
	sample(p, 5999, a, 1ull << 40);
	p->source = profile_string(p, "</script><b>&\"x\".data");
}

/* --- reading it back ----------------------------------------------------------------------- */

static u64 number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	CHECK(at != NULL);
	return strtoull(at + strlen(key), NULL, 10);
}

struct model {
	struct buf bytes;
	char *header;
	const u8 *columns;
	size_t size;
};

static u32 u32_at(const char *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void open_model(struct model *m, const struct profile *p)
{
	u32 length;

	*m = (struct model){ 0 };
	export_model(p, &m->bytes);
	CHECK(m->bytes.len > 12);
	CHECK_MEM(m->bytes.data, "FTHM", 4);
	CHECK_EQ(u32_at(m->bytes.data + 4), EXPORT_MODEL_VERSION);
	length = u32_at(m->bytes.data + 8);
	CHECK_EQ((12 + length) % 8, 0);
	CHECK(12 + length <= m->bytes.len);
	m->header = xstrndup(m->bytes.data + 12, length);
	m->columns = (const u8 *)m->bytes.data + 12 + length;
	m->size = m->bytes.len - 12 - length;
}

static void close_model(struct model *m)
{
	free(m->header);
	buf_release(&m->bytes);
}

/* Item @i of a column, as the page reads it. */
static u64 item(const struct model *m, const char *name, size_t i)
{
	_cleanup_free_ char *key = xasprintf("\"%s\":{\"items\":", name);
	const char *column = strstr(m->header, key), *end;
	u64 bytes, at, v = 0;

	CHECK(column != NULL);
	CHECK(i < number_after(column, key));
	end = strchr(column, '}');
	if (strstr(column, "\"constant\":") && strstr(column, "\"constant\":") < end)
		return number_after(column, "\"constant\":");
	bytes = number_after(column, "\"bytes\":");
	at = number_after(column, "\"at\":");
	CHECK_EQ(at % 8, 0);
	CHECK(at + bytes * (i + 1) <= m->size);
	for (u64 b = 0; b < bytes; b++)
		v |= (u64)m->columns[at + i * bytes + b] << (8 * b);
	return v;
}

TEST(stacks_are_numbered_depth_first)
{
	struct profile p;
	struct model m;

	make_profile(&p);
	open_model(&m, &p);
	/* main, main;b, main;a, main;a;b: the first seen is first */
	CHECK_EQ(item(&m, "depth", 0), 1);
	CHECK_EQ(item(&m, "depth", 1), 2);
	CHECK_EQ(item(&m, "depth", 2), 2);
	CHECK_EQ(item(&m, "depth", 3), 3);
	CHECK_EQ(item(&m, "frame", 1), frame(&p, "b"));
	CHECK_EQ(item(&m, "frame", 3), frame(&p, "b"));
	close_model(&m);
	profile_release(&p);
}

TEST(samples_are_in_order_of_time)
{
	struct profile p;
	struct model m;

	make_profile(&p);
	open_model(&m, &p);
	CHECK(strstr(m.header, "\"has_time\":true") != NULL);
	CHECK_EQ(number_after(m.header, "\"time_step_ns\":"), 1000);
	/* 5000, 5999, 9000 ns in steps of 1000 from the first: rounded, not added up */
	CHECK_EQ(item(&m, "time", 0), 0);
	CHECK_EQ(item(&m, "time", 1), 0);
	CHECK_EQ(item(&m, "time", 2), 4);
	CHECK_EQ(item(&m, "stack", 0), 3);
	CHECK_EQ(item(&m, "stack", 2), 2);
	CHECK_EQ(item(&m, "weight", 0), 7);
	CHECK_EQ(item(&m, "weight", 1), 1ull << 40);
	CHECK_EQ(item(&m, "cpu", 0), 0);
	CHECK_EQ(item(&m, "count", 2), 1);
	close_model(&m);
	profile_release(&p);
}

TEST(long_gaps_make_the_step_longer)
{
	struct profile p;
	struct model m;

	make_profile(&p);
	sample(&p, 9000 + 90000ull * 1000000000ull, 1, 1);
	open_model(&m, &p);
	CHECK_EQ(number_after(m.header, "\"time_step_ns\":"), 100000);
	CHECK_EQ(item(&m, "time", 3), 900000000);
	close_model(&m);
	profile_release(&p);
}

TEST(an_empty_profile_is_a_model_too)
{
	struct profile p;
	struct model m;

	profile_init(&p);
	open_model(&m, &p);
	CHECK(strstr(m.header, "\"has_time\":false") != NULL);
	CHECK_EQ(m.size, 0);
	close_model(&m);
	profile_release(&p);
}

/* --- the page ------------------------------------------------------------------------------ */

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static u8 digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	return c != '=' && at ? (u8)(at - digits) : 0;
}

/* The bytes inside the page's data element, unpacked. */
static void unpack(const char *page, struct buf *ret)
{
	const char *at = strstr(page, "id=\"data\">");
	_cleanup_buf_ struct buf gzip = BUF_INIT;
	z_stream z = { 0 };

	CHECK(at != NULL);
	for (at = strchr(at, '>') + 1; *at != '<'; at += 4) {
		u32 v = (u32)digit(at[0]) << 18 | (u32)digit(at[1]) << 12 | (u32)digit(at[2]) << 6 |
			digit(at[3]);

		buf_addch(&gzip, (char)(v >> 16));
		buf_addch(&gzip, (char)(v >> 8));
		buf_addch(&gzip, (char)v);
	}
	CHECK_EQ(inflateInit2(&z, 31), Z_OK);
	z.next_in = (Bytef *)gzip.data;
	z.avail_in = (uInt)gzip.len;
	z.next_out = (Bytef *)buf_reserve(ret, 1 << 20);
	z.avail_out = 1 << 20;
	CHECK_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
	buf_added(ret, z.total_out);
	inflateEnd(&z);
}

TEST(the_page_holds_the_model)
{
	_cleanup_buf_ struct buf page = BUF_INIT, data = BUF_INIT;
	struct profile p;
	struct model m;

	make_profile(&p);
	CHECK_EQ(html_write(&p, NULL, &page, NULL), 0);
	open_model(&m, &p);
	unpack(buf_str(&page), &data);
	CHECK_EQ(data.len, m.bytes.len);
	CHECK_MEM(data.data, m.bytes.data, data.len);
	close_model(&m);
	profile_release(&p);
}

TEST(nothing_in_a_name_is_markup)
{
	_cleanup_buf_ struct buf page = BUF_INIT;
	struct html_opts opts = { .search = "</script><script>", .group = "comm" };
	struct profile p;

	make_profile(&p);
	CHECK_EQ(html_write(&p, &opts, &page, NULL), 0);
	/* options, data, code */
	CHECK_EQ(count(buf_str(&page), "</script>"), 3);
	CHECK(strstr(buf_str(&page), "\"search\":\"\\u003c/script>\\u003cscript>\"") != NULL);
	CHECK(strstr(buf_str(&page), "<title>script&gt;&lt;b&gt;&amp;&quot;x&quot;.data") != NULL);
	CHECK_EQ(count(buf_str(&page), "<b>"), 0);
	profile_release(&p);
}

TEST(every_place_of_the_page_is_filled)
{
	_cleanup_buf_ struct buf page = BUF_INIT, again = BUF_INIT;
	struct html_opts opts = { .title = "a title", .time_order = true, .has_baseline = true };
	struct profile p;

	make_profile(&p);
	CHECK_EQ(html_write(&p, &opts, &page, NULL), 0);
	CHECK_EQ(count(buf_str(&page), "{{"), 0);
	CHECK(strstr(buf_str(&page), "<title>a title</title>") != NULL);
	CHECK(strstr(buf_str(&page), "\"view\":\"time\"") != NULL);
	CHECK(strstr(buf_str(&page), "\"baseline\":0") != NULL);
	CHECK(strstr(buf_str(&page), "connect-src 'none'") != NULL);
	CHECK_EQ(html_write(&p, &opts, &again, NULL), 0);
	CHECK_STR(buf_str(&again), buf_str(&page));
	profile_release(&p);
}
