/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/offcpu.h"

static int chain_run(struct context *ctx, void *args)
{
	return wait_command(ctx, args, OFFCPU_VIEW_CHAIN);
}

static const struct example chain_examples[] = {
	{ "fathom chain -d 5s", "what the waits of five seconds come from" },
	{ "fathom chain -p 1234 -d 5s -o chain.svg", "one process, as a picture" },
	{ 0 },
};

const struct command cmd_chain = {
	.name = "chain",
	.summary = "waits with who ended them, and whom those had waited for",
	.description =
		"Goes on from the waker: if it had itself been asleep inside the sleep that it "
		"ended, its own wait and waker follow, up to eight of them. So A that waits for B "
		"that waits for C that sleeps on a timer shows as one column, with the time of A.",
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
