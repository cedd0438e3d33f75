/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel types that a program of ours reads, as BTF of their own. Given to libbpf instead
 * of the kernel's, which has a hundred thousand types, it saves the 15 ms of CPU time that reading
 * and searching those takes. Made once for each kernel and kept in the cache.
 */
#ifndef UNWIND_CORETYPES_H
#define UNWIND_CORETYPES_H

#include "base/buf.h"
#include "host/btf.h"

/*
 * BTF with every struct of @local (its flavour, "___old", left out) that @kernel has too, with the
 * members that @local names, where @kernel has them. -ENOTSUP: a member is of a kind that is not
 * known here.
 */
int coretypes_make(struct kbtf *local, struct kbtf *kernel, struct buf *ret);

/*
 * The path of such a file for the running kernel and the object in these bytes; made if it is not
 * there. An error only means that the kernel's own types have to be used.
 */
int coretypes_path(const void *object, size_t size, struct buf *ret);

/*
 * Where in the cache something about the running kernel's types may be kept; the folder is there.
 * @what tells it from other things.
 */
int coretypes_cache_path(u64 what, const char *suffix, struct buf *ret);

#endif
