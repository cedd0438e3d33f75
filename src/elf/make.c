/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/make.h"

#include "base/hash.h"
#include "base/varint.h"

#include <elf.h>

enum { TEXT_AT = 4096, TEXT_ALIGN = 16, OPCODE_BASE = 13, NOTE_NAME = 4 };
enum { LINE_EXTENDED = 0, LINE_COPY = 1, LINE_PC = 2, LINE_LINE = 3, LINE_FILE = 4 };
enum { EXTENDED_END = 1, EXTENDED_ADDRESS = 2 };

struct note {
	Elf64_Nhdr head;
	char name[NOTE_NAME];
	u8 id[ELF_MAKE_ID];
};

struct layout {
	Elf64_Ehdr head;
	Elf64_Phdr segments[2];
	struct note note;
};
_Static_assert(sizeof(struct layout) <= TEXT_AT, "before the code");

enum section {
	SECTION_NONE,
	SECTION_TEXT,
	SECTION_NOTE,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_ABBREV,
	SECTION_INFO,
	SECTION_LINE,
	SECTION_NAMES,
	SECTION_COUNT
};

void elf_make_release(struct elf_make *m)
{
	buf_release(&m->text);
	buf_release(&m->symbols);
	buf_release(&m->strings);
	buf_release(&m->lines);
	intern_release(&m->files);
}

u64 elf_make_add(struct elf_make *m, const char *name, const void *code, size_t size)
{
	const size_t pad = ALIGN_UP(m->text.len, TEXT_ALIGN) - m->text.len;
	Elf64_Sym s = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = SECTION_TEXT,
			.st_size = size };

	if (size > ELF_MAKE_MOST || m->text.len + pad + size > ELF_MAKE_MOST ||
	    m->strings.len > ELF_MAKE_MOST)
		return 0;
	if (!m->strings.len) {
		const Elf64_Sym none = { 0 };

		buf_addch(&m->strings, '\0');
		buf_add(&m->symbols, &none, sizeof(none));
	}
	buf_fill(&m->text, '\0', pad);
	s.st_value = TEXT_AT + m->text.len;
	s.st_name = (u32)m->strings.len;
	buf_add(&m->text, code, size);
	buf_add(&m->strings, name, strlen(name) + 1);
	buf_add(&m->symbols, &s, sizeof(s));
	return s.st_value;
}

/* --- lines ----------------------------------------------------------------------------------- */

static void add_signed(struct buf *b, s64 v)
{
	for (;;) {
		const u8 low = (u8)(v & 0x7f);

		v = (v - low) / 128;
		if ((v == 0 && !(low & 0x40)) || (v == -1 && low & 0x40)) {
			buf_addch(b, (char)low);
			return;
		}
		buf_addch(b, (char)(low | 0x80));
	}
}

static void add_extended(struct buf *b, u8 op, const void *operand, size_t n)
{
	buf_addch(b, LINE_EXTENDED);
	varint_write(b, n + 1);
	buf_addch(b, (char)op);
	buf_add(b, operand, n);
}

void elf_make_lines(struct elf_make *m, u64 at, size_t size, const struct elf_make_line *lines,
		    size_t n)
{
	u64 offset = 0, file = 1, line = 1;

	if (!n)
		return;
	add_extended(&m->lines, EXTENDED_ADDRESS, &at, sizeof(at));
	for (size_t i = 0; i < n; i++) {
		const struct elf_make_line *l = &lines[i];
		const u64 number = intern_str(&m->files, *l->file ? l->file : "?");

		if (l->offset < offset || l->offset >= size)
			continue;
		buf_addch(&m->lines, LINE_PC);
		varint_write(&m->lines, l->offset - offset);
		buf_addch(&m->lines, LINE_LINE);
		add_signed(&m->lines, (s64)l->line - (s64)line);
		if (number != file) {
			buf_addch(&m->lines, LINE_FILE);
			varint_write(&m->lines, number);
		}
		buf_addch(&m->lines, LINE_COPY);
		offset = l->offset;
		line = l->line;
		file = number;
	}
	buf_addch(&m->lines, LINE_PC);
	varint_write(&m->lines, size - offset);
	add_extended(&m->lines, EXTENDED_END, NULL, 0);
}

static void add_u16(struct buf *b, u16 v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_u32(struct buf *b, u32 v)
{
	buf_add(b, &v, sizeof(v));
}

/* A length of 32 bits at @at says how much follows it. */
static void close_length(struct buf *b, size_t at)
{
	const u32 n = (u32)(b->len - at - sizeof(n));

	memcpy(b->data + at, &n, sizeof(n));
}

static void add_line_unit(const struct elf_make *m, struct buf *b)
{
	static const u8 operands[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	const size_t begin = b->len;
	size_t header;

	add_u32(b, 0);
	add_u16(b, 4); /* DWARF 4 */
	header = b->len;
	add_u32(b, 0);
	/* bytes per instruction, operations, is_stmt, line base and range (not used), opcodes */
	buf_add(b, (const u8[]){ 1, 1, 1, 0xfb, 14, OPCODE_BASE }, 6);
	buf_add(b, operands, sizeof(operands));
	buf_addch(b, '\0'); /* no folders */
	for (u32 i = 1; i <= m->files.len; i++) {
		const char *name = intern_get(&m->files, i);

		buf_add(b, name, strlen(name) + 1);
		buf_add(b, (const u8[3]){ 0 }, 3);
	}
	buf_addch(b, '\0');
	close_length(b, header);
	buf_add(b, m->lines.data, m->lines.len);
	close_length(b, begin);
}

static void add_info(const struct elf_make *m, struct buf *b)
{
	const u64 low = TEXT_AT, size = m->text.len;
	const size_t begin = b->len;

	add_u32(b, 0);
	add_u16(b, 4);
	add_u32(b, 0);     /* abbreviations */
	buf_addch(b, 8);   /* bytes of an address */
	buf_addch(b, 1);   /* abbreviation 1 */
	buf_add(b, "", 1); /* name */
	add_u32(b, 0);     /* lines */
	buf_add(b, &low, sizeof(low));
	buf_add(b, &size, sizeof(size));
	close_length(b, begin);
}

/* A compile unit without children: name, stmt_list, low_pc, high_pc as a length. */
static const u8 abbreviations[] = { 1,    0x11, 0,    0x03, 0x08, 0x10, 0x17,
				    0x11, 0x01, 0x12, 0x07, 0,    0,    0 };

/* --- the file -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	u32 type;
	u64 flags;
	u64 align;
	u64 entry;
} kinds[SECTION_COUNT] = {
	[SECTION_NONE] = { "", SHT_NULL, 0, 0, 0 },
	[SECTION_TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_ALIGN, 0 },
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4, 0 },
	[SECTION_SYMBOLS] = { ".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym) },
	[SECTION_STRINGS] = { ".strtab", SHT_STRTAB, 0, 1, 0 },
	[SECTION_ABBREV] = { ".debug_abbrev", SHT_PROGBITS, 0, 1, 0 },
	[SECTION_INFO] = { ".debug_info", SHT_PROGBITS, 0, 1, 0 },
	[SECTION_LINE] = { ".debug_line", SHT_PROGBITS, 0, 1, 0 },
	[SECTION_NAMES] = { ".shstrtab", SHT_STRTAB, 0, 1, 0 },
};

static void make_id(struct elf_make *m)
{
	u64 h = hash_bytes(m->text.data, m->text.len);

	for (size_t i = 0; i < ELF_MAKE_ID; i += sizeof(u32)) {
		h = hash_mix(h, hash_bytes(m->strings.data, m->strings.len) + i);
		memcpy(m->build_id + i, &h, sizeof(u32));
	}
}

static void add_names(struct buf *b, u32 names[static SECTION_COUNT])
{
	const size_t begin = b->len;

	for (size_t i = 0; i < SECTION_COUNT; i++) {
		names[i] = (u32)(b->len - begin);
		buf_add(b, kinds[i].name, strlen(kinds[i].name) + 1);
	}
}

static void add_section_bytes(const struct elf_make *m, enum section kind, struct buf *b,
			      u32 names[static SECTION_COUNT])
{
	switch (kind) {
	case SECTION_TEXT: buf_add(b, m->text.data, m->text.len); break;
	case SECTION_SYMBOLS: buf_add(b, m->symbols.data, m->symbols.len); break;
	case SECTION_STRINGS: buf_add(b, m->strings.data, m->strings.len); break;
	case SECTION_ABBREV: buf_add(b, abbreviations, sizeof(abbreviations)); break;
	case SECTION_INFO: add_info(m, b); break;
	case SECTION_LINE: add_line_unit(m, b); break;
	case SECTION_NAMES: add_names(b, names); break;
	default: break;
	}
}

static void add_head(const struct elf_make *m, struct buf *b, u64 sections_at)
{
	struct layout l = { .head = { .e_type = ET_DYN,
				      .e_machine = m->machine,
				      .e_version = EV_CURRENT,
				      .e_phoff = offsetof(struct layout, segments),
				      .e_shoff = sections_at,
				      .e_ehsize = sizeof(Elf64_Ehdr),
				      .e_phentsize = sizeof(Elf64_Phdr),
				      .e_phnum = 2,
				      .e_shentsize = sizeof(Elf64_Shdr),
				      .e_shnum = SECTION_COUNT,
				      .e_shstrndx = SECTION_NAMES },
			    .segments = { { .p_type = PT_LOAD,
					    .p_flags = PF_R | PF_X,
					    .p_filesz = TEXT_AT + m->text.len,
					    .p_memsz = TEXT_AT + m->text.len,
					    .p_align = TEXT_AT },
					  { .p_type = PT_NOTE,
					    .p_flags = PF_R,
					    .p_offset = offsetof(struct layout, note),
					    .p_vaddr = offsetof(struct layout, note),
					    .p_paddr = offsetof(struct layout, note),
					    .p_filesz = sizeof(struct note),
					    .p_memsz = sizeof(struct note),
					    .p_align = 4 } },
			    .note = { .head = { NOTE_NAME, ELF_MAKE_ID, NT_GNU_BUILD_ID },
				      .name = ELF_NOTE_GNU } };

	memcpy(l.head.e_ident, ELFMAG, SELFMAG);
	l.head.e_ident[EI_CLASS] = ELFCLASS64;
	l.head.e_ident[EI_DATA] = ELFDATA2LSB;
	l.head.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(l.note.id, m->build_id, sizeof(m->build_id));
	memcpy(b->data, &l, sizeof(l));
}

void elf_make_finish(struct elf_make *m, struct buf *ret)
{
	Elf64_Shdr sections[SECTION_COUNT] = { 0 };
	u32 names[SECTION_COUNT];

	make_id(m);
	buf_fill(ret, '\0', TEXT_AT);
	for (enum section i = SECTION_TEXT; i < SECTION_COUNT; i++) {
		Elf64_Shdr *s = &sections[i];

		if (i != SECTION_NOTE && kinds[i].align)
			buf_fill(ret, '\0', ALIGN_UP(ret->len, kinds[i].align) - ret->len);
		s->sh_offset = i == SECTION_NOTE ? offsetof(struct layout, note) : ret->len;
		add_section_bytes(m, i, ret, names);
		s->sh_size = i == SECTION_NOTE ? sizeof(struct note) : ret->len - s->sh_offset;
		s->sh_type = kinds[i].type;
		s->sh_flags = kinds[i].flags;
		s->sh_addr = s->sh_flags & SHF_ALLOC ? s->sh_offset : 0;
		s->sh_addralign = kinds[i].align;
		s->sh_entsize = kinds[i].entry;
	}
	sections[SECTION_SYMBOLS].sh_link = SECTION_STRINGS;
	sections[SECTION_SYMBOLS].sh_info = 1;
	for (size_t i = 0; i < SECTION_COUNT; i++)
		sections[i].sh_name = names[i];
	buf_fill(ret, '\0', ALIGN_UP(ret->len, sizeof(u64)) - ret->len);
	add_head(m, ret, ret->len);
	buf_add(ret, sections, sizeof(sections));
}
