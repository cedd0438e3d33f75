/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs that calls take and give, as strace writes them. Numbers of structs are those of a table.
 */
#ifndef SYSCALLS_STRUCTS_H
#define SYSCALLS_STRUCTS_H

#include "base/buf.h"
#include "syscalls/table.h"

enum { STRUCT_NONE = 255 };

/* By the type that tracefs names ("struct rlimit *"), or by a name of the table ("utimes"). */
u8 struct_find(const char *type);
/* How many bytes of it are read; at most 255. */
u8 struct_size(u8 which);
/* False: @len bytes do not hold it, and nothing was written. */
bool struct_text(u8 which, const char *bytes, s32 len, struct buf *out);

/* Numbers of bits: "[0 1 5]" */
void struct_bits(const char *bytes, s32 len, struct buf *out);
bool struct_sockaddr(const char *bytes, s32 len, struct buf *out);
/* What poll(2) found: "[{fd=3, revents=POLLIN}]", without those where nothing happened. */
void struct_revents(const char *bytes, s32 len, struct buf *out);

#endif
