/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any stacks as a call graph: cycles, long arcs, wide layers. */
#include "profile/load.h"
#include "view/svg_graph.h"

enum { INPUT_MAX = 1 << 13 };

static void draw(struct profile *p, struct callgraph_opts opts, bool dot)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct callgraph g;

	if (callgraph_init(&g, p, &opts, NULL) < 0)
		return;
	if (dot)
		dot_graph(&g, "x", &out);
	else
		svg_graph(&g, "x", &out);
	/* boxes of one layer do not overlap */
	for (size_t i = 0; i < g.nodes.len && !dot; i++) {
		const struct callgraph_node *a = &g.nodes.items[i];

		for (size_t k = 0; k < i; k++) {
			const struct callgraph_node *b = &g.nodes.items[k];
			double apart = a->x < b->x ? b->x - a->x : a->x - b->x;

			if (a->layer == b->layer && apart < (a->width + b->width) / 2 - 0.01)
				abort();
		}
	}
	callgraph_release(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p;

	if (size > INPUT_MAX)
		return 0;
	profile_init(&p);
	if (profile_load_folded(&p, (const char *)data, size, NULL) >= 0) {
		draw(&p, (struct callgraph_opts){ 0 }, false);
		draw(&p, (struct callgraph_opts){ .min_node = 0.1, .max_nodes = 8 }, false);
		draw(&p, (struct callgraph_opts){ .min_arc = 0.05, .focus = "*a*" }, true);
	}
	profile_release(&p);
	return 0;
}
