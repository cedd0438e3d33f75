/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tools whose tables can be made of a recording, too: -i FILE. */
#ifndef TOOL_RECORDED_H
#define TOOL_RECORDED_H

#include "tool/tool.h"

bool recorded_reads(const struct tool *t);
/* With args->input. */
int recorded_run(struct context *ctx, const struct tool *t, const struct tool_args *a);

#endif
