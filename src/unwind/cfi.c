/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi.h"

enum {
	PE_OMIT = 0xff,
	PE_FORMAT = 0x0f,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
};

u64 cfi_uint(struct cfi_reader *r, size_t bytes)
{
	u64 v = 0;

	if ((size_t)(r->end - r->p) < bytes) {
		r->bad = true;
		r->p = r->end;
		return 0;
	}
	memcpy(&v, r->p, bytes);
	r->p += bytes;
	return v;
}

u64 cfi_uleb(struct cfi_reader *r)
{
	u64 v = 0;

	for (unsigned int shift = 0; r->p < r->end; shift += 7) {
		u8 b = *r->p++;

		if (shift < 64)
			v |= (u64)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

s64 cfi_sleb(struct cfi_reader *r)
{
	u64 v = 0;

	for (unsigned int shift = 0; r->p < r->end;) {
		u8 b = *r->p++;

		if (shift < 64)
			v |= (u64)(b & 0x7f) << shift;
		shift += 7;
		if (b & 0x80)
			continue;
		if ((b & 0x40) && shift < 64)
			v |= ~0ull << shift;
		return (s64)v;
	}
	r->bad = true;
	return 0;
}

static u64 pointer_value(struct cfi_reader *r, u8 format)
{
	switch (format) {
	case 0x00:
	case 0x04:
	case 0x0c: return cfi_uint(r, 8);
	case 0x01: return cfi_uleb(r);
	case 0x02: return cfi_uint(r, 2);
	case 0x03: return cfi_uint(r, 4);
	case 0x09: return (u64)cfi_sleb(r);
	case 0x0a: return (u64)(s64)(s16)cfi_uint(r, 2);
	case 0x0b: return (u64)(s64)(s32)cfi_uint(r, 4);
	default: r->bad = true; return 0;
	}
}

u64 cfi_pointer(struct cfi_reader *r, u8 encoding, const struct cfi_section *s)
{
	u64 at = s->vaddr + (u64)(r->p - s->data);
	u64 v = pointer_value(r, encoding & PE_FORMAT);

	if (encoding & PE_INDIRECT)
		r->bad = true;
	switch (encoding & PE_BASE) {
	case 0: return v;
	case PE_PCREL: return v + at;
	case PE_DATAREL:
		if (s->hdr_vaddr)
			return v + s->hdr_vaddr;
		break;
	default: break;
	}
	r->bad = true;
	return 0;
}

/* The letters after 'z' say what the augmentation data holds, in their order. */
static void parse_augmentation(struct cfi_reader *r, struct cfi_cie *cie, const char *letters,
			       const struct cfi_section *s)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R': cie->fde_encoding = (u8)cfi_uint(r, 1); break;
		case 'L': cfi_uint(r, 1); break;
		case 'P': {
			u8 encoding = (u8)cfi_uint(r, 1);

			/* where it points does not matter, only how long it is */
			if (encoding != PE_OMIT)
				cfi_pointer(r, encoding & PE_FORMAT, s);
			break;
		}
		case 'S': cie->signal = true; break;
		case 'B': break;
		default: return; /* unknown: the length skips the rest */
		}
	}
}

static bool parse_cie_header(struct cfi_reader *r, struct cfi_cie *cie, const char **ret_letters)
{
	u8 version = (u8)cfi_uint(r, 1);
	const char *letters = (const char *)r->p;
	const u8 *nul = memchr(r->p, 0, (size_t)(r->end - r->p));

	if (!nul || (version != 1 && version != 3 && version != 4))
		return false;
	r->p = nul + 1;
	if (version == 4 && (cfi_uint(r, 1) != 8 || cfi_uint(r, 1) != 0))
		return false; /* address size, segment selector size */
	if (!strncmp(letters, "eh", 2)) {
		cfi_uint(r, 8);
		letters += 2;
	}
	cie->code_align = cfi_uleb(r);
	cie->data_align = cfi_sleb(r);
	cie->ra_column = version == 1 ? cfi_uint(r, 1) : cfi_uleb(r);
	*ret_letters = letters;
	return !r->bad;
}

static bool parse_cie_body(const struct cfi *c, struct cfi_reader *r, struct cfi_cie *cie)
{
	const char *letters;

	if (!parse_cie_header(r, cie, &letters))
		return false;
	if (*letters == 'z') {
		u64 n = cfi_uleb(r);

		if (r->bad || n > (u64)(r->end - r->p))
			return false;
		struct cfi_reader data = { r->p, r->p + n, false };

		cie->augmented = true;
		parse_augmentation(&data, cie, letters + 1, &c->section);
		if (data.bad)
			return false;
		r->p += n;
	} else if (*letters) {
		return false;
	}
	return cfi_execute(c, cie, r, 0, 0, &cie->initial, NULL, NULL);
}

/* One entry: [body, end) follows the length; @id_bytes is the size of the CIE pointer. */
struct entry {
	const u8 *body;
	const u8 *end;
	size_t id_bytes;
};

/* False at the end of the section. An entry that runs past it is cut there. */
static bool entry_at(const struct cfi_section *s, size_t offset, struct entry *ret)
{
	struct cfi_reader r = { s->data + offset, s->data + s->size, false };
	u64 n = cfi_uint(&r, 4);
	bool wide = n == 0xffffffff;

	if (wide)
		n = cfi_uint(&r, 8);
	if (r.bad)
		return false;
	ret->body = r.p;
	ret->end = n > (u64)(r.end - r.p) ? r.end : r.p + n;
	ret->id_bytes = wide && s->debug ? 8 : 4;
	return true;
}

static bool is_cie(const struct cfi_section *s, u64 id, size_t id_bytes)
{
	if (!s->debug)
		return id == 0;
	return id == (id_bytes == 8 ? UINT64_MAX : UINT32_MAX);
}

/* Index + 1 of the CIE at @offset, parsed at most once; 0 when there is none. */
static u64 cie_at(struct cfi *c, u64 offset)
{
	const u64 *known = map_find(&c->cie_at, offset);
	struct entry en;

	if (known)
		return *known;
	u64 index = 0;

	if (offset < c->section.size && entry_at(&c->section, offset, &en)) {
		struct cfi_reader r = { en.body, en.end, false };
		u64 id = cfi_uint(&r, en.id_bytes);

		if (!r.bad && is_cie(&c->section, id, en.id_bytes)) {
			struct cfi_cie cie = { 0 };

			cie.usable = parse_cie_body(c, &r, &cie);
			c->bad += !cie.usable;
			vec_push(&c->cies, cie);
			index = c->cies.len;
		}
	}
	map_put(&c->cie_at, offset, index);
	return index;
}

static bool parse_fde(struct cfi *c, struct cfi_reader *r, u64 cie_index)
{
	if (!cie_index || !c->cies.items[cie_index - 1].usable)
		return false;
	const struct cfi_cie *cie = &c->cies.items[cie_index - 1];
	u64 start = cfi_pointer(r, cie->fde_encoding, &c->section);
	u64 length = pointer_value(r, cie->fde_encoding & PE_FORMAT);

	if (cie->augmented) {
		u64 n = cfi_uleb(r);

		if (n > (u64)(r->end - r->p))
			return false;
		r->p += n;
	}
	if (r->bad || length > UINT64_MAX - start)
		return false;
	if (length)
		vec_push(&c->fdes, (struct cfi_fde){ .start = start,
						     .end = start + length,
						     .cie = (u32)(cie_index - 1),
						     .program = r->p,
						     .program_len = (u32)(r->end - r->p) });
	return true;
}

static void parse_entry(struct cfi *c, const struct entry *en, size_t offset)
{
	struct cfi_reader r = { en->body, en->end, false };
	u64 id_at = (u64)(en->body - c->section.data), id = cfi_uint(&r, en->id_bytes);

	if (r.bad) {
		c->bad++;
		return;
	}
	if (is_cie(&c->section, id, en->id_bytes)) {
		cie_at(c, offset);
		return;
	}
	/* .eh_frame counts back from the field, .debug_frame from the section's start */
	u64 cie_offset = c->section.debug ? id : id_at - id;

	if (!parse_fde(c, &r, cie_at(c, cie_offset)))
		c->bad++;
}

void cfi_parse(struct cfi *c, const struct cfi_section *section)
{
	struct entry en;

	*c = (struct cfi){ .section = *section };
	for (size_t at = 0; at + 4 <= section->size;) {
		if (!entry_at(section, at, &en))
			return;
		if (en.body == en.end) { /* a terminator, or one left by the linker in between */
			if (section->ends_with_zero)
				return;
		} else {
			parse_entry(c, &en, at);
		}
		at = (size_t)(en.end - section->data);
	}
}

void cfi_release(struct cfi *c)
{
	vec_release(&c->cies);
	vec_release(&c->fdes);
	map_release(&c->cie_at);
}

void cfi_run(const struct cfi *c, const struct cfi_fde *fde, cfi_emit_fn *emit, void *ctx)
{
	const struct cfi_cie *cie = &c->cies.items[fde->cie];
	struct cfi_reader r = { fde->program, fde->program + fde->program_len, false };
	struct cfi_state state = cie->initial;

	cfi_execute(c, cie, &r, fde->start, fde->end, &state, emit, ctx);
}

struct wanted_rule {
	u64 address;
	struct unwind_rule *ret;
	bool found;
};

static void keep_rule(void *ctx, u64 address, const struct unwind_rule *rule)
{
	struct wanted_rule *w = ctx;

	if (address > w->address)
		return;
	*w->ret = *rule;
	w->found = true;
}

bool cfi_rule_at(const struct cfi_section *section, u64 address, struct unwind_rule *ret)
{
	struct wanted_rule w = { .address = address, .ret = ret };
	struct cfi c;

	cfi_parse(&c, section);
	for (size_t i = 0; i < c.fdes.len && !w.found; i++) {
		const struct cfi_fde *f = &c.fdes.items[i];

		if (address >= f->start && address < f->end)
			cfi_run(&c, f, keep_rule, &w);
	}
	cfi_release(&c);
	return w.found;
}
