/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/offcpu.h"

static int wakeup_run(struct context *ctx, void *args)
{
	return wait_command(ctx, args, WAIT_VIEW_WAKER);
}

static const struct example wakeup_examples[] = {
	{ "fathom wakeup -d 5s", "the wakers of five seconds of waits" },
	{ "fathom wakeup -p 1234 -d 5s", "who woke the threads of one process" },
	{ "fathom wakeup -d 5s -o wakeup.svg", "as a flame graph" },
	{ 0 },
};

const struct command cmd_wakeup = {
	.name = "wakeup",
	.summary = "who wakes whom: blocked time by the waker's stack",
	.description = "Takes the stack of the waker of a thread, and adds to it how long that "
		       "thread had been blocked. Interrupts are named as such ([timer], [network], "
		       "[disk], [irq]), with the stack of the interrupt and not of the thread that "
		       "it happened to interrupt.",
	.question = Q_WAIT,
	.options = wait_options,
	.args_size = sizeof(struct wait_args),
	.operands = "[SECONDS | INTERVAL COUNT]",
	.max_operands = 2,
	.takes_program = true,
	.aliases = "wakeuptime",
	.examples = wakeup_examples,
	.notes = WAIT_NOTES,
	.see_also = "fathom-offcpu fathom-offwake fathom-chain",
	.run = wakeup_run,
};
