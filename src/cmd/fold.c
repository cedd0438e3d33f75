/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"
#include "view/fold.h"
#include "cli/output.h"
#include "cli/profile_args.h"

struct fold_args {
	struct profile_args profile;
	struct output_args output;
	bool pid, tid, kernel, jit, inlined, all, addrs, context, srcline, raw, counts;
};

#define AT(field) .offset = offsetof(struct fold_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct fold_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

static const struct opt fold_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPTION(0, "pid", OPT_FLAG, pid, NULL, "process ids after commands"),
	OPTION(0, "tid", OPT_FLAG, tid, NULL, "process and thread ids after commands"),
	OPTION(0, "kernel", OPT_FLAG, kernel, NULL, "mark functions of the kernel by _[k]"),
	OPTION(0, "jit", OPT_FLAG, jit, NULL, "mark compiled functions by _[j]"),
	OPTION(0, "inline", OPT_FLAG, inlined, NULL,
	       "show inlined functions as frames of their own"),
	OPTION(0, "all", OPT_FLAG, all, NULL, "all these marks, and _[i] after inlined functions"),
	OPTION(0, "addrs", OPT_FLAG, addrs, NULL, "show the address of code without name"),
	OPTION(0, "context", OPT_FLAG, context, NULL,
	       "source file and line of each call; implies --inline"),
	OPTION(0, "srcline", OPT_FLAG, srcline, NULL,
	       "file and line as perf script -F +srcline prints them: code without lines goes "
	       "by "
	       "its module"),
	OPTION(0, "raw", OPT_FLAG, raw, NULL,
	       "keep arguments, quotes and control characters in names"),
	OPTION(0, "counts", OPT_FLAG, counts, NULL,
	       "count samples instead of adding their periods"),
	OPT_END,
};

/* To stdout as it comes. */
struct fold_out {
	struct context *ctx;
	bool raw;
};

static int print(struct buf *text, void *ctx)
{
	const struct fold_out *o = ctx;
	int r = cli_write_foreign(o->ctx, o->raw, buf_str(text), text->len);

	buf_reset(text);
	return r;
}

/* A file is written whole or not at all. */
static int collect(struct buf *text, void *ctx)
{
	buf_add(ctx, buf_str(text), text->len);
	buf_reset(text);
	return 0;
}

static struct fold_opts names_of(const struct fold_args *a)
{
	return (struct fold_opts){
		.pid = a->pid,
		.tid = a->tid,
		.kernel = a->kernel || a->all,
		.jit = a->jit || a->all,
		.inlined = a->all,
		.addrs = a->addrs,
		.context = a->context,
		.srcline = a->srcline,
		.raw = a->raw,
		.counts = a->counts,
	};
}

static int write_file(struct context *ctx, const struct output_args *output, struct profile *p,
		      const struct fold_opts *opts)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = fold_write(p, opts, &(struct fold_sink){ collect, &text });

	return r < 0 ? r : output_write(ctx, output, &text);
}

/* One event at a time: sums of different ones mean nothing. */
static u16 choose_event(const struct profile *p)
{
	struct flame_opts chosen;

	flame_choose_event(p, &chosen);
	profile_args_warn_event(p, chosen.event);
	return chosen.event;
}

static int fold(struct context *ctx, const void *args, struct profile *p)
{
	const struct fold_args *a = args;
	struct fold_opts opts = names_of(a);
	int r;

	profile_args_warn(p);
	opts.event = choose_event(p);
	if (a->output.path && !streq(a->output.path, "-"))
		return write_file(ctx, &a->output, p, &opts);
	struct fold_out out = { ctx, a->raw };

	r = fold_write(p, &opts, &(struct fold_sink){ print, &out });
	/* the caller reports a failed write, and knows which do not count */
	return ctx->output_error ? 0 : r;
}

static int fold_run(struct context *ctx, void *args)
{
	struct fold_args *a = args;
	struct load_opts load;
	int r = output_check(ctx, &a->output, NULL);

	if (!r)
		r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	load.merge = true;
	load.addresses = a->addrs;
	load.inlines = a->inlined || a->context;
	load.lines = a->context || a->srcline;
	return profile_args_look(ctx, &a->profile, &load, fold, a);
}

static const struct example fold_examples[] = {
	{ "fathom fold", "fathom.data, one line per stack" },
	{ "fathom fold --all -i perf.data -o cpu.folded", "with marks for kernel and JIT" },
	{ "fathom fold --inline --context", "inlined functions too, all with file and line" },
	{ "perf script | fathom fold -i -", "in the place of stackcollapse-perf.pl" },
	{ 0 },
};

const struct command cmd_fold = {
	.name = "fold",
	.summary = "a recording as folded stacks: one line of text for each",
	.description =
		"Merges equal stacks and prints them as 'command;caller;leaf weight', sorted, the "
		"form that flame graph tools read. Weights are sums of periods.\n\n"
		"Options, names and order are those of stackcollapse-perf.pl: spaces in commands "
		"become '_', semicolons in names ':', arguments and quotes are dropped, code "
		"without name goes by its module in brackets, and only samples of the first event "
		"are taken unless --event-filter names another.",
	.question = Q_LOOK,
	.options = fold_options,
	.args_size = sizeof(struct fold_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.only_form = "folded stacks",
	.instead_of = "stackcollapse stackcollapse-perf.pl",
	.examples = fold_examples,
	.see_also = "fathom-flame fathom-report",
	.run = fold_run,
};
