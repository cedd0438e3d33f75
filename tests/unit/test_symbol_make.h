/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes small ELF files for the tests of symbol/: one segment of code, a table, a build id. */
#ifndef FATHOM_TESTS_UNIT_TEST_SYMBOL_MAKE_H
#define FATHOM_TESTS_UNIT_TEST_SYMBOL_MAKE_H

#include "base/buf.h"

#include <elf.h>

struct made_symbol {
	const char *name;
	u64 start, size;
	unsigned char type, bind;
};

enum { MADE_VADDR = 0x400000, MADE_TEXT = 0x1000, MADE_TEXT_SIZE = 0x1000 };
enum { MADE_NULL, MADE_TEXT_SECTION, MADE_SYMTAB, MADE_STRTAB, MADE_NAMES, MADE_NOTE, MADE_COUNT };

static const char made_names[] = "\0.text\0.symtab\0.strtab\0.names\0.note";
static const u8 made_id[20] = { 0xab, 0xcd, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };

static inline void made_section(Elf64_Shdr *s, u32 name, u32 type, u64 offset, u64 size)
{
	*s = (Elf64_Shdr){ .sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = size };
}

static inline void made_symbols(const struct made_symbol *list, size_t n, struct buf *syms,
				struct buf *strings)
{
	const Elf64_Sym none = { 0 };

	buf_add(syms, &none, sizeof(none));
	buf_addch(strings, '\0');
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym s = { .st_name = (u32)strings->len,
				.st_info = ELF64_ST_INFO(list[i].bind, list[i].type),
				.st_shndx = MADE_TEXT_SECTION,
				.st_value = list[i].start,
				.st_size = list[i].size };

		buf_add(syms, &s, sizeof(s));
		buf_add(strings, list[i].name, strlen(list[i].name) + 1);
	}
}

static inline u64 made_part(struct buf *file, const void *p, size_t n)
{
	buf_fill(file, '\0', ALIGN_UP(file->len, 8) - file->len);
	u64 at = file->len;

	buf_add(file, p, n);
	return at;
}

/* Code is at MADE_VADDR + MADE_TEXT, in the file at MADE_TEXT. */
static inline void make_elf(const struct made_symbol *list, size_t n, struct buf *ret)
{
	_cleanup_buf_ struct buf syms = BUF_INIT, strings = BUF_INIT, note = BUF_INIT;
	Elf64_Ehdr head = { .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = MADE_COUNT,
			    .e_shstrndx = MADE_NAMES };
	const Elf64_Nhdr note_head = { .n_namesz = 4,
				       .n_descsz = sizeof(made_id),
				       .n_type = NT_GNU_BUILD_ID };
	Elf64_Phdr load = { .p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = MADE_VADDR,
			    .p_filesz = MADE_TEXT + MADE_TEXT_SIZE,
			    .p_memsz = MADE_TEXT + MADE_TEXT_SIZE };
	Elf64_Shdr sections[MADE_COUNT] = { 0 };

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	made_symbols(list, n, &syms, &strings);
	buf_add(&note, &note_head, sizeof(note_head));
	buf_add(&note, "GNU", 4);
	buf_add(&note, made_id, sizeof(made_id));
	buf_reset(ret);
	buf_fill(ret, '\0', MADE_TEXT + MADE_TEXT_SIZE);
	made_section(&sections[MADE_TEXT_SECTION], 1, SHT_PROGBITS, MADE_TEXT, MADE_TEXT_SIZE);
	sections[MADE_TEXT_SECTION].sh_addr = MADE_VADDR + MADE_TEXT;
	sections[MADE_TEXT_SECTION].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	made_section(&sections[MADE_SYMTAB], 7, SHT_SYMTAB, made_part(ret, syms.data, syms.len),
		     syms.len);
	sections[MADE_SYMTAB].sh_link = MADE_STRTAB;
	sections[MADE_SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	made_section(&sections[MADE_STRTAB], 15, SHT_STRTAB,
		     made_part(ret, strings.data, strings.len), strings.len);
	made_section(&sections[MADE_NAMES], 23, SHT_STRTAB,
		     made_part(ret, made_names, sizeof(made_names)), sizeof(made_names));
	made_section(&sections[MADE_NOTE], 30, SHT_NOTE, made_part(ret, note.data, note.len),
		     note.len);
	head.e_shoff = made_part(ret, sections, sizeof(sections));
	memcpy(ret->data, &head, sizeof(head));
	memcpy(ret->data + sizeof(head), &load, sizeof(load));
}

#endif
