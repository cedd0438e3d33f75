/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our names, for comparison with those of others and for measuring:
 *	symbol names FILE	hexadecimal addresses on stdin -> "address start flags name"
 *	symbol demangle		names on stdin -> what they mean
 *	symbol kernel		hexadecimal addresses on stdin -> "address module name"
 *	symbol time FILE...	microseconds to load, nanoseconds for a look-up
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "symbol/demangle.h"
#include "elf/elf.h"
#include "symbol/symbol.h"

#include <inttypes.h>

static int fail(const char *what)
{
	fprintf(stderr, "symbol: %s\n", what);
	return 1;
}

static struct symbols *open_store(void)
{
	const char *cache = getenv("SYMBOL_CACHE");
	const struct symbols_opts opts = { .no_cache = !cache,
					   .cache_dir = cache,
					   .debug_dir = getenv("SYMBOL_DEBUG_DIR"),
					   .no_debug_files = getenv("SYMBOL_NO_DEBUG") != NULL };

	return symbols_new(&opts);
}

static int print_names(const char *path)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct symbols *s = open_store();
	const u32 module = symbols_module(s, &(struct module_key){ .path = path });
	char line[64];

	if (elf_open_fd(&elf, io_open_in_root(NULL, path), path, NULL) < 0)
		return fail("cannot open the file");
	while (fgets(line, sizeof(line), stdin)) {
		struct symbol sym;
		u64 vaddr, offset;

		line[strcspn(line, "\n")] = '\0';
		if (parse_hex(line, &vaddr, NULL) < 0)
			continue;
		if (segments_offset(elf.segments, elf.segment_count, vaddr, &offset) &&
		    symbols_lookup(s, module, offset, &sym))
			printf("%" PRIx64 " %" PRIx64 " %x %s\n", vaddr,
			       vaddr - (offset - sym.start), sym.flags, sym.raw_name);
		else
			printf("%" PRIx64 " 0 0 ?\n", vaddr);
	}
	symbols_free(s);
	return 0;
}

static int print_demangled(void)
{
	char line[DEMANGLE_MAX_IN];

	while (fgets(line, sizeof(line), stdin)) {
		_cleanup_buf_ struct buf b = BUF_INIT;

		line[strcspn(line, "\n")] = '\0';
		puts(demangle(line, &b) ? b.data : line);
	}
	return 0;
}

static int print_kernel(void)
{
	struct symbols *s = open_store();
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		const char *module = "";
		struct symbol sym = { .name = "?" };
		u64 address;

		line[strcspn(line, "\n")] = '\0';
		if (parse_hex(line, &address, NULL) < 0)
			continue;
		symbols_kernel(s, address, &sym, &module);
		printf("%" PRIx64 " %s %s\n", address, module, sym.name);
	}
	symbols_free(s);
	return 0;
}

/* Places all over the file, the same in every run. */
static u64 next_place(u64 *state, u64 size)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 20) % size;
}

static void time_lookups(struct symbols *s, u32 module, u64 size, double *ret_ns)
{
	const size_t n = 1000000;
	u64 state = 1, begin;
	struct symbol sym;

	for (size_t i = 0; i < n; i++)
		symbols_lookup(s, module, next_place(&state, size), &sym);
	state = 1;
	begin = clock_mono_ns();
	for (size_t i = 0; i < n; i++)
		symbols_lookup(s, module, next_place(&state, size), &sym);
	*ret_ns = (double)(clock_mono_ns() - begin) / (double)n;
}

static int print_times(char **paths)
{
	for (; *paths; paths++) {
		struct symbols *s = open_store();
		const u32 module = symbols_module(s, &(struct module_key){ .path = *paths });
		u64 begin = clock_mono_ns(), load;
		struct module_info info;
		struct symbol sym;
		double ns;
		_cleanup_close_ int fd = io_open_in_root(NULL, *paths);

		symbols_lookup(s, module, 0, &sym);
		load = clock_mono_ns() - begin;
		if (fd < 0 || !symbols_module_info(s, module, &info))
			return fail("cannot open the file");
		time_lookups(s, module, (u64)lseek(fd, 0, SEEK_END), &ns);
		printf("%s: %u names, load %.0f us%s, look-up %.0f ns, from %s\n", *paths,
		       info.symbol_count, (double)load / 1000, info.from_cache ? " (cache)" : "",
		       ns, info.debug_file ? info.debug_file : "itself");
		symbols_free(s);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (streq(mode, "names") && argc == 3)
		return print_names(argv[2]);
	if (streq(mode, "demangle"))
		return print_demangled();
	if (streq(mode, "kernel"))
		return print_kernel();
	if (streq(mode, "time"))
		return print_times(argv + 2);
	return fail("usage: symbol names FILE | demangle | kernel | time FILE...");
}
