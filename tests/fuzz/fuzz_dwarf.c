/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as debug information. An ELF file is read as it is; anything else is cut into the
 * sections of one that is sound around them, so that most inputs reach the DWARF reader.
 */
#include "symbol/srcline_types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "",
				     ".debug_info",
				     ".debug_abbrev",
				     ".debug_line",
				     ".debug_str",
				     ".debug_ranges",
				     ".debug_rnglists",
				     ".debug_addr",
				     ".debug_line_str",
				     ".gnu_debugaltlink",
				     ".shstrtab" };
enum { COUNT = sizeof(names) / sizeof(names[0]), PARTS = COUNT - 2 };

/* The first bytes say in sixteenths of the input how long each section is. */
static void make_file(const uint8_t *data, size_t size, struct buf *ret)
{
	Elf64_Ehdr head = { .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(head),
			    .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = COUNT,
			    .e_shstrndx = COUNT - 1 };
	const Elf64_Phdr load = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = 1 << 20, .p_filesz = 1 << 20
	};
	Elf64_Shdr sections[COUNT] = { 0 };
	const uint8_t *at = data + PARTS, *end = data + size;
	struct buf text = BUF_INIT;

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	buf_fill(ret, '\0', sizeof(head) + sizeof(load));
	for (size_t i = 0; i < COUNT; i++) {
		sections[i].sh_name = (u32)text.len;
		sections[i].sh_type = i ? SHT_PROGBITS : SHT_NULL;
		sections[i].sh_addralign = 1;
		buf_add(&text, names[i], strlen(names[i]) + 1);
	}
	for (size_t i = 1; i < COUNT; i++) {
		size_t n = i == COUNT - 1 ? text.len : (size - PARTS) * (data[i - 1] % 17) / 16;

		n = i == COUNT - 1 ? n : MIN(n, (size_t)(end - at));
		sections[i].sh_offset = ret->len;
		sections[i].sh_size = n;
		buf_add(ret, i == COUNT - 1 ? (const void *)text.data : at, n);
		at += i == COUNT - 1 ? 0 : n;
	}
	buf_fill(ret, '\0', ALIGN_UP(ret->len, 8) - ret->len);
	head.e_shoff = ret->len;
	buf_add(ret, sections, sizeof(sections));
	memcpy(ret->data, &head, sizeof(head));
	memcpy(ret->data + sizeof(head), &load, sizeof(load));
	buf_release(&text);
}

enum { MOST_TYPES = 64 };

static void on_member(void *ctx, const struct dtype_member *m)
{
	(void)ctx;
	if (!m->name)
		abort();
}

static void on_param(void *ctx, const char *name, u32 type)
{
	(void)ctx;
	(void)type;
	if (!name)
		abort();
}

static void on_address(void *ctx, u64 vaddr)
{
	(void)ctx;
	(void)vaddr;
}

static void look_at_types(struct srcline *s)
{
	struct dtype t;

	for (u64 at = 0; at < 1 << 12; at += 16)
		srcline_params(s, at, on_param, NULL);
	srcline_find_type(s, "struct a");
	srcline_find_type(s, "a");
	srcline_addresses(s, "a.c", 1, on_address, NULL);
	for (u32 id = 0; id < MOST_TYPES && srcline_type(s, id, &t); id++) {
		if (!t.name)
			abort();
		srcline_members(s, id, on_member, NULL);
	}
}

static void look(const struct elf *elf)
{
	struct srcline_frame f[SRCLINE_MAX_CHAIN];
	struct srcline *s;

	if (srcline_new(&s, elf, NULL) < 0)
		return;
	for (u64 at = 0; at < 1 << 16; at += 61) {
		const size_t n = srcline_find(s, at, f, SRCLINE_MAX_CHAIN);

		for (size_t i = 0; i < n; i++)
			if (!srcline_str(s, f[i].function) || !srcline_str(s, f[i].file) ||
			    (f[i].inlined && i + 1 == n && n < SRCLINE_MAX_CHAIN))
				abort();
	}
	look_at_types(s);
	srcline_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = BUF_INIT;
	struct elf elf = ELF_INIT;

	if (size < PARTS || size > 1 << 20)
		return 0;
	if (size > SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		buf_add(&file, data, size);
	else
		make_file(data, size, &file);
	if (elf_open_mem(&elf, file.data, file.len, "fuzz", NULL) == 0)
		look(&elf);
	elf_release(&elf);
	buf_release(&file);
	return 0;
}
