/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of PLT stubs, "foo@plt", from the instructions of the stubs: whichever linker laid them
 * out, each either jumps through a slot of the GOT, for which there is a relocation, or pushes
 * the number of its relocation. What depends on the CPU is stub_slot(), stub_number().
 */
#include "symbol/symtab.h"

#include "base/map.h"
#include "symbol/symbol.h"

enum {
	PLT_MAX_BYTES = 1 << 20,
	RELA_MAX_BYTES = 8 << 20,
	/* .rela.dyn may be huge; those with names are its last part by custom of the linkers */
	RELA_TAIL_BYTES = 256 << 10,
	NAMES_MOST = 16 << 20, /* of .dynsym or .dynstr; what is larger has no names for stubs */
};

static const char *const stub_sections[] = { ".plt", ".plt.sec", ".plt.got" };

/* The stubs of a section, empty if there are none. */
struct stubs {
	struct buf code;
	u64 addr;
	size_t step; /* bytes of each */
};

struct relocation {
	u32 symbol;
	u64 addend;
};

struct plt {
	struct symtab_builder *out;
	const struct elf *elf;
	struct buf dynsym; /* empty in a static program */
	struct buf dynstr;
	struct stubs stubs[ARRAY_SIZE(stub_sections)];
	VEC(struct relocation) relocations; /* those of .rela.plt first, in order */
	size_t numbered;
	struct map slots; /* address in the GOT -> index of relocation + 1 */
};

/* x86-64: [endbr64] [bnd] jmp *offset(%rip). False when the stub does not jump so. */
static bool stub_slot(const struct plt *p, const u8 *code, size_t n, u64 address, u64 *ret)
{
	s32 offset;

	if (p->elf->machine != EM_X86_64)
		return false;
	for (size_t i = 0; i + 6 <= n && i <= 5; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&offset, code + i + 2, 4);
		*ret = address + i + 6 + (u64)(s64)offset;
		return true;
	}
	return false;
}

/* x86: [endbr64] push $number. */
static bool stub_number(const struct plt *p, const u8 *code, size_t n, u32 *ret)
{
	const size_t i = n >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;

	if ((p->elf->machine != EM_X86_64 && p->elf->machine != EM_386) || i + 5 > n ||
	    code[i] != 0x68)
		return false;
	memcpy(ret, code + i + 1, 4);
	return true;
}

static void read_stubs(const struct elf *elf, const char *name, struct stubs *ret)
{
	const struct elf_section *s = elf_find_section(elf, name);

	*ret = (struct stubs){ .code = BUF_INIT, .step = 16 };
	if (!s || s->addr > UINT64_MAX - s->size)
		return;
	if (elf_read_section(elf, s, PLT_MAX_BYTES, &ret->code) < 0)
		buf_reset(&ret->code);
	ret->addr = s->addr;
	if (streq(name, ".plt.got") && s->entsize == 8)
		ret->step = 8;
}

/* From the first to the last of the slots that stubs jump through. */
struct slots {
	u64 first, last;
};

static void widen(const struct plt *p, const struct stubs *s, struct slots *all)
{
	for (size_t at = 0; at + s->step <= s->code.len; at += s->step) {
		const u8 *code = (const u8 *)s->code.data + at;
		u64 slot;

		if (!stub_slot(p, code, s->step, s->addr + at, &slot))
			continue;
		all->first = MIN(all->first, slot);
		all->last = MAX(all->last, slot);
	}
}

static struct slots all_slots(const struct plt *p)
{
	struct slots all = { UINT64_MAX, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(p->stubs); i++)
		widen(p, &p->stubs[i], &all);
	return all;
}

/* Only those of @of: a place in the map takes more time than all else about a relocation. */
static void add_rela(struct plt *p, const struct buf *b, struct slots of)
{
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= b->len; at += sizeof(Elf64_Rela)) {
		Elf64_Rela r;

		memcpy(&r, b->data + at, sizeof(r));
		if (r.r_offset < of.first || r.r_offset > of.last)
			continue;
		vec_push(&p->relocations, (struct relocation){ .symbol = (u32)ELF64_R_SYM(r.r_info),
							       .addend = (u64)r.r_addend });
		if (!map_find(&p->slots, r.r_offset))
			map_put(&p->slots, r.r_offset, p->relocations.len);
	}
}

static void read_relocations(struct plt *p)
{
	const struct elf_section *s = elf_find_section(p->elf, ".rela.plt");
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (s && elf_read_section(p->elf, s, RELA_MAX_BYTES, &b) == 0)
		add_rela(p, &b, (struct slots){ 0, UINT64_MAX });
	p->numbered = p->relocations.len;
	s = elf_find_section(p->elf, ".rela.dyn");
	if (!s || s->type != SHT_RELA || !elf_find_section(p->elf, ".plt.got"))
		return;
	u64 skip = s->size > RELA_TAIL_BYTES ? s->size - RELA_TAIL_BYTES : 0;

	skip -= skip % sizeof(Elf64_Rela);
	buf_reset(&b);
	if (s->offset <= UINT64_MAX - skip &&
	    elf_read_buf(p->elf, s->offset + skip, s->size - skip, RELA_MAX_BYTES, &b) == 0)
		add_rela(p, &b, all_slots(p));
}

/* Appends the name of a dynamic symbol. */
static bool add_name(struct plt *p, u32 symbol, u32 *ret)
{
	const char *name;
	Elf64_Sym s;

	if (symbol >= p->dynsym.len / elf_symbol_size(p->elf))
		return false;
	elf_symbol(p->elf, p->dynsym.data, symbol, &s);
	if (!s.st_name || s.st_name >= p->dynstr.len)
		return false;
	name = p->dynstr.data + s.st_name;
	*ret = (u32)p->out->strings.len;
	buf_add(&p->out->strings, name, strnlen(name, p->dynstr.len - s.st_name));
	buf_addch(&p->out->strings, '\0');
	return true;
}

static void add_stub(struct plt *p, u64 start, u64 size, const struct relocation *r)
{
	struct candidate c = { .flags = SYM_PLT, .typed = true };

	if (p->out->strings.len > 2 * ELF_MAX_STRTAB)
		return;
	if (!r->symbol)
		c.resolver = r->addend;
	else if (!add_name(p, r->symbol, &c.name))
		return;
	/* the unwind entry of the section begins where its first stub does, and ranks lower */
	vec_push(&p->out->spans, (struct span){ .start = start,
						.end = start + size,
						.id = (u32)p->out->candidates.len,
						.rank = 1 });
	vec_push(&p->out->candidates, c);
}

static void name_stubs(struct plt *p, const struct stubs *s)
{
	for (size_t at = 0; at + s->step <= s->code.len; at += s->step) {
		const u8 *code = (const u8 *)s->code.data + at;
		u64 slot, index = 0;
		u32 number;

		if (stub_slot(p, code, s->step, s->addr + at, &slot))
			index = map_get(&p->slots, slot, 0);
		else if (stub_number(p, code, s->step, &number) && number < p->numbered)
			index = (u64)number + 1;
		if (index && p->relocations.items)
			add_stub(p, s->addr + at, s->step, &p->relocations.items[index - 1]);
	}
}

/* Both at once: a read for each of the thousands of stubs of some libraries takes longer. */
static void read_names(struct plt *p)
{
	const struct elf_section *dynsym = elf_find_type(p->elf, SHT_DYNSYM);

	if (!dynsym || dynsym->link >= p->elf->section_count ||
	    elf_read_section(p->elf, dynsym, NAMES_MOST, &p->dynsym) < 0)
		return;
	if (elf_read_section(p->elf, &p->elf->sections[dynsym->link], NAMES_MOST, &p->dynstr) < 0)
		buf_reset(&p->dynstr);
}

void symtab_add_plt(struct symtab_builder *b, const struct elf *elf)
{
	struct plt p = { .out = b, .elf = elf };

	if (!elf->is64 || !elf_find_section(elf, ".rela.plt"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stub_sections); i++)
		read_stubs(elf, stub_sections[i], &p.stubs[i]);
	read_names(&p);
	read_relocations(&p);
	for (size_t i = 0; i < ARRAY_SIZE(p.stubs); i++) {
		name_stubs(&p, &p.stubs[i]);
		buf_release(&p.stubs[i].code);
	}
	vec_release(&p.relocations);
	map_release(&p.slots);
	buf_release(&p.dynsym);
	buf_release(&p.dynstr);
}
