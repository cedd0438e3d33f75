/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/offcpu.h"

static int offwake_run(struct context *ctx, void *args)
{
	return wait_command(ctx, args, WAIT_VIEW_BOTH);
}

static const struct example offwake_examples[] = {
	{ "fathom offwake -d 5s", "waits and wakers of five seconds" },
	{ "fathom offwake -p 1234 -d 5s -o offwake.svg", "one process, as a picture" },
	{ "fathom offwake -d 5s --folded", "sleeper;stack;--;waker stack;waker microseconds" },
	{ 0 },
};

const struct command cmd_offwake = {
	.name = "offwake",
	.summary = "waits together with their wakers",
	.description = "Joins both halves of a wait: the stack that blocked, and on it, upside "
		       "down, the stack that woke it. The call that blocks and the call that wakes "
		       "meet at a grey divider, '--' in folded stacks.",
	.question = Q_WAIT,
	.options = wait_options,
	.args_size = sizeof(struct wait_args),
	.operands = "[SECONDS | INTERVAL COUNT]",
	.max_operands = 2,
	.takes_program = true,
	.aliases = "offwaketime",
	.examples = offwake_examples,
	.notes = WAIT_NOTES,
	.see_also = "fathom-offcpu fathom-wakeup fathom-chain",
	.run = offwake_run,
};
