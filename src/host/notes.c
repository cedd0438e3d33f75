/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/notes.h"

#include <elf.h>

#include "base/elfnote.h"
#include "base/io.h"

size_t notes_build_id(const void *notes, size_t len, u8 *ret, size_t max)
{
	const u8 *p = notes;
	struct elfnote note;

	while (elfnote_next(&p, &len, &note)) {
		if (elfnote_is(&note, "GNU", NT_GNU_BUILD_ID)) {
			size_t n = MIN((size_t)note.size, max);

			memcpy(ret, note.data, n);
			return n;
		}
	}
	return 0;
}

size_t notes_file_build_id(const char *path, u8 *ret, size_t max)
{
	_cleanup_buf_ struct buf notes = BUF_INIT;

	if (io_read_file(path, NOTES_MOST, &notes, NULL) < 0)
		return 0;
	return notes_build_id(buf_str(&notes), notes.len, ret, max);
}
