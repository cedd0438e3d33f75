/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/offcpu.h"

static int chain_run(struct context *ctx, void *args)
{
	return wait_command(ctx, args, WAIT_VIEW_CHAIN);
}

static const struct example chain_examples[] = {
	{ "fathom chain -d 5s", "the causes of five seconds of waits" },
	{ "fathom chain -p 1234 -d 5s -o chain.svg", "one process, as a picture" },
	{ 0 },
};

const struct command cmd_chain = {
	.name = "chain",
	.summary = "waits with their wakers, and the wakers' own waits",
	.description =
		"Follows the waker: if it was itself blocked during the wait that it ended, "
		"its own wait and waker follow, up to eight of them. A waiting for B, which "
		"waits for C, which sleeps on a timer, is one column with the time of A. The time "
		"of a wait is divided by what the waker did meanwhile: [running], [waiting "
		"for a CPU], or blocked. Of wakers outside the target only the stack is "
		"known. With --interval a wait belongs to the interval in which it ends.",
	.question = Q_WAIT,
	.options = wait_options,
	.args_size = sizeof(struct wait_args),
	.operands = "[SECONDS | INTERVAL COUNT]",
	.max_operands = 2,
	.takes_program = true,
	.examples = chain_examples,
	.notes = WAIT_NOTES,
	.see_also = "fathom-offwake fathom-wakeup fathom-explain",
	.run = chain_run,
};
