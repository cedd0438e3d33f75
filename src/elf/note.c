/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/note.h"

#include <elf.h>

#include "base/io.h"

bool elf_note_next(const u8 **p, size_t *n, struct elf_note *ret)
{
	Elf64_Nhdr h;
	u64 name, whole;

	if (*n < sizeof(h))
		return false;
	memcpy(&h, *p, sizeof(h));
	name = ALIGN_UP((u64)h.n_namesz, 4);
	if (name > *n - sizeof(h) || h.n_descsz > *n - sizeof(h) - name)
		return false;
	*ret = (struct elf_note){ .type = h.n_type,
				  .name_len = h.n_namesz,
				  .size = h.n_descsz,
				  .name = (const char *)*p + sizeof(h),
				  .data = *p + sizeof(h) + name };
	/* the last note may lack its padding */
	whole = MIN(sizeof(h) + name + ALIGN_UP((u64)h.n_descsz, 4), (u64)*n);
	*p += whole;
	*n -= whole;
	return true;
}

bool elf_note_is(const struct elf_note *note, const char *name, u32 type)
{
	return note->type == type && note->name_len == strlen(name) + 1 &&
	       memcmp(note->name, name, note->name_len) == 0;
}

size_t elf_notes_build_id(const void *notes, size_t len, u8 *ret, size_t max)
{
	const u8 *p = notes;
	struct elf_note note;

	while (elf_note_next(&p, &len, &note)) {
		if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID)) {
			size_t n = MIN((size_t)note.size, max);

			memcpy(ret, note.data, n);
			return n;
		}
	}
	return 0;
}

size_t elf_notes_file_build_id(const char *path, u8 *ret, size_t max)
{
	_cleanup_buf_ struct buf notes = BUF_INIT;

	if (io_read_file(path, ELF_NOTES_MOST, &notes, NULL) < 0)
		return 0;
	return elf_notes_build_id(buf_str(&notes), notes.len, ret, max);
}
