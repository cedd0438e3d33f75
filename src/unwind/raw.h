/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the raw forms of our programs need: those for kernels that do not describe their types. */
#ifndef UNWIND_RAW_H
#define UNWIND_RAW_H

#include "base/err.h"

struct bpf_object;

/*
 * Finds out where the registers of a thread are, by a look at our own, once @obj is loaded.
 * -EINVAL: the types that it was loaded with are of another kernel.
 */
int raw_find_regs(const struct bpf_object *obj, struct err *e);

#endif
