/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOOL_OPERANDS_H
#define TOOL_OPERANDS_H

#include "tool/tool.h"

/* Takes all operands: values of options into @a, the rest are [INTERVAL [COUNT]]. */
int operands_take(struct context *ctx, const struct tool *t, struct tool_args *a, u64 *interval,
		  u64 *rounds);

#endif
