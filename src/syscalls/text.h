/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of arguments as text, the way strace writes them. @group: of values_find(). */
#ifndef SYSCALLS_TEXT_H
#define SYSCALLS_TEXT_H

#include "base/buf.h"
#include "syscalls/table.h"

void text_quoted(struct buf *out, const char *bytes, size_t n, bool more);
void text_pointer(struct buf *out, u64 value);
void text_flags(struct buf *out, u8 group, u64 value);
void text_value(struct buf *out, u8 group, u64 value);
void text_signal(struct buf *out, u8 group, u64 value);
void text_open(struct buf *out, u8 group, u64 value);
void text_statx(struct buf *out, u8 group, u64 value);
void text_socktype(struct buf *out, u8 group, u64 value);
void text_futex(struct buf *out, u8 group, u64 value);
void text_clone(struct buf *out, u8 group, u64 value);

#endif
