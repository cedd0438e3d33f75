/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for code of Go, from its own table of how deep the stack is at each address: functions
 * without a frame have no frame pointer either, and those in assembler use the register for
 * something else. Where stacks are changed, the frame pointer still leads to the caller's.
 */
#ifndef RUNTIME_GOFRAME_H
#define RUNTIME_GOFRAME_H

#include "bpf/unwind_abi.h"
#include "runtime/gotab.h"

/* "From @address on, the caller is found by @rule." */
typedef void go_emit_fn(void *ctx, u64 address, const struct unwind_rule *rule);

void go_frame_rules(const struct gotab *t, const struct gotab_function *f, go_emit_fn *emit,
		    void *ctx);

#endif
