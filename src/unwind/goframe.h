/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for code of Go, from its own table of how deep the stack is at each address: functions
 * without a frame have no frame pointer either, and those in assembler use the register for
 * something else. Where stacks are changed, the frame pointer still leads to the caller's.
 */
#ifndef UNWIND_GOFRAME_H
#define UNWIND_GOFRAME_H

#include "base/gotab.h"
#include "unwind/cfi.h"

void go_frame_rules(const struct gotab *t, const struct gotab_function *f, cfi_emit_fn *emit,
		    void *ctx);

#endif
