/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/buf.h"
#include "base/io.h"
#include "symbol/lineindex.h"

static const u8 id[20] = { 1, 2, 3 };
static const struct lineindex_owner owner = { id, sizeof(id), 77 };

#ifdef HAVE_LIBDW

/* Two answers of which each has the strings of its own. */
struct answer {
	struct srcline_frame frames[SRCLINE_MAX_CHAIN];
	size_t n;
};

static void check_same_text(struct lineindex *x, u32 ref, const struct srcline *s, u32 string)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	CHECK_EQ(ref != 0, string != 0);
	if (!ref)
		return;
	CHECK(lineindex_str(x, ref, &text));
	CHECK_STR(buf_str(&text), srcline_str(s, string));
}

/* False: the index does not know. */
static bool check_same(struct lineindex *x, struct srcline *s, u64 vaddr)
{
	struct answer a, b;

	if (!lineindex_find(x, vaddr, a.frames, ARRAY_SIZE(a.frames), &a.n))
		return false;
	b.n = srcline_find(s, vaddr, b.frames, ARRAY_SIZE(b.frames));
	CHECK_EQ(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		const struct srcline_frame *f = &a.frames[i], *g = &b.frames[i];

		CHECK_EQ(f->line, g->line);
		CHECK_EQ(f->column, g->column);
		CHECK_EQ(f->inlined, g->inlined);
		check_same_text(x, f->function, s, g->function);
		check_same_text(x, f->file, s, g->file);
	}
	return true;
}

static struct srcline *own_lines(u64 *ret_start, u64 *ret_end)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct srcline *s = NULL;

	CHECK_EQ(elf_open_fd(&elf, io_open_in_root(NULL, "/proc/self/exe"), "self", NULL), 0);
	CHECK_EQ(srcline_new(&s, &elf, NULL), 0);
	for (size_t i = 0; i < elf.segment_count; i++) {
		const struct elf_segment *g = &elf.segments[i];

		if (g->type == PT_LOAD && g->flags & PF_X) {
			*ret_start = g->vaddr;
			*ret_end = g->vaddr + g->memsz;
		}
	}
	return s;
}

static struct lineindex *packed(struct srcline *s, struct lineindex *old, struct buf *ret)
{
	struct lineindex *x = NULL;

	CHECK_EQ(srcline_pack(s, 0, old, &owner, ret), 0);
	CHECK_EQ(lineindex_open_mem(&x, ret->data, ret->len, &owner), 0);
	return x;
}

TEST_TIMEOUT(the_index_says_what_the_debug_information_says, 120)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct srcline_counts c;
	struct lineindex *x;
	struct srcline *s;
	u64 start = 0, end = 0, found = 0;

	s = own_lines(&start, &end);
	srcline_index_all(s);
	x = packed(s, NULL, &bytes);
	CHECK(lineindex_is_whole(x));
	srcline_counts(s, &c);
	CHECK_EQ(c.indexed, c.units);
	CHECK_EQ(lineindex_units(x), c.units);
	/* every byte of some functions, places all over, and outside */
	for (u64 at = start; at < start + (64 << 10); at++)
		CHECK(check_same(x, s, at));
	for (u64 at = start; at < end + 8192; at += 37) {
		struct srcline_frame f;

		CHECK(check_same(x, s, at));
		found += srcline_find(s, at, &f, 1);
	}
	CHECK(found > 1000);
	CHECK(check_same(x, s, 0));
	CHECK(check_same(x, s, UINT64_MAX));
	CHECK(check_same(x, s, start + (1ull << 33)));
	CHECK(!lineindex_is_broken(x));
	lineindex_free(x);
	srcline_free(s);
}

TEST_TIMEOUT(units_are_added_to_what_is_there, 120)
{
	_cleanup_buf_ struct buf first = BUF_INIT, second = BUF_INIT, third = BUF_INIT;
	struct lineindex *x, *y, *z;
	struct srcline *s, *t;
	struct srcline_frame f;
	u64 start = 0, end = 0, known = 0, asked = 0;

	s = own_lines(&start, &end);
	for (u64 at = start; at < start + (end - start) / 4; at += 4096)
		(void)srcline_find(s, at, &f, 1);
	x = packed(s, NULL, &first);
	CHECK(!lineindex_is_whole(x));
	srcline_free(s);
	/* the next one asks for others, and has never seen those */
	t = own_lines(&start, &end);
	for (u64 at = start + (end - start) / 2; at < end; at += 4096)
		(void)srcline_find(t, at, &f, 1);
	y = packed(t, x, &second);
	CHECK(!lineindex_is_whole(y));
	for (u64 at = start; at < end; at += 1021, asked++) {
		const bool quarter = at < start + (end - start) / 4;

		known += check_same(y, t, at);
		if (at % 4096 == start % 4096 && (quarter || at > start + (end - start) / 2))
			CHECK(check_same(y, t, at));
	}
	CHECK(known < asked && known > asked / 8);
	srcline_index_all(t);
	z = packed(t, y, &third);
	CHECK(lineindex_is_whole(z));
	for (u64 at = start; at < end; at += 1021)
		CHECK(check_same(z, t, at));
	lineindex_free(x);
	lineindex_free(y);
	lineindex_free(z);
	srcline_free(t);
}

#endif

/* --- one that is made by hand --------------------------------------------------------------- */

enum { MADE_CELLS = 20000, MADE_STEP = 16, MADE_BASE = 0x401000, LONG_NAME = 3000 };

/* Every third place is in one function inlined into another; the last is nowhere. */
static void make_index(struct buf *ret)
{
	struct lineindex_builder *b = lineindex_builder_new();
	char name[LONG_NAME];
	u32 file = lineindex_add_string(b, "/src/a.c", 8), other, outer, inner;
	struct line_scope scope = { .name = lineindex_add_string(b, "outer", 5) };

	outer = lineindex_add_scope(b, &scope);
	memset(name, 'n', sizeof(name));
	other = lineindex_add_string(b, name, sizeof(name));
	CHECK_EQ(lineindex_add_string(b, "/src/a.c", 8), file);
	scope = (struct line_scope){ .caller = outer - LINE_FIRST + 1,
				     .name = other,
				     .call_file = file,
				     .call_line = 5,
				     .call_column = 2 };
	inner = lineindex_add_scope(b, &scope);
	for (u32 i = 0; i < MADE_CELLS; i++) {
		const struct line_cell cell = { .start = MADE_BASE + (u64)i * MADE_STEP,
						.file = file,
						.line = i * 7919 % 1000 + 1,
						.column = i % 80,
						.scope = i % 3 ? outer : inner };

		lineindex_add_cell(b, &cell);
	}
	lineindex_add_cell(b, &(struct line_cell){ .start = MADE_BASE + MADE_CELLS * MADE_STEP });
	CHECK_EQ(lineindex_finish(b, &owner, 3, true, ret), 0);
	lineindex_builder_free(b);
}

static void check_made(struct lineindex *x, u32 i, u64 into)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct srcline_frame f[4];
	size_t n = 99;

	CHECK(lineindex_find(x, MADE_BASE + (u64)i * MADE_STEP + into, f, 4, &n));
	CHECK_EQ(n, i % 3 ? 1 : 2);
	CHECK_EQ(f[0].line, i * 7919 % 1000 + 1);
	CHECK_EQ(f[0].column, i % 80);
	CHECK_EQ(f[0].inlined, n == 2);
	CHECK_EQ(f[n - 1].inlined, false);
	if (n == 2) {
		CHECK(lineindex_str(x, f[0].function, &text));
		CHECK_EQ(text.len, LONG_NAME);
		CHECK_EQ(f[1].line, 5);
		CHECK_EQ(f[1].column, 2);
		buf_reset(&text);
	}
	CHECK(lineindex_str(x, f[n - 1].function, &text));
	CHECK_STR(text.data, "outer");
}

TEST(cells_of_many_pages_are_found)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct lineindex_cursor c;
	struct lineindex *x;
	struct srcline_frame f[4];
	u32 cells = 0;
	size_t n = 99;

	make_index(&bytes);
	CHECK(bytes.len > 20 * LINE_PAGE);
	CHECK_EQ(lineindex_open_mem(&x, bytes.data, bytes.len, &owner), 0);
	for (u32 i = 0; i < MADE_CELLS; i++)
		check_made(x, i, i % MADE_STEP);
	CHECK(lineindex_find(x, MADE_BASE - 1, f, 4, &n));
	CHECK_EQ(n, 0);
	CHECK(lineindex_find(x, MADE_BASE + MADE_CELLS * MADE_STEP, f, 4, &n));
	CHECK_EQ(n, 0);
	/* no room for all */
	CHECK(lineindex_find(x, MADE_BASE, f, 1, &n));
	CHECK_EQ(n, 1);
	CHECK(f[0].inlined);
	for (c = lineindex_cells(x); lineindex_next(&c); cells++)
		CHECK_EQ(c.cell.start, MADE_BASE + (u64)cells * MADE_STEP);
	CHECK_EQ(cells, MADE_CELLS + 1);
	lineindex_free(x);
}

TEST(the_index_of_another_file_is_refused)
{
	const struct lineindex_owner forged = { id, sizeof(id), 78 };
	const struct lineindex_owner shorter = { id, sizeof(id) - 1, 77 };
	const u8 other_id[20] = { 1, 2, 4 };
	const struct lineindex_owner other = { other_id, sizeof(other_id), 77 };
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct lineindex *x = NULL;

	make_index(&bytes);
	CHECK_EQ(lineindex_open_mem(&x, bytes.data, bytes.len, &forged), -ESTALE);
	CHECK_EQ(lineindex_open_mem(&x, bytes.data, bytes.len, &shorter), -ESTALE);
	CHECK_EQ(lineindex_open_mem(&x, bytes.data, bytes.len, &other), -ESTALE);
	bytes.data[7]--; /* an older version */
	CHECK_EQ(lineindex_open_mem(&x, bytes.data, bytes.len, &owner), -EBADMSG);
	CHECK(!x);
}

TEST(a_cut_index_is_refused)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct lineindex *x = NULL;

	make_index(&bytes);
	for (size_t n = 0; n < bytes.len; n += n < 4096 ? 1 : 509) {
		_cleanup_free_ char *cut = xmemdup(bytes.data, MAX(n, (size_t)1));

		CHECK_EQ(lineindex_open_mem(&x, cut, n, &owner), -EBADMSG);
	}
}

/* It shrinks when it is open already, as a mapping would not survive. */
TEST(an_index_that_shrinks_is_as_none)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_free_ char *path = xasprintf("%s/index", test_tmpdir());
	struct srcline_frame f[4];
	struct lineindex *x = NULL;
	size_t n;

	make_index(&bytes);
	CHECK_EQ(io_write_file_atomic(path, bytes.data, bytes.len, NULL), 0);
	CHECK_EQ(lineindex_open_fd(&x, io_open_in_root(NULL, path), bytes.len, &owner), 0);
	check_made(x, 7, 0);
	CHECK_EQ(truncate(path, 5000), 0);
	CHECK(!lineindex_find(x, MADE_BASE + (MADE_CELLS - 1) * MADE_STEP, f, 4, &n));
	CHECK(lineindex_is_broken(x));
	CHECK(!lineindex_find(x, MADE_BASE, f, 4, &n));
	lineindex_free(x);
}

/* The answers are the right ones, or none. */
static void check_flipped(struct lineindex *x)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (u32 i = 0; i < MADE_CELLS && !lineindex_is_broken(x); i += 331) {
		struct srcline_frame f[4];
		size_t n;

		if (!lineindex_find(x, MADE_BASE + (u64)i * MADE_STEP, f, 4, &n))
			continue;
		CHECK_EQ(n, i % 3 ? 1 : 2);
		CHECK_EQ(f[0].line, i * 7919 % 1000 + 1);
		CHECK_EQ(f[0].column, i % 80);
		buf_reset(&text);
		if (lineindex_str(x, f[n - 1].function, &text))
			CHECK_STR(buf_str(&text), "outer");
	}
}

TEST(flipped_bits_are_noticed)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	u64 bit = 12345, noticed = 0;

	make_index(&bytes);
	for (int round = 0; round < 2000; round++) {
		struct lineindex *x = NULL;

		bit = (bit * 6364136223846793005ull + 1442695040888963407ull);
		const size_t at = (bit >> 20) % bytes.len;
		const char mask = (char)(1 << (bit >> 17 & 7));

		bytes.data[at] ^= mask;
		if (lineindex_open_mem(&x, bytes.data, bytes.len, &owner) == 0) {
			check_flipped(x);
			noticed += lineindex_is_broken(x);
			lineindex_free(x);
		} else {
			noticed++;
		}
		bytes.data[at] ^= mask;
	}
	CHECK(noticed > 1000);
}

TEST(too_large_an_index_is_not_made)
{
	struct lineindex_builder *b = lineindex_builder_new();
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	lineindex_add_cell(b, &(struct line_cell){ .start = 0x1000, .line = 1 });
	lineindex_add_cell(b, &(struct line_cell){ .start = 0x1000 + (1ull << 32), .line = 2 });
	CHECK_EQ(lineindex_finish(b, &owner, 1, true, &bytes), -EFBIG);
	lineindex_builder_free(b);
}

TEST(an_empty_index_knows_nothing)
{
	struct lineindex_builder *b = lineindex_builder_new();
	_cleanup_buf_ struct buf bytes = BUF_INIT, text = BUF_INIT;
	struct lineindex *x = NULL;
	struct srcline_frame f;
	size_t n = 9;

	CHECK_EQ(lineindex_finish(b, &owner, 0, true, &bytes), 0);
	CHECK_EQ(lineindex_open_mem(&x, bytes.data, bytes.len, &owner), 0);
	CHECK(lineindex_find(x, 0x1000, &f, 1, &n));
	CHECK_EQ(n, 0);
	CHECK(!lineindex_str(x, 1, &text));
	CHECK(!lineindex_str(x, 0, &text));
	lineindex_free(x);
	lineindex_builder_free(b);
}
