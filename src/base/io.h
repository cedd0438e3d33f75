/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files, in and out. Errors name the path. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/buf.h"
#include "base/err.h"

enum { IO_MAX_PROC = 64 << 20 }; /* more than any /proc file that we read whole */

/* Reads all of @path (also /proc files, whose size says 0) up to @max bytes; longer is EFBIG. */
int io_read_file(const char *path, size_t max, struct buf *ret, struct err *e);
int io_read_fd(int fd, const char *name, size_t max, struct buf *ret, struct err *e);
/* One short /proc or /sys value, without its newline. */
int io_read_line(const char *path, struct buf *ret, struct err *e);
int io_read_u64(const char *path, u64 *ret, struct err *e);
/* Opens an ordinary file for reading; a directory is an error with its own words. */
int io_open_read(const char *path, int *ret_fd, struct err *e);
/*
 * Opens a regular file for reading, below @dir as openat() does. Anything else is not even opened:
 * to open a device may already do something. -EINVAL: not a regular file.
 */
int io_open_regular(int dir, const char *path);
/* The same for a descriptor that was opened with O_PATH. */
int io_reopen_regular(int path_fd);
/*
 * The same for a file that others name: with a @root (else NULL) the path and every symbolic link
 * on it are resolved as a process sees them whose root that is.
 */
int io_open_in_root(const char *root, const char *path);
/* All @n bytes from @offset on; -ERANGE when the file ends before them. */
int io_pread_all(int fd, u64 offset, void *to, size_t n);
/* All of it, EINTR and short writes handled. */
int io_write_all(int fd, const void *p, size_t n);
/* The path of what is open, also of what is deleted; pipes and the like have other names. */
int io_fd_path(int fd, struct buf *ret);
/* A device, a pipe, a socket: written to where it is, never replaced. */
bool io_is_special(const char *path);
/* The error for a file that could not be created, with the remedy; -code. */
int io_cannot_create(const char *path, int code, struct err *e);
/*
 * Written beside and renamed (outfile.h): readers see the old file or the new one, never a part.
 * Devices and pipes are written to.
 */
int io_write_file_atomic(const char *path, const void *p, size_t n, struct err *e);
bool io_exists(const char *path);

#endif
