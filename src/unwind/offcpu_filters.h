/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads are looked at: what the programs in the kernel ask for. */
#ifndef UNWIND_OFFCPU_FILTERS_H
#define UNWIND_OFFCPU_FILTERS_H

#include "unwind/offcpu.h"

struct offcpu_bpf;

int offcpu_filters_fill(const struct offcpu_bpf *skel, const struct offcpu_opts *in, struct err *e);
int offcpu_filters_add_pid(const struct offcpu_bpf *skel, u32 pid, struct err *e);

#endif
