/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF notes, as files and the kernel (/sys/kernel/notes) have them. */
#ifndef HOST_NOTES_H
#define HOST_NOTES_H

#include "base/base.h"

enum { NOTES_MOST = 1 << 20 };

/* Length of the build id among them, 0 when there is none; at most @max bytes are copied. */
size_t notes_build_id(const void *notes, size_t len, u8 *ret, size_t max);
/* The same of a file that holds nothing but notes. */
size_t notes_file_build_id(const char *path, u8 *ret, size_t max);

#endif
