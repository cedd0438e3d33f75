/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table by which Go programs name their own functions (.gopclntab): it is there also when
 * everything else was stripped. Its layout changed in Go 1.16, 1.18 and 1.20.
 */
#include "symbol/symtab.h"

#define GOTAB_MAX_BYTES (512ull << 20)
enum { GOTAB_MAX_FUNCTIONS = 8 << 20, GOTAB_MAX_NAME = 4096 };

enum go_magic {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
};

struct gotab {
	const u8 *bytes;
	u64 len;
	u32 magic;
	u8 pointer; /* bytes of an address */
	u64 count;
	u64 text;      /* addresses are relative to this, from Go 1.18 on */
	u64 names;     /* where names begin */
	u64 functions; /* where the sorted table begins; its second column is relative to this */
	u8 column;     /* bytes of a number in it */
};

static bool get(const struct gotab *t, u64 at, unsigned int size, u64 *ret)
{
	u64 value = 0;

	if (at > t->len || size > t->len - at)
		return false;
	memcpy(&value, t->bytes + at, size);
	*ret = value;
	return true;
}

/* Word @i of the header: a pointer or a number of that size. */
static bool get_word(const struct gotab *t, unsigned int i, u64 *ret)
{
	return get(t, 8 + (u64)i * t->pointer, t->pointer, ret);
}

static bool read_header(struct gotab *t)
{
	u64 magic, pointer, zeros;

	if (!get(t, 0, 4, &magic) || !get(t, 4, 2, &zeros) || !get(t, 7, 1, &pointer) || zeros ||
	    (pointer != 4 && pointer != 8))
		return false;
	t->magic = (u32)magic;
	t->pointer = t->column = (u8)pointer;
	if (!get_word(t, 0, &t->count) || t->count > GOTAB_MAX_FUNCTIONS)
		return false;
	switch (t->magic) {
	case GO_1_2: t->functions = 8 + t->pointer; return true;
	case GO_1_16: return get_word(t, 2, &t->names) && get_word(t, 6, &t->functions);
	case GO_1_18:
	case GO_1_20:
		t->column = 4;
		return get_word(t, 2, &t->text) && get_word(t, 3, &t->names) &&
		       get_word(t, 7, &t->functions);
	default: return false;
	}
}

/* Row @i: where the function starts, and where it is described. One row more than functions. */
static bool get_row(const struct gotab *t, u64 i, u64 *ret_start, u64 *ret_about)
{
	const u64 at = t->functions + i * 2 * t->column;

	if (!get(t, at, t->column, ret_start))
		return false;
	*ret_start += t->text;
	return !ret_about || get(t, at + t->column, t->column, ret_about);
}

/* The name, not longer than is good; "" when there is none. */
static size_t get_name(const struct gotab *t, u64 about, const char **ret)
{
	const u64 base = t->magic == GO_1_2 ? 0 : t->functions;
	u64 name, at;

	if (about > t->len || !get(t, base + about + t->column, 4, &name))
		return 0;
	at = t->names + name;
	if (at >= t->len)
		return 0;
	*ret = (const char *)t->bytes + at;
	return strnlen(*ret, MIN(t->len - at, (u64)GOTAB_MAX_NAME));
}

static void add_function(struct symtab_builder *b, const struct gotab *t, u64 i)
{
	u64 start, end, about;
	const char *name;
	size_t n;

	if (!get_row(t, i, &start, &about) || !get_row(t, i + 1, &end, NULL) || end <= start ||
	    b->strings.len > SYMTAB_MAX_STRTAB)
		return;
	n = get_name(t, about, &name);
	if (!n)
		return;
	vec_push(&b->spans,
		 (struct span){
			 .start = start, .end = end, .id = (u32)b->candidates.len, .rank = 1 });
	vec_push(&b->candidates, (struct candidate){ .name = (u32)b->strings.len, .typed = true });
	buf_add(&b->strings, name, n);
	buf_addch(&b->strings, '\0');
}

static const struct elf_section *find_table(const struct elf *elf)
{
	const struct elf_section *s = elf_find_section(elf, ".gopclntab");

	return s ? s : elf_find_section(elf, ".data.rel.ro.gopclntab");
}

size_t symtab_add_go(struct symtab_builder *b, const struct elf *elf)
{
	const struct elf_section *s = find_table(elf), *text;
	const size_t before = b->candidates.len;
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct gotab t = { 0 };

	if (!s || elf_read_section(elf, s, GOTAB_MAX_BYTES, &bytes) < 0)
		return 0;
	t.bytes = (const u8 *)buf_str(&bytes);
	t.len = bytes.len;
	if (!read_header(&t))
		return 0;
	/* In files that can be loaded anywhere it is filled in at load time. */
	text = elf_find_section(elf, ".text");
	if ((t.magic == GO_1_18 || t.magic == GO_1_20) && !t.text && text)
		t.text = text->addr;
	for (u64 i = 0; i < t.count; i++)
		add_function(b, &t, i);
	return b->candidates.len - before;
}
