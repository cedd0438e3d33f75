/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/image.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "symbol/debug.h"

#include <sys/auxv.h>

/* Tables that take longer than this to build are worth a file in the cache. */
#define CACHE_WORTH_NS (5 * NSEC_PER_MSEC)
/* Smaller symbol tables are faster read than looked for in the cache. */
enum { CACHE_WORTH_BYTES = 512 << 10, VDSO_MAX_BYTES = 1 << 20 };

struct image *image_new(void)
{
	return xcalloc(1, sizeof(struct image));
}

void image_close_lines(struct image *img)
{
	struct image_lines *l = &img->lines;

	srcline_free(l->srcline);
	vec_release(&l->names);
	lineindex_free(l->index);
	map_release(&l->index_names);
	*l = (struct image_lines){ 0 };
}

void image_free(struct image *img)
{
	if (!img)
		return;
	symtab_release(&img->symtab);
	free(img->segments);
	free(img->debug_file);
	image_close_lines(img);
	free(img);
}

static void take_segments(struct image *img, const struct elf *elf)
{
	img->segments = xcalloc(MAX(elf->segment_count, (size_t)1), sizeof(*img->segments));
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].type == PT_LOAD)
			img->segments[img->segment_count++] = elf->segments[i];
}

/* The table of a debug file; its addresses are those of before the file itself was prelinked. */
static bool add_debug_table(struct symtab_builder *b, const struct elf *elf,
			    const struct elf *debug)
{
	const struct elf_section *s = elf_find_type(debug, SHT_SYMTAB);
	const u64 shift = elf_code_start(elf) - elf_code_start(debug);
	const size_t before = b->spans.len;

	if (!s || symtab_add_section(b, debug, s, true) <= 0)
		return false;
	for (size_t i = before; shift && elf_code_start(debug) && i < b->spans.len; i++) {
		b->spans.items[i].start += shift;
		b->spans.items[i].end += shift;
	}
	return true;
}

/* The full table of the file itself, of its debug file, or the small packed one. */
static void add_full_table(struct image *img, struct symtab_builder *b, const struct elf *elf,
			   const struct image_source *src)
{
	const struct elf_section *s = elf_find_type(elf, SHT_SYMTAB);
	_cleanup_elf_ struct elf debug = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT, unpacked = BUF_INIT;
	const struct debug_search search = { .main = elf,
					     .path = src->path,
					     .root = src->root,
					     .dir = src->debug_dir,
					     .server = src->server,
					     .build_id = img->build_id,
					     .build_id_len = img->build_id_len };

	if (s && symtab_add_section(b, elf, s, true) > 0) {
		img->complete = true;
	} else if (!src->no_debug_files && debug_find(&search, &debug, &path) == 0) {
		img->complete = add_debug_table(b, elf, &debug);
		img->debug_file = img->complete ? buf_detach(&path) : NULL;
	} else if (minidebug_open(elf, &unpacked, &debug) == 0) {
		if (add_debug_table(b, elf, &debug))
			img->debug_file = xstrdup(".gnu_debugdata");
	}
}

/* Exported names: a full table has them already, unless it was reduced. */
static void add_exported(struct image *img, struct symtab_builder *b, const struct elf *elf)
{
	const struct elf_section *s = elf_find_type(elf, SHT_DYNSYM);

	if (s && (!img->complete || s->size / elf_symbol_size(elf) > b->candidates.len))
		symtab_add_section(b, elf, s, false);
	else if (!elf->section_count)
		symtab_add_dynamic(b, elf);
}

void image_explain(bool any_named, const char **ret_why, const char **ret_hint)
{
	*ret_why = any_named ? "no symbol table, only exported names" : "no symbol table";
	*ret_hint =
		"install its debug symbols (Debian: a -dbgsym or -dbg package), or do not strip it";
}

static void explain(struct image *img)
{
	if (!img->complete && !img->debug_file)
		image_explain(img->named > 0, &img->why, &img->hint);
}

static void count_named(struct image *img)
{
	for (size_t i = 0; i < img->symtab.len; i++)
		img->named += !(img->symtab.syms[i].flags & SYM_FDE);
}

static void build(struct image *img, const struct elf *elf, const struct image_source *src)
{
	struct symtab_builder b = { 0 };

	add_full_table(img, &b, elf, src);
	if (!img->complete && symtab_add_go(&b, elf))
		img->complete = true;
	add_exported(img, &b, elf);
	symtab_add_plt(&b, elf);
	symtab_add_fdes(&b, elf);
	symtab_finish(&b, &img->symtab);
	count_named(img);
	explain(img);
}

/* The cache saves time for big tables, and the search where the names are in another file. */
static bool ask_cache(const struct elf *elf)
{
	const struct elf_section *s = elf_find_type(elf, SHT_SYMTAB);

	return !s || s->size >= CACHE_WORTH_BYTES;
}

bool image_has_debug_file(const struct elf *elf, const struct image_source *src)
{
	_cleanup_elf_ struct elf debug = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	u8 build_id[MODULE_BUILD_ID_MAX];
	const struct debug_search search = { .main = elf,
					     .path = src->path,
					     .root = src->root,
					     .dir = src->debug_dir,
					     .server = src->server,
					     .build_id = build_id,
					     .build_id_len = elf_build_id(elf, build_id,
									  sizeof(build_id)) };

	return !src->no_debug_files && debug_find(&search, &debug, &path) == 0;
}

/* An entry of the cache, unless there is something better by now. */
static bool take_cached(struct image *img, const struct elf *elf, const struct image_source *src)
{
	if (!src->cache_dir || !ask_cache(elf) ||
	    cache_load(img, src->cache_dir,
		       &(struct cache_key){ img->build_id, img->build_id_len, img->identity },
		       img->fingerprint) < 0)
		return false;
	if (img->complete || !image_has_debug_file(elf, src)) {
		explain(img);
		return true;
	}
	symtab_release(&img->symtab);
	free(img->segments);
	free(img->debug_file);
	img->segments = NULL;
	img->debug_file = NULL;
	img->segment_count = 0;
	img->named = 0;
	img->from_cache = false;
	return false;
}

/* In place of a build id: for Go's files, and those of linkers that make none. */
static void note_file(struct image *img)
{
	if (!img->identity)
		return;
	img->file_id[0] = 'f'; /* no build id has this length */
	memcpy(img->file_id + 1, &img->identity, sizeof(img->identity));
	memcpy(img->file_id + 1 + sizeof(img->identity), &img->fingerprint,
	       sizeof(img->fingerprint));
}

void image_load(struct image *img, const struct elf *elf, const struct image_source *src)
{
	const u64 begin = clock_mono_ns();
	u64 took;

	img->build_id_len = elf_build_id(elf, img->build_id, sizeof(img->build_id));
	img->fingerprint = elf->fingerprint;
	img->identity = elf->identity;
	note_file(img);
	if (take_cached(img, elf, src))
		return;
	take_segments(img, elf);
	build(img, elf, src);
	took = clock_mono_ns() - begin;
	log_debug("names of '%s': %u in %llu us", src->path, img->named,
		  (unsigned long long)(took / 1000));
	if (src->cache_dir && (img->debug_file || src->keep || took > CACHE_WORTH_NS))
		(void)cache_store(img, src->cache_dir);
}

int image_open_vdso(struct elf *ret)
{
	const void *base = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	const Elf64_Ehdr *h = base;
	u64 end;

	if (!base || h->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	/* Its section headers come last and say how long it is: the kernel made it, so it is true.
	 */
	end = h->e_shoff + (u64)h->e_shnum * h->e_shentsize;
	if (end > VDSO_MAX_BYTES || elf_open_mem(ret, base, end, "[vdso]", NULL) < 0)
		return -ENOENT;
	return 0;
}

int image_load_vdso(struct image *img)
{
	const struct image_source src = { .path = "[vdso]", .no_debug_files = true };
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if (image_open_vdso(&elf) < 0)
		return -ENOENT;
	image_load(img, &elf, &src);
	img->why = img->hint = NULL;
	return 0;
}
