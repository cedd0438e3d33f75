/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes of ELF files, of core files and of the kernel (/sys/kernel/notes): three words, a name and
 * data, both padded to 4 bytes. Both classes of ELF write them alike.
 */
#ifndef ELF_NOTE_H
#define ELF_NOTE_H

#include "base/base.h"

enum { ELF_NOTES_MOST = 1 << 20 }; /* bytes of a file of notes */

/* Points into the bytes that were read. */
struct elf_note {
	u32 type;
	u32 name_len; /* with its NUL */
	u32 size;
	const char *name;
	const u8 *data;
};

/* Takes one note off the front of *@p, of which *@n bytes are left; false at the end, or where the
 * bytes are not a note. */
bool elf_note_next(const u8 **p, size_t *n, struct elf_note *ret);
bool elf_note_is(const struct elf_note *note, const char *name, u32 type);

/* Length of the build id among notes, 0 when there is none; at most @max bytes are copied. */
size_t elf_notes_build_id(const void *notes, size_t len, u8 *ret, size_t max);
/* The same for a file that contains only notes. */
size_t elf_notes_file_build_id(const char *path, u8 *ret, size_t max);

#endif
