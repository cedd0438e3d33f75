/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/elfnote.h"

#include <elf.h>

bool elfnote_next(const u8 **p, size_t *n, struct elfnote *ret)
{
	Elf64_Nhdr h;
	u64 name, whole;

	if (*n < sizeof(h))
		return false;
	memcpy(&h, *p, sizeof(h));
	name = ALIGN_UP((u64)h.n_namesz, 4);
	if (name > *n - sizeof(h) || h.n_descsz > *n - sizeof(h) - name)
		return false;
	*ret = (struct elfnote){ .type = h.n_type,
				 .name_len = h.n_namesz,
				 .size = h.n_descsz,
				 .name = (const char *)*p + sizeof(h),
				 .data = *p + sizeof(h) + name };
	/* the last one may come without its padding */
	whole = MIN(sizeof(h) + name + ALIGN_UP((u64)h.n_descsz, 4), (u64)*n);
	*p += whole;
	*n -= whole;
	return true;
}

bool elfnote_is(const struct elfnote *note, const char *name, u32 type)
{
	return note->type == type && note->name_len == strlen(name) + 1 &&
	       memcmp(note->name, name, note->name_len) == 0;
}
