/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the JSON of speedscope, drawn and exported. */
#include "fuzz/fuzz_profile.h"

#include "analysis/callgraph.h"
#include "view/export.h"
#include "view/svg_graph.h"

static void use(struct profile *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct export_opts opts = { 0 };
	struct callgraph g;

	if (!p->events.len)
		return;
	export_speedscope(p, &opts, &out);
	export_chrome(p, &opts, &out);
	export_firefox(p, &opts, &out);
	export_csv(p, &opts, &out);
	if (callgraph_init(&g, p, &(struct callgraph_opts){ 0 }, NULL) < 0)
		return;
	svg_graph(&g, "x", &out);
	callgraph_release(&g);
}

static int load(struct profile *p, const uint8_t *data, size_t size, struct err *e)
{
	return profile_load_speedscope(p, (const char *)data, size, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, load, use);
}
