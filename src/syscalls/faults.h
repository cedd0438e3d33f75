/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults as text: what touched which place: "[memset+24] => /lib/libc.so.6@0x1d000 (rw-)". */
#ifndef SYSCALLS_FAULTS_H
#define SYSCALLS_FAULTS_H

#include "base/buf.h"
#include "bpf/syscalls_abi.h"

struct fault_names;

/* Mappings of processes that begin now are followed, so that those that end at once have names. */
struct fault_names *fault_names_new(void);
void fault_names_free(struct fault_names *f);
/* Whenever there may be new mappings. */
void fault_names_follow(struct fault_names *f);
/* "majfault", "minfault" */
const char *fault_kind(const struct syscalls_event *e);
void fault_text(struct fault_names *f, const struct syscalls_event *e, struct buf *out);

#endif
