/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing tar files (ustar, with GNU's records for long names). */
#ifndef BASE_TAR_H
#define BASE_TAR_H

#include "base/err.h"

/* A file of @size bytes, which are then written to @fd by the caller, and tar_pad() after them. */
int tar_file(int fd, const char *name, u64 size, u32 mode, u64 mtime);
int tar_pad(int fd, u64 size);
int tar_link(int fd, const char *name, const char *to, u64 mtime);
/* The two empty blocks. */
int tar_end(int fd);
/* A whole file from the disk under the name @name; what it lacks of its size meanwhile is zero. */
int tar_copy(int fd, const char *name, const char *path, struct err *e);

#endif
