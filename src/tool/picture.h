/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of rows: stacks as a flame graph, durations over time as a heat map. */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H

#include "analysis/heatmap.h"
#include "tool/tool.h"

struct picture {
	struct buf folded; /* stacks with their weights */
	latency_points points;
	u64 left_out; /* beyond what is kept */
};

void picture_add(struct picture *p, const struct tool *t, const struct tool_args *a,
		 const struct value *cells, u64 wall_ns);
/* Writes the files requested. */
int picture_write(struct picture *p, struct context *ctx, const struct tool *t,
		  const struct tool_args *a);
void picture_release(struct picture *p);

#endif
