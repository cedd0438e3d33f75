/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines of modules: finding the file that has them, and asking it. */
#include "symbol/store.h"

#include "symbol/debug.h"

static const char *explain(int error)
{
	switch (error) {
	case 0: return NULL;
	case -EFBIG: return "too much debug information";
	case -ENOTSUP: return "built without libdw";
	case -ENODATA: return "no debug information";
	default: return "the debug information is broken";
	}
}

static int open_lines(struct image_lines *l, const struct debug_search *search,
		      const struct elf *debug, const char *path)
{
	_cleanup_elf_ struct elf alt = ELF_INIT;
	const bool has_alt = debug_find_alt(search, debug, path, &alt) == 0;

	if (debug != search->main && elf_code_start(debug))
		l->shift = elf_code_start(debug) - elf_code_start(search->main);
	return srcline_new(&l->srcline, debug, has_alt ? &alt : NULL);
}

/* Where to look for a debug file of @elf, which is that of the module. @room is for its root. */
static struct debug_search search_of(struct symbols *s, const struct module *m,
				     const struct elf *elf, char *room, size_t room_size)
{
	struct debug_search ret = { .main = elf,
				    .path = m->key.path,
				    .dir = s->opts.debug_dir,
				    .server = &s->server,
				    .build_id = m->image->build_id,
				    .build_id_len = m->image->build_id_len,
				    .lines = true };

	if (m->key.pid && !s->opts.offline) {
		snprintf(room, room_size, "/proc/%d/root", (int)m->key.pid);
		ret.root = room;
	}
	return ret;
}

static int find_lines(struct symbols *s, const struct module *m, struct image *img,
		      const struct elf *elf)
{
	_cleanup_elf_ struct elf debug = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	char root[64];
	struct debug_search search = search_of(s, m, elf, root, sizeof(root));

	if (srcline_has(elf))
		return open_lines(&img->lines, &search, elf, m->key.path);
	if (s->opts.no_debug_files || debug_find(&search, &debug, &path) < 0)
		return -ENODATA;
	img->lines.file = xstrdup(path.data);
	return open_lines(&img->lines, &search, &debug, path.data);
}

static struct srcline *lines_of(struct symbols *s, const struct module *m)
{
	struct image_lines *l = &m->image->lines;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct module probe = *m;

	if (l->tried)
		return l->srcline;
	l->tried = true;
	if (!module_open_file(s, &probe, &elf))
		l->why = probe.why;
	else
		l->why = explain(find_lines(s, m, m->image, &elf));
	return l->srcline;
}

/* The store's spelling of a string: made once. */
static const char *shown(struct symbols *s, struct image_lines *l, u32 id, bool is_name)
{
	u32 *known;

	if (!id)
		return NULL;
	while (l->names.len <= id)
		vec_push(&l->names, 0);
	known = &l->names.items[id];
	if (!*known) {
		const char *raw = srcline_str(l->srcline, id);

		*known = is_name ? store_shown_name(s, raw, "") : store_shown_text(s, raw);
	}
	return intern_get(&s->names, *known);
}

enum { WHOLE_FUNCTION_MOST = 8 << 10 }; /* bytes */

/* Frames at an address of the file, by its debug information. */
static size_t ask_lines(struct symbols *s, struct image_lines *l, u64 vaddr,
			struct source_frame *ret, size_t max)
{
	struct srcline_frame found[SOURCE_MAX_FRAMES];
	size_t n = srcline_find(l->srcline, vaddr + l->shift, found, MIN(max, ARRAY_SIZE(found)));

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct source_frame){ .function = shown(s, l, found[i].function, true),
						.file = shown(s, l, found[i].file, false),
						.line = found[i].line,
						.column = found[i].column,
						.inlined = found[i].inlined };
	return n;
}

/* Strings are interned: the same text is the same pointer. */
static bool same_frames(const struct source_frame *a, size_t n, const struct source_frame *b,
			size_t m)
{
	for (size_t i = 0; n == m && i < n; i++) {
		if (a[i].function != b[i].function || a[i].file != b[i].file ||
		    a[i].line != b[i].line || a[i].column != b[i].column ||
		    a[i].inlined != b[i].inlined)
			return false;
	}
	return n == m;
}

/*
 * The debug information is open, which costs far more than asking it: all of the function at @vaddr
 * goes to the cache, because the next recording has other addresses of it.
 */
static void cache_function(struct symbols *s, struct image *img, u64 vaddr)
{
	const struct sym *sym = symtab_find(&img->symtab, vaddr);
	struct source_frame run[SOURCE_MAX_FRAMES], at[SOURCE_MAX_FRAMES];
	u64 start, end;
	size_t n, m;

	if (!sym || sym->size > WHOLE_FUNCTION_MOST || !lines_cache_wanted(s, img))
		return;
	start = sym->start;
	end = start + sym->size;
	n = ask_lines(s, &img->lines, start, run, ARRAY_SIZE(run));
	for (u64 where = start + 1; where <= end; where++) {
		m = where < end ? ask_lines(s, &img->lines, where, at, ARRAY_SIZE(at)) : 0;
		if (where < end && same_frames(run, n, at, m))
			continue;
		/* With no room left it may be a part of the answer. */
		if (n < ARRAY_SIZE(run))
			lines_cache_add(s, img, start, where - start, run, n);
		memcpy(run, at, m * sizeof(*at));
		n = m;
		start = where;
	}
}

static size_t find_frames(struct symbols *s, struct module *m, u32 module, u64 file_offset,
			  struct source_frame *ret, size_t max)
{
	u64 vaddr;
	size_t n;

	if (!symbols_vaddr(s, module, file_offset, &vaddr))
		return 0;
	if (lines_cache_find(s, m->image, vaddr, ret, max, &n))
		return n;
	if (!lines_of(s, m))
		return 0;
	cache_function(s, m->image, vaddr);
	/* a large function, or one inside of another */
	if (lines_cache_find(s, m->image, vaddr, ret, max, &n))
		return n;
	n = ask_lines(s, &m->image->lines, vaddr, ret, max);
	if (n < MIN(max, (size_t)SOURCE_MAX_FRAMES))
		lines_cache_add(s, m->image, vaddr, 1, ret, n);
	return n;
}

size_t symbols_lines(struct symbols *s, u32 module, u64 file_offset, struct source_frame *ret,
		     size_t max)
{
	struct module *m = store_module(s, module);
	size_t n;

	if (!m)
		return 0;
	if (known_lines_find(s, &m->lines, file_offset, ret, max, &n))
		return n;
	if (!module_has_more(s, m))
		return 0;
	n = find_frames(s, m, module, file_offset, ret, max);
	if (s->opts.keep_lines)
		known_lines_add(s, &m->lines, file_offset, ret, MIN(n, (size_t)SOURCE_MAX_FRAMES));
	return n;
}

static u64 debug_bytes(const struct elf *elf)
{
	u64 sum = 0;

	for (size_t i = 0; i < elf->section_count; i++) {
		const char *name = elf_section_name(elf, &elf->sections[i]);

		if (starts_with(name, ".debug_") || starts_with(name, ".zdebug_"))
			sum += elf->sections[i].size;
	}
	return sum;
}

u64 symbols_lines_bytes(struct symbols *s, u32 module)
{
	struct module *m = store_module(s, module);
	_cleanup_elf_ struct elf elf = ELF_INIT, debug = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct debuginfod no_server = { 0 };
	struct debug_search search;
	struct module probe;
	char root[64];

	if (!m || !m->image)
		return 0;
	probe = *m;
	if (!module_open_file(s, &probe, &elf))
		return 0;
	if (srcline_has(&elf))
		return debug_bytes(&elf);
	search = search_of(s, m, &elf, root, sizeof(root));
	search.server = &no_server;
	if (s->opts.no_debug_files || debug_find(&search, &debug, &path) < 0)
		return 0;
	return debug_bytes(&debug);
}

void lines_info(const struct image_lines *l, struct module_info *ret)
{
	struct srcline_counts c;

	ret->lines_file = l->file;
	ret->lines_why = l->why;
	if (!l->srcline)
		return;
	srcline_counts(l->srcline, &c);
	ret->lines_units = c.units;
	ret->lines_indexed = c.indexed;
	ret->lines_broken = c.broken;
	if (c.full)
		ret->lines_why = "too much debug information: some of it was left out";
}
