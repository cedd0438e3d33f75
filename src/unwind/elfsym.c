/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/elfsym.h"

#include <elf.h>

/* The section headers; false when there are none that can be used. */
static bool read_headers(const struct image *im, struct buf *ret, size_t *ret_n)
{
	Elf64_Ehdr eh;

	if (image_read(im, 0, &eh, sizeof(eh), NULL) || !eh.e_shoff || !eh.e_shnum ||
	    eh.e_shentsize != sizeof(Elf64_Shdr))
		return false;
	size_t bytes = (size_t)eh.e_shnum * sizeof(Elf64_Shdr);

	if (image_read(im, eh.e_shoff, buf_reserve(ret, bytes), bytes, NULL))
		return false;
	buf_added(ret, bytes);
	*ret_n = eh.e_shnum;
	return true;
}

static bool read_section(const struct image *im, const Elf64_Shdr *s, u64 max, struct buf *ret)
{
	if (!s->sh_size || s->sh_size > max || s->sh_size > im->size ||
	    image_read(im, s->sh_offset, buf_reserve(ret, s->sh_size), s->sh_size, NULL))
		return false;
	buf_added(ret, s->sh_size);
	return true;
}

static void match(const struct buf *strings, const Elf64_Sym *sym, struct elfsym *want, size_t n)
{
	if (!sym->st_value || sym->st_shndx == SHN_UNDEF || sym->st_name >= strings->len)
		return;
	const char *name = strings->data + sym->st_name; /* a buffer ends with a NUL */

	for (size_t i = 0; i < n; i++) {
		if (!want[i].vaddr && streq(name, want[i].name)) {
			want[i].vaddr = sym->st_value;
			want[i].size = sym->st_size;
		}
	}
}

bool elfsym_find(const struct image *im, struct elfsym *want, size_t n)
{
	_cleanup_buf_ struct buf headers = BUF_INIT, strings = BUF_INIT, symbols = BUF_INIT;
	const Elf64_Shdr *s = NULL;
	size_t n_sections = 0;

	if (!read_headers(im, &headers, &n_sections))
		return false;
	const Elf64_Shdr *all = (const Elf64_Shdr *)(const void *)headers.data;

	for (size_t i = 0; i < n_sections && !s; i++) {
		if (all[i].sh_type == SHT_DYNSYM && all[i].sh_link < n_sections)
			s = &all[i];
	}
	if (!s || !read_section(im, &all[s->sh_link], ELFSYM_MAX_STRINGS, &strings) ||
	    !memmem(strings.data, strings.len, want[0].name, strlen(want[0].name) + 1) ||
	    !read_section(im, s, (u64)ELFSYM_MAX_SYMBOLS * sizeof(Elf64_Sym), &symbols))
		return false;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.len; at += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, symbols.data + at, sizeof(sym));
		match(&strings, &sym, want, n);
	}
	return want[0].vaddr;
}
