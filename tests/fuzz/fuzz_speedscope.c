/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the JSON of speedscope, drawn and exported. */
#include "analysis/callgraph.h"
#include "profile/load.h"
#include "view/export.h"
#include "view/svg_graph.h"

enum { INPUT_MAX = 1 << 16 };

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	if (size > INPUT_MAX)
		return 0;
	profile_init(&p);
	if (profile_load_speedscope(&p, (const char *)data, size, &e) >= 0)
		use(&p);
	else if (!e.what)
		abort();
	profile_release(&p);
	return 0;
}
