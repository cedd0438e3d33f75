/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/io.h"
#include "runtime/jitdump.h"
#include "runtime/mapwatch.h"
#include "symbol/symbol.h"

#include <sys/stat.h>

/* Writing a dump, field by field. */
static void put32(struct buf *b, u32 v)
{
	buf_add(b, &v, sizeof(v));
}

static void put64(struct buf *b, u64 v)
{
	buf_add(b, &v, sizeof(v));
}

static void put_header(struct buf *b, u32 pid)
{
	put32(b, 0x4a695444);
	put32(b, 1);
	put32(b, 40);
	put32(b, 62);
	put32(b, 0);
	put32(b, pid);
	put64(b, 0);
	put64(b, 0);
}

static void put_record(struct buf *b, u32 id, u64 time, const struct buf *body)
{
	put32(b, id);
	put32(b, 16 + (u32)body->len);
	put64(b, time);
	buf_add(b, body->data, body->len);
}

static void put_load(struct buf *b, u64 time, u64 start, u64 size, u64 index, const char *name)
{
	_cleanup_buf_ struct buf body = BUF_INIT;

	put32(&body, 7);
	put32(&body, 7);
	put64(&body, start);
	put64(&body, start);
	put64(&body, size);
	put64(&body, index);
	buf_add(&body, name, strlen(name) + 1);
	buf_fill(&body, '\x90', size);
	put_record(b, 0, time, &body);
}

static void put_move(struct buf *b, u64 time, u64 from, u64 to, u64 size, u64 index)
{
	_cleanup_buf_ struct buf body = BUF_INIT;

	put64(&body, 7);
	put64(&body, to);
	put64(&body, from);
	put64(&body, to);
	put64(&body, size);
	put64(&body, index);
	put_record(b, 1, time, &body);
}

static void put_lines(struct buf *b, u64 code)
{
	_cleanup_buf_ struct buf body = BUF_INIT;

	put64(&body, code);
	put64(&body, 3);
	put64(&body, code + 8);
	put32(&body, 21);
	put32(&body, 0);
	buf_add(&body, "b.js", 5);
	put64(&body, code);
	put32(&body, 20);
	put32(&body, 0);
	buf_add(&body, "a.js", 5);
	put64(&body, code + 12);
	put32(&body, 22);
	put32(&body, 0);
	buf_add(&body, "\xff", 2); /* the same file again */
	put_record(b, 2, 0, &body);
}

static void put_unwind(struct buf *b, const char *text, u32 hdr)
{
	_cleanup_buf_ struct buf body = BUF_INIT;

	put64(&body, strlen(text));
	put64(&body, hdr);
	put64(&body, strlen(text));
	buf_addstr(&body, text);
	put_record(b, 4, 0, &body);
}

static int read_buf(const void *ctx, u64 offset, void *ret, size_t n)
{
	const struct buf *b = ctx;

	if (offset > b->len || n > b->len - offset)
		return -EIO;
	memcpy(ret, b->data + offset, n);
	return 0;
}

static const char *name_at(struct jitdump *d, u64 address, u64 time)
{
	const struct jitdump_entry *e = jitdump_find(d, address, time);

	return e ? jitdump_str(d, e->name) : NULL;
}

TEST(code_has_its_name_at_its_time)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;

	put_header(&b, 7);
	put_load(&b, 100, 0x1000, 0x40, 1, "one");
	put_load(&b, 200, 0x2000, 0x10, 2, "two");
	put_load(&b, 300, 0x1020, 0x40, 3, "three"); /* over a part of the first */
	put_move(&b, 400, 0x2000, 0x3000, 0x10, 2);
	jitdump_update(&d, read_buf, &b, b.len);
	CHECK_EQ(d.entries.len, 4);
	CHECK_EQ(d.pid, 7);
	CHECK_STR(name_at(&d, 0x1000, 0), "one");
	CHECK_STR(name_at(&d, 0x1030, 0), "three");
	CHECK_STR(name_at(&d, 0x1030, 299), "one");
	CHECK_STR(name_at(&d, 0x1030, 300), "three");
	CHECK_STR(name_at(&d, 0x105f, 300), "three");
	CHECK_STR(name_at(&d, 0x2000, 250), "two");
	CHECK_STR(name_at(&d, 0x3004, 450), "two");
	CHECK_STR(name_at(&d, 0x3004, 50), "two"); /* too early, but there is nothing else */
	CHECK(!name_at(&d, 0x1060, 0));
	CHECK(!name_at(&d, 0xfff, 0));
	jitdump_release(&d);
}

TEST(lines_belong_to_the_code_after_them)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;
	const struct jitdump_entry *e;

	put_header(&b, 7);
	put_lines(&b, 0x1000);
	put_unwind(&b, "FRAMEHD", 2);
	put_load(&b, 100, 0x1000, 0x40, 1, "lined");
	put_load(&b, 100, 0x2000, 0x40, 2, "bare");
	jitdump_update(&d, read_buf, &b, b.len);
	e = jitdump_find(&d, 0x1000, 0);
	CHECK(e != NULL);
	CHECK_EQ(jitdump_line(&d, e, 0x1000)->line, 20);
	CHECK_STR(jitdump_str(&d, jitdump_line(&d, e, 0x1007)->file), "a.js");
	CHECK_STR(jitdump_str(&d, jitdump_line(&d, e, 0x1008)->file), "b.js");
	CHECK_EQ(jitdump_line(&d, e, 0x1030)->line, 22);
	CHECK_STR(jitdump_str(&d, jitdump_line(&d, e, 0x1030)->file), "a.js");
	CHECK_EQ(e->unwind_size, 7);
	CHECK_EQ(e->unwind_hdr_size, 2);
	CHECK_MEM(b.data + e->unwind_at, "FRAMEHD", 7);
	e = jitdump_find(&d, 0x2000, 0);
	CHECK(!jitdump_line(&d, e, 0x2000));
	CHECK_EQ(e->unwind_size, 0);
	jitdump_release(&d);
}

static void put_line(struct buf *body, u64 address, u32 line, const char *file)
{
	put64(body, address);
	put32(body, line);
	put32(body, 0);
	buf_add(body, file, strlen(file) + 1);
}

/* V8 counts from an ELF header before the code; node 20 writes stray bytes between its lines. */
TEST(lines_of_v8)
{
	_cleanup_buf_ struct buf b = BUF_INIT, good = BUF_INIT, bad = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;
	const struct jitdump_entry *e;

	put_header(&b, 7);
	put64(&good, 0x1000);
	put64(&good, 2);
	put_line(&good, 0x1040, 5, "w.js");
	put_line(&good, 0x1060, 6, "w.js");
	put_record(&b, 2, 0, &good);
	put_load(&b, 1, 0x1000, 0x40, 1, "good");
	put64(&bad, 0x2000);
	put64(&bad, 2);
	put_line(&bad, 0x2040, 5, "F");
	put_line(&bad, 0x849acea14103a480, 6, "s");
	put_record(&b, 2, 0, &bad);
	put_load(&b, 2, 0x2000, 0x40, 2, "bad");
	jitdump_update(&d, read_buf, &b, b.len);
	e = jitdump_find(&d, 0x1000, 0);
	CHECK_EQ(jitdump_line(&d, e, 0x1000)->line, 5);
	CHECK_EQ(jitdump_line(&d, e, 0x101f)->line, 5);
	CHECK_EQ(jitdump_line(&d, e, 0x1020)->line, 6);
	e = jitdump_find(&d, 0x2010, 0);
	CHECK_STR(jitdump_str(&d, e->name), "bad");
	CHECK(!jitdump_line(&d, e, 0x2010));
	jitdump_release(&d);
}

/* Whatever part of the file is there: no entry is lost, none comes twice. */
TEST(a_dump_that_grows_is_read_in_parts)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	put_header(&b, 7);
	put_lines(&b, 0x1000);
	put_load(&b, 100, 0x1000, 0x40, 1, "one");
	put_load(&b, 200, 0x2000, 0x10, 2, "two");
	for (size_t cut = 0; cut <= b.len; cut++) {
		struct jitdump d = JITDUMP_INIT;

		jitdump_update(&d, read_buf, &b, cut);
		CHECK(!d.why);
		jitdump_update(&d, read_buf, &b, b.len);
		CHECK_EQ(d.entries.len, 2);
		CHECK_EQ(d.lines.len, 3);
		CHECK_EQ(d.consumed, b.len);
		CHECK(jitdump_line(&d, jitdump_find(&d, 0x1000, 0), 0x1000) != NULL);
		jitdump_release(&d);
	}
}

TEST(broken_dumps_are_explained)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;

	buf_addstr(&b, "this is no dump at all, only some text that is long");
	jitdump_update(&d, read_buf, &b, b.len);
	CHECK_STR(d.why, "its jitdump does not begin like one");
	jitdump_release(&d);

	buf_reset(&b);
	put_header(&b, 7);
	b.data[0] = 'J';
	b.data[1] = 'i';
	b.data[2] = 'T';
	b.data[3] = 'D';
	jitdump_update(&d, read_buf, &b, b.len);
	CHECK_STR(d.why, "its jitdump is of another byte order");
	jitdump_release(&d);

	buf_reset(&b);
	put_header(&b, 7);
	put_load(&b, 100, 0x1000, 0x40, 1, "one");
	put32(&b, 0);
	put32(&b, 5); /* a record shorter than its header */
	put64(&b, 0);
	jitdump_update(&d, read_buf, &b, b.len);
	CHECK_STR(d.why, "its jitdump is broken");
	CHECK_STR(name_at(&d, 0x1000, 0), "one");
	jitdump_release(&d);
}

/* Sizes and addresses that overflow are no code. */
TEST(absurd_code_is_left_out)
{
	_cleanup_buf_ struct buf b = BUF_INIT, body = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;

	put_header(&b, 7);
	put64(&body, 7);
	put64(&body, UINT64_MAX - 8);
	put64(&body, UINT64_MAX - 8);
	put64(&body, 100);
	put64(&body, 1);
	buf_add(&body, "over", 5);
	put_record(&b, 0, 1, &body);
	put_load(&b, 1, 0x5000, 0, 2, "empty");
	put_move(&b, 1, 1, 2, 3, 99); /* of code that never was */
	jitdump_update(&d, read_buf, &b, b.len);
	CHECK_EQ(d.entries.len, 0);
	CHECK(!jitdump_find(&d, UINT64_MAX - 4, 0));
	jitdump_release(&d);
}

TEST(find_agrees_with_a_search_through_all)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;
	u64 seed = 5;

	put_header(&b, 7);
	for (u64 i = 0; i < 300; i++) {
		char name[16];

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		snprintf(name, sizeof(name), "f%u", (unsigned int)i);
		put_load(&b, i + 1, 0x1000 + (seed >> 40) % 2000, 1 + (seed >> 20) % 60, i, name);
	}
	jitdump_update(&d, read_buf, &b, b.len);
	for (u64 at = 0xff0; at < 0x1000 + 2100; at++) {
		const u64 time = 1 + at % 310;
		const struct jitdump_entry *want = NULL, *after = NULL;

		vec_each(e, &d.entries) {
			if (at < e->start || at - e->start >= e->size)
				continue;
			if (e->time <= time)
				want = e; /* times rise */
			else if (!after)
				after = e;
		}
		CHECK(jitdump_find(&d, at, time) == (want ? want : after));
	}
	jitdump_release(&d);
}

/* The whole way: a mapping tells of the file, its names, lines and unwind bytes are handed out. */
TEST(a_mapped_dump_names_its_process)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_cache = true });
	_cleanup_buf_ struct buf b = BUF_INIT, frames = BUF_INIT;
	struct source_frame line;
	struct jit_unwind unwind;
	struct symbol sym;
	char path[256];

	put_header(&b, (u32)getpid());
	put_lines(&b, 0x1000);
	put_unwind(&b, "FRAMEHD", 2);
	put_load(&b, 100, 0x1000, 0x41, 1, "dumped");
	snprintf(path, sizeof(path), "%s/jit-%d.dump", test_tmpdir(), (int)getpid());
	CHECK_EQ(io_write_file_atomic(path, b.data, b.len, NULL), 0);
	symbols_module(s, &(struct module_key){ .path = path, .pid = getpid() });
	CHECK(symbols_jit(s, getpid(), 0, NULL, 0x1009, 1000, &sym));
	CHECK_STR(sym.name, "dumped");
	CHECK_EQ(sym.flags, SYM_JIT);
	CHECK_EQ(sym.start, 0x1000);
	CHECK(symbols_jit_line(s, getpid(), 0x1009, 1000, &line));
	CHECK_STR(line.file, "b.js");
	CHECK_EQ(line.line, 21);
	CHECK(!symbols_jit_line(s, getpid(), 0x9000, 1000, &line));
	CHECK_EQ(symbols_jit_unwind(s, getpid(), 0x1009, 0, &unwind, &frames), 0);
	CHECK_EQ(unwind.eh_frame_size, 5);
	CHECK_EQ(unwind.eh_frame_address, 0x1048);
	CHECK_MEM(frames.data, "FRAME", 5);
	CHECK_EQ(symbols_jit_unwind(s, 1, 0x1009, 0, &unwind, &frames), -ENOENT);
	symbols_free(s);
}

static void write_map(const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/tmp", test_tmpdir());
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/tmp/perf-7.map", test_tmpdir());
	_cleanup_fclose_ FILE *f = fopen(path, "w"); /* in place: the inode stays */

	CHECK(f != NULL);
	fputs(text, f);
}

/* Written again in place, and longer than before: nothing of the old is believed. */
TEST(a_map_written_anew_is_read_from_its_start)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_cache = true });
	struct symbol sym;

	write_map("1000 10 the_old_one\n");
	CHECK(symbols_jit(s, 123, 7, test_tmpdir(), 0x1004, NSEC_PER_SEC, &sym));
	CHECK_STR(sym.name, "the_old_one");
	write_map("1000 10 a_new_one\n5000 10 another_new_one\n");
	CHECK(symbols_jit(s, 123, 7, test_tmpdir(), 0x5004, 100 * NSEC_PER_SEC, &sym));
	CHECK_STR(sym.name, "another_new_one");
	CHECK(symbols_jit(s, 123, 7, test_tmpdir(), 0x1004, 100 * NSEC_PER_SEC, &sym));
	CHECK_STR(sym.name, "a_new_one");
	symbols_free(s);
}

/* A hole of 1 GB, and a line after it: its end is read, and the user is reported. */
TEST(a_huge_map_is_capped_and_explained)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_cache = true });
	struct symbol sym;
	char path[256];

	write_map("1000 10 at_the_start\n");
	snprintf(path, sizeof(path), "%s/tmp/perf-7.map", test_tmpdir());
	{
		_cleanup_fclose_ FILE *f = fopen(path, "r+");

		CHECK(f != NULL);
		CHECK_EQ(fseeko(f, (off_t)1 << 30, SEEK_SET), 0);
		fputs("\n2000 10 at_the_end\n", f);
	}
	CHECK(symbols_jit(s, 123, 7, test_tmpdir(), 0x2004, NSEC_PER_SEC, &sym));
	CHECK_STR(sym.name, "at_the_end");
	CHECK(!symbols_jit(s, 123, 7, test_tmpdir(), 0x1004, NSEC_PER_SEC, &sym));
	CHECK(strstr(symbols_jit_why(s, 123), "too large"));
	symbols_free(s);
}

TEST(names_of_run_time_code_travel_in_a_recording)
{
	static const struct symbols_opts offline = { .offline = true };
	_cleanup_buf_ struct buf blob = BUF_INIT, again = BUF_INIT;
	struct symbols *s = symbols_new(&offline);
	struct symbol sym;

	symbols_code_pack(&blob, &(struct symbol_code){ 7, 0, 0x1000, 0x100, "first", 0, false });
	symbols_code_pack(&blob, &(struct symbol_code){ 7, 50, 0x1040, 0x40, "later", 0, false });
	symbols_code_pack(&blob, &(struct symbol_code){ 8, 0, 0x1000, 0x10, "other", 0, false });
	CHECK_EQ(symbols_code_import(s, blob.data, blob.len, NULL), 0);
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1040, 49, &sym));
	CHECK_STR(sym.name, "first");
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1040, 50, &sym));
	CHECK_STR(sym.name, "later");
	CHECK_EQ(sym.start, 0x1040);
	CHECK_EQ(sym.size, 0x40);
	CHECK(symbols_jit(s, 8, 0, NULL, 0x100f, 1, &sym));
	CHECK_STR(sym.name, "other");
	CHECK(!symbols_jit(s, 8, 0, NULL, 0x1010, 1, &sym));
	/* what was named is written again */
	symbols_code_export(s, &again);
	CHECK_EQ(again.len, blob.len);
	CHECK(!memcmp(again.data, blob.data, blob.len));
	symbols_free(s);
}

TEST(broken_names_of_run_time_code_are_refused_whole)
{
	static const struct symbols_opts offline = { .offline = true };
	_cleanup_buf_ struct buf blob = BUF_INIT;
	size_t one;

	symbols_code_pack(&blob,
			  &(struct symbol_code){ 7, 1ull << 60, 0x1000, 0x100, "name", 0, false });
	one = blob.len;
	symbols_code_pack(&blob,
			  &(struct symbol_code){ 7, 9, 0x2000, UINT64_MAX, "too long", 0, false });
	for (size_t n = 0; n <= blob.len; n++) {
		struct symbols *s = symbols_new(&offline);
		_cleanup_free_ char *cut = n ? xmemdup(blob.data, n) : NULL;
		int r = symbols_code_import(s, cut ? cut : "", n, NULL);
		struct symbol sym;

		CHECK_EQ(r, n == blob.len || n == one || n == 5 ? 0 : -EBADMSG);
		CHECK_EQ(symbols_jit(s, 7, 0, NULL, 0x1001, 0, &sym), r == 0 && n >= one);
		CHECK(!symbols_jit(s, 7, 0, NULL, 0x2001, 0, &sym));
		symbols_free(s);
	}
}

TEST(code_that_may_have_been_there_already_has_both_names)
{
	static const struct symbols_opts offline = { .offline = true };
	_cleanup_buf_ struct buf blob = BUF_INIT;
	struct symbols *s = symbols_new(&offline);
	struct symbol sym;

	symbols_code_pack(&blob, &(struct symbol_code){ 7, 0, 0x1000, 0x100, "first", 0, false });
	symbols_code_pack(&blob, &(struct symbol_code){ 7, 50, 0x1040, 0x40, "later", 60, false });
	CHECK_EQ(symbols_code_import(s, blob.data, blob.len, NULL), 0);
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1040, 49, &sym));
	CHECK_STR(sym.name, "first");
	CHECK_EQ(symbols_several(s), 0);
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1040, 50, &sym));
	CHECK_STR(sym.name, "later or first");
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1040, 59, &sym));
	CHECK_STR(sym.name, "later or first");
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1040, 60, &sym));
	CHECK_STR(sym.name, "later");
	CHECK(symbols_jit(s, 7, 0, NULL, 0x1080, 55, &sym));
	CHECK_STR(sym.name, "first");
	CHECK_EQ(symbols_several(s), 1);
	/* what an address means changes twice */
	CHECK_EQ(symbols_jit_changes(s, 7, 49), 0);
	CHECK_EQ(symbols_jit_changes(s, 7, 50), 1);
	CHECK_EQ(symbols_jit_changes(s, 7, 60), 2);
	symbols_free(s);
}

TEST(code_by_another_clock_has_the_names_of_all)
{
	const u64 second = 1000000000;
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct jitdump d = JITDUMP_INIT;
	u32 names[JITDUMP_NAMES_MOST];

	put_header(&b, 7);
	put_load(&b, 90 * second, 0x1000, 0x40, 1, "one");
	put_load(&b, 91 * second, 0x1000, 0x40, 2, "two");
	jitdump_update(&d, read_buf, &b, b.len);
	CHECK_EQ(jitdump_names(&d, 0x1000, 90 * second, 90 * second, names), 1);
	CHECK_STR(jitdump_str(&d, names[0]), "one");
	/* a little too early, and far too early */
	CHECK_EQ(jitdump_names(&d, 0x1000, 90 * second - 5, 90 * second - 5, names), 1);
	CHECK_STR(jitdump_str(&d, names[0]), "one");
	CHECK_EQ(jitdump_names(&d, 0x1000, second, second, names), 2);
	CHECK_STR(jitdump_str(&d, names[0]), "two");
	CHECK_STR(jitdump_str(&d, names[1]), "one");
	jitdump_release(&d);
}

static void put_map(const char *path, const char *mode, const char *text)
{
	_cleanup_fclose_ FILE *f = fopen(path, mode);

	CHECK(f && fputs(text, f) >= 0);
}

/* "first 0" */
static const char *change(const struct code_names *n, size_t i)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s %d %llx %llx",
		 intern_get(&n->strings, n->list.items[i].name), n->list.items[i].time > 0,
		 (unsigned long long)n->list.items[i].start,
		 (unsigned long long)n->list.items[i].size);
	return text;
}

TEST(a_map_that_is_watched_says_what_took_the_place_of_what)
{
	_cleanup_free_ char *path = xasprintf("/tmp/perf-%d.map", (int)getpid());
	_cleanup_(code_names_release) struct code_names names = { 0 };
	struct mapwatch_base base;
	struct mapwatch w;

	put_map(path, "we", "1000 100 one\n2000 100 two\n");
	mapwatch_base_init(&base);
	mapwatch_init(&w, getpid());
	mapwatch_look(&w, &base, &names);
	CHECK_EQ(names.list.len, 0);
	/* new code in a free place, and the same code again */
	put_map(path, "ae", "3000 100 three\n1000 100 one\n");
	mapwatch_look(&w, &base, &names);
	CHECK_EQ(names.list.len, 0);
	/* over the end of one and the begin of nothing */
	put_map(path, "ae", "1080 100 four\n");
	mapwatch_look(&w, &base, &names);
	CHECK_EQ(names.list.len, 2);
	CHECK_STR(change(&names, 0), "one 0 1080 80");
	CHECK_STR(change(&names, 1), "four 1 1080 100");
	CHECK(names.list.items[1].sure > names.list.items[1].time);
	/* two at once in one place */
	put_map(path, "ae", "5000 10 five\n5000 10 six\n");
	mapwatch_look(&w, &base, &names);
	CHECK_EQ(names.list.len, 4);
	CHECK_STR(change(&names, 2), "five 1 5000 10");
	CHECK_STR(change(&names, 3), "six 1 5000 10");
	/* written anew: what is the same is no change */
	put_map(path, "we", "1000 80 one\n2000 100 other\n");
	mapwatch_look(&w, &base, &names);
	CHECK_EQ(names.list.len, 6);
	CHECK_STR(change(&names, 4), "two 0 2000 100");
	CHECK_STR(change(&names, 5), "other 1 2000 100");
	mapwatch_release(&w);
	mapwatch_base_release(&base);
	unlink(path);
}
