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

/* Room for what a search refers to. */
struct search_room {
	char root[64];
	u8 build_id[MODULE_BUILD_ID_MAX];
};

/* Where to look for a debug file of @elf, which is that of the module. */
static struct debug_search search_of(struct symbols *s, const struct module *m,
				     const struct elf *elf, struct search_room *room)
{
	struct debug_search ret = { .main = elf,
				    .path = m->key.path,
				    .dir = s->opts.debug_dir,
				    .server = &s->server,
				    .build_id = room->build_id,
				    .lines = true };

	ret.build_id_len = elf_build_id(elf, room->build_id, sizeof(room->build_id));
	if (m->key.pid && !s->opts.offline) {
		snprintf(room->root, sizeof(room->root), "/proc/%d/root", (int)m->key.pid);
		ret.root = room->root;
	}
	return ret;
}

static int find_lines(struct symbols *s, const struct module *m, struct image *img,
		      const struct elf *elf)
{
	_cleanup_elf_ struct elf debug = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct search_room room;
	struct debug_search search = search_of(s, m, elf, &room);

	if (srcline_has(elf))
		return open_lines(&img->lines, &search, elf, m->key.path);
	if (s->opts.no_debug_files || debug_find(&search, &debug, &path) < 0)
		return -ENODATA;
	return open_lines(&img->lines, &search, &debug, path.data);
}

static struct srcline *lines_of(struct symbols *s, const struct module *m)
{
	struct image_lines *l = &m->image->lines;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct module probe = *m;

	l->asked = true;
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

/* False: it may be known to debug information that is not to be read. */
static bool find_frames(struct symbols *s, struct module *m, u32 module, u64 file_offset,
			struct source_frame *ret, size_t max, size_t *ret_n)
{
	u64 vaddr;

	*ret_n = 0;
	if (!symbols_vaddr(s, module, file_offset, &vaddr) ||
	    lines_cache_find(s, m->image, vaddr, ret, max, ret_n))
		return true;
	if (m->lines_closed)
		return false;
	if (lines_of(s, m))
		*ret_n = ask_lines(s, &m->image->lines, vaddr, ret, max);
	return true;
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
	if (!module_has_more(s, m) || !find_frames(s, m, module, file_offset, ret, max, &n))
		return 0;
	if (s->opts.keep_lines)
		known_lines_add(s, &m->lines, file_offset, ret, MIN(n, (size_t)SOURCE_MAX_FRAMES));
	return n;
}

void symbols_lines_close(struct symbols *s, u32 module)
{
	struct module *m = store_module(s, module);

	if (m)
		m->lines_closed = true;
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

/* What is on this machine, packed or not; files are not asked from a server for it. */
static u64 debug_bytes_of(struct symbols *s, struct module *m)
{
	_cleanup_elf_ struct elf elf = ELF_INIT, debug = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct debuginfod no_server = { 0 };
	struct debug_search search;
	struct module probe = *m;
	struct search_room room;

	if (!module_open_file(s, &probe, &elf))
		return 0;
	if (srcline_has(&elf))
		return debug_bytes(&elf);
	search = search_of(s, m, &elf, &room);
	search.server = &no_server;
	if (s->opts.no_debug_files || debug_find(&search, &debug, &path) < 0)
		return 0;
	return debug_bytes(&debug);
}

bool symbols_lines_cost(struct symbols *s, u32 module, u64 *ret_bytes)
{
	struct module *m = store_module(s, module);
	u64 bytes;

	if (!m || !m->image)
		return false;
	bytes = lines_cache_is_whole(s, m->image) ? 0 : debug_bytes_of(s, m);
	if (!bytes && !lines_cache_is_whole(s, m->image))
		return false;
	*ret_bytes = bytes;
	return true;
}

int symbols_lines_build(struct symbols *s, u32 module, u64 max_bytes, u64 *ret_size)
{
	struct module *m = store_module(s, module);
	struct srcline_counts c;
	u64 bytes;

	if (!m || !s->opts.cache_dir)
		return -EINVAL;
	bytes = debug_bytes_of(s, m);
	if (!bytes)
		return -ENODATA;
	if (bytes > max_bytes)
		return -EFBIG;
	if (!m->loaded)
		module_load(s, m);
	if (!m->image || !lines_cache_wanted(s, m->image))
		return -EINVAL;
	if (lines_cache_is_whole(s, m->image))
		return -EEXIST;
	if (!lines_of(s, m))
		return -EBADMSG;
	srcline_counts(m->image->lines.srcline, &c);
	return c.bytes > max_bytes ? -EFBIG : lines_cache_write(s, m->image, true, ret_size);
}

void lines_info(const struct image_lines *l, struct module_info *ret)
{
	struct srcline_counts c;

	if (l->index)
		ret->lines_units = lineindex_units(l->index);
	if (!l->srcline)
		return;
	srcline_counts(l->srcline, &c);
	ret->lines_units = c.units;
	ret->lines_indexed = c.indexed;
	ret->lines_broken = c.broken;
}

const char *symbols_lines_why(struct symbols *s, u32 module, const char **ret_hint)
{
	struct module *m = store_module(s, module);
	struct srcline_counts c;

	*ret_hint = NULL;
	if (!m)
		return NULL;
	if (module_has_more(s, m)) {
		if (!m->loaded)
			module_load(s, m);
		if (!m->image) {
			*ret_hint = m->hint;
			return m->why;
		}
		if (lines_of(s, m)) {
			srcline_counts(m->image->lines.srcline, &c);
			return c.full ? "too much debug information: some of it was left out"
				      : NULL;
		}
	}
	*ret_hint = "install its debug symbols (Debian: a -dbgsym or -dbg package), or build it "
		    "with -g";
	return m->image && m->image->lines.why ? m->image->lines.why : explain(-ENODATA);
}
