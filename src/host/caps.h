/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities: what this process may do, by number and by name. */
#ifndef HOST_CAPS_H
#define HOST_CAPS_H

#include "base/buf.h"

#include <linux/capability.h>

#define CAP_BIT(cap) (1ull << (cap))

/* The effective set of this process, one bit per capability; 0 when it cannot be read. */
u64 caps_effective(void);
/*
 * True when @have is enough for everything in @needed. CAP_SYS_ADMIN contains CAP_BPF and
 * CAP_PERFMON, as it does for the kernel.
 */
bool caps_allow(u64 have, u64 needed);
/* "CAP_BPF, CAP_PERFMON", joined by @separator; with @lower "cap_bpf,cap_perfmon" for setcap(8). */
void caps_list(struct buf *b, u64 set, const char *separator, bool lower);

/*
 * Drops permanently what no part of a run uses once all is set up: changing users, modules,
 * devices, the network. What watching, reading files of processes and writing output need stays.
 */
void caps_drop_unused(void);

#endif
