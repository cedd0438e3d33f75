/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The off-CPU programs in their two forms: typed, and raw for kernels that do not describe their
 * types. All that user space asks for has the same name in both, so that the skeleton of the typed
 * one does for either.
 */
#ifndef WAITS_SKEL_H
#define WAITS_SKEL_H

#include "base/err.h"

struct offcpu_bpf;

/* The object that is loaded. */
const void *waits_skel_object(bool raw, size_t *ret_size);
/* @types: a file that describes the kernel's types; NULL: what the kernel says itself. */
int waits_skel_open(struct offcpu_bpf **ret, bool raw, const char *types, struct err *e);

#endif
