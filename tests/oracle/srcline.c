/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our source lines, for comparison with those of others and for measuring:
 *	srcline lines FILE	hexadecimal addresses on stdin -> what addr2line -a -i -f -C prints
 *	srcline time FILE	the same without printing: microseconds to open, to index every
 *				unit requested, and nanoseconds for a look-up after that
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "elf/elf.h"
#include "symbol/symbol.h"

#include <inttypes.h>

typedef VEC(u64) address_list;

struct place {
	struct elf elf;
	struct symbols *symbols;
	u32 module;
};

static int fail(const char *what)
{
	fprintf(stderr, "srcline: %s\n", what);
	return 1;
}

static bool open_place(struct place *p, const char *path)
{
	const struct symbols_opts opts = { .no_cache = true,
					   .debug_dir = getenv("SYMBOL_DEBUG_DIR") };

	p->symbols = symbols_new(&opts);
	p->module = symbols_module(p->symbols, &(struct module_key){ .path = path });
	return elf_open_fd(&p->elf, io_open_in_root(NULL, path), path, NULL) == 0;
}

static void close_place(struct place *p)
{
	symbols_free(p->symbols);
	elf_release(&p->elf);
}

static void read_addresses(address_list *ret)
{
	char line[64];
	u64 vaddr;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (parse_hex(line, &vaddr, NULL) == 0)
			vec_push(ret, vaddr);
	}
}

static size_t find(struct place *p, u64 vaddr, struct source_frame *ret)
{
	u64 offset;

	if (!segments_offset(p->elf.segments, p->elf.segment_count, vaddr, &offset))
		return 0;
	return symbols_lines(p->symbols, p->module, offset, ret, SOURCE_MAX_FRAMES);
}

static void print_frame(const struct source_frame *f)
{
	puts(f->function ? f->function : "??");
	if (f->file && f->line)
		printf("%s:%u\n", f->file, f->line);
	else
		printf("%s:?\n", f->file ? f->file : "??");
}

static int print_lines(struct place *p)
{
	const struct source_frame none = { 0 };
	struct source_frame frames[SOURCE_MAX_FRAMES];
	address_list list = { 0 };

	read_addresses(&list);
	vec_each(a, &list) {
		const size_t n = find(p, *a, frames);

		printf("0x%016" PRIx64 "\n", *a);
		for (size_t i = 0; i < n; i++)
			print_frame(&frames[i]);
		if (!n)
			print_frame(&none);
	}
	vec_release(&list);
	return 0;
}

static int print_times(struct place *p)
{
	struct source_frame frames[SOURCE_MAX_FRAMES];
	address_list list = { 0 };
	const char *why, *hint;
	struct module_info info;
	u64 begin, opened, indexed, again;
	size_t found = 0;

	read_addresses(&list);
	begin = clock_mono_ns();
	symbols_lines(p->symbols, p->module, 0, frames, 1);
	opened = clock_mono_ns();
	vec_each(a, &list)
		found += find(p, *a, frames) > 0;
	indexed = clock_mono_ns();
	for (int round = 0; round < 10; round++)
		vec_each(a, &list)
			find(p, *a, frames);
	again = clock_mono_ns();
	symbols_module_info(p->symbols, p->module, &info);
	why = symbols_lines_why(p->symbols, p->module, &hint);
	printf("places %zu found %zu units %u indexed %u broken %u open_us %.0f index_us %.0f "
	       "lookup_ns %.1f%s%s\n",
	       list.len, found, info.lines_units, info.lines_indexed, info.lines_broken,
	       (double)(opened - begin) / 1e3, (double)(indexed - opened) / 1e3,
	       list.len ? (double)(again - indexed) / 10 / (double)list.len : 0.0,
	       why ? " why " : "", why ? why : "");
	vec_release(&list);
	return 0;
}

int main(int argc, char **argv)
{
	struct place p = { .elf = ELF_INIT };
	int r;

	if (argc != 3 || !(streq(argv[1], "lines") || streq(argv[1], "time")))
		return fail("usage: srcline lines FILE | srcline time FILE");
	if (!open_place(&p, argv[2]))
		return fail("cannot open the file");
	r = streq(argv[1], "lines") ? print_lines(&p) : print_times(&p);
	close_place(&p);
	return r;
}
