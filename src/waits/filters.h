/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads are checked: what the programs in the kernel ask for. */
#ifndef WAITS_FILTERS_H
#define WAITS_FILTERS_H

#include "waits/engine.h"

struct offcpu_bpf;

int waits_filters_fill(const struct offcpu_bpf *skel, const struct waits_opts *in, struct err *e);
int waits_filters_add_pid(const struct offcpu_bpf *skel, u32 pid, struct err *e);

#endif
