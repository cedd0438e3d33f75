/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call that a thread is in, from its begin to its end. */
#ifndef BPF_SYSCALLS_PENDING_BPF_H
#define BPF_SYSCALLS_PENDING_BPF_H

#include "bpf/ktypes.h"
#include "bpf/syscalls_abi.h"
#include <bpf/bpf_helpers.h>

struct pending {
	u64 begin;
	u64 stack; /* of its caller, by number; 0: not taken */
	u64 args[SYSCALLS_ARGS];
	u32 nr;
	__s16 len[SYSCALLS_TAKEN];
	char bytes[SYSCALLS_TAKEN][SYSCALLS_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct pending);
} syscalls_pending SEC(".maps");

#endif
