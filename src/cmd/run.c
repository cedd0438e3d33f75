/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fathom run FILE: a script with a header block is a tool like those of the library, with its own
 * options. When this is called, the file was looked for and is not such a script.
 */
#include "cli/cli.h"

static int run_run(struct context *ctx, void *args)
{
	(void)args;
	err_set(&ctx->err, EINVAL, "'%s' is not a script with a header block",
		ctx->operands.items[0]);
	err_hint(&ctx->err, "'fathom trace %s' runs scripts without one", ctx->operands.items[0]);
	return EXIT_USAGE;
}

static const struct example examples[] = {
	{ "fathom run ./mytool.bt", "until Ctrl-C" },
	{ "fathom run ./mytool.bt --help", "the options of that script" },
	{ 0 },
};

const struct command cmd_run = {
	.name = "run",
	.summary = "run a script with a header block as a tool",
	.description =
		"The header block at the top of the script names its options and columns; they are "
		"those of the command. What is in the user's folder of tools needs no 'run'.",
	.question = Q_TRACE,
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.examples = examples,
	.see_also = "fathom-tools fathom-trace",
	.run = run_run,
};
