/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/probe/elfsyms.h"

#include "base/elfnote.h"
#include "base/io.h"
#include "symbol/elf.h"
#include "symbol/symtab.h"

#include <glob.h>

enum {
	USDT_NOTE = 3,
	USDT_MAX_NOTES = 16 << 20,
	USDT_MAX_SITES = 1 << 16,
	NEEDED_MAX_BYTES = 1 << 20,
	NEEDED_MAX_FILES = 256,
};

static int open_elf(const char *path, struct elf *ret, struct err *e)
{
	int fd, rc = io_open_read(path, &fd, e);

	if (rc < 0)
		return rc;
	return elf_open_fd(ret, fd, path, e);
}

/* A table, and the strings that it refers to. */
static bool read_table(const struct elf *elf, const struct elf_section *s, u64 max, struct buf *ret,
		       struct buf *ret_strings)
{
	return s->link < elf->section_count && elf_read_section(elf, s, max, ret) >= 0 &&
	       elf_read_section(elf, &elf->sections[s->link], SYMTAB_MAX_STRTAB, ret_strings) >= 0;
}

static void add_symbols(const struct elf *elf, const struct elf_section *s,
			bool (*match)(void *ctx, const char *name), void *ctx, struct arena *arena,
			elf_functions *ret)
{
	_cleanup_buf_ struct buf syms = BUF_INIT;
	_cleanup_buf_ struct buf strings = BUF_INIT;
	size_t n;

	if (!read_table(elf, s, SYMTAB_MAX_BYTES, &syms, &strings))
		return;
	n = syms.len / symtab_raw_size(elf);
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym sym;
		u32 type;
		u64 offset;
		const char *name;

		symtab_raw(elf, syms.data, i, &sym);
		type = ELF64_ST_TYPE(sym.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym.st_shndx == SHN_UNDEF ||
		    sym.st_name >= strings.len)
			continue;
		name = strings.data + sym.st_name;
		if (!*name || !match(ctx, name) ||
		    !segments_offset(elf->segments, elf->segment_count, sym.st_value, &offset))
			continue;
		vec_push(ret,
			 (struct elf_function){ arena_strdup(arena, name), offset, sym.st_size });
	}
}

int elfsyms_functions(const char *path, bool (*match)(void *ctx, const char *name), void *ctx,
		      struct arena *arena, elf_functions *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = open_elf(path, &elf, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < elf.section_count; i++) {
		const struct elf_section *s = &elf.sections[i];

		if (s->type == SHT_SYMTAB || s->type == SHT_DYNSYM)
			add_symbols(&elf, s, match, ctx, arena, ret);
	}
	return 0;
}

int elfsyms_offset(const char *path, u64 vaddr, u64 *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = open_elf(path, &elf, e);

	if (rc < 0)
		return rc;
	if (!segments_offset(elf.segments, elf.segment_count, vaddr, ret))
		return err_set(e, ENOENT, "address 0x%llx is not in '%s'",
			       (unsigned long long)vaddr, path);
	return 0;
}

int elfsyms_vaddr(const char *path, u64 offset, u64 *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = open_elf(path, &elf, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < elf.segment_count; i++) {
		u64 begin;

		if (segments_offset(&elf.segments[i], 1, elf.segments[i].vaddr, &begin) &&
		    offset >= begin && offset - begin < elf.segments[i].filesz) {
			*ret = elf.segments[i].vaddr + (offset - begin);
			return 0;
		}
	}
	return err_set(e, ENOENT, "offset 0x%llx is not mapped from '%s'",
		       (unsigned long long)offset, path);
}

static bool find_symbol(const struct elf *elf, const struct elf_section *s, const char *name,
			u64 *ret, u64 *ret_size)
{
	_cleanup_buf_ struct buf syms = BUF_INIT;
	_cleanup_buf_ struct buf strings = BUF_INIT;

	if (!read_table(elf, s, SYMTAB_MAX_BYTES, &syms, &strings))
		return false;
	for (size_t i = 0; i < syms.len / symtab_raw_size(elf); i++) {
		Elf64_Sym sym;

		symtab_raw(elf, syms.data, i, &sym);
		if (sym.st_shndx == SHN_UNDEF || sym.st_name >= strings.len ||
		    !streq(strings.data + sym.st_name, name))
			continue;
		*ret = sym.st_value;
		*ret_size = sym.st_size;
		return true;
	}
	return false;
}

int elfsyms_address(const char *path, const char *name, u64 *ret, u64 *ret_size, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = open_elf(path, &elf, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < elf.section_count; i++) {
		const struct elf_section *s = &elf.sections[i];

		if ((s->type == SHT_SYMTAB || s->type == SHT_DYNSYM) &&
		    find_symbol(&elf, s, name, ret, ret_size))
			return 0;
	}
	return err_set(e, ENOENT, "'%s' has no symbol '%s'", path, name);
}

/* --- static tracepoints: notes of the section .note.stapsdt ----------------------------------- */

static bool string_at(const char **p, const char *end, const char **ret)
{
	const char *nul = memchr(*p, 0, (size_t)(end - *p));

	if (!nul)
		return false;
	*ret = *p;
	*p = nul + 1;
	return true;
}

static void add_site(const struct elf *elf, const char *desc, size_t len, u64 base,
		     struct arena *arena, usdt_sites *ret)
{
	const char *end = desc + len, *p = desc + 24, *provider, *name, *args;
	struct usdt_site site = { 0 };
	u64 words[3], shift;

	if (len < 24)
		return;
	memcpy(words, desc, sizeof(words));
	if (!string_at(&p, end, &provider) || !string_at(&p, end, &name) ||
	    !string_at(&p, end, &args))
		return;
	/* Where the file was moved after linking, its base section tells by how much. */
	shift = base && words[1] ? base - words[1] : 0;
	if (!segments_offset(elf->segments, elf->segment_count, words[0] + shift, &site.offset))
		return;
	if (words[2])
		segments_offset(elf->segments, elf->segment_count, words[2] + shift,
				&site.semaphore);
	site.provider = arena_strdup(arena, provider);
	site.name = arena_strdup(arena, name);
	site.args = arena_strdup(arena, args);
	vec_push(ret, site);
}

int elfsyms_usdt(const char *path, struct arena *arena, usdt_sites *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	_cleanup_buf_ struct buf notes = BUF_INIT;
	const struct elf_section *s, *base;
	struct elfnote note;
	const u8 *p;
	size_t n;
	int rc = open_elf(path, &elf, e);

	if (rc < 0)
		return rc;
	s = elf_find_section(&elf, ".note.stapsdt");
	base = elf_find_section(&elf, ".stapsdt.base");
	if (!s || !elf.is64)
		return 0;
	rc = elf_read_section(&elf, s, USDT_MAX_NOTES, &notes);
	if (rc < 0)
		return err_sys(e, -rc, "cannot read the static tracepoints of '%s'", path);
	p = (const u8 *)notes.data;
	n = notes.len;
	while (ret->len < USDT_MAX_SITES && elfnote_next(&p, &n, &note))
		if (elfnote_is(&note, "stapsdt", USDT_NOTE))
			add_site(&elf, (const char *)note.data, note.size, base ? base->addr : 0,
				 arena, ret);
	return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static char *in_path(const char *name, struct arena *arena)
{
	const char *path = getenv("PATH");

	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
	while (*path) {
		size_t n = strcspn(path, ":");
		char *file = arena_printf(arena, "%.*s/%s", (int)n, path, name);

		if (access(file, X_OK) == 0)
			return file;
		path += n + (path[n] == ':');
	}
	return NULL;
}

static const char *const dirs[] = { "/lib/x86_64-linux-gnu",
				    "/usr/lib/x86_64-linux-gnu",
				    "/lib64",
				    "/usr/lib64",
				    "/usr/local/lib",
				    "/usr/lib",
				    "/lib" };

/* The first ELF file: a .so without a number may be a linker script. */
static char *first_elf(const char *pattern, struct arena *arena)
{
	char *found = NULL;
	glob_t g = { 0 };

	if (glob(pattern, 0, NULL, &g) == 0) {
		for (size_t i = 0; !found && i < g.gl_pathc; i++) {
			_cleanup_elf_ struct elf elf = ELF_INIT;

			if (open_elf(g.gl_pathv[i], &elf, NULL) == 0)
				found = arena_strdup(arena, g.gl_pathv[i]);
		}
	}
	globfree(&g);
	return found;
}

static char *in_libraries(const char *name, struct arena *arena)
{
	static const char *const forms[] = { "%s/lib%s.so", "%s/lib%s.so.[0-9]*", "%s/lib%s-*.so",
					     "%s/lib%s", "%s/%s" };

	if (starts_with(name, "lib"))
		name += 3;
	for (size_t d = 0; d < ARRAY_SIZE(dirs); d++) {
		for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
			char *found, *pattern;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			pattern = arena_printf(arena, forms[f], dirs[d], name);
#pragma GCC diagnostic pop
			found = first_elf(pattern, arena);
			if (found)
				return found;
		}
	}
	return NULL;
}

char *elfsyms_find(const char *name, struct arena *arena)
{
	char *found;

	if (strchr(name, '/'))
		return access(name, R_OK) == 0 ? arena_strdup(arena, name) : NULL;
	found = in_path(name, arena);
	return found ? found : in_libraries(name, arena);
}

/* --- what a program is made of ---------------------------------------------------------------- */

static bool has_path(const elf_paths *list, const char *path)
{
	vec_each(it, list) {
		if (streq(*it, path))
			return true;
	}
	return false;
}

static void add_library(const char *name, struct arena *arena, elf_paths *ret)
{
	for (size_t d = 0; d < ARRAY_SIZE(dirs); d++) {
		char *path = arena_printf(arena, "%s/%s", dirs[d], name);

		if (access(path, R_OK) < 0)
			continue;
		if (!has_path(ret, path) && ret->len < NEEDED_MAX_FILES)
			vec_push(ret, path);
		return;
	}
}

static void add_needed(const char *path, struct arena *arena, elf_paths *ret)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	_cleanup_buf_ struct buf dynamic = BUF_INIT;
	_cleanup_buf_ struct buf strings = BUF_INIT;
	const struct elf_section *s;
	Elf64_Dyn dyn;

	if (open_elf(path, &elf, NULL) < 0 || !elf.is64)
		return;
	s = elf_find_type(&elf, SHT_DYNAMIC);
	if (!s || !read_table(&elf, s, NEEDED_MAX_BYTES, &dynamic, &strings))
		return;
	for (size_t at = 0; at + sizeof(dyn) <= dynamic.len; at += sizeof(dyn)) {
		const char *name;

		memcpy(&dyn, dynamic.data + at, sizeof(dyn));
		if (dyn.d_tag != DT_NEEDED || dyn.d_un.d_val >= strings.len)
			continue;
		name = strings.data + dyn.d_un.d_val;
		if (memchr(name, 0, strings.len - dyn.d_un.d_val) && !strchr(name, '/'))
			add_library(name, arena, ret);
	}
}

void elfsyms_files(const char *program, struct arena *arena, elf_paths *ret)
{
	char *path = strchr(program, '/') ? arena_strdup(arena, program) : in_path(program, arena);

	if (!path)
		return;
	vec_push(ret, path);
	for (size_t i = 0; i < ret->len; i++)
		add_needed(ret->items[i], arena, ret);
}
