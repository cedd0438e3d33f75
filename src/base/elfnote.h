/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of ELF files and core files: three words, a name and data, both padded to 4 bytes. */
#ifndef BASE_ELFNOTE_H
#define BASE_ELFNOTE_H

#include "base/base.h"

/* Points into the bytes that were read. */
struct elfnote {
	u32 type;
	u32 name_len; /* with its NUL */
	u32 size;
	const char *name;
	const u8 *data;
};

/* Takes one note off the front of *@p, of which *@n bytes are left; false at the end, or where the
 * bytes make no sense. Both classes of ELF write notes alike. */
bool elfnote_next(const u8 **p, size_t *n, struct elfnote *ret);
bool elfnote_is(const struct elfnote *note, const char *name, u32 type);

#endif
