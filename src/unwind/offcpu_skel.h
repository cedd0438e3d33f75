/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The off-CPU programs in their two forms: typed, and raw for kernels that do not describe their
 * types. All that user space asks for has the same name in both, so that the skeleton of the typed
 * one does for either.
 */
#ifndef UNWIND_OFFCPU_SKEL_H
#define UNWIND_OFFCPU_SKEL_H

#include "base/err.h"

struct offcpu_bpf;

/* @types: the file that describes them, for the raw form; NULL: the typed one. */
int offcpu_skel_open(struct offcpu_bpf **ret, const char *types, struct err *e);

#endif
