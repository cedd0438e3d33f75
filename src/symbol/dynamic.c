/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exported functions of a file without section headers (sstrip, packers, some vendors): the
 * dynamic segment says where the symbols are, a hash table how many.
 */
#include "symbol/symtab.h"

enum { DYNAMIC_MAX_BYTES = 1 << 20, DYNAMIC_MAX_SYMBOLS = 4 << 20 };

struct dynamic {
	u64 symtab, strtab, strsz, hash, gnu_hash; /* addresses; 0: not there */
};

static void dynamic_entry(struct dynamic *d, u64 tag, u64 value)
{
	switch (tag) {
	case DT_SYMTAB: d->symtab = value; break;
	case DT_STRTAB: d->strtab = value; break;
	case DT_STRSZ: d->strsz = value; break;
	case DT_HASH: d->hash = value; break;
	case DT_GNU_HASH: d->gnu_hash = value; break;
	default: break;
	}
}

static bool read_dynamic(const struct elf *elf, struct dynamic *d)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const size_t size = elf->is64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	for (size_t i = 0; i < elf->segment_count && !b.len; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_DYNAMIC &&
		    elf_read_buf(elf, s->offset, s->filesz, DYNAMIC_MAX_BYTES, &b) < 0)
			return false;
	}
	for (size_t at = 0; at + size <= b.len; at += size) {
		Elf64_Dyn d64;
		Elf32_Dyn d32;

		if (elf->is64) {
			memcpy(&d64, b.data + at, size);
			dynamic_entry(d, (u64)d64.d_tag, d64.d_un.d_val);
		} else {
			memcpy(&d32, b.data + at, size);
			dynamic_entry(d, (u32)d32.d_tag, d32.d_un.d_val);
		}
	}
	return d->symtab && d->strtab && d->strsz;
}

/* From symbol @i on, the chain ends with the first odd value: the number of symbols, or 0. */
static u64 chain_end(const struct elf *elf, u64 chains, u64 i)
{
	u32 part[1024];

	while (i < DYNAMIC_MAX_SYMBOLS && chains + i * 4 < elf->size) {
		const u64 at = chains + i * 4;
		const size_t n = MIN((elf->size - at) / 4, (u64)ARRAY_SIZE(part));

		if (!n || elf_read(elf, at, part, n * 4) < 0)
			return 0;
		for (size_t k = 0; k < n; k++, i++)
			if (part[k] & 1)
				return i + 1;
	}
	return 0;
}

/* The highest number in any bucket begins the last chain, which ends with the last symbol. */
static u64 gnu_hash_count(const struct elf *elf, u64 at)
{
	_cleanup_buf_ struct buf buckets = BUF_INIT;
	u32 head[4], top = 0;
	u64 from;

	if (elf_read(elf, at, head, sizeof(head)) < 0 || head[0] > DYNAMIC_MAX_SYMBOLS ||
	    head[1] > DYNAMIC_MAX_SYMBOLS || head[2] > DYNAMIC_MAX_SYMBOLS)
		return 0;
	from = at + sizeof(head) + (u64)head[2] * (elf->is64 ? 8 : 4);
	if (elf_read_buf(elf, from, (u64)head[0] * 4, DYNAMIC_MAX_SYMBOLS * 4ull, &buckets) < 0)
		return 0;
	for (size_t i = 0; i < head[0]; i++) {
		u32 value;

		memcpy(&value, buckets.data + i * 4, 4);
		top = MAX(top, value);
	}
	if (top < head[1])
		return head[1];
	/* Chains are numbered from the first hashed symbol. */
	return chain_end(elf, from + (u64)head[0] * 4 - (u64)head[1] * 4, top);
}

static u64 symbol_count(const struct elf *elf, const struct dynamic *d)
{
	u64 at;
	u32 chains;

	if (d->hash && segments_offset(elf->segments, elf->segment_count, d->hash, &at) &&
	    elf_read(elf, at + 4, &chains, 4) == 0 && chains <= DYNAMIC_MAX_SYMBOLS)
		return chains;
	if (d->gnu_hash && segments_offset(elf->segments, elf->segment_count, d->gnu_hash, &at))
		return gnu_hash_count(elf, at);
	return 0;
}

ssize_t symtab_add_dynamic(struct symtab_builder *b, const struct elf *elf)
{
	_cleanup_buf_ struct buf syms = BUF_INIT;
	struct symbol_source src = { .elf = elf };
	struct dynamic d = { 0 };
	u64 symbols, strings;

	if (!read_dynamic(elf, &d) || b->strings.len > ELF_MAX_STRTAB ||
	    !segments_offset(elf->segments, elf->segment_count, d.symtab, &symbols) ||
	    !segments_offset(elf->segments, elf->segment_count, d.strtab, &strings))
		return -ENODATA;
	src.count = symbol_count(elf, &d);
	if (elf_read_buf(elf, symbols, src.count * elf_symbol_size(elf), ELF_MAX_SYMTAB, &syms) < 0)
		return -EINVAL;
	src.strings_base = (u32)b->strings.len;
	if (elf_read_buf(elf, strings, d.strsz, ELF_MAX_STRTAB, &b->strings) < 0)
		return -EINVAL;
	src.strings_len = d.strsz;
	buf_addch(&b->strings, '\0');
	src.syms = buf_str(&syms);
	return symtab_add_source(b, &src);
}
