/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions begin and end according to .eh_frame. Code without symbols still has that, so
 * samples in it can be grouped by function, nameless but right.
 */
#include "symbol/symtab.h"

#include "symbol/symbol.h"

enum { DW_CFA_advance_loc = 0x40, DW_CFA_undefined = 0x07, X86_64_RA = 16 };
enum { FDE_MAX_BYTES = 256 << 20, FDE_MAX_COUNT = 8 << 20, FDE_MAX_LETTERS = 16 };

/* How addresses are written (DW_EH_PE_*): the format in the low bits, what to add above. */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_APPLICATION = 0x70,
	PE_INDIRECT = 0x80,
	PE_UNKNOWN = 0xff,
};

struct frames {
	const u8 *bytes;
	size_t len;
	u64 vaddr; /* of bytes[0] */
	bool is64;
	size_t cie; /* the CIE whose encoding is known */
	u8 encoding;
	bool augmented; /* its entries have augmentation data of their own */
	bool x86_64;
	u64 entry; /* where the program starts */
	struct symtab_builder *out;
	size_t count;
};

/* A place in the bytes that cannot run over its end. */
struct cursor {
	const struct frames *f;
	size_t at;
	size_t end;
	bool bad;
};

static u64 take(struct cursor *c, size_t n)
{
	u64 v = 0;

	if (n > c->end - c->at) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->f->bytes + c->at, n);
	c->at += n;
	return v;
}

static u64 take_uleb(struct cursor *c)
{
	u64 v = 0;
	u8 byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		byte = (u8)take(c, 1);
		v |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static u64 take_encoded(struct cursor *c, u8 encoding)
{
	const u64 here = c->f->vaddr + c->at;
	u64 v;

	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR: v = take(c, c->f->is64 ? 8 : 4); break;
	case PE_UDATA2: v = take(c, 2); break;
	case PE_UDATA4: v = take(c, 4); break;
	case PE_UDATA8:
	case PE_SDATA8: v = take(c, 8); break;
	case PE_SDATA2: v = (u64)(s64)(s16)take(c, 2); break;
	case PE_SDATA4: v = (u64)(s64)(s32)take(c, 4); break;
	default: c->bad = true; return 0;
	}
	if ((encoding & PE_APPLICATION) == PE_PCREL)
		v += here;
	else if (encoding & (PE_APPLICATION | PE_INDIRECT))
		c->bad = true;
	return c->f->is64 ? v : (u32)v;
}

/* The encoding of addresses in FDEs, from the augmentation of their CIE. */
static u8 cie_encoding(struct cursor *c)
{
	const u8 version = (u8)take(c, 1);
	const char *letters = (const char *)c->f->bytes + c->at;
	const size_t most = MIN(c->end - c->at, (size_t)FDE_MAX_LETTERS);
	const size_t n = strnlen(letters, most);

	if (c->bad || n == most || (version != 1 && version != 3))
		return PE_UNKNOWN;
	c->at += n + 1;
	if (letters[0] != 'z')
		return n ? PE_UNKNOWN : PE_ABSPTR;
	take_uleb(c);
	take_uleb(c);
	if (version == 1)
		take(c, 1);
	else
		take_uleb(c);
	take_uleb(c);
	for (size_t i = 1; i < n && !c->bad; i++) {
		if (letters[i] == 'R')
			return (u8)take(c, 1);
		if (letters[i] == 'L')
			take(c, 1);
		else if (letters[i] == 'P')
			take_encoded(c, (u8)take(c, 1) & PE_FORMAT);
		else if (!strchr("SB", letters[i]))
			return PE_UNKNOWN;
	}
	return c->bad ? PE_UNKNOWN : PE_ABSPTR;
}

/* Opens the entry at @at for reading after its length; false at the end or when it is broken. */
static bool entry_open(const struct frames *f, size_t at, struct cursor *ret)
{
	struct cursor c = { .f = f, .at = at, .end = f->len };
	u64 length = take(&c, 4);

	if (length == 0xffffffff)
		length = take(&c, 8);
	if (c.bad || length > f->len - c.at)
		return false;
	c.end = c.at + length;
	*ret = c;
	return true;
}

static bool select_cie(struct frames *f, size_t at)
{
	struct cursor c;

	if (f->cie == at)
		return f->encoding != PE_UNKNOWN;
	f->cie = at;
	f->encoding = PE_UNKNOWN;
	if (entry_open(f, at, &c) && take(&c, 4) == 0) {
		f->augmented = c.end - c.at > 1 && f->bytes[c.at + 1] == 'z';
		f->encoding = cie_encoding(&c);
	}
	return f->encoding != PE_UNKNOWN;
}

/* The entry begins with "the return address is undefined": here threads start. */
static bool is_outermost(struct cursor *c)
{
	static const u8 no_caller[] = { DW_CFA_undefined, X86_64_RA };
	u64 skip = c->f->augmented ? take_uleb(c) : 0;

	if (!c->f->x86_64 || c->bad || skip > c->end - c->at)
		return false;
	c->at += skip;
	/* some step over their first instruction before they say so */
	c->at += c->at < c->end && (c->f->bytes[c->at] & 0xc0) == DW_CFA_advance_loc;
	return c->end - c->at >= sizeof(no_caller) &&
	       memcmp(c->f->bytes + c->at, no_caller, sizeof(no_caller)) == 0;
}

/*
 * The name that code without one gets: 0 (none), or what is known of it all the same. A stack of a
 * stripped libc could not be distinguished from a cut one otherwise.
 */
static u32 name_by_role(struct frames *f, struct cursor *c, u64 start)
{
	struct buf *strings = &f->out->strings;
	const char *name = start == f->entry ? "_start" : is_outermost(c) ? "thread_start" : NULL;
	u32 at;

	if (!name || strings->len > UINT32_MAX / 2)
		return 0;
	if (!strings->len)
		buf_addch(strings, '\0');
	at = (u32)strings->len;
	buf_add(strings, name, strlen(name) + 1);
	return at;
}

static void add_fde(struct frames *f, struct cursor *c, size_t back, size_t from)
{
	u64 start, size;

	if (back > from || !select_cie(f, from - back))
		return;
	start = take_encoded(c, f->encoding);
	size = take_encoded(c, f->encoding & PE_FORMAT);
	if (c->bad || !start || !size || size > UINT64_MAX - start)
		return;
	vec_push(&f->out->spans, (struct span){ .start = start,
						.end = start + size,
						.id = (u32)f->out->candidates.len });
	vec_push(&f->out->candidates,
		 (struct candidate){ .flags = SYM_FDE, .name = name_by_role(f, c, start) });
	f->count++;
}

/* In a section, zeros may stand between the parts of its object files; otherwise they end it. */
static void walk(struct frames *f, bool section)
{
	struct cursor c;

	for (size_t at = 0; f->count < FDE_MAX_COUNT && entry_open(f, at, &c); at = c.end) {
		size_t id_at = c.at;
		u64 id;

		if (c.at == c.end && !section)
			return;
		if (c.end - c.at < 4)
			continue;
		id = take(&c, 4);
		if (id)
			add_fde(f, &c, id, id_at);
	}
}

/* Without section headers: .eh_frame_hdr has a segment and says where .eh_frame begins. */
static bool find_by_segment(const struct elf *elf, u64 *ret_vaddr, u64 *ret_offset, u64 *ret_size)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *s = &elf->segments[i];
		u8 head[4 + 8] = { 0 };
		struct frames f = { .bytes = head, .len = sizeof(head), .is64 = elf->is64 };
		struct cursor c = { .f = &f, .at = 4, .end = sizeof(head) };

		if (s->type != PT_GNU_EH_FRAME || elf_read(elf, s->offset, head, sizeof(head)) < 0)
			continue;
		f.vaddr = s->vaddr;
		*ret_vaddr = take_encoded(&c, head[1]);
		if (c.bad ||
		    !segments_offset(elf->segments, elf->segment_count, *ret_vaddr, ret_offset))
			continue;
		for (size_t j = 0; j < elf->segment_count; j++) {
			const struct elf_segment *l = &elf->segments[j];

			if (l->type == PT_LOAD && *ret_offset >= l->offset &&
			    *ret_offset - l->offset < l->filesz) {
				*ret_size = l->filesz - (*ret_offset - l->offset);
				return true;
			}
		}
	}
	return false;
}

void symtab_add_fdes(struct symtab_builder *out, const struct elf *elf)
{
	const struct elf_section *s = elf_find_section(elf, ".eh_frame");
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct frames f = { .is64 = elf->is64,
			    .cie = SIZE_MAX,
			    .x86_64 = elf->is64 && elf->machine == EM_X86_64,
			    .out = out };
	u64 offset, size;
	int r = -ENODATA;

	if (s) {
		f.vaddr = s->addr;
		r = elf_read_section(elf, s, FDE_MAX_BYTES, &b);
	} else if (find_by_segment(elf, &f.vaddr, &offset, &size)) {
		r = elf_read_buf(elf, offset, MIN(size, (u64)FDE_MAX_BYTES), FDE_MAX_BYTES, &b);
	}
	if (r < 0 || !b.len)
		return;
	if (f.x86_64 && elf_read(elf, offsetof(Elf64_Ehdr, e_entry), &f.entry, sizeof(f.entry)) < 0)
		f.entry = 0;
	f.bytes = (const u8 *)b.data;
	f.len = b.len;
	walk(&f, s != NULL);
}
