/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"
#include "unit/test_symbol_make.h"

#include "symbol/demangle.h"
#include "elf/elf.h"
#include "symbol/image.h"
#include "base/span.h"
#include "symbol/symtab.h"

#include <sys/auxv.h>

#define TEXT(offset) (MADE_VADDR + MADE_TEXT + (offset))

/* The name at an offset of the code of a made file; "" where there is none. */
struct loaded {
	struct buf bytes;
	struct image *img;
};

static struct loaded load(const struct made_symbol *list, size_t n)
{
	struct loaded l = { .img = image_new() };
	const struct image_source src = { .path = "/made", .no_debug_files = true };
	_cleanup_elf_ struct elf elf = ELF_INIT;

	make_elf(list, n, &l.bytes);
	CHECK_EQ(elf_open_mem(&elf, l.bytes.data, l.bytes.len, "made", NULL), 0);
	image_load(l.img, &elf, &src);
	return l;
}

static void unload(struct loaded *l)
{
	image_free(l->img);
	buf_release(&l->bytes);
}

static const char *name_at(const struct loaded *l, u64 offset)
{
	const struct sym *s = symtab_find(&l->img->symtab, TEXT(offset));

	return s ? symtab_name(&l->img->symtab, s) : "";
}

TEST(a_function_covers_its_size_and_no_more)
{
	const struct made_symbol list[] = { { "f", TEXT(0x10), 0x20, STT_FUNC, STB_GLOBAL },
					    { "g", TEXT(0x40), 0x10, STT_FUNC, STB_LOCAL } };
	struct loaded l = load(list, ARRAY_SIZE(list));

	CHECK_STR(name_at(&l, 0x0f), "");
	CHECK_STR(name_at(&l, 0x10), "f");
	CHECK_STR(name_at(&l, 0x2f), "f");
	CHECK_STR(name_at(&l, 0x30), "");
	CHECK_STR(name_at(&l, 0x4f), "g");
	CHECK_STR(name_at(&l, 0x50), "");
	CHECK(l.img->complete);
	CHECK_EQ(l.img->named, 2);
	unload(&l);
}

TEST(the_best_alias_shows)
{
	const struct made_symbol list[] = {
		{ "weak", TEXT(0), 8, STT_FUNC, STB_WEAK },
		{ "local", TEXT(0), 8, STT_FUNC, STB_LOCAL },
		{ "__global", TEXT(0), 8, STT_FUNC, STB_GLOBAL },
		{ "global", TEXT(0), 8, STT_FUNC, STB_GLOBAL },
		{ "sizeless", TEXT(0), 0, STT_FUNC, STB_GLOBAL },
		{ "untyped", TEXT(0x10), 8, STT_NOTYPE, STB_GLOBAL },
		{ "weak_typed", TEXT(0x10), 8, STT_FUNC, STB_WEAK },
	};
	struct loaded l = load(list, ARRAY_SIZE(list));

	CHECK_STR(name_at(&l, 4), "global");
	CHECK_STR(name_at(&l, 0x14), "weak_typed");
	CHECK_EQ(l.img->symtab.len, 2);
	unload(&l);
}

TEST(sizeless_functions_reach_to_the_next_or_the_end)
{
	const struct made_symbol list[] = { { "first", TEXT(0), 0, STT_NOTYPE, STB_GLOBAL },
					    { "second", TEXT(0x30), 0, STT_FUNC, STB_LOCAL } };
	struct loaded l = load(list, ARRAY_SIZE(list));

	CHECK_STR(name_at(&l, 0x2f), "first");
	CHECK_STR(name_at(&l, 0x30), "second");
	CHECK_STR(name_at(&l, MADE_TEXT_SIZE - 1), "second");
	CHECK_STR(name_at(&l, MADE_TEXT_SIZE), "");
	unload(&l);
}

TEST(labels_inside_of_a_function_are_none)
{
	const struct made_symbol list[] = {
		{ "whole", TEXT(0), 0x100, STT_FUNC, STB_GLOBAL },
		{ "label", TEXT(0x10), 0, STT_NOTYPE, STB_LOCAL },
		{ ".Lmark", TEXT(0x20), 0, STT_NOTYPE, STB_LOCAL },
		{ "$x", TEXT(0x28), 0, STT_NOTYPE, STB_LOCAL },
		{ "inner", TEXT(0x30), 0x10, STT_FUNC, STB_LOCAL },
	};
	struct loaded l = load(list, ARRAY_SIZE(list));

	CHECK_STR(name_at(&l, 0x10), "whole");
	CHECK_STR(name_at(&l, 0x28), "whole");
	CHECK_STR(name_at(&l, 0x3f), "inner");
	CHECK_STR(name_at(&l, 0x40), "whole");
	unload(&l);
}

TEST(data_and_absurd_symbols_are_left_out)
{
	const struct made_symbol list[] = {
		{ "object", TEXT(0), 8, STT_OBJECT, STB_GLOBAL },
		{ "outside", 0x10, 8, STT_FUNC, STB_GLOBAL },
		{ "endless", TEXT(0x10), UINT64_MAX, STT_FUNC, STB_GLOBAL },
		{ "", TEXT(0x20), 8, STT_FUNC, STB_GLOBAL },
	};
	struct loaded l = load(list, ARRAY_SIZE(list));

	CHECK_EQ(l.img->symtab.len, 1);
	CHECK_STR(name_at(&l, MADE_TEXT_SIZE - 1), "endless");
	CHECK_STR(name_at(&l, MADE_TEXT_SIZE), "");
	unload(&l);
}

TEST(headers_are_read_and_converted)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	u8 id[64];
	u64 v;

	make_elf(NULL, 0, &b);
	CHECK_EQ(elf_open_mem(&elf, b.data, b.len, "made", NULL), 0);
	CHECK_EQ(elf_build_id(&elf, id, sizeof(id)), sizeof(made_id));
	CHECK_MEM(id, made_id, sizeof(made_id));
	CHECK_EQ(elf_build_id(&elf, id, 8), 8);
	CHECK(elf_find_section(&elf, ".text") == &elf.sections[MADE_TEXT_SECTION]);
	CHECK(!elf_find_section(&elf, ".data"));
	CHECK(segments_vaddr(elf.segments, elf.segment_count, 0x1010, &v));
	CHECK_EQ(v, TEXT(0x10));
	CHECK(segments_offset(elf.segments, elf.segment_count, TEXT(0x10), &v));
	CHECK_EQ(v, 0x1010);
	CHECK(!segments_vaddr(elf.segments, elf.segment_count, 0x2000, &v));
}

/* Cut at every length: an error or a smaller table, never more. */
TEST(cut_files_are_survived)
{
	const struct made_symbol list[] = { { "f", TEXT(0), 8, STT_FUNC, STB_GLOBAL } };
	const struct image_source src = { .path = "/made", .no_debug_files = true };
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_elf(list, 1, &b);
	for (size_t n = 0; n < b.len; n = n < 0x2000 && n > 200 ? 0x2000 : n + 1) {
		_cleanup_free_ char *copy = n ? xmemdup(b.data, n) : NULL;
		struct elf elf = ELF_INIT;
		struct image *img = image_new();
		int r = elf_open_mem(&elf, copy, n, "cut", NULL);

		if (n < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))
			CHECK(r < 0);
		if (r == 0)
			image_load(img, &elf, &src);
		CHECK_EQ(img->named, 0);
		elf_release(&elf);
		image_free(img);
	}
}

TEST(what_is_wrong_is_said)
{
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct elf elf;

	CHECK_EQ(elf_open_mem(&elf, "#!/bin/sh\n", 10, "script", &e), -ENOEXEC);
	CHECK_STR(e.what, "'script' is not an ELF file");
	make_elf(NULL, 0, &b);
	b.data[EI_DATA] = ELFDATA2MSB;
	CHECK_EQ(elf_open_mem(&elf, b.data, b.len, "big", &e), -ENOTSUP);
}

TEST(ranges_that_overlap_show_the_higher_rank)
{
	struct span spans[] = { { 0, 100, 1, 0 },
				{ 10, 20, 2, 5 },
				{ 15, 50, 3, 1 },
				{ 60, 60, 9, 9 },
				{ 90, 120, 4, 0 } };
	struct span_table t;

	span_table_build(&t, spans, ARRAY_SIZE(spans));
	CHECK_EQ(span_find(&t, 0), 1);
	CHECK_EQ(span_find(&t, 12), 2);
	CHECK_EQ(span_find(&t, 17), 2);
	CHECK_EQ(span_find(&t, 20), 3);
	CHECK_EQ(span_find(&t, 49), 3);
	CHECK_EQ(span_find(&t, 50), 1);
	CHECK_EQ(span_find(&t, 60), 1);
	CHECK_EQ(span_find(&t, 95), 4);
	CHECK_EQ(span_find(&t, 119), 4);
	CHECK_EQ(span_find(&t, 120), SPAN_NONE);
	span_table_release(&t);
}

/* Against the plain way: of all that cover a place, the one of highest rank. */
TEST(flat_ranges_agree_with_a_search_through_all)
{
	enum { COUNT = 200, PLACES = 1000 };
	struct span spans[COUNT];
	struct span_table t;
	u64 seed = 42;

	for (u32 i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		spans[i] = (struct span){ .start = (seed >> 33) % PLACES, .id = i, .rank = i };
		spans[i].end = spans[i].start + (seed >> 50) % 60;
	}
	span_sort(spans, COUNT);
	span_table_build(&t, spans, COUNT);
	for (u64 at = 0; at < PLACES + 60; at++) {
		const struct span *best = NULL;

		for (size_t i = 0; i < COUNT; i++)
			if (spans[i].start <= at && at < spans[i].end &&
			    (!best || spans[i].rank > best->rank))
				best = &spans[i];
		CHECK_EQ(span_find(&t, at), best ? best->id : SPAN_NONE);
	}
	span_table_release(&t);
}

TEST(sorting_uses_all_bits_and_keeps_the_order_of_equals)
{
	struct span s[] = { { UINT64_MAX, 0, 0, 0 }, { 1ull << 40, 0, 1, 0 }, { 5, 0, 2, 0 },
			    { 1ull << 63, 0, 3, 0 }, { 5, 0, 4, 0 },          { 0, 0, 5, 0 } };
	const u32 wanted[] = { 5, 2, 4, 1, 3, 0 };

	span_sort(s, ARRAY_SIZE(s));
	for (size_t i = 0; i < ARRAY_SIZE(s); i++)
		CHECK_EQ(s[i].id, wanted[i]);
}

TEST(names_are_demangled)
{
	static const struct {
		const char *raw, *shown;
	} list[] = {
		{ "_Z3fooi", "foo(int)" },
		{ "_ZN4core3fmt9Formatter3pad17h1234567890abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_Z3foov.cold", "foo() [clone .cold]" },
		{ "_D3std5stdio4FileZ", "std.stdio.File" },
		{ "printf", NULL },
		{ "_start", NULL },
		{ "_Z", NULL },
		{ "", NULL },
	};

	_cleanup_buf_ struct buf probe = BUF_INIT;

	if (!demangle("_Z1fv", &probe))
		SKIP("built without libiberty");
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT;

		buf_addstr(&b, "<");
		CHECK_EQ(demangle(list[i].raw, &b), list[i].shown != NULL);
		CHECK_STR(b.data + 1, list[i].shown ? list[i].shown : "");
	}
}

/* Each parameter is a pair of the one before: @n of them mean 2^n names. */
static bool demangle_pairs(int n, struct buf *ret)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	_cleanup_buf_ struct buf name = BUF_INIT;

	buf_addstr(&name, "_Z1f1pIiiE");
	for (int i = 0; i < n; i++)
		buf_addf(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
	return demangle(name.data, ret);
}

TEST(a_name_that_explodes_is_left_as_it_is)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (!demangle("_Z1fv", &b))
		SKIP("built without libiberty");
	buf_reset(&b);
	CHECK(demangle_pairs(1, &b));
	CHECK_STR(b.data, "f(p<int, int>, p<p<int, int>, p<int, int> >)");
	buf_reset(&b);
	CHECK(!demangle_pairs(34, &b));
	CHECK_EQ(b.len, 0);
}

TEST(the_vdso_has_names)
{
	struct image *img;

	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP("no vDSO here");
	img = image_new();
	CHECK_EQ(image_load_vdso(img), 0);
	CHECK(img->named > 0);
	image_free(img);
}

TEST(the_vdso_has_bytes)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_cache = true });
	struct module_key key = { .path = "[vdso]" };
	u8 magic[4];

	if (!getauxval(AT_SYSINFO_EHDR)) {
		symbols_free(s);
		SKIP("no vDSO here");
	}
	CHECK_EQ(symbols_bytes(s, symbols_module(s, &key), 0, magic, sizeof(magic)), sizeof(magic));
	CHECK(!memcmp(magic, "\177ELF", sizeof(magic)));
	key.build_id = (const u8[20]){ 1 };
	key.build_id_len = 20;
	CHECK_EQ(symbols_bytes(s, symbols_module(s, &key), 0, magic, sizeof(magic)), 0);
	symbols_free(s);
}
