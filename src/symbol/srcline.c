/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/srcline_unit.h"

#include "symbol/srcline.h"

#include <fcntl.h>
#ifdef HAVE_LIBDW
#include <gelf.h>
#endif

static bool has_bytes(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_find_section(elf, name);

	return s && s->type != SHT_NOBITS && s->size;
}

bool srcline_has(const struct elf *elf)
{
	return has_bytes(elf, ".debug_info") || has_bytes(elf, ".zdebug_info");
}

bool srcline_altlink(const struct elf *elf, struct buf *ret_path, struct buf *ret_build_id)
{
	const struct elf_section *s = elf_find_section(elf, ".gnu_debugaltlink");
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t n;

	if (!s || elf_read_section(elf, s, 1 << 16, &b) < 0)
		return false;
	n = strnlen(buf_str(&b), b.len);
	if (!n || n + 1 >= b.len)
		return false;
	buf_add(ret_path, b.data, n);
	buf_add(ret_build_id, b.data + n + 1, b.len - n - 1);
	return true;
}

#ifdef HAVE_LIBDW

static bool is_debug_section(const char *name)
{
	return starts_with(name, ".debug_") || starts_with(name, ".zdebug_");
}

/*
 * Locations of variables and the like are not needed here. libdw unpacks every section that it
 * knows when a file is opened, so these are hidden from it.
 */
static bool is_unused(const char *name)
{
	static const char *const unused[] = { ".debug_loc",     ".debug_loclists",
					      ".debug_aranges", ".debug_pubnames",
					      ".debug_macro",   ".debug_macinfo",
					      ".debug_frame" };

	for (size_t i = 0; i < ARRAY_SIZE(unused); i++)
		if (streq(name, unused[i]))
			return true;
	return false;
}

/* How large a section is once it is unpacked. */
static u64 unpacked_size(const struct elf *elf, const struct elf_section *s)
{
	union {
		Elf64_Chdr wide;
		Elf32_Chdr narrow;
		u8 old[12]; /* "ZLIB" and a big-endian size */
	} head = { 0 };
	u64 size = 0;

	if (s->type == SHT_NOBITS)
		return 0;
	if (starts_with(elf_section_name(elf, s), ".z")) {
		if (elf_read(elf, s->offset, head.old, sizeof(head.old)) < 0)
			return UINT64_MAX;
		for (int i = 4; i < 12; i++)
			size = size << 8 | head.old[i];
		return size;
	}
	if (!(s->flags & SHF_COMPRESSED))
		return s->size;
	if (elf_read(elf, s->offset, &head, elf->is64 ? sizeof(head.wide) : sizeof(head.narrow)) <
	    0)
		return UINT64_MAX;
	return elf->is64 ? head.wide.ch_size : head.narrow.ch_size;
}

/* False if there is more than we read; otherwise what is read is added to *@ret. */
static bool fits(const struct elf *elf, u64 *ret)
{
	u64 total = 0, unused = 0;

	for (size_t i = 0; i < elf->section_count; i++) {
		const struct elf_section *s = &elf->sections[i];
		u64 size;

		if (!is_debug_section(elf_section_name(elf, s)))
			continue;
		size = unpacked_size(elf, s);
		if (size > SRCLINE_MAX_BYTES || (total += size) > SRCLINE_MAX_BYTES)
			return false;
		if (is_unused(elf_section_name(elf, s)))
			unused += size;
	}
	*ret += total - unused;
	return true;
}

/* Only of files: of bytes in memory the headers are not ours to change. */
static void hide_unused(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name =
			gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;

		if (!name || !is_unused(name))
			continue;
		head.sh_type = SHT_NOBITS;
		gelf_update_shdr(section, &head);
	}
}

/*
 * libdw takes it for granted that these sections end with a NUL, and reads on where one does not.
 * Checked when libdw has unpacked them.
 */
static bool strings_end(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name =
			gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
		const Elf_Data *data;

		if (!name || head.sh_type == SHT_NOBITS || !is_debug_section(name) ||
		    !ends_with(name, "str"))
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf && data->d_size &&
		    ((const char *)data->d_buf)[data->d_size - 1] != '\0')
			return false;
	}
	return true;
}

/* libdw reads, it does not map: a file that is cut short meanwhile is an error, not a signal. */
Dwarf *srcline_open_dwarf(const struct elf *elf, bool whole, int *ret_fd, Elf **ret_elf)
{
	Dwarf *dwarf = NULL;

	*ret_elf = NULL;
	*ret_fd = elf->fd >= 0 ? fcntl(elf->fd, F_DUPFD_CLOEXEC, 0) : -1;
	elf_version(EV_CURRENT);
	if (*ret_fd >= 0)
		*ret_elf = elf_begin(*ret_fd, ELF_C_READ, NULL);
	if (*ret_elf && !whole)
		hide_unused(*ret_elf);
	else if (!*ret_elf && elf->mem)
		*ret_elf = elf_memory((char *)(uintptr_t)elf->mem, elf->size);
	if (*ret_elf)
		dwarf = dwarf_begin_elf(*ret_elf, DWARF_C_READ, NULL);
	if (dwarf && !strings_end(*ret_elf)) {
		dwarf_end(dwarf);
		return NULL;
	}
	return dwarf;
}

/* Functions that the linker threw away are described as if they were at 0 or at the very end. */
static void find_text(struct srcline *s, const struct elf *elf)
{
	s->text_start = UINT64_MAX;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *g = &elf->segments[i];

		if (g->type != PT_LOAD || !(g->flags & PF_X) || g->memsz > UINT64_MAX - g->vaddr)
			continue;
		s->text_start = MIN(s->text_start, g->vaddr);
		s->text_end = MAX(s->text_end, g->vaddr + g->memsz);
	}
	if (!s->text_end)
		s->text_end = UINT64_MAX - 0xffff;
	if (s->text_start == UINT64_MAX)
		s->text_start = 0;
	/* Nothing but headers is at address 0. */
	s->text_start = MAX(s->text_start, (u64)1);
}

static bool is_whole_unit(Dwarf_Die *die)
{
	const int tag = dwarf_tag(die);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit;
}

/* Units that do not say where their code is are asked for their functions. */
static void add_unit(struct srcline *s, const Dwarf_Die *die, span_list *spans)
{
	const u32 id = (u32)s->units.len;
	struct unit *u = vec_new(&s->units);

	u->die = *die;
	if (!unit_add_ranges(s, &u->die, id, 0, spans) && !dwarf_hasattr(&u->die, DW_AT_ranges) &&
	    !dwarf_hasattr(&u->die, DW_AT_high_pc))
		unit_index_scopes(s, u, id, spans);
}

static void find_units(struct srcline *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	Dwarf_Half version;
	span_list spans = { 0 };

	while (dwarf_get_units(s->dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		if (!is_whole_unit(&die))
			continue;
		if (s->units.len == SRCLINE_MAX_UNITS) {
			s->counts.full = true;
			break;
		}
		add_unit(s, &die, &spans);
	}
	s->counts.units = (u32)s->units.len;
	span_sort(spans.items, spans.len);
	span_table_build(&s->unit_spans, spans.items, spans.len);
	vec_release(&spans);
}

int srcline_new(struct srcline **ret, const struct elf *elf, const struct elf *alt)
{
	struct srcline *s;
	u64 bytes = 0;

	if (!srcline_has(elf))
		return -ENODATA;
	if (!fits(elf, &bytes) || (alt && !fits(alt, &bytes)))
		return -EFBIG;
	s = xcalloc(1, sizeof(*s));
	s->counts.bytes = bytes;
	s->fd = s->alt_fd = -1;
	s->dwarf = srcline_open_dwarf(elf, false, &s->fd, &s->elf);
	if (!s->dwarf) {
		srcline_free(s);
		return -EBADMSG;
	}
	if (alt)
		s->alt = srcline_open_dwarf(alt, false, &s->alt_fd, &s->alt_elf);
	s->no_alt = !s->alt && elf_find_section(elf, ".gnu_debugaltlink");
	/* Itself in place of none keeps libdw from opening whatever path the file names. */
	dwarf_setalt(s->dwarf, s->alt ? s->alt : s->dwarf);
	find_text(s, elf);
	find_units(s);
	*ret = s;
	return 0;
}

void srcline_free(struct srcline *s)
{
	if (!s)
		return;
	vec_each(u, &s->units) {
		unit_release(u);
	}
	vec_release(&s->units);
	span_table_release(&s->unit_spans);
	intern_release(&s->strings);
	map_release(&s->names);
	vec_release(&s->dies);
	map_release(&s->die_ids);
	dwarf_end(s->dwarf);
	dwarf_end(s->alt);
	elf_end(s->elf);
	elf_end(s->alt_elf);
	cleanup_close(&s->fd);
	cleanup_close(&s->alt_fd);
	free(s);
}

static const struct line_row *find_row(const struct unit *u, u64 vaddr)
{
	const size_t n = starts_up_to(u->row_starts, u->row_count, vaddr);

	return n && u->rows[n - 1].file ? &u->rows[n - 1] : NULL;
}

void unit_index(struct srcline *s, struct unit *u, u32 id)
{
	if (u->lined)
		return;
	unit_index_rows(s, u);
	if (!u->scoped)
		unit_index_scopes(s, u, id, NULL);
	s->counts.indexed++;
	s->counts.broken += u->broken;
}

/* From the innermost scope outwards; each caller's line is that of the call. */
static size_t write_chain(const struct unit *u, u32 id, const struct line_row *row,
			  struct srcline_frame *ret, size_t max)
{
	struct srcline_frame f = { .file = row ? row->file : 0,
				   .line = row ? row->line : 0,
				   .column = row ? row->column : 0 };
	size_t n = 0;

	while (n < max) {
		const struct scope *scope = id == SPAN_NONE ? NULL : &u->scopes.items[id];

		f.function = scope ? scope->name : 0;
		f.inlined = scope && scope->inlined;
		ret[n++] = f;
		if (!f.inlined)
			break;
		f.file = scope->call_file;
		f.line = scope->call_line;
		f.column = scope->call_column;
		id = scope->caller - 1;
	}
	return n;
}

size_t srcline_find(struct srcline *s, u64 vaddr, struct srcline_frame *ret, size_t max)
{
	const u32 id = span_find(&s->unit_spans, vaddr);
	const struct line_row *row;
	struct unit *u;
	u32 scope;

	if (id == SPAN_NONE)
		return 0;
	u = &s->units.items[id];
	unit_index(s, u, id);
	row = find_row(u, vaddr);
	scope = span_find(&u->spans, vaddr);
	return row || scope != SPAN_NONE ? write_chain(u, scope, row, ret, max) : 0;
}

const char *srcline_str(const struct srcline *s, u32 id)
{
	return intern_get(&s->strings, id);
}

void srcline_counts(const struct srcline *s, struct srcline_counts *ret)
{
	*ret = s->counts;
}

#else

int srcline_new(struct srcline **ret, const struct elf *elf, const struct elf *alt)
{
	(void)ret;
	(void)elf;
	(void)alt;
	return -ENOTSUP;
}

void srcline_free(struct srcline *s)
{
	(void)s;
}

size_t srcline_find(struct srcline *s, u64 vaddr, struct srcline_frame *ret, size_t max)
{
	(void)s;
	(void)vaddr;
	(void)ret;
	(void)max;
	return 0;
}

const char *srcline_str(const struct srcline *s, u32 id)
{
	(void)s;
	(void)id;
	return "";
}

void srcline_counts(const struct srcline *s, struct srcline_counts *ret)
{
	(void)s;
	*ret = (struct srcline_counts){ 0 };
}

#endif
