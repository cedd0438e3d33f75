/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include "base/buf.h"

static int completion_run(struct context *ctx, void *args)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	(void)args;
	if (cli_completion(ctx->commands, ctx->n_commands, ctx->operands.items[0], &text,
			   &ctx->err) < 0)
		return EXIT_USAGE;
	return cli_print(ctx, &text);
}

static const struct example completion_examples[] = {
	{ ". <(fathom completion bash)", "complete in this bash from now on" },
	{ "fathom completion zsh > ~/.zsh/_fathom", "for zsh, if ~/.zsh is in fpath" },
	{ 0 },
};

const struct command cmd_completion = {
	.name = "completion",
	.summary = "print a completion script for a shell",
	.description =
		"Prints a script that teaches bash or zsh the commands, options and values of this "
		"build. Installed packages bring both; this is for all other cases.",
	.question = Q_SELF,
	.operands = "bash|zsh",
	.min_operands = 1,
	.max_operands = 1,
	.only_form = "a shell script",
	.examples = completion_examples,
	.see_also = "bash zshcompsys",
	.run = completion_run,
};
