/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/callgraph.h"
#include "analysis/flame.h"
#include "analysis/report.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "view/html.h"
#include "view/svg_graph.h"

struct callgraph_args {
	struct profile_args profile;
	struct output_args output;
	bool dot;
	int by;
	double min_node, min_arc;
	u64 nodes, lines;
	const char *focus, *title;
};

static const char *const units[] = { "function", "module", NULL };

#define AT(field) .offset = offsetof(struct callgraph_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct callgraph_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

static const struct opt callgraph_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPTION(0, "dot", OPT_FLAG, dot, NULL, "print it for graphviz", .group = "Output"),
	OPTION(0, "by", OPT_CHOICE, by, "WHAT", "node type", .def = "function", .choices = units),
	OPTION(0, "focus", OPT_STRING, focus, "GLOB", "only stacks with such a function"),
	OPTION(0, "nodes", OPT_U64, nodes, "N", "maximum number of functions shown", .def = "80",
	       .max = CALLGRAPH_NODES_MOST, .alias = "nodecount"),
	OPTION(0, "min-node", OPT_PERCENT, min_node, "P", "hide functions below this share",
	       .def = "0.5", .alias = "nodefraction"),
	OPTION(0, "min-arc", OPT_PERCENT, min_arc, "P", "hide calls below this share", .def = "0.1",
	       .alias = "edgefraction"),
	OPTION(0, "lines", OPT_U64, lines, "N", "maximum number of lines per table; 0: all",
	       .def = "25"),
	OPTION(0, "title", OPT_STRING, title, "TEXT", "heading of the picture", .group = "Output"),
	OPT_END,
};

static int show(struct context *ctx, const struct callgraph_args *a, const struct callgraph *g)
{
	_cleanup_result_ struct result result = { 0 };
	bool machine = cli_is_machine(ctx);

	result_init(&result, "callgraph");
	report_facts(g->profile, false, &result);
	callgraph_report(g, machine ? 0 : (u32)MIN(a->lines, (u64)UINT32_MAX), &result);
	report_health(g->profile, &result);
	return cli_show(ctx, &result);
}

static int output(struct context *ctx, const struct callgraph_args *a, struct callgraph *g)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *title = a->title ? a->title : "Call Graph";

	if (a->dot || output_is(&a->output, "dot") || output_is(&a->output, "gv"))
		dot_graph(g, title, &text);
	else if (a->output.path)
		svg_graph(g, title, &text);
	else
		return show(ctx, a, g);
	return output_write(ctx, &a->output, &text);
}

static int write_html(struct context *ctx, const struct callgraph_args *a, const struct profile *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct html_opts opts = { .title = a->title, .view = "graph" };
	int r = html_write(p, &opts, &text, &ctx->err);

	return r < 0 ? r : output_write(ctx, &a->output, &text);
}

static int draw(struct context *ctx, const void *args, struct profile *p)
{
	const struct callgraph_args *a = args;
	struct callgraph_opts opts = {
		.by_module = a->by == 1,
		.min_node = a->min_node / 100,
		.min_arc = a->min_arc / 100,
		.max_nodes = (u32)a->nodes,
		.focus = a->focus,
	};
	struct flame_opts chosen;
	struct callgraph g;
	int r;

	/* the tables say so themselves */
	if (a->dot || a->output.path)
		profile_args_warn(p);
	if (output_is(&a->output, "html"))
		return write_html(ctx, a, p);
	flame_choose_event(p, &chosen);
	opts.event = chosen.event;
	r = callgraph_init(&g, p, &opts, &ctx->err);
	if (r < 0)
		return r;
	profile_args_warn_event(p, opts.event);
	r = output(ctx, a, &g);
	callgraph_release(&g);
	return r;
}

static int callgraph_run(struct context *ctx, void *args)
{
	struct callgraph_args *a = args;
	struct load_opts load;
	int r = output_check(ctx, &a->output, a->dot ? NULL : "svg html dot gv");

	if (!r)
		r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	load.merge = !output_is(&a->output, "html");
	return profile_args_look(ctx, &a->profile, &load, draw, a);
}

static const struct example callgraph_examples[] = {
	{ "fathom callgraph", "the heaviest functions and calls of fathom.data" },
	{ "fathom callgraph -o graph.svg", "as a picture" },
	{ "fathom callgraph --focus 'tcp_*' -o tcp.svg", "only paths through TCP" },
	{ "fathom callgraph --dot -o graph.dot", "for graphviz" },
	{ 0 },
};

const struct command cmd_callgraph = {
	.name = "callgraph",
	.summary = "who calls whom, and what that costs: tables, SVG, graphviz",
	.description =
		"Draws each function once, however many ways lead to it, with the share of time "
		"that it took with all it called and by itself, and an arc for each call.\n\n"
		"Light functions and calls are left out; their number and weight are shown. "
		"A call that goes through a function that is not shown is a dashed "
		"arc between its neighbours. Recursion counts once.",
	.question = Q_LOOK,
	.options = callgraph_options,
	.args_size = sizeof(struct callgraph_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.instead_of = "gprof2dot gprof2dot.py",
	.examples = callgraph_examples,
	.see_also = "fathom-flame fathom-report",
	.run = callgraph_run,
};
