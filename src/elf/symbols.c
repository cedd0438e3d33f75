/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/symbols.h"

void elf_symbol(const struct elf *elf, const char *table, size_t i, Elf64_Sym *ret)
{
	Elf32_Sym s;

	if (elf->is64) {
		memcpy(ret, table + i * sizeof(*ret), sizeof(*ret));
		return;
	}
	memcpy(&s, table + i * sizeof(s), sizeof(s));
	*ret = (Elf64_Sym){ .st_name = s.st_name,
			    .st_info = s.st_info,
			    .st_other = s.st_other,
			    .st_shndx = s.st_shndx,
			    .st_value = s.st_value,
			    .st_size = s.st_size };
}

bool elf_read_table(const struct elf *elf, const struct elf_section *s, u64 max, struct buf *ret,
		    struct buf *ret_strings)
{
	return s->link < elf->section_count && elf_read_section(elf, s, max, ret) >= 0 &&
	       elf_read_section(elf, &elf->sections[s->link], ELF_MAX_STRTAB, ret_strings) >= 0;
}

/* The symbols of one section that are defined and have a name. */
struct cursor {
	const struct elf *elf;
	struct buf table, strings;
	size_t at, count;
};

static void cursor_release(struct cursor *c)
{
	buf_release(&c->table);
	buf_release(&c->strings);
}

static bool cursor_open(struct cursor *c, const struct elf *elf, const struct elf_section *s)
{
	*c = (struct cursor){ .elf = elf };
	if (!elf_read_table(elf, s, ELF_MAX_SYMTAB, &c->table, &c->strings))
		return false;
	c->count = c->table.len / elf_symbol_size(elf);
	return true;
}

/* The name's NUL is at the latest the one that ends the buffer. */
static const char *cursor_next(struct cursor *c, Elf64_Sym *ret)
{
	while (c->at < c->count) {
		elf_symbol(c->elf, c->table.data, c->at++, ret);
		if (ret->st_shndx != SHN_UNDEF && ret->st_name < c->strings.len)
			return c->strings.data + ret->st_name;
	}
	return NULL;
}

static void match_wanted(const char *name, const Elf64_Sym *sym, struct elf_wanted *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!want[i].vaddr && streq(name, want[i].name)) {
			want[i].vaddr = sym->st_value;
			want[i].size = sym->st_size;
		}
	}
}

bool elf_find_exported(const struct elf *elf, struct elf_wanted *want, size_t n)
{
	_cleanup_(cursor_release) struct cursor c = { 0 };
	const struct elf_section *s = elf_find_type(elf, SHT_DYNSYM);
	const char *name;
	Elf64_Sym sym;

	/* most files have none of them: their symbols need not be read */
	if (!s || s->link >= elf->section_count ||
	    elf_read_section(elf, &elf->sections[s->link], ELF_MAX_STRTAB, &c.strings) < 0 ||
	    !memmem(buf_str(&c.strings), c.strings.len, want[0].name, strlen(want[0].name) + 1) ||
	    elf_read_section(elf, s, ELF_MAX_SYMTAB, &c.table) < 0)
		return false;
	c.elf = elf;
	c.count = c.table.len / elf_symbol_size(elf);
	while ((name = cursor_next(&c, &sym)))
		match_wanted(name, &sym, want, n);
	return want[0].vaddr;
}

static bool is_symbols(const struct elf_section *s)
{
	return s->type == SHT_SYMTAB || s->type == SHT_DYNSYM;
}

bool elf_find_symbol(const struct elf *elf, const char *name, u64 *ret, u64 *ret_size)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		_cleanup_(cursor_release) struct cursor c = { 0 };
		const char *found;
		Elf64_Sym sym;

		if (!is_symbols(&elf->sections[i]) || !cursor_open(&c, elf, &elf->sections[i]))
			continue;
		while ((found = cursor_next(&c, &sym))) {
			if (!streq(found, name))
				continue;
			*ret = sym.st_value;
			*ret_size = sym.st_size;
			return true;
		}
	}
	return false;
}

void elf_list_functions(const struct elf *elf, bool (*match)(void *ctx, const char *name),
			void *ctx, struct arena *arena, elf_functions *ret)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		_cleanup_(cursor_release) struct cursor c = { 0 };
		const char *name;
		Elf64_Sym sym;
		u64 offset;

		if (!is_symbols(&elf->sections[i]) || !cursor_open(&c, elf, &elf->sections[i]))
			continue;
		while ((name = cursor_next(&c, &sym))) {
			u32 type = ELF64_ST_TYPE(sym.st_info);

			if ((type == STT_FUNC || type == STT_GNU_IFUNC) && *name &&
			    match(ctx, name) &&
			    segments_offset(elf->segments, elf->segment_count, sym.st_value,
					    &offset))
				vec_push(ret, (struct elf_function){ arena_strdup(arena, name),
								     offset, sym.st_size });
		}
	}
}

static bool match_all(void *ctx UNUSED, const char *name UNUSED)
{
	return true;
}

bool elf_find_function_at(const struct elf *elf, u64 offset, struct arena *arena,
			  struct elf_function *ret)
{
	elf_functions list = { 0 };
	bool found = false;

	elf_list_functions(elf, match_all, NULL, arena, &list);
	for (size_t i = 0; i < list.len && !found; i++) {
		found = offset >= list.items[i].offset &&
			offset - list.items[i].offset < MAX(list.items[i].size, (u64)1);
		if (found)
			*ret = list.items[i];
	}
	vec_release(&list);
	return found;
}
