/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/io.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "symbol/srcline.h"
#include "symbol/symbol.h"
#include "unit/test_symbol_make.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

/* Known code: the test looks at its own debug information. */
static volatile int sink;
enum { INNER_LINE = __LINE__ + 3, OUTER_LINE = __LINE__ + 8 };
static inline __attribute__((always_inline)) void innermost(int x)
{
	sink = x * 3;
}

static __attribute__((noinline)) void outermost(int x)
{
	innermost(x);
	sink++;
}

struct mapped {
	char path[256];
	unsigned long start, end, offset;
};

static bool find_mapping(u64 address, struct mapped *ret)
{
	_cleanup_buf_ struct buf maps = BUF_INIT;

	CHECK_EQ(io_read_file("/proc/self/maps", 16 << 20, &maps, NULL), 0);
	for (char *line = maps.data, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &ret->start, &ret->end,
			   &ret->offset, ret->path) == 4 &&
		    address >= ret->start && address < ret->end)
			return true;
		if (!next)
			break;
	}
	return false;
}

static void need_libdw(void)
{
#ifndef HAVE_LIBDW
	SKIP("built without libdw");
#endif
}

TEST(own_lines_and_inlined_callers_are_found)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_cache = true });
	const u64 address = (u64)(uintptr_t)&outermost;
	struct source_frame f[SOURCE_MAX_FRAMES];
	struct module_info info;
	const char *hint;
	struct mapped m;
	bool inlined = false, plain = false;
	u32 module;

	need_libdw();
	outermost(1);
	CHECK(find_mapping(address, &m));
	module = symbols_module(s, &(struct module_key){ .path = m.path });
	for (u64 at = address; at < address + 24; at++) {
		const size_t n =
			symbols_lines(s, module, at - m.start + m.offset, f, ARRAY_SIZE(f));

		if (n == 2 && streq(f[0].function, "innermost") && f[0].inlined) {
			inlined = true;
			CHECK(ends_with(f[0].file, "test_srcline.c"));
			CHECK(f[0].line >= INNER_LINE - 2 && f[0].line <= INNER_LINE + 1);
			CHECK_STR(f[1].function, "outermost");
			CHECK_EQ(f[1].line, OUTER_LINE);
			CHECK(!f[1].inlined);
		} else if (n == 1 && f[0].function && streq(f[0].function, "outermost")) {
			plain = true;
			CHECK(f[0].line >= OUTER_LINE - 2 && f[0].line <= OUTER_LINE + 2);
		}
	}
	CHECK(inlined && plain);
	CHECK(symbols_module_info(s, module, &info));
	CHECK(!symbols_lines_why(s, module, &hint));
	CHECK_EQ(info.lines_indexed, 1); /* one unit of all */
	CHECK(info.lines_units > 1);
	CHECK_EQ(info.lines_broken, 0);
	/* fewer than there are */
	CHECK_EQ(symbols_lines(s, module, 0, f, ARRAY_SIZE(f)), 0);
	symbols_free(s);
}

/* The answers for the code of outermost(), and who its module is. */
static struct symbols *asked(struct mapped *m, u32 *ret_module)
{
	struct symbols *s =
		symbols_new(&(struct symbols_opts){ .no_cache = true, .keep_lines = true });
	const u64 address = (u64)(uintptr_t)outermost;
	struct source_frame f[SOURCE_MAX_FRAMES];

	CHECK(find_mapping(address, m));
	*ret_module = symbols_module(s, &(struct module_key){ .path = m->path });
	for (u64 at = address; at < address + 24; at++)
		(void)symbols_lines(s, *ret_module, at - m->start + m->offset, f, ARRAY_SIZE(f));
	return s;
}

TEST(lines_travel_in_a_recording)
{
	_cleanup_buf_ struct buf blob = BUF_INIT;
	const u64 address = (u64)(uintptr_t)outermost;
	struct source_frame here[SOURCE_MAX_FRAMES], there[SOURCE_MAX_FRAMES];
	struct symbols *s, *t;
	struct mapped m;
	u32 module, other;
	size_t most = 0;
	u64 bytes = 0;

	need_libdw();
	s = asked(&m, &module);
	CHECK(symbols_lines_cost(s, module, &bytes));
	CHECK(bytes > 1000);
	symbols_lines_export(s, &blob);
	t = symbols_new(&(struct symbols_opts){ .no_cache = true, .offline = true });
	CHECK_EQ(symbols_lines_import(t, blob.data, blob.len, NULL), 0);
	other = symbols_module(t, &(struct module_key){ .path = m.path });
	for (u64 at = address - m.start + m.offset, end = at + 24; at < end; at++) {
		size_t n = symbols_lines(s, module, at, here, ARRAY_SIZE(here));

		CHECK_EQ(symbols_lines(t, other, at, there, ARRAY_SIZE(there)), n);
		for (size_t i = 0; i < n; i++) {
			CHECK_STR(there[i].function, here[i].function);
			CHECK_STR(there[i].file, here[i].file);
			CHECK_EQ(there[i].line, here[i].line);
			CHECK_EQ(there[i].column, here[i].column);
			CHECK_EQ(there[i].inlined, here[i].inlined);
		}
		most = MAX(most, n);
	}
	CHECK_EQ(most, 2);
	/* not asked before, and offline there is no file to ask */
	CHECK_EQ(symbols_lines(t, other, address - m.start + m.offset + 4096, there, 4), 0);
	symbols_free(s);
	symbols_free(t);
}

TEST(broken_lines_in_a_recording_are_refused_whole)
{
	_cleanup_buf_ struct buf blob = BUF_INIT;
	struct symbols *s;
	struct mapped m;
	u32 module;

	need_libdw();
	s = asked(&m, &module);
	symbols_lines_export(s, &blob);
	for (size_t n = 0; n < blob.len; n++) {
		struct symbols *t = symbols_new(&(struct symbols_opts){ .no_cache = true });
		_cleanup_free_ char *cut = n ? xmemdup(blob.data, n) : NULL;
		int r = symbols_lines_import(t, cut ? cut : "", n, NULL);

		/* only the bare beginning is a whole blob, of nothing */
		CHECK_EQ(r == 0, n == 5);
		CHECK_EQ(symbols_module_count(t), 0);
		symbols_free(t);
	}
	symbols_free(s);
}

/* With a cache and without one: the same answers before and after what is open was closed. */
TEST(lines_are_known_after_a_rest)
{
	const u64 address = (u64)(uintptr_t)outermost;
	struct source_frame before[SOURCE_MAX_FRAMES], after[SOURCE_MAX_FRAMES];
	struct mapped m;
	char dir[256];

	need_libdw();
	CHECK(find_mapping(address, &m));
	snprintf(dir, sizeof(dir), "%s/rest", test_tmpdir());
	for (int cached = 0; cached < 2; cached++) {
		struct symbols *s = symbols_new(&(struct symbols_opts){
			.no_cache = !cached, .cache_dir = cached ? dir : NULL });
		u32 module = symbols_module(s, &(struct module_key){ .path = m.path });
		struct module_info info;

		for (u64 at = address - m.start + m.offset, end = at + 24; at < end; at++) {
			size_t n = symbols_lines(s, module, at, before, ARRAY_SIZE(before));

			symbols_lines_rest(s);
			symbols_lines_rest(s);
			CHECK(symbols_module_info(s, module, &info));
			CHECK_EQ(info.lines_indexed, 0); /* nothing is open */
			CHECK_EQ(symbols_lines(s, module, at, after, ARRAY_SIZE(after)), n);
			for (size_t i = 0; i < n; i++) {
				CHECK_STR(after[i].function, before[i].function);
				CHECK_STR(after[i].file, before[i].file);
				CHECK_EQ(after[i].line, before[i].line);
			}
		}
		symbols_free(s);
	}
}

/* Asks our own program for a line, with a cache; how many units of it were read for that. */
static u32 ask_cached(const char *dir, const struct mapped *m, u64 address, const char *file,
		      struct source_frame *ret)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .cache_dir = dir });
	u32 module = symbols_module(s, &(struct module_key){ .path = m->path });
	struct source_frame found[8];
	struct module_info info;

	CHECK(symbols_lines(s, module, address - m->start + m->offset, found, 8) > 0);
	CHECK(symbols_module_info(s, module, &info));
	*ret = (struct source_frame){ .line = found[0].line,
				      .column = found[0].column,
				      .inlined = found[0].inlined };
	CHECK(ends_with(found[0].file, file));
	symbols_free(s);
	return info.lines_indexed;
}

TEST(lines_are_kept_on_disk)
{
	_cleanup_free_ char *dir = xasprintf("%s/cache", test_tmpdir());
	_cleanup_free_ char *pattern = xasprintf("%s/*.lines", dir);
	const u64 here = (u64)(uintptr_t)&outermost;
	const char *file = "test_srcline.c";
	struct source_frame first, second;
	struct mapped m;
	glob_t files;

	need_libdw();
	CHECK(find_mapping(here, &m));
	CHECK(ask_cached(dir, &m, here, file, &first) > 0);
	CHECK_EQ(ask_cached(dir, &m, here, file, &second), 0);
	CHECK_EQ(first.line, second.line);
	CHECK_EQ(first.column, second.column);
	/* An entry that is not sound is as none. */
	CHECK_EQ(glob(pattern, 0, NULL, &files), 0);
	CHECK_EQ(files.gl_pathc, 1);
	CHECK_EQ(truncate(files.gl_pathv[0], 9), 0);
	globfree(&files);
	CHECK(ask_cached(dir, &m, here, file, &second) > 0);
	CHECK_EQ(first.line, second.line);
}

/* Whether all lines are on disk; otherwise the debug information would be read. */
static bool all_on_disk(const char *dir, const struct mapped *m)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .cache_dir = dir });
	u32 module = symbols_module(s, &(struct module_key){ .path = m->path });
	struct symbol symbol;
	u64 bytes = 0;

	(void)symbols_lookup(s, module, m->offset, &symbol);
	CHECK(symbols_lines_cost(s, module, &bytes));
	symbols_free(s);
	return !bytes;
}

TEST(debug_information_is_opened_twice_at_most)
{
	_cleanup_free_ char *dir = xasprintf("%s/cache", test_tmpdir());
	struct source_frame f;
	struct mapped m;

	need_libdw();
	CHECK(find_mapping((u64)(uintptr_t)&outermost, &m));
	CHECK_EQ(ask_cached(dir, &m, (u64)(uintptr_t)&outermost, "test_srcline.c", &f), 1);
	CHECK(!all_on_disk(dir, &m));
	/* another unit */
	CHECK_EQ(ask_cached(dir, &m, (u64)(uintptr_t)&io_read_file, "io.c", &f), 1);
	CHECK(all_on_disk(dir, &m));
	/* and a third */
	CHECK_EQ(ask_cached(dir, &m, (u64)(uintptr_t)&elf_open_mem, "elf.c", &f), 0);
	CHECK(f.line > 0);
}

/* A copy of our program whose note of the build id has another type: it has none. */
static void copy_without_build_id(const char *from, const char *to)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	const struct elf_section *note;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	u8 id[MODULE_BUILD_ID_MAX];

	CHECK_EQ(io_read_file(from, 1 << 30, &bytes, NULL), 0);
	CHECK_EQ(elf_open_fd(&elf, io_open_in_root(NULL, from), from, NULL), 0);
	note = elf_find_section(&elf, ".note.gnu.build-id");
	if (note)
		bytes.data[note->offset + offsetof(Elf64_Nhdr, n_type)] = 99;
	CHECK_EQ(io_write_file_atomic(to, bytes.data, bytes.len, NULL), 0);
	elf_release(&elf);
	CHECK_EQ(elf_open_fd(&elf, io_open_in_root(NULL, to), to, NULL), 0);
	CHECK_EQ(elf_build_id(&elf, id, sizeof(id)), 0);
}

TEST(files_without_a_build_id_have_an_index_as_long_as_they_stay)
{
	_cleanup_free_ char *dir = xasprintf("%s/cache", test_tmpdir());
	const u64 here = (u64)(uintptr_t)&outermost;
	struct source_frame f;
	struct mapped m;
	char path[256];

	need_libdw();
	CHECK(find_mapping(here, &m));
	snprintf(path, sizeof(path), "%s/copy", test_tmpdir());
	copy_without_build_id(m.path, path);
	memcpy(m.path, path, sizeof(path));
	CHECK_EQ(ask_cached(dir, &m, here, "test_srcline.c", &f), 1);
	CHECK_EQ(ask_cached(dir, &m, here, "test_srcline.c", &f), 0);
	/* another file of that name */
	copy_without_build_id(path, path);
	CHECK_EQ(ask_cached(dir, &m, here, "test_srcline.c", &f), 1);
}

/* libdw would read past the section. */
TEST(strings_that_do_not_end_are_not_handed_to_libdw)
{
	static const char *const sections[] = { ".debug_str", ".debug_line_str" };
	struct mapped m;

	need_libdw();
	CHECK(find_mapping((u64)(uintptr_t)&outermost, &m));
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT;
		_cleanup_elf_ struct elf elf = ELF_INIT;
		const struct elf_section *s;
		struct srcline *lines = NULL;

		CHECK_EQ(io_read_file(m.path, 1 << 30, &bytes, NULL), 0);
		CHECK_EQ(elf_open_mem(&elf, bytes.data, bytes.len, "copy", NULL), 0);
		s = elf_find_section(&elf, sections[i]);
		if (!s || (s->flags & SHF_COMPRESSED))
			continue;
		CHECK_EQ(srcline_new(&lines, &elf, NULL), 0);
		srcline_free(lines);
		bytes.data[s->offset + s->size - 1] = 'x';
		CHECK(srcline_new(&lines, &elf, NULL) < 0);
	}
}

TEST(lines_that_are_closed_come_from_the_index_alone)
{
	_cleanup_free_ char *dir = xasprintf("%s/cache", test_tmpdir());
	const struct symbols_opts opts = { .cache_dir = dir, .keep_lines = true };
	_cleanup_buf_ struct buf blob = BUF_INIT;
	struct source_frame f;
	struct symbols *s;
	struct mapped m;
	u64 size = 0;
	u32 module;

	need_libdw();
	CHECK(find_mapping((u64)(uintptr_t)&outermost, &m));
	for (int indexed = 0; indexed < 2; indexed++) {
		const u64 offset = (u64)(uintptr_t)&io_read_file - m.start + m.offset;

		s = symbols_new(&opts);
		module = symbols_module(s, &(struct module_key){ .path = m.path });
		symbols_lines_close(s, module);
		CHECK_EQ(symbols_lines(s, module, offset, &f, 1), indexed);
		buf_reset(&blob);
		symbols_lines_export(s, &blob);
		CHECK_EQ(blob.len > 0, indexed);
		symbols_free(s);
		s = symbols_new(&opts);
		module = symbols_module(s, &(struct module_key){ .path = m.path });
		CHECK_EQ(symbols_lines_build(s, module, 1 << 10, &size), -EFBIG);
		CHECK_EQ(symbols_lines_build(s, module, 1 << 30, &size), indexed ? -EEXIST : 0);
		CHECK(size > 1000);
		symbols_free(s);
	}
}

TEST(a_file_without_debug_information_says_so)
{
	const struct made_symbol one = { "f", MADE_VADDR + MADE_TEXT, 16, STT_FUNC, STB_GLOBAL };
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_cache = true });
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct source_frame f[4];
	const char *hint;
	char path[256];
	u32 m;

	snprintf(path, sizeof(path), "%s/plain", test_tmpdir());
	make_elf(&one, 1, &b);
	CHECK_EQ(io_write_file_atomic(path, b.data, b.len, NULL), 0);
	m = symbols_module(s, &(struct module_key){ .path = path });
	CHECK_EQ(symbols_lines(s, m, MADE_TEXT, f, ARRAY_SIZE(f)), 0);
	CHECK_STR(symbols_lines_why(s, m, &hint), "no debug information");
	CHECK(strstr(hint, "-dbgsym"));
	CHECK_EQ(symbols_lines(s, 77, 0, f, ARRAY_SIZE(f)), 0);
	symbols_free(s);
}

/* Our own program, cut at many places: always an answer, an error or nothing. */
TEST_TIMEOUT(cut_debug_information_is_survived, 60)
{
	_cleanup_elf_ struct elf whole = ELF_INIT;
	const struct elf_section *line;
	struct mapped m;
	size_t opened = 0;

	need_libdw();
	CHECK(find_mapping((u64)(uintptr_t)&outermost, &m));
	CHECK_EQ(elf_open_fd(&whole, io_open_in_root(NULL, m.path), m.path, NULL), 0);
	line = elf_find_section(&whole, ".debug_line");
	CHECK(line != NULL);
	/* The headers stay, the sections shrink: each sixth of the line table is missing once. */
	for (u64 part = 0; part < 6; part++) {
		struct elf cut = whole;
		struct elf_section *sections =
			xmemdup(whole.sections, whole.section_count * sizeof(*sections));
		struct srcline *s = NULL;
		struct srcline_frame f[4];

		sections[line - whole.sections].size = line->size * part / 6;
		cut.sections = sections;
		if (srcline_new(&s, &cut, NULL) == 0) {
			opened++;
			for (u64 at = 0; at < 1000; at++)
				(void)srcline_find(s, at * 977, f, ARRAY_SIZE(f));
			srcline_free(s);
		}
		free(sections);
	}
	CHECK_EQ(opened, 6);
}

TEST(too_much_debug_information_is_refused)
{
	struct elf_section sections[] = {
		{ 0 },
		{ .name = 1, .type = SHT_PROGBITS, .size = 16 },
		{ .name = 13, .type = SHT_PROGBITS, .size = SRCLINE_MAX_BYTES + 1 },
	};
	char names[] = "\0.debug_info\0.debug_line";
	const struct elf elf = { .fd = -1,
				 .is64 = true,
				 .sections = sections,
				 .section_count = ARRAY_SIZE(sections),
				 .names = names,
				 .names_len = sizeof(names) - 1 };
	struct srcline *s;

	need_libdw();
	CHECK_EQ(srcline_new(&s, &elf, NULL), -EFBIG);
	sections[1].type = SHT_NOBITS;
	CHECK_EQ(srcline_new(&s, &elf, NULL), -ENODATA);
}
