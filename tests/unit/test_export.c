/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of others: written, read again, and read when they are broken. */
#include "unit/harness.h"

#include "analysis/flame.h"
#include "view/fold.h"
#include "base/jsonread.h"
#include "base/varint.h"
#include "profile/gzip.h"
#include "profile/load.h"
#include "view/export.h"

static int collect(struct buf *text, void *ctx)
{
	buf_add(ctx, buf_str(text), text->len);
	buf_reset(text);
	return 0;
}

static char *folded(struct profile *p)
{
	struct fold_opts opts = { .raw = true, .kernel = true, .inlined = true, .pid = true };
	struct flame_opts chosen;
	struct buf b = BUF_INIT;

	flame_choose_event(p, &chosen);
	opts.event = chosen.event;
	CHECK_EQ(fold_write(p, &opts, &(struct fold_sink){ collect, &b }), 0);
	return buf_detach(&b);
}

/* --- the wire ------------------------------------------------------------------------------- */

static void check_varint(u64 v, size_t len)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const u8 *p;
	u64 got;

	varint_write(&b, v);
	CHECK_EQ(b.len, len);
	p = (const u8 *)b.data;
	CHECK(varint_read(&p, p + b.len, &got));
	CHECK_EQ(got, v);
	p = (const u8 *)b.data;
	CHECK(!varint_read(&p, p + b.len - 1, &got));
}

TEST(varints)
{
	check_varint(0, 1);
	check_varint(127, 1);
	check_varint(128, 2);
	check_varint(300, 2);
	check_varint(UINT64_MAX, 10);
}

TEST(varints_end)
{
	static const u8 endless[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				      0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
	const u8 *p = endless;
	u64 v;

	CHECK(!varint_read(&p, endless + sizeof(endless), &v));
}

TEST(messages)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct wire_field f;
	const u8 *at = NULL;
	struct wire w;
	bool ok = true;
	u64 v;

	wire_u64(&b, 1, 150);
	wire_u64(&b, 2, 0); /* not there */
	wire_bytes(&b, 3, "\x03\x8e\x02", 3);
	w = wire_of(b.data, b.len);
	CHECK_EQ(wire_next(&w, &f), 1);
	CHECK_EQ(f.number, 1);
	CHECK_EQ(f.value, 150);
	CHECK_EQ(wire_next(&w, &f), 1);
	CHECK_EQ(f.number, 3);
	CHECK(wire_packed(&f, &at, &v, &ok) && v == 3);
	CHECK(wire_packed(&f, &at, &v, &ok) && v == 270);
	CHECK(!wire_packed(&f, &at, &v, &ok) && ok);
	CHECK_EQ(wire_next(&w, &f), 0);
	/* longer than there is */
	w = wire_of("\x1a\x7f", 2);
	CHECK_EQ(wire_next(&w, &f), -EBADMSG);
	/* groups are not known */
	w = wire_of("\x0b", 1);
	CHECK_EQ(wire_next(&w, &f), -EBADMSG);
}

TEST(gzip_both_ways)
{
	_cleanup_buf_ struct buf in = BUF_INIT, packed = BUF_INIT, out = BUF_INIT;

	for (int i = 0; i < 100000; i++)
		buf_addf(&in, "%d ", i);
	gzip_pack(&in, &packed);
	CHECK(gzip_is(packed.data, packed.len));
	CHECK_EQ(gzip_unpack(packed.data, packed.len, 1 << 20, &out, NULL), 0);
	CHECK(out.len == in.len && memcmp(out.data, in.data, in.len) == 0);
	buf_reset(&out);
	CHECK_EQ(gzip_unpack(packed.data, packed.len, 1000, &out, NULL), -EFBIG);
	buf_reset(&out);
	CHECK_EQ(gzip_unpack(packed.data, packed.len / 2, 1 << 20, &out, NULL), -EBADMSG);
	packed.data[packed.len / 2] ^= 0x55;
	buf_reset(&out);
	CHECK_EQ(gzip_unpack(packed.data, packed.len, 1 << 20, &out, NULL), -EBADMSG);
}

/* --- JSON ----------------------------------------------------------------------------------- */

/* The pieces as letters; what is wrong ends in '!'. */
static char *pieces(const char *text)
{
	static const char letters[] = {
		'!', '.', '{', '}', '[', ']', 'k', 's', 'n', 't', 'f', '0'
	};
	struct json_reader r;
	struct buf b = BUF_INIT;
	enum json_piece piece;

	json_reader_init(&r, text, strlen(text));
	do {
		piece = json_read(&r);
		buf_addch(&b, letters[piece]);
	} while (piece != READ_END && piece != READ_ERROR && b.len < 1000);
	json_reader_release(&r);
	return buf_detach(&b);
}

static void check_pieces(const char *text, const char *wanted)
{
	_cleanup_free_ char *got = pieces(text);

	CHECK_STR(got, wanted);
}

TEST(json_pieces)
{
	check_pieces("{\"a\": [1, -2.5e3, true], \"b\": {}}", "{k[nnt]k{}}.");
	check_pieces(" [ ] ", "[].");
	check_pieces("\"x\"", "s.");
	check_pieces("[null,false]", "[0f].");
}

TEST(json_faults)
{
	check_pieces("{\"a\" 1}", "{!");
	check_pieces("[1 2]", "[n!");
	check_pieces("[1,", "[n!");
	check_pieces("{\"a\":}", "{k!");
	check_pieces("[}", "[!");
	check_pieces("\"\\q\"", "!");
	check_pieces("\"open", "!");
	check_pieces("nul", "!");
	check_pieces("[1.2.3]", "[!");
}

TEST(json_strings)
{
	static const char text[] = "\"a\\n\\u00e9\\ud83d\\ude00\\ud800x\"";
	struct json_reader r;

	json_reader_init(&r, text, strlen(text));
	CHECK_EQ(json_read(&r), READ_STRING);
	CHECK_STR(json_text(&r), "a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx");
	json_reader_release(&r);
}

TEST(json_depth_ends)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct json_reader r;
	enum json_piece piece;

	buf_fill(&b, '[', 100000);
	json_reader_init(&r, b.data, b.len);
	while ((piece = json_read(&r)) == READ_ARRAY)
		continue;
	CHECK_EQ(piece, READ_ERROR);
	CHECK(r.fault != NULL);
	json_reader_release(&r);
}

TEST(json_skips_values)
{
	static const char text[] = "{\"a\": {\"x\": [1, {}]}, \"b\": 7}";
	struct json_reader r;

	json_reader_init(&r, text, strlen(text));
	CHECK_EQ(json_read(&r), READ_OBJECT);
	CHECK_EQ(json_read(&r), READ_KEY);
	json_read_skip(&r);
	CHECK_EQ(json_read(&r), READ_KEY);
	CHECK_STR(json_text(&r), "b");
	json_read_skip(&r);
	CHECK_EQ(json_read(&r), READ_OBJECT_END);
	json_reader_release(&r);
}

/* --- pprof ---------------------------------------------------------------------------------- */

static const char script[] = "app 12/13 [001] 1.000000:    100 cpu-clock:\n"
			     "\tffff81 do_work+0x1 ([kernel.kallsyms])\n"
			     "\t7f0001 lib::call+0x9 (/usr/lib/libx.so)\n"
			     "\t550001 main (/usr/bin/app)\n\n"
			     "app 12/14 [001] 1.100000:    50 cpu-clock:\n"
			     "\t7f0002 \"odd\" <name>;x+0x20 (/usr/lib/libx.so)\n"
			     "\t550001 main (/usr/bin/app)\n\n"
			     "other 20/20 [000] 1.200000:    7 faults:\n"
			     "\t1 touch (/usr/bin/other)\n\n";

static void load_script(struct profile *p)
{
	profile_init(p);
	CHECK_EQ(profile_load_script(p, script, strlen(script), NULL, NULL), 0);
}

TEST(pprof_round_trip)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p, q;

	load_script(&p);
	export_pprof(&p, &(struct export_opts){ 0 }, &out);
	CHECK_EQ(profile_sniff(out.data, out.len), INPUT_PPROF);
	profile_init(&q);
	CHECK_EQ(profile_load_pprof(&q, out.data, out.len, NULL), 0);
	CHECK_EQ(q.bad_records, 0);
	CHECK_EQ(q.events.len, 2);
	CHECK_EQ(q.events.items[0].weight, 150);
	CHECK_EQ(q.events.items[0].samples, 2);
	CHECK_EQ(q.events.items[1].weight, 7);
	before = folded(&p);
	after = folded(&q);
	CHECK_STR(after, before);
	profile_release(&p);
	profile_release(&q);
}

TEST(pprof_bytes_that_are_not_packed)
{
	_cleanup_buf_ struct buf packed = BUF_INIT, plain = BUF_INIT;
	struct profile p, q;

	load_script(&p);
	export_pprof(&p, &(struct export_opts){ 0 }, &packed);
	CHECK_EQ(gzip_unpack(packed.data, packed.len, 1 << 20, &plain, NULL), 0);
	CHECK_EQ(profile_sniff(plain.data, plain.len), INPUT_PPROF);
	profile_init(&q);
	CHECK_EQ(profile_load_pprof(&q, plain.data, plain.len, NULL), 0);
	CHECK_EQ(q.samples.len, 3);
	profile_release(&q);
	/* cut anywhere: without the names of its kinds each value is one, but no more */
	for (size_t n = 0; n < plain.len; n++) {
		profile_init(&q);
		if (profile_load_pprof(&q, plain.data, n, NULL) >= 0)
			CHECK(q.samples.len <= 6);
		profile_release(&q);
	}
	profile_release(&p);
}

TEST(pprof_pairs_counts_with_values)
{
	static const char *const strings[] = { "",      "objects", "count",        "space",
					       "bytes", "cpu",     "milliseconds", "f" };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p;

	/* objects/count, space/bytes, cpu/milliseconds */
	buf_add(&out, "\x0a\x04\x08\x01\x10\x02", 6);
	buf_add(&out, "\x0a\x04\x08\x03\x10\x04", 6);
	buf_add(&out, "\x0a\x04\x08\x05\x10\x06", 6);
	/* location 1, values 3 objects, 4096 bytes, 2 ms */
	buf_add(&out, "\x12\x09\x0a\x01\x01\x12\x04\x03\x80\x20\x02", 11);
	buf_add(&out, "\x22\x06\x08\x01\x22\x02\x08\x01", 8);
	buf_add(&out, "\x2a\x04\x08\x01\x10\x07", 6);
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		wire_bytes(&out, 6, strings[i], strlen(strings[i]));
	profile_init(&p);
	CHECK_EQ(profile_load_pprof(&p, out.data, out.len, NULL), 0);
	CHECK_EQ(p.events.len, 2);
	CHECK_STR(profile_str(&p, p.events.items[0].name), "space");
	CHECK_EQ(p.events.items[0].weight, 4096);
	CHECK_EQ(p.events.items[0].samples, 3);
	CHECK_STR(profile_str(&p, p.events.items[1].unit), "ns");
	CHECK_EQ(p.events.items[1].weight, 2000000);
	/* the last kind is the one that pprof shows */
	CHECK_EQ(p.samples.items[0].event, 1);
	profile_release(&p);
}

TEST(pprof_refuses_what_it_is_not)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_pprof(&p, "hello", 5, &e), -EBADMSG);
	CHECK(e.what != NULL);
	CHECK_EQ(profile_load_pprof(&p, "", 0, NULL), -EBADMSG);
	profile_release(&p);
}

/* --- speedscope ----------------------------------------------------------------------------- */

TEST(speedscope_round_trip)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p, q;

	load_script(&p);
	export_speedscope(&p, &(struct export_opts){ 0 }, &out);
	CHECK_EQ(profile_sniff(out.data, out.len), INPUT_SPEEDSCOPE);
	profile_init(&q);
	CHECK_EQ(profile_load_speedscope(&q, out.data, out.len, NULL), 0);
	CHECK_EQ(q.samples.len, 2);
	CHECK_EQ(q.events.items[0].weight, 150);
	CHECK_EQ(q.threads.items[q.samples.items[0].thread].pid, 12);
	CHECK_EQ(profile_depth(&q, q.samples.items[0].stack), 3);
	profile_release(&p);
	profile_release(&q);
}

TEST(speedscope_events)
{
	static const char text[] =
		"{\"profiles\":[{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"milliseconds\","
		"\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":1,"
		"\"at\":3},{\"type\":\"C\",\"frame\":1,\"at\":4},{\"type\":\"C\",\"frame\":0,"
		"\"at\":6}]}],\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}";
	_cleanup_free_ char *got = NULL;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_speedscope(&p, text, strlen(text), NULL), 0);
	got = folded(&p);
	CHECK_STR(got, "t-0;a 4000000\nt-0;a;b 1000000\n");
	profile_release(&p);
}

TEST(speedscope_broken)
{
	static const char cut[] = "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{"
				  "\"samples\":[[0],[7],[0]],\"weights\":[1,1,-5";
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_speedscope(&p, "{\"a\":1}", 7, &e), -EBADMSG);
	CHECK(e.hint != NULL);
	CHECK_EQ(profile_load_speedscope(&p, cut, strlen(cut), NULL), 0);
	CHECK(p.fault != 0);
	/* a frame that is not there, and a weight below nothing */
	CHECK_EQ(p.bad_records, 2);
	profile_release(&p);
}

/* --- the others ----------------------------------------------------------------------------- */

static bool is_json(const struct buf *b)
{
	struct json_reader r;
	enum json_piece piece;

	json_reader_init(&r, b->data, b->len);
	while ((piece = json_read(&r)) != READ_END && piece != READ_ERROR)
		continue;
	json_reader_release(&r);
	return piece == READ_END;
}

TEST(chrome_slices)
{
	static const char text[] =
		"t 1/1 [0] 1.000000: 1000000 cpu-clock:\n\t1 a (x)\n\t2 m (x)\n\n"
		"t 1/1 [0] 1.001000: 1000000 cpu-clock:\n\t1 b (x)\n\t2 m (x)\n\n";
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_script(&p, text, strlen(text), NULL, NULL), 0);
	p.events.items[0].unit = profile_string(&p, "ns");
	export_chrome(&p, &(struct export_opts){ 0 }, &out);
	CHECK(is_json(&out));
	/* m spans both samples */
	CHECK(strstr(buf_str(&out), "\"name\":\"m\",\"cat\":\"user\",\"ph\":\"X\",\"ts\":0.000,"
				    "\"dur\":2000.000") != NULL);
	CHECK(strstr(buf_str(&out), "\"name\":\"b\",\"cat\":\"user\",\"ph\":\"X\",\"ts\":1000.000,"
				    "\"dur\":1000.000") != NULL);
	profile_release(&p);
}

TEST(every_format_is_well_formed)
{
	_cleanup_buf_ struct buf chrome = BUF_INIT, firefox = BUF_INIT, csv = BUF_INIT;
	struct export_opts opts = { .title = "a \"title\"" };
	struct profile p;

	load_script(&p);
	export_chrome(&p, &opts, &chrome);
	export_firefox(&p, &opts, &firefox);
	export_csv(&p, &opts, &csv);
	CHECK(is_json(&chrome));
	CHECK(is_json(&firefox));
	CHECK(strstr(buf_str(&csv), "cpu-clock,ns,app,12,13,1,1.000000000,1,100,"
				    "main;lib::call;do_work\n") != NULL);
	CHECK(strstr(buf_str(&csv), "\"main;\"\"odd\"\" <name>:x\"") != NULL);
	profile_release(&p);
}
