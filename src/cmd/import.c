/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"
#include "view/fold.h"
#include "cli/output.h"
#include "cli/profile_args.h"

struct import_args {
	struct profile_args profile;
	struct output_args output;
};

#define AT(field) .offset = offsetof(struct import_args, field)

static const struct opt import_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPT_END,
};

static int collect(struct buf *text, void *ctx)
{
	buf_add(ctx, buf_str(text), text->len);
	buf_reset(text);
	return 0;
}

static int write_folded(struct context *ctx, const void *args, struct profile *p)
{
	const struct import_args *a = args;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct fold_opts opts = { .kernel = true, .jit = true, .inlined = true, .raw = true };
	struct flame_opts chosen;
	int r;

	flame_choose_event(p, &chosen);
	opts.event = chosen.event;
	profile_args_warn_event(p, chosen.event);
	profile_args_warn(p);
	r = fold_write(p, &opts, &(struct fold_sink){ collect, &out });
	return r < 0 ? r : output_write(ctx, &a->output, &out);
}

static int import_run(struct context *ctx, void *args)
{
	struct import_args *a = args;
	struct load_opts load;
	int r = output_check(ctx, &a->output, NULL);

	if (!r)
		r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	load.merge = true;
	return profile_args_look(ctx, &a->profile, &load, write_folded, a);
}

static const struct example import_examples[] = {
	{ "fathom import cpu.pb.gz -o cpu.folded", "a profile of pprof as folded stacks" },
	{ "fathom import cpu.pb.gz --event 'cpu*'", "one of several kinds of values" },
	{ "fathom import cpu.speedscope.json", "one of speedscope" },
	{ 0 },
};

const struct command cmd_import = {
	.name = "import",
	.summary = "a profile of pprof or speedscope as folded stacks",
	.description =
		"Every command that reads a recording reads profiles of pprof (packed or not) and "
		"of speedscope as well: report, flame, diff, callgraph, export. This one turns "
		"them into folded stacks, the text that all flame graph tools share.",
	.question = Q_LOOK,
	.options = import_options,
	.args_size = sizeof(struct import_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.only_form = "folded stacks",
	.examples = import_examples,
	.see_also = "fathom-export fathom-fold",
	.run = import_run,
};
