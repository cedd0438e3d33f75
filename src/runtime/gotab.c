/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/gotab.h"

enum go_magic {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
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
	u64 magic, pointer, quantum, zeros;

	if (!get(t, 0, 4, &magic) || !get(t, 4, 2, &zeros) || !get(t, 6, 1, &quantum) ||
	    !get(t, 7, 1, &pointer) || zeros || !quantum || (pointer != 4 && pointer != 8))
		return false;
	t->magic = (u32)magic;
	t->pointer = t->column = (u8)pointer;
	t->quantum = (u8)quantum;
	if (!get_word(t, 0, &t->count) || t->count > GOTAB_MAX_FUNCTIONS)
		return false;
	switch (t->magic) {
	case GO_1_2: t->functions = 8 + t->pointer; return true;
	case GO_1_16:
		return get_word(t, 2, &t->names) && get_word(t, 5, &t->numbers) &&
		       get_word(t, 6, &t->functions);
	case GO_1_18:
	case GO_1_20:
		t->column = 4;
		return get_word(t, 2, &t->text) && get_word(t, 3, &t->names) &&
		       get_word(t, 6, &t->numbers) && get_word(t, 7, &t->functions);
	default: return false;
	}
}

const struct elf_section *gotab_section(const struct elf *elf)
{
	const struct elf_section *s = elf_find_section(elf, ".gopclntab");

	return s ? s : elf_find_section(elf, ".data.rel.ro.gopclntab");
}

bool gotab_open(struct gotab *t, const void *bytes, size_t len, u64 text)
{
	*t = (struct gotab){ .bytes = bytes, .len = len };
	if (!read_header(t))
		return false;
	/* In files that can be loaded anywhere it is filled in at load time. */
	if ((t->magic == GO_1_18 || t->magic == GO_1_20) && !t->text)
		t->text = text;
	return true;
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

bool gotab_function(const struct gotab *t, u64 i, struct gotab_function *ret)
{
	if (i >= t->count || !get_row(t, i, &ret->start, &ret->about) ||
	    !get_row(t, i + 1, &ret->end, NULL) || ret->end <= ret->start || ret->about > t->len)
		return false;
	ret->about += t->magic == GO_1_2 ? 0 : t->functions;
	return true;
}

size_t gotab_name(const struct gotab *t, const struct gotab_function *f, const char **ret)
{
	u64 name, at;

	if (!get(t, f->about + t->column, 4, &name))
		return 0;
	at = t->names + name;
	if (at >= t->len)
		return 0;
	*ret = (const char *)t->bytes + at;
	return strnlen(*ret, MIN(t->len - at, (u64)GOTAB_MAX_NAME));
}

void gotab_depth_begin(struct gotab_depth *d, const struct gotab *t, const struct gotab_function *f)
{
	u64 offset = 0;

	/* after the start: name, arguments, and where deferred calls return to */
	*d = (struct gotab_depth){ .t = t, .address = f->start, .end = f->end, .value = -1 };
	d->at = get(t, f->about + t->column + 12, 4, &offset) && offset ? t->numbers + offset
									: t->len;
}

static bool get_varint(struct gotab_depth *d, u32 *ret)
{
	u32 v = 0;

	for (unsigned int shift = 0; shift < 35; shift += 7) {
		u64 byte;

		if (!get(d->t, d->at, 1, &byte))
			return false;
		d->at++;
		v |= (u32)(byte & 127) << shift;
		if (!(byte & 128)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

bool gotab_depth_next(struct gotab_depth *d, u64 *ret_start, s64 *ret_depth)
{
	u32 change, length;

	if (d->address >= d->end || !get_varint(d, &change) || (!change && d->begun) ||
	    !get_varint(d, &length))
		return false;
	d->begun = true;
	d->value += change & 1 ? -(s64)(change >> 1) - 1 : (s64)(change >> 1);
	*ret_start = d->address;
	*ret_depth = d->value;
	/* not beyond the function: near the end of memory that would lead to its beginning */
	d->address += MIN((u64)length * d->t->quantum, d->end - d->address);
	return true;
}
