/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's functions on disk: the kernel needs 50 ms to print /proc/kallsyms, which changes
 * within a boot only with its modules. What else comes and goes (BPF programs, trampolines) is not
 * kept: for an address that is not found the text has to be read.
 */
#ifndef SYMBOL_KALLSYMS_CACHE_H
#define SYMBOL_KALLSYMS_CACHE_H

#include "base/buf.h"
#include "symbol/kallsyms.h"

/* -ENOENT when there is nothing for this boot and these modules. */
int kallsyms_cache_load(struct kallsyms *k, const char *dir);
/* Failing to write is not an error: there is just no cache. */
void kallsyms_cache_store(const struct kallsyms *k, const char *dir);

/* As bytes, and back; -EBADMSG, and nothing is written, when they are not sound. */
void kallsyms_pack(const struct kallsyms *k, struct buf *ret);
int kallsyms_unpack(struct kallsyms *ret, const void *bytes, size_t len);

#endif
