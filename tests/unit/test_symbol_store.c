/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"
#include "unit/test_symbol_make.h"

#include "base/io.h"
#include "symbol/image.h"
#include "symbol/store.h"
#include "symbol/symbol.h"

#include <sys/mman.h>
#include <sys/stat.h>

#define TEXT(offset) (MADE_VADDR + MADE_TEXT + (offset))

static const struct made_symbol two[] = {
	{ "_Z3fooi", TEXT(0), 0x20, STT_FUNC, STB_GLOBAL },
	{ "bar\033[31m", TEXT(0x20), 0x20, STT_FUNC, STB_LOCAL },
};

static const char *in_tmp(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), name);
	return path;
}

static const char *write_made(const char *name, const struct made_symbol *list, size_t n)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *path = in_tmp(name);

	make_elf(list, n, &b);
	CHECK_EQ(io_write_file_atomic(path, b.data, b.len, NULL), 0);
	return path;
}

static struct symbols *plain_store(void)
{
	return symbols_new(&(struct symbols_opts){ .no_cache = true });
}

static u32 made_module(struct symbols *s, const char *path)
{
	return symbols_module(s, &(struct module_key){ .path = path,
						       .build_id = made_id,
						       .build_id_len = sizeof(made_id) });
}

TEST(a_file_is_found_and_named)
{
	struct symbols *s = plain_store();
	const u32 m = made_module(s, write_made("prog", two, 2));
	struct module_info info;
	struct symbol a, b;
	u64 vaddr;

	CHECK_EQ(m, 1);
	CHECK(symbols_lookup(s, m, MADE_TEXT, &a));
	CHECK(symbols_lookup(s, m, MADE_TEXT + 0x1f, &b));
#ifdef HAVE_LIBIBERTY
	CHECK_STR(a.name, "foo(int)");
#endif
	CHECK_STR(a.raw_name, "_Z3fooi");
	CHECK_EQ(a.start, MADE_TEXT);
	CHECK_EQ(a.size, 0x20);
	CHECK_EQ(a.id, b.id);
	CHECK(a.name == b.name);
	CHECK(symbols_lookup(s, m, MADE_TEXT + 0x20, &b));
	CHECK(b.id != a.id);
	CHECK(!strchr(b.name, '\033'));
	CHECK(!symbols_lookup(s, m, MADE_TEXT + 0x40, &b));
	CHECK(symbols_vaddr(s, m, MADE_TEXT + 4, &vaddr));
	CHECK_EQ(vaddr, TEXT(4));
	CHECK(symbols_module_info(s, m, &info));
	CHECK_STR(info.short_name, "prog");
	CHECK_EQ(info.symbol_count, 2);
	CHECK_EQ(info.named, 3);
	CHECK_EQ(info.nameless, 1);
	CHECK(!info.why);
	symbols_free(s);
}

TEST(identity_is_the_build_id_and_the_path)
{
	struct symbols *s = plain_store();
	struct module_key k = { .path = "/a/prog", .maj = 8, .min = 1, .ino = 77 };
	const u32 first = symbols_module(s, &k);

	k.pid = 4;
	CHECK_EQ(symbols_module(s, &k), first);
	k.path = "/a/prog (deleted)";
	CHECK_EQ(symbols_module(s, &k), first);
	k.ino = 78;
	CHECK(symbols_module(s, &k) != first);
	k.build_id = made_id;
	k.build_id_len = sizeof(made_id);
	const u32 third = symbols_module(s, &k);

	k.ino = 79;
	CHECK_EQ(symbols_module(s, &k), third);
	CHECK_EQ(symbols_module_count(s), 3);
	CHECK_STR(symbols_module_name(s, third), "prog");
	CHECK_STR(symbols_module_name(s, 99), "");
	symbols_free(s);
}

TEST(a_replaced_file_gives_no_names)
{
	struct symbols *s = plain_store();
	u8 other[20] = { 9, 9, 9 };
	const struct module_key k = { .path = write_made("prog", two, 2),
				      .build_id = other,
				      .build_id_len = sizeof(other) };
	const u32 m = symbols_module(s, &k);
	struct module_info info;
	struct symbol sym;

	CHECK(!symbols_lookup(s, m, MADE_TEXT, &sym));
	CHECK(symbols_module_info(s, m, &info));
	CHECK(strstr(info.why, "replaced"));
	symbols_free(s);
}

TEST(what_is_missing_is_explained)
{
	struct symbols *s = plain_store();
	const char *const paths[] = { "/no/such/file", "[heap]", "//anon", "/dev/null", "" };
	struct symbol sym;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const u32 m = symbols_module(s, &(struct module_key){ .path = paths[i] });
		struct module_info info;

		CHECK(!symbols_lookup(s, m, 0x1000, &sym));
		CHECK(symbols_module_info(s, m, &info));
		CHECK(info.why != NULL);
	}
	CHECK(!symbols_lookup(s, 0, 0, &sym));
	CHECK(!symbols_lookup(s, 1000, 0, &sym));
	symbols_free(s);
}

TEST(a_pipe_does_not_block)
{
	struct symbols *s = plain_store();
	const char *path = in_tmp("pipe");
	struct symbol sym;

	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK(!symbols_lookup(s, symbols_module(s, &(struct module_key){ .path = path }), 0, &sym));
	symbols_free(s);
}

/* This very program, by the address of one of its functions. */
TEST(own_functions_are_found)
{
	struct symbols *s = plain_store();
	const u64 address = (u64)(uintptr_t)&write_made;
	_cleanup_buf_ struct buf maps = BUF_INIT;
	bool found = false;

	CHECK_EQ(io_read_file("/proc/self/maps", 16 << 20, &maps, NULL), 0);
	for (char *line = maps.data, *next; line && *line && !found; line = next) {
		unsigned long start, end, offset;
		char path[256];
		struct symbol sym;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end, &offset, path) !=
			    4 ||
		    address < start || address >= end)
			continue;
		const u32 m = symbols_module(s, &(struct module_key){ .path = path,
								      .pid = getpid(),
								      .map_start = start,
								      .map_end = end });

		found = symbols_lookup(s, m, address - start + offset + 1, &sym);
		CHECK(found);
		CHECK(starts_with(sym.raw_name, "write_made"));
	}
	CHECK(found);
	symbols_free(s);
}

TEST(names_travel_in_a_recording)
{
	struct symbols *s = plain_store(), *t;
	const u32 m = made_module(s, write_made("prog", two, 2));
	_cleanup_buf_ struct buf blob = BUF_INIT;
	struct symbol a, b;
	const char *module;

	CHECK(symbols_lookup(s, m, MADE_TEXT + 3, &a));
	symbols_add_ksymbol(s, 0xffffffffc0001000, 0x100, "bpf_prog_x", true);
	CHECK(symbols_kernel(s, 0xffffffffc0001010, &b, NULL));
	symbols_export(s, &blob);
	CHECK_EQ(unlink(in_tmp("prog")), 0);

	t = symbols_new(&(struct symbols_opts){ .no_cache = true, .offline = true });
	CHECK_EQ(symbols_import(t, blob.data, blob.len, NULL), 0);
	const u32 n = made_module(t, in_tmp("prog"));

	CHECK(symbols_lookup(t, n, MADE_TEXT + 9, &b));
	CHECK_STR(b.name, a.name);
	CHECK_STR(b.raw_name, a.raw_name);
	CHECK_EQ(b.start, a.start);
	CHECK(b.flags & SYM_CARRIED);
	CHECK(!symbols_lookup(t, n, MADE_TEXT + 0x20, &b));
	CHECK(symbols_kernel(t, 0xffffffffc00010ff, &b, &module));
	CHECK_STR(b.name, "bpf_prog_x");
	CHECK_STR(module, "bpf");
	CHECK(b.flags & SYM_BPF);
	symbols_free(s);
	symbols_free(t);
}

TEST(broken_names_in_a_recording_are_refused_whole)
{
	struct symbols *s = plain_store();
	_cleanup_buf_ struct buf blob = BUF_INIT;
	struct symbol sym;

	CHECK(symbols_lookup(s, made_module(s, write_made("prog", two, 2)), MADE_TEXT, &sym));
	symbols_export(s, &blob);
	for (size_t n = 0; n < blob.len; n++) {
		struct symbols *t = plain_store();
		_cleanup_free_ char *cut = n ? xmemdup(blob.data, n) : NULL;
		int r = symbols_import(t, cut ? cut : "", n, NULL);

		/* Only the bare beginning is a whole blob, of nothing. */
		CHECK_EQ(r == 0, n == 5);
		CHECK_EQ(symbols_module_count(t), 0);
		symbols_free(t);
	}
	symbols_free(s);
}

TEST(carried_groups_give_way_to_names)
{
	struct symbols *s = plain_store();
	const u32 m = made_module(s, write_made("prog", two, 2));
	const struct symbol_range group = { MADE_TEXT, 0x20, "prog+0x401000", SYM_FDE };
	const struct symbol_range lost = { 0x5000, 0x20, "prog+0x5000", SYM_FDE };
	struct symbol sym;

	symbols_carry(s, m, &group, 1);
	symbols_carry(s, m, &lost, 1);
	CHECK(symbols_lookup(s, m, MADE_TEXT, &sym));
	CHECK_STR(sym.raw_name, "_Z3fooi");
	CHECK(symbols_lookup(s, m, 0x5001, &sym));
	CHECK_STR(sym.name, "prog+0x5000");
	CHECK(sym.flags & SYM_FDE);
	symbols_free(s);
}

/* A file that has only the exported names of @list. */
static void write_stripped(const char *path, const struct made_symbol *list, size_t n,
			   struct buf *ret)
{
	Elf64_Ehdr head;
	u32 type = SHT_DYNSYM;

	make_elf(list, n, ret);
	memcpy(&head, ret->data, sizeof(head));
	memcpy(ret->data + head.e_shoff + MADE_SYMTAB * sizeof(Elf64_Shdr) +
		       offsetof(Elf64_Shdr, sh_type),
	       &type, sizeof(type));
	CHECK_EQ(io_write_file_atomic(path, ret->data, ret->len, NULL), 0);
}

/* The debug file of what make_elf() makes, below @dir. */
static void write_debug(const char *dir, const struct made_symbol *list, size_t n)
{
	_cleanup_buf_ struct buf b = BUF_INIT, path = BUF_INIT;

	buf_addf(&path, "%s/.build-id/ab", dir);
	CHECK_EQ(test_make_dirs(buf_str(&path)), 0);
	buf_addstr(&path, "/cd030405060708090a0b0c0d00000000000000.debug");
	make_elf(list, n, &b);
	CHECK_EQ(io_write_file_atomic(buf_str(&path), b.data, b.len, NULL), 0);
}

TEST(carried_groups_of_a_stripped_file_need_no_file)
{
	char dir[256];
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	const struct symbol_range group = { MADE_TEXT, 0x20, "prog+0x401000", SYM_FDE };
	struct source_frame frame;
	struct module_info info;
	struct symbol sym;

	snprintf(dir, sizeof(dir), "%s/debug", test_tmpdir());
	write_stripped(in_tmp("prog"), two, 2, &bytes);
	for (int debug = 0; debug < 2; debug++) {
		struct symbols *s =
			symbols_new(&(struct symbols_opts){ .no_cache = true, .debug_dir = dir });
		const u32 m = made_module(s, in_tmp("prog"));

		symbols_carry(s, m, &group, 1);
		CHECK(symbols_lookup(s, m, MADE_TEXT, &sym));
		CHECK_STR(sym.raw_name, debug ? "_Z3fooi" : "prog+0x401000");
		CHECK_EQ(symbols_lines(s, m, MADE_TEXT, &frame, 1), 0);
		CHECK(symbols_module_info(s, m, &info));
		CHECK_EQ(info.loaded, debug == 1);
		CHECK_EQ(info.hint != NULL, debug == 0);
		symbols_free(s);
		write_debug(dir, two, 2);
	}
}

TEST(the_kernel_of_a_recording)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 T schedule\n"
				   "ffffffffc0000000 t read_it\t[ext4]\n";
	struct symbols *s = symbols_new(&(struct symbols_opts){ .offline = true });
	struct symbol a, b;
	const char *module;

	CHECK(!symbols_kernel(s, 0xffffffff81000100, &a, &module));
	CHECK_STR(module, "[kernel.kallsyms]");
	CHECK(symbols_kernel_why(s, NULL) != NULL);
	symbols_set_kallsyms(s, text, sizeof(text) - 1);
	CHECK(!symbols_kernel_why(s, NULL));
	CHECK(symbols_kernel(s, 0xffffffff81000104, &a, &module));
	CHECK_STR(a.name, "schedule");
	CHECK_STR(module, "[kernel.kallsyms]");
	CHECK_EQ(a.flags, SYM_KERNEL);
	CHECK(symbols_kernel(s, 0xffffffffc0000004, &b, &module));
	CHECK_STR(module, "[ext4]");
	CHECK(a.id != b.id);
	/* A program that came later lies over it. */
	symbols_add_ksymbol(s, 0xffffffffc0000000, 0x40, "bpf_prog_1", true);
	CHECK(symbols_kernel(s, 0xffffffffc0000004, &b, &module));
	CHECK_STR(b.name, "bpf_prog_1");
	CHECK_STR(module, "bpf");
	symbols_free(s);
}

TEST(another_boot_of_this_kernel_is_shifted)
{
	struct symbols *s = plain_store(), *t = plain_store();
	struct symbol here, there;
	_cleanup_buf_ struct buf b = BUF_INIT;
	unsigned long address = 0;
	const char *line;

	if (io_read_file("/proc/kallsyms", IO_MAX_PROC, &b, NULL) < 0)
		SKIP("no /proc/kallsyms");
	line = strstr(b.data, " T _stext\n");
	while (line && line > b.data && line[-1] != '\n')
		line--;
	if (!line || sscanf(line, "%lx", &address) != 1 || !address)
		SKIP("kernel addresses are hidden");
	CHECK(symbols_kernel(s, address + 0x100000, &here, NULL));
	symbols_set_kernel_base(t, "_stext", address + 0x200000, NULL, 0);
	CHECK(symbols_kernel(t, address + 0x300000, &there, NULL));
	CHECK_STR(there.name, here.name);
	CHECK_EQ(there.start, here.start + 0x200000);
	symbols_free(s);
	symbols_free(t);

	t = plain_store();
	symbols_set_kernel_base(t, "_stext", address, (const u8 *)"another kernel's id", 20);
	CHECK(!symbols_kernel(t, address, &there, NULL));
	CHECK(strstr(symbols_kernel_why(t, NULL), "another kernel"));
	symbols_free(t);
}

static void write_map(const char *mode, const char *text)
{
	_cleanup_fclose_ FILE *f = NULL;

	(void)mkdir(in_tmp("tmp"), 0700);
	f = fopen(in_tmp("tmp/perf-7.map"), mode);
	CHECK(f != NULL);
	fputs(text, f);
}

TEST(run_time_code_is_read_again_for_unknown_addresses)
{
	struct symbols *s = plain_store();
	char root[256];
	struct symbol a, b;

	snprintf(root, sizeof(root), "%s", test_tmpdir());
	CHECK(!symbols_jit(s, 123, 7, root, 0x1004, 1, &a));
	CHECK(symbols_jit_why(s, 123) != NULL);
	write_map("w", "1000 10 first\n2000 10 sec");
	CHECK(!symbols_jit(s, 123, 7, root, 0x1004, 2, &a)); /* too soon */
	CHECK(symbols_jit(s, 123, 7, root, 0x1004, NSEC_PER_SEC, &a));
	CHECK(!symbols_jit_why(s, 123));
	CHECK_STR(a.name, "first");
	CHECK_EQ(a.flags, SYM_JIT);
	CHECK(!symbols_jit(s, 123, 7, root, 0x2004, 100 * NSEC_PER_SEC, &b));
	write_map("a", "ond\n1000 8 third\n");
	CHECK(symbols_jit(s, 123, 7, root, 0x2004, 200 * NSEC_PER_SEC, &b));
	CHECK_STR(b.name, "second");
	CHECK(symbols_jit(s, 123, 7, root, 0x1004, 200 * NSEC_PER_SEC, &b));
	CHECK_STR(b.name, "third");
	CHECK(symbols_jit(s, 123, 7, root, 0x1009, 200 * NSEC_PER_SEC, &b));
	CHECK_EQ(b.id, a.id);
	symbols_free(s);
}

/* The whole way: stored, mapped, the same answers; and any changed byte is safe. */
TEST(the_cache_gives_back_what_was_stored)
{
	const struct image_source src = { .path = "/made", .no_debug_files = true };
	_cleanup_buf_ struct buf bytes = BUF_INIT, file = BUF_INIT;
	char path[512], dir[256];
	struct elf elf;
	struct image *img = image_new(), *back = image_new();
	const struct cache_key key = { made_id, sizeof(made_id), 0x123 };
	const struct cache_key other = { made_id, sizeof(made_id), 0x124 };
	const struct sym *sym;

	snprintf(dir, sizeof(dir), "%s/cache", test_tmpdir());
	make_elf(two, 2, &bytes);
	CHECK_EQ(elf_open_mem(&elf, bytes.data, bytes.len, "made", NULL), 0);
	image_load(img, &elf, &src);
	img->identity = key.identity;
	CHECK_EQ(cache_store(img, dir), 0);
	CHECK_EQ(cache_load(back, dir, &key, img->fingerprint ^ 1), -ESTALE);
	CHECK_EQ(cache_load(back, dir, &other, img->fingerprint), -ENOENT);
	CHECK_EQ(cache_load(back, dir, &key, img->fingerprint), 0);
	sym = symtab_find(&back->symtab, TEXT(5));
	CHECK(sym != NULL);
	CHECK_STR(symtab_name(&back->symtab, sym), "_Z3fooi");
	CHECK_EQ(back->segment_count, 1);
	CHECK(back->from_cache && back->complete);
	snprintf(path, sizeof(path),
		 "%s/abcd030405060708090a0b0c0d00000000000000-0000000000000123.sym", dir);
	CHECK_EQ(io_read_file(path, 1 << 20, &file, NULL), 0);
	for (size_t i = 0; i < file.len; i++) {
		struct image *broken = image_new();
		void *map = mmap(NULL, file.len, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(map != MAP_FAILED);
		memcpy(map, file.data, file.len);
		((u8 *)map)[i] ^= 0xff;
		if (cache_adopt(broken, map, file.len, made_id, sizeof(made_id), 0) < 0)
			munmap(map, file.len);
		else
			for (u64 at = 0; at < 0x50; at++)
				if ((sym = symtab_find(&broken->symtab, TEXT(at))))
					CHECK(strlen(symtab_name(&broken->symtab, sym)) < 100);
		image_free(broken);
	}
	image_free(img);
	image_free(back);
	elf_release(&elf);
}

TEST(a_poor_entry_of_the_cache_gives_way_to_a_debug_file)
{
	char cache[256], debug[256];
	const struct image_source src = {
		.path = "/made", .debug_dir = debug, .cache_dir = cache, .keep = true
	};
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct elf elf;

	snprintf(cache, sizeof(cache), "%s/cache", test_tmpdir());
	snprintf(debug, sizeof(debug), "%s/debug", test_tmpdir());
	write_stripped(in_tmp("prog"), two, 1, &bytes);
	CHECK_EQ(elf_open_mem(&elf, bytes.data, bytes.len, "made", NULL), 0);
	for (int round = 0; round < 4; round++) {
		struct image *img = image_new();

		if (round == 2)
			write_debug(debug, two, 2);
		image_load(img, &elf, &src);
		CHECK_EQ(img->from_cache, round == 1 || round == 3);
		CHECK_EQ(img->complete, round >= 2);
		CHECK_EQ(img->named, round >= 2 ? 2 : 1);
		CHECK_EQ(img->why != NULL, round < 2);
		CHECK_EQ(img->segment_count, 1);
		image_free(img);
	}
	elf_release(&elf);
}

TEST(the_cache_names_files_that_are_gone)
{
	char dir[256];
	const struct image_source src = { .path = "/made", .no_debug_files = true };
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct image *img = image_new();
	struct symbols *s;
	struct symbol sym;
	struct elf elf;

	snprintf(dir, sizeof(dir), "%s/cache", test_tmpdir());
	make_elf(two, 2, &bytes);
	CHECK_EQ(elf_open_mem(&elf, bytes.data, bytes.len, "made", NULL), 0);
	image_load(img, &elf, &src);
	CHECK_EQ(cache_store(img, dir), 0);
	s = symbols_new(&(struct symbols_opts){ .cache_dir = dir });
	CHECK(symbols_lookup(s, made_module(s, "/gone/prog"), MADE_TEXT + 1, &sym));
	CHECK_STR(sym.raw_name, "_Z3fooi");
	symbols_free(s);
	/* two files that claim to be the same build, and are not: neither is believed */
	img->identity = 0x77;
	img->fingerprint ^= 1;
	CHECK_EQ(cache_store(img, dir), 0);
	s = symbols_new(&(struct symbols_opts){ .cache_dir = dir });
	CHECK(!symbols_lookup(s, made_module(s, "/gone/prog"), MADE_TEXT + 1, &sym));
	symbols_free(s);
	image_free(img);
	elf_release(&elf);
}
