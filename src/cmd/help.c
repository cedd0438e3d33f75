/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include "base/buf.h"

struct help_args {
	bool man;
	bool check;
};

static const struct opt help_options[] = {
	{ .name = "man",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct help_args, man),
	  .help = "print the manual page as mdoc source",
	  .conflicts = "json" },
	{ .name = "check",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct help_args, check),
	  .help = "print the faults of the option tables; fails if there are any",
	  .conflicts = "man json" },
	OPT_END,
};

static int check_tables(struct context *ctx)
{
	_cleanup_buf_ struct buf faults = BUF_INIT;
	int r;

	cli_check(ctx->commands, ctx->n_commands, &faults);
	r = cli_print(ctx, &faults);
	if (r < 0)
		return r;
	return faults.len ? EXIT_FAILED : EXIT_OK;
}

static void write_page(const struct context *ctx, const struct help_args *args,
		       const struct command *cmd, struct buf *text)
{
	if (args->man)
		cli_man(ctx->commands, ctx->n_commands, cmd, text);
	else if (cli_is(ctx, "json"))
		cli_dump(ctx->commands, ctx->n_commands, cmd, text);
	else if (cmd)
		cli_help(cmd, cli_color(ctx), cli_width(ctx), text);
	else
		cli_overview(ctx->commands, ctx->n_commands, cli_color(ctx), cli_width(ctx), text);
}

static int help_run(struct context *ctx, void *args)
{
	const struct help_args *a = args;
	const char *name = ctx->operands.len ? ctx->operands.items[0] : NULL;
	const struct command *cmd = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (a->check)
		return check_tables(ctx);
	if (cli_is(ctx, "csv")) {
		err_set(&ctx->err, EINVAL, "help has no CSV form");
		err_hint(&ctx->err, "use --json");
		return EXIT_USAGE;
	}
	if (name) {
		cmd = cli_find(ctx->commands, ctx->n_commands, name);
		if (!cmd) {
			cli_unknown_command(ctx->commands, ctx->n_commands, name, &ctx->err);
			return EXIT_USAGE;
		}
	}
	write_page(ctx, a, cmd, &text);
	return cli_print(ctx, &text);
}

static const struct example help_examples[] = {
	{ "fathom help", "list all commands by the question they answer" },
	{ "fathom help completion", "options and examples of one command" },
	{ "fathom help --json", "everything about all commands, for programs" },
	{ "fathom help --man help | man -l -", "read a page that is not installed" },
	{ 0 },
};

const struct command cmd_help = {
	.name = "help",
	.summary = "show the commands, or all about one of them",
	.description = "Without a command it lists all of them, grouped by the question they "
		       "answer. With one it says what 'fathom COMMAND --help' says.\n\n"
		       "Help, manual pages and completions come from the same tables as the "
		       "parsing of the command line, so they describe this build and no other.",
	.question = Q_SELF,
	.options = help_options,
	.args_size = sizeof(struct help_args),
	.operands = "[COMMAND]",
	.max_operands = 1,
	.examples = help_examples,
	.see_also = "fathom-completion man",
	.run = help_run,
};
